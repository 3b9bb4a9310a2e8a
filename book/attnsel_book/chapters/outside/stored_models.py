"""Stored models that the chapter *Does a transformer select tokens?* queries."""

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
    """Return a vocabulary, and the models that were trained on "imdb" or on "yelp".

    The models are given by name. For "yelp", there is only "transformer". "one layer"
    and "mean of values" are tensors (V, 2) of scores E p and values E v. "sum" is a
    tensor (V + 1,) with one number per token and, last, a number that is added for
    every text. Other models are of type `Transformer`.

    Raises:
        ValueError: if the checksum of `models.npz` is not the one in `models.json`.
    """
    folder = resources.files(__package__)
    text = folder.joinpath("models.json").read_text(encoding="utf-8")
    content = folder.joinpath("models.npz").read_bytes()
    return unpacked(json.loads(text), content, source)


def stored_classifiers() -> tuple[Vocab, dict[str, Classify]]:
    """Return the vocabulary of IMDB, and the stored models as functions, by name.

    Each function returns the logits (n,) of n texts. A text is a list of words of the
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
    """Return a one-layer model whose scores and values are the `numbers` (V, 2).

    The model returns logits (n,) for token ids (n, T), padded with -1.
    """
    a, b = numbers.T

    def f(ids: Tensor) -> Tensor:
        scores = a[ids].masked_fill(ids < 0, -torch.inf)
        return (torch.softmax(scores, dim=1) * b[ids]).sum(1)

    return f


def sum_of(numbers: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a model that sums one number per token, and adds the last of `numbers`."""

    def f(ids: Tensor) -> Tensor:
        return numbers[-1] + (numbers[ids] * (ids >= 0)).sum(1)

    return f


def asking(model: Callable[[Tensor], Tensor], vocab: Vocab) -> Classify:
    """Return a function of texts (lists of words) that calls a model with token ids."""

    def classify(texts: list[list[str]]) -> Tensor:
        rows = [torch.tensor([vocab.index(word) for word in text]) for text in texts]
        return model(pad_sequence(rows, batch_first=True, padding_value=-1))

    return classify


def unpacked(
    index: dict[str, Any], content: bytes, source: str
) -> tuple[Vocab, dict[str, Any]]:
    """Return the vocabulary and the models of a `source`, as stored by `packed`.

    Raises:
        ValueError: if the checksum of `content` is not the one in `index`.
    """
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
    """Return the contents of `models.json` and of `models.npz`, for `unpacked`."""
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
