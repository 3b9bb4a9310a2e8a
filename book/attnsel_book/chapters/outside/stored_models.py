"""Small trained models that a chapter queries, stored with a checksum."""

import hashlib
import io
import json
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnsel.beyond.transformer import Transformer
from attnsel.tokens import Vocab

HALF = np.float16  # type of the stored parameters
Classify = Callable[[list[list[str]]], Tensor]


def stored_models(source: str = "imdb") -> tuple[Vocab, dict[str, Any]]:
    """Return the models that `run_outside.py` trained on "imdb" or on "yelp".

    The first result is their vocabulary, and the second the models by name. A model is
    a `Transformer`, or a tensor: the scores E p and E v (V, 2) of "one layer" and "mean
    of values", or a number for each token and one for all texts (V + 1,) of "sum".

    Raises:
        ValueError: if the checksum of `models.npz` is not the stored one.
    """
    folder = resources.files(__package__)
    text = folder.joinpath("models.json").read_text(encoding="utf-8")
    content = folder.joinpath("models.npz").read_bytes()
    return unpacked(json.loads(text), content, source)


def stored_classifiers() -> tuple[Vocab, dict[str, Classify]]:
    """Return the vocabulary and the stored models of IMDB as functions, by name.

    A function returns the logits (n,) of n texts. A text is a list of words of the
    vocabulary.
    """
    vocab, models = stored_models()
    readers = {
        "one layer": one_layer(models["one layer"]),
        "mean of values": one_layer(models["mean of values"]),
        "sum": sum_of(models["sum"]),
    }
    return vocab, {name: asking(f, vocab) for name, f in (models | readers).items()}


def one_layer(numbers: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a model softmax(a) b of ids (n, T), padded with -1, for a, b (V, 2)."""
    a, b = numbers.T

    def f(ids: Tensor) -> Tensor:
        scores = a[ids].masked_fill(ids < 0, -torch.inf)
        return (torch.softmax(scores, dim=1) * b[ids]).sum(1)

    return f


def sum_of(numbers: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a model that adds the last of `numbers` (V + 1,) to a sum over tokens."""

    def f(ids: Tensor) -> Tensor:
        return numbers[-1] + (numbers[ids] * (ids >= 0)).sum(1)

    return f


def asking(model: Callable[[Tensor], Tensor], vocab: Vocab) -> Classify:
    """Return a model of ids as a function from texts (lists of words) to logits."""

    def classify(texts: list[list[str]]) -> Tensor:
        rows = [torch.tensor([vocab.index(word) for word in text]) for text in texts]
        return model(pad_sequence(rows, batch_first=True, padding_value=-1))

    return classify


def unpacked(
    index: dict[str, Any], content: bytes, source: str
) -> tuple[Vocab, dict[str, Any]]:
    """Return the vocabulary and the models of a source, read from `models.npz`."""
    found = hashlib.sha256(content).hexdigest()
    if found != index["sha256"]:
        raise ValueError(f"models.npz: its checksum is {found}, not {index['sha256']}")
    arrays = np.load(io.BytesIO(content))
    models: dict[str, Any] = {}
    for name, settings in index["models"][source].items():
        prefix = f"{source}/{name}/"
        parts = {
            key.removeprefix(prefix): torch.from_numpy(arrays[key].astype(np.float32))
            for key in arrays.files
            if key.startswith(prefix)
        }
        models[name] = _model(settings, parts)
    return Vocab(index["vocabs"][source]), models


def _model(settings: dict[str, Any] | None, parts: dict[str, Tensor]) -> Any:
    """Return a transformer, or only the numbers if there are no settings."""
    if settings is None:
        return parts["numbers"]
    model = Transformer(**settings)
    model.load_state_dict(parts)
    return model.requires_grad_(False)


def packed(
    vocabs: dict[str, Vocab], models: dict[str, dict[str, Any]]
) -> tuple[dict[str, Any], bytes]:
    """Return the index of all sources and the bytes of `models.npz`, for `unpacked`."""
    arrays: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {source: {} for source in models}
    for source, group in models.items():
        for name, model in group.items():
            is_transformer = isinstance(model, Transformer)
            settings[source][name] = model.settings if is_transformer else None
            parts = model.state_dict() if is_transformer else {"numbers": model}
            for key, part in parts.items():
                arrays[f"{source}/{name}/{key}"] = part.numpy().astype(HALF)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    content = file.getvalue()
    index = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "vocabs": {source: list(vocab) for source, vocab in vocabs.items()},
        "models": settings,
    }
    return index, content
