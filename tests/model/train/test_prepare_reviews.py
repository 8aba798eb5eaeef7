import numpy as np
import pandas as pd
import pytest
import torch

from model.config import preset
from model.train.prepare_reviews import _cached_folder, prepare_reviews, split_reviews


@pytest.fixture
def reviews(tmp_path):
    """100 negative, 100 positive and 20 unlabelled reviews, numbered; one stands in the set twice."""
    folder = tmp_path / "data"
    folder.mkdir()
    for part, labels in (("train", [0] * 100 + [1] * 100), ("unsup", [-1] * 20)):
        texts = [f"{part} {number}" for number in range(len(labels))]
        if part == "unsup":
            texts[3] = "train 21"  # which is held out
        pd.DataFrame({"label": labels, "text": texts}).to_csv(folder / f"imdb_{part}.csv", index=False)
    return split_reviews(folder, tmp_path, excluded=["Train <br />22...", "unsup 3"])


def test_whole_stretches_of_both_classes_are_held_out(reviews):
    numbers = [int(text.split()[-1]) for text in reviews.held_out_texts]
    # of each fifth of a class, 20 reviews here, the first two
    assert sorted(numbers) == [number for start in range(0, 200, 20) for number in (start, start + 1)]
    assert reviews.held_out_labels.tolist() == [int(number >= 100) for number in numbers]


def test_the_first_of_the_held_out_are_of_both_classes(reviews):
    assert 0 < reviews.held_out_labels[:8].mean() < 1


def test_what_is_held_out_is_learned_nowhere(reviews):
    assert not set(reviews.texts) & set(reviews.held_out_texts)
    assert len(reviews.texts) == 198
    assert np.bincount(reviews.labels + 1).tolist() == [19, 89, 90]


def test_what_is_left_out_is_known_again_by_its_letters_and_in_neither_part(reviews):
    assert "train 22" not in reviews.texts + reviews.held_out_texts
    assert "train 23" in reviews.texts


def test_what_is_held_out_is_left_to_be_evaluated_on(reviews, tmp_path):
    table = pd.read_csv(tmp_path / "imdb-held-out.csv")
    assert table.text.tolist() == reviews.held_out_texts
    assert table.label.tolist() == reviews.held_out_labels.tolist()


def test_what_was_prepared_is_not_prepared_again(tmp_path):
    made = []
    for _ in range(2):
        folder = _cached_folder(tmp_path, ["a", "text"], "tokens", made.append)
    assert len(made) == 1
    assert _cached_folder(tmp_path, ["another"], "tokens", made.append) != folder


def test_of_two_runs_that_prepare_at_once_the_first_to_be_done_counts(tmp_path):
    def first(folder):
        (folder / "by").write_text("the first")

    def second(folder):
        (folder / "by").write_text("the second")
        _cached_folder(tmp_path, ["a text"], "tokens", first)

    folder = _cached_folder(tmp_path, ["a text"], "tokens", second)
    assert (folder / "by").read_text() == "the first"
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.slow
def test_a_known_label_counts_and_else_what_the_teachers_say(few_reviews, tmp_path):
    config, run = preset("imdb-pre-ln"), tmp_path / "imdb-pre-ln"
    tasks = prepare_reviews(config, few_reviews, run, torch.device("cpu")).tasks
    known = torch.from_numpy(split_reviews(few_reviews, tmp_path).labels)
    by_words, by_both = (tasks[name].labels for name in ("sentiment", "sentiment, two teachers"))
    for positive in (by_words, by_both):
        assert torch.equal(positive[known >= 0], known[known >= 0].float())
        assert ((positive[known < 0] > 0) & (positive[known < 0] < 1)).all()
    assert not torch.equal(by_words, by_both)
