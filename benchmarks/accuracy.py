"""Greatest relative errors of logits and gradients on random ragged corpora.

    PYTHONPATH=tests python benchmarks/accuracy.py [--corpora 200]

The reference is autograd in float64 through gathered embeddings, sequence by sequence.
"""

from __future__ import annotations

import argparse

import torch
from reference import naive_logits, naive_loss, ragged

from attnsel.model import AttentionClassifier, logistic_loss


def errors(seed: int, dtype: torch.dtype, factor: float) -> list[float]:
    """Return the spread of E p and the errors of the logits and of the gradients."""
    sequences, labels, corpus = ragged(seed, n=60, n_tokens=40, longest=30)
    model = AttentionClassifier(40, 32, seed=seed, dtype=dtype)
    with torch.no_grad():
        model.cls.mul_(factor)
    logits = model(corpus)
    logistic_loss(logits, corpus.signs).backward()
    parts = list(model.parameters())
    E, p, v = (part.detach().double().requires_grad_() for part in parts)
    exact = naive_logits(E, p, v, sequences)
    gradients = torch.autograd.grad(naive_loss(exact, labels), (E, p, v))
    ours = [logits.detach(), *(part.grad for part in parts)]
    a = (E @ p).detach()
    return [float(a.max() - a.min())] + [
        float((x.double() - y.detach()).norm() / y.detach().norm())
        for x, y in zip(ours, (exact, *gradients), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpora", type=int, default=200)
    count = parser.parse_args().corpora
    print("dtype    widest E p  logits    dL/dE     dL/dp     dL/dv")
    for dtype in (torch.float32, torch.float64):
        for factor in (1.0, 30.0, 1000.0):
            rows = torch.tensor([errors(s, dtype, factor) for s in range(count)])
            worst = "  ".join(f"{x:.1e}" for x in rows.max(dim=0).values.tolist())
            print(f"{str(dtype)[6:]:<9}  {worst}")


if __name__ == "__main__":
    main()
