"""Measures of the V on synthetic data, for the whole range of delta and ten seeds.

    python -m sweeps.synthetic.run_synthetic_knob

The settings are the same as in the chapter on synthetic data, which shows the results.
"""

from typing import Any

from attnsel import AttentionClassifier, fit, synthetic_corpus
from attnsel.theory import posterior_difference
from attnsel_book.problems import equal_frequencies
from attnsel_book.results import result_folder, store
from attnsel_book.v_shape import shape

N, V, T, DIM, RATE, LOSS, STEPS = 4000, 400, 20, 2048, 0.09, 0.01, 2000
DELTAS = [0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9]
DELTAS += [0.93, 0.95, 0.97, 0.98, 0.99, (V - 1) / V]
SEEDS = range(10)
COLUMNS = "values", "arms", "value_spread", "score_spread"


def run(delta: float, seed: int) -> dict[str, Any]:
    """Train E, p and v until the loss is below LOSS; return measures of the V."""
    relevant = equal_frequencies(V, T, delta)
    corpus = synthetic_corpus(N, V, T, delta=delta, n_relevant=relevant, seed=seed)
    model = AttentionClassifier(V, DIM, seed=1000 + seed)
    made = fit(model, corpus, steps=STEPS, lr=RATE / DIM**0.5, until_loss=LOSS)
    of = shape(posterior_difference(corpus), made.at())
    measures = {name: round(getattr(of, name), 4) for name in COLUMNS}
    end = {"steps": int(made.step[-1]), "loss": round(float(made.loss[-1]), 5)}
    return {"delta": delta, "seed": seed} | measures | end


if __name__ == "__main__":
    rows = [run(delta, seed) for delta in DELTAS for seed in SEEDS]
    store(result_folder("synthetic") / "synthetic_knob.json", rows)
