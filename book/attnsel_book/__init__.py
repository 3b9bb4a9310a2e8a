"""Tools for chapters: claims, numbers in the text, plots and interactive figures."""

from attnsel.validation import require

require("book", "IPython", "matplotlib", "sklearn")

from attnsel_book.chapter import in_vocabulary as in_vocabulary
from attnsel_book.chapter import settings as settings
from attnsel_book.chapter import stop_unless as stop_unless
from attnsel_book.claims import claim as claim
from attnsel_book.claims import glue as glue
from attnsel_book.plots import bin_curve as bin_curve
from attnsel_book.plots import draw_training as draw_training
from attnsel_book.plots import token_figures as token_figures
from attnsel_book.plots import two_panels as two_panels
from attnsel_book.problems import OneStepProblem as OneStepProblem
from attnsel_book.problems import leaning_corpus as leaning_corpus
from attnsel_book.problems import one_step_problem as one_step_problem
from attnsel_book.results import authors as authors
from attnsel_book.results import step_sweep as step_sweep
from attnsel_book.results import stored as stored
from attnsel_book.style import ACCENT as ACCENT
from attnsel_book.style import NEGATIVE as NEGATIVE
from attnsel_book.style import NEUTRAL as NEUTRAL
from attnsel_book.style import POSITIVE as POSITIVE
from attnsel_book.style import figure_html as figure_html
from attnsel_book.style import name_tokens as name_tokens
from attnsel_book.style import seed_range as seed_range
from attnsel_book.style import token_scatter as token_scatter
from attnsel_book.style import use_style as use_style
from attnsel_book.texts import majority_share as majority_share
from attnsel_book.texts import train_and_test as train_and_test
from attnsel_book.widgets.frames import frames as frames
from attnsel_book.widgets.map import scatter_explorer as scatter_explorer
from attnsel_book.widgets.plane import flow_plane as flow_plane
from attnsel_book.widgets.steer import steer_box as steer_box
from attnsel_book.widgets.text import attended_text as attended_text
from attnsel_book.widgets.text import coloured_text as coloured_text
from attnsel_book.widgets.text import show_text as show_text
from attnsel_book.widgets.textbox import text_box as text_box
