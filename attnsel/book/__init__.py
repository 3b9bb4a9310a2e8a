"""What a chapter says to the page: claims, numbers for the prose, figures that move."""

from attnsel.book.claims import claim as claim
from attnsel.book.claims import glue as glue
from attnsel.book.data import authors as authors
from attnsel.book.drawing import draw_classifier as draw_classifier
from attnsel.book.drawing import draw_map as draw_map
from attnsel.book.drawing import draw_prediction as draw_prediction
from attnsel.book.drawing import draw_training as draw_training
from attnsel.book.drawing import shaded_review as shaded_review
from attnsel.book.figures import coloured_text as coloured_text
from attnsel.book.figures import flow_plane as flow_plane
from attnsel.book.figures import frames as frames
from attnsel.book.figures import scatter_explorer as scatter_explorer
from attnsel.book.figures import show_text as show_text
from attnsel.book.figures import steer_box as steer_box
from attnsel.book.figures import text_box as text_box
from attnsel.book.problems import OneStepProblem as OneStepProblem
from attnsel.book.problems import one_step_problem as one_step_problem
from attnsel.book.style import ACCENT as ACCENT
from attnsel.book.style import NEGATIVE as NEGATIVE
from attnsel.book.style import NEUTRAL as NEUTRAL
from attnsel.book.style import POSITIVE as POSITIVE
from attnsel.book.style import figure_html as figure_html
from attnsel.book.style import name_tokens as name_tokens
from attnsel.book.style import seed_range as seed_range
from attnsel.book.style import token_scatter as token_scatter
from attnsel.book.style import use_style as use_style
