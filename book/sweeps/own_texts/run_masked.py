"""The accuracy of models if ratings are masked in IMDB's reviews, in `masked.json`.

    python -m sweeps.own_texts.run_masked --texts FOLDER

The script takes half a minute on one core.
"""

import json
import re

import numpy as np
import pandas as pd
import torch
from scipy.sparse import vstack

from attnsel import Corpus
from attnsel_book.results import result_folder, store
from attnsel_report.quality import trained
from sweeps.common import with_texts

RATING = re.compile(
    r"\b(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"\s*(?:/\s*(?:10|5|4)|out of (?:10|ten|5|five|4|four))\b"
    r"|\bout of (?:10|ten)\b",
    re.IGNORECASE,
)


def with_rating(corpus: Corpus) -> np.ndarray:
    """Return whether each text contains a rating, bool (n,)."""
    return np.array([bool(RATING.search(text)) for text in corpus.texts or ()])


def masked(corpus: Corpus, rated: np.ndarray) -> Corpus:
    """Return a corpus without ratings; texts that `rated` (n,) marks come first."""
    assert corpus.texts is not None
    texts = [RATING.sub(" ", corpus.texts[i]) for i in np.flatnonzero(rated)]
    cut = Corpus.from_texts(texts, vocab=corpus.vocab)
    counts = vstack([cut.counts, corpus.counts[~rated]])
    labels = torch.cat([corpus.targets[rated], corpus.targets[~rated]])
    return Corpus(counts, labels, corpus.vocab)


if __name__ == "__main__":
    torch.set_num_threads(1)
    reviews = with_texts("imdb")
    again = with_texts("imdb", "test", vocab=reviews.vocab)
    rated, rows = with_rating(reviews), with_rating(again)
    order, has = np.argsort(~rows, kind="stable"), np.sort(~rows) == 0
    model, plain = trained(reviews, 16), trained(masked(reviews, rated), 16)
    truth = again.targets[order].bool().numpy()
    before = (model(again)[order] > 0).numpy() == truth
    after = (plain(masked(again, rows)) > 0).numpy() == truth
    vocab = reviews.vocab
    digits = [vocab.index(str(k)) for k in range(1, 11) if str(k) in vocab]
    usual = again.counts[order][:, digits].sum(axis=1) / again.lengths.numpy()[order]
    attention = model.attention(again)[order][:, digits].sum(axis=1)
    columns = {
        "tokens 1 to 10": usual,
        "attention on them": attention,
        "accuracy": before,
        "accuracy, masked": after,
    }
    names = {True: "with a rating", False: "without"}
    means = pd.DataFrame(columns).groupby(has).mean().rename(names).round(5)
    found = {"share rated": round(float(rated.mean()), 5)}
    found |= json.loads(means.to_json(orient="index"))
    store(result_folder("own_texts") / "masked.json", found)
