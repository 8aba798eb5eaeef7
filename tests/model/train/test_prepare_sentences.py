import pandas as pd
import pytest
import torch

from model.config import preset
from model.train.datasets import edited_reviews, phrases
from model.train.prepare_reviews import prepare_reviews, review_opening, split_reviews
from model.train.prepare_sentences import changed_sentences


@pytest.fixture(scope="module")
def prepared(few_reviews, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    setup = prepare_reviews(preset("imdb-pre-ln"), few_reviews, folder / "imdb-pre-ln", torch.device("cpu"))
    return setup, folder


def texts(setup, corpus) -> set[str]:
    return {setup.tokenizer.decode(corpus[index].tolist()) for index in range(len(corpus))}


@pytest.mark.slow
def test_nothing_that_is_judged_on_is_learned(prepared):
    setup, _ = prepared
    task = setup.tasks["sentences"]
    *rated, made, pairs, reviews = (part.task for part in task.parts)
    judged = texts(setup, task.held_out["sentences"][0])
    assert not judged & set().union(*(texts(setup, part.corpus) for part in (*rated, made)))
    edited = set().union(
        *(texts(setup, task.held_out[name][0]) for name in ("edited reviews", "their originals"))
    )
    assert edited
    assert not edited & set().union(*(texts(setup, version) for version in pairs.versions))
    assert not edited & texts(setup, reviews.corpus)


def test_of_a_pair_the_negative_version_comes_first(prepared, few_reviews):
    setup, _ = prepared
    negative, positive = setup.tasks["sentences"].parts[3].task.versions
    learned = edited_reviews(few_reviews).query("split == 'train'")
    assert len(negative) == len(positive) == learned.pair.nunique()
    for index, (_, pair) in enumerate(learned.groupby("pair")):
        for version, label in ((negative, 0), (positive, 1)):
            (text,) = pair.text[pair.label == label]
            ids = setup.tokenizer.encode(text, add_special_tokens=False).ids
            assert version[index].tolist() == ids


@pytest.mark.slow
def test_a_pair_whose_original_is_held_out_is_not_learned(few_reviews, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("imdb_train", "imdb_unsup", "sst"):
        (data / f"{name}.csv").write_bytes((few_reviews / f"{name}.csv").read_bytes())
    edited = edited_reviews(few_reviews)
    unseen = split_reviews(few_reviews, tmp_path / "first").held_out_texts[0]
    learned = edited.index[(edited.split == "train") & (edited.version == "original")]
    edited.loc[learned[0], "text"] = unseen
    edited.to_csv(data / "edited_reviews.csv", index=False)
    setup = prepare_reviews(preset("imdb-pre-ln"), data, tmp_path / "runs" / "run", torch.device("cpu"))
    pairs = setup.tasks["sentences"].parts[3].task
    assert pairs.n_examples == len(learned) - 1
    assert review_opening(unseen) not in {
        review_opening(text) for one in pairs.versions for text in texts(setup, one)
    }


def test_what_is_judged_on_is_left_to_be_evaluated_on(prepared, few_reviews):
    _, folder = prepared
    table = pd.read_csv(folder / "sentences.csv")
    own = phrases(few_reviews).query("split == 'dev' and whole == 1 and rating != 2")
    assert table.text.tolist() == own.text.tolist()
    assert table.label.tolist() == (own.rating > 2).astype(int).tolist()
    for name in ("sentences-with-negation", "edited-reviews", "their-originals", "negation"):
        assert set(pd.read_csv(folder / f"{name}.csv").label) == {0, 1}


def test_sentences_that_differ_stand_beside_their_counterparts():
    before = "I saw it twice. The plot is dull!<br /><br />The end is not good. Go home."
    after = "I saw it twice. The plot is fine! The end is good. Go home."
    assert changed_sentences(before, after) == [
        ("The plot is dull!", "The plot is fine!"),
        ("The end is not good.", "The end is good."),
    ]


def test_what_has_no_counterpart_is_left_out():
    assert changed_sentences("It is long. It is bad.", "It is long.") == []
    assert changed_sentences("It is bad. I left early.", "It is very good.") == []


def test_sentences_that_say_different_things_are_no_edit():
    assert changed_sentences("The plot is dull.", "Everybody laughed all evening.") == []


def test_very_long_sentences_are_left_out():
    long = " ".join(["and on"] * 31)
    assert changed_sentences(f"It is bad {long}.", f"It is good {long}.") == []
