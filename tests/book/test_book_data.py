"""The authors' tables, the stored results and the random corpora of the book."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from attnsel_book import authors, leaning_corpus, results, step_sweep
from attnsel_book.chapters.explanation.results import explanations
from attnsel_book.chapters.selection.results import followed_runs, selection_runs
from attnsel_book.results import store, stored

CHAPTERS = Path(results.__file__).parent / "chapters"
PARTS = sorted(
    f"{path.parent.name}/{path.stem}"
    for path in CHAPTERS.glob("*/*.json")
    if path.stem not in ("models",)  # which no sweep stores
)


@pytest.mark.parametrize(
    ("table", "column", "bins", "total", "last"),
    [
        ("two layers", "attention", 20, 51.51, 12.44),
        ("two layers", "value", 20, -1.21, 0.93),
        ("MLP", "attention", 20, 51.11, 6.10),
        ("MLP", "value", 20, 5.66, 1.40),
        ("class 2", "value", 19, 192.414, 53.548),
        ("class 4", "value", 19, -69.004, 21.060),
    ],
)
def test_a_table_is_that_of_the_authors(table, column, bins, total, last):
    found = authors(table)
    assert found["x"].shape == found[column].shape == (bins,)
    assert (np.diff(found["x"]) > 0).all()
    assert found[column].sum() == pytest.approx(total, abs=5e-4)
    assert found[column][-1] == last


def test_the_measures_of_explanations_are_whole_and_bounded_by_the_optimum():
    runs = explanations()
    assert not runs.isna().any(axis=None)
    assert {moment for moment, _ in runs.columns} == {"best step", "converged"}
    for part in (0.01, 0.02, 0.05, 0.1, 0.2):
        most = runs.loc[f"comprehensiveness, optimum, {part}"]
        least = runs.loc[f"sufficiency, optimum, {part}"]
        for way in ("attention", "influence", "signed Q b", "random"):
            assert (runs.loc[f"comprehensiveness, {way}, {part}"] <= most).all()
            assert (runs.loc[f"sufficiency, {way}, {part}"] >= least).all()


def test_a_run_is_lost_if_one_class_is_missed_and_right_if_none_is():
    runs = step_sweep()
    assert set(runs["problem"]) == {"T31", "T8", "T6"}
    for _, run in runs.iterrows():
        both = {run["positive"], run["negative"]}
        assert run["lost"] == (both == {0.0, 1.0})
        assert run["all"] == (both == {1.0})
    assert runs["lost"].any() and runs["all"].any()


@pytest.mark.parametrize("part", stored("selection/selection"))
def test_runs_of_selection_are_judged_where_they_have_two_classes(part):
    runs = selection_runs(part)
    assert len(runs) == len(stored("selection/selection")[part])
    judged = {"lost", "all"} <= set(runs)
    assert judged == ({"positive", "negative"} <= set(runs))
    if judged:
        assert (runs["all"] == (runs["positive"] + runs["negative"] == 2)).all()
        assert not (runs["all"] & runs["lost"]).any()


def test_each_lost_run_was_followed_on_and_changes_are_counted():
    runs = ["problem", "d", "step", "seed"]
    lost = step_sweep().query("lost")[runs]
    followed = followed_runs("lost")
    assert followed[runs].to_numpy().tolist() == lost.to_numpy().tolist()
    assert followed["end"].min() > 29_999
    for norm in (1000, 3000, 10000):
        late = followed["last change"] > norm
        assert (late == (followed[f"change after {norm}"] > 0)).all()


@pytest.mark.parametrize("rare", [0, 1])
def test_tokens_of_a_drawn_corpus_lean_as_they_are_said_to(rare):
    corpus = leaning_corpus(3, rare=rare)
    assert len(corpus) == 4000 and set(corpus.lengths.tolist()) == {40}
    assert corpus.labels.sum() == 2000
    counts = corpus.counts.toarray()
    held = counts.sum(axis=0)
    positive = counts[corpus.labels.numpy() == 1].sum(axis=0)
    leans = np.linspace(-1, 1, 400)
    law = binom(held, (1 + leans) / 2)
    chances = 2 * np.minimum(law.cdf(positive), law.sf(positive - 1))
    assert chances.min() > 1e-5  # of 400 tokens
    # Equally frequent, or 20 times rarer at the ends than in the middle.
    ends, middle = held[[0, 1, -2, -1]].mean(), held[198:202].mean()
    assert ends / middle == pytest.approx(0.05 if rare else 1, rel=0.2)
    again = leaning_corpus(3, rare=rare)
    assert (again.counts != corpus.counts).nnz == 0
    assert (leaning_corpus(4, rare=rare).counts != corpus.counts).nnz > 0


def test_runs_seen_from_outside_are_there_once_and_in_their_ranges():
    runs = stored("outside/runs")
    assert not runs.duplicated(["data", "variant", "seed"]).any()
    controls = runs[(runs["data"] == "imdb") & (runs["variant"] == "uniform attention")]
    assert len(controls) >= 5
    assert controls["inner height"].abs().max() == 0
    assert runs["accuracy"].between(0, 1).all()


@pytest.mark.parametrize("name", PARTS)
def test_what_is_stored_is_written_as_it_stands(tmp_path, name):
    store(tmp_path / "again.json", stored(name))
    again = (tmp_path / "again.json").read_bytes()
    assert again == (CHAPTERS / f"{name}.json").read_bytes()
