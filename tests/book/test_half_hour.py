"""The example that the tour computes by hand."""

from pathlib import Path

import pytest
import torch

import attnsel
from attnsel.tokens import Vocab

PAGE = Path(__file__).parents[2] / "book" / "half_hour.md"
TEXT = " ".join(PAGE.read_text("utf-8").split())


def test_the_two_reviews_have_the_numbers_of_the_package():
    vocab = Vocab(["good", "bad", "film"], ("negative", "positive"))
    reviews = attnsel.Corpus.from_tokens(
        [[0, 2], [1, 2]], ["positive", "negative"], vocab
    )
    model = attnsel.AttentionClassifier(3, 4, seed=0, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings[:] = torch.eye(3, 4)
        model.output[:] = torch.tensor([0.0, 0, 0, 1])
        model.cls.zero_()
    loss = torch.nn.functional.softplus(-reviews.signs * model(reviews)).mean().detach()
    assert f"= {float(loss):.3f}$ for a model without opinion" in TEXT
    stepped = attnsel.one_step(model, reviews, lr=8.0)
    scores, values = stepped.scores().T
    assert values.tolist() == pytest.approx([1, -1, 0]) and not scores.any()
    assert "the values become **1, −1 and 0**, and the scores stay 0" in TEXT
    logits = stepped(reviews).detach()
    assert logits.tolist() == pytest.approx([0.5, -0.5])
    loss = torch.nn.functional.softplus(-reviews.signs * logits).mean()
    assert f"The loss has fallen to {float(loss):.3f}" in TEXT
    relevant = torch.tensor([0, 1])
    direction = attnsel.max_margin(stepped.embeddings, reviews, relevant).direction
    assert (direction * 6**0.5).tolist() == pytest.approx([1, 1, -2, 0], abs=1e-6)
    E = stepped.embeddings.detach().double()
    leads = [float((E[0] - E[2]) @ direction) * norm for norm in (1, 2, 4)]
    assert "the lead is {:.1f}, {:.1f} and {:.1f}".format(*leads) in TEXT
    shares = [100 / (1 + 2.718281828**-lead) for lead in leads]
    assert "get {:.0f}%, {:.0f}% and {:.0f}% of the attention".format(*shares) in TEXT
