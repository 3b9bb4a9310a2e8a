"""The steps of the proof of Theorem 4.3, with their authors and conditions."""

from dataclasses import dataclass
from html import escape

from IPython.display import HTML

from attnsel.validation import check_choice

# Chapters that treat a step of the proof: file and title.
CHAPTERS = {
    "one_step": "One gradient step",
    "max_margin": "The max-margin direction",
    "selection": "When does attention fail?",
    "convergence": "Proving convergence",
}
STYLE = """
.proof-map { display: flex; flex-wrap: wrap; gap: .4rem 1.3rem; list-style: none;
  margin: .5rem 0; padding: 0 .2rem 0 1.2rem !important; font-size: .85rem;
  line-height: 1.35; text-align: left; font-weight: 600; }
.proof-map li { position: relative; flex: 1 1 12rem; margin: 0; padding: .4rem .6rem;
  border: 1.5px solid currentColor; border-radius: .3rem; }
.proof-map li + li::before { content: "→"; position: absolute; left: -1.2rem;
  top: calc(50% - .7rem); }
.proof-map .open { border-style: dashed; }
.proof-map [aria-current] { border-color: #009e73; box-shadow: 0 0 0 2px #009e73; }
.proof-map small { display: block; font-size: .75rem; font-weight: 400; }
@media (max-width: 600px) {
  .proof-map { display: block; padding: 0 .2rem !important; }
  .proof-map li { margin-bottom: 1.1rem; }
  .proof-map li + li::before { content: "↓"; left: 50%; top: -1.15rem; }
}
"""


@dataclass(frozen=True)
class Step:
    """A statement of the proof.

    Attributes:
        says: the statement.
        known: authors of the statement, and the condition under which it is proved.
        chapters: keys of `CHAPTERS` for the chapters that treat the statement.
        is_open: whether the statement lacks a proof for some first steps.
    """

    says: str
    known: str
    chapters: tuple[str, ...]
    is_open: bool = False


STEPS = (
    Step(
        "One step moves each value in proportion to the token's signed frequency.",
        "Lemma 4.1 of the paper. Proved here with explicit constants.",
        ("one_step",),
    ),
    Step(
        "In each sequence, the relevant token has the largest vote.",
        "Our value gap. Proved here for large d.",
        ("max_margin",),
    ),
    Step(
        "The norm of p grows without bound.",
        "Lemma 4.4 of the paper. Proved here for independent embeddings.",
        ("max_margin",),
    ),
    Step(
        "No relevant token is missed.",
        "Lemma 4.5 of the paper, for a large first step. Proved here once the loss is "
        "below a level. Open in general, and false after some medium steps.",
        ("selection", "convergence"),
        is_open=True,
    ),
    Step(
        "If the direction of p converges, its limit is the max-margin direction.",
        "Theorem 4.3 of the paper. Proved here if no relevant token is missed.",
        ("max_margin",),
    ),
    Step(
        "The direction of p converges, and 1 \u2212 cos is at most C/‖p‖.",
        "Our Theorem A. Proved here once the loss is below the same level.",
        ("convergence",),
    ),
)


def draw_proof_map(here: str) -> HTML:
    """Return the proof's steps as boxes, and mark the steps of the chapter `here`."""
    check_choice("here", here, CHAPTERS)
    items = []
    for step in STEPS:
        links = [
            f"<b>{CHAPTERS[name]}</b> (here)"
            if name == here
            else f'<a href="{name}.html">{CHAPTERS[name]}</a>'
            for name in step.chapters
        ]
        mark = ' aria-current="step"' if here in step.chapters else ""
        kind = ' class="open"' if step.is_open else ""
        items.append(
            f"<li{kind}{mark}>{escape(step.says)}<small>{escape(step.known)} "
            f"{', '.join(links)}.</small></li>"
        )
    return HTML(f'<style>{STYLE}</style><ol class="proof-map">{"".join(items)}</ol>')
