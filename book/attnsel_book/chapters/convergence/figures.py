"""The figure of the chapter on convergence."""

from matplotlib import pyplot
from torch import Tensor

from attnsel.flow import Flow
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE


def draw_bound(flow: Flow, gap: Tensor, bound: Tensor, certain: float) -> None:
    """Draw 1 - cos along a flow, (k,), and Theorem A's bound on it, (k,).

    A dotted line marks the norm from which the bound is `certain`, a dashed one the
    exponent -2 of Theorem B, through the last point.
    """
    R = flow.norms
    _, axes = pyplot.subplots(figsize=(6, 3.8))
    axes.loglog(R, gap, color=POSITIVE, label="flow, $1 - \\cos(p, u_\\star)$")
    axes.loglog(R, bound, color=NEGATIVE, label="Theorem A, $C / \\|p\\|$")
    far = R[R > 300]
    law = float(gap[-1]) * (R[-1] / far) ** 2
    axes.loglog(far, law, "--", color=ACCENT, label="slope $-2$ (Theorem B)")
    axes.axvline(certain, color=NEUTRAL, ls=":", label="$\\mathcal{E}_{sel}$ passed")
    axes.set(xlabel="$\\|p\\|$", ylabel="$1 - \\cos$", ylim=(1e-7, 3))
    axes.legend(loc="lower left", fontsize=10)
    pyplot.show()
