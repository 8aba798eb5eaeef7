import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.heads import patch_over_pairs
from app_pages.heads.parse_pairs import Pair, PairList
from app_pages.heads.patch_effect import Columns, Quantity
from app_pages.heads.patch_over_pairs import effect_rows, example_digit_pairs, example_pairs, headline
from app_pages.subject import cache
from app_pages.subject.shipped_inputs import test_digits as digits
from model.checkpoint import load
from model.experiments import patching_over_pairs
from model.experiments.patching_over_pairs import MeanEffects, mean_effects, patch_pairs
from model.inputs import InputLike
from tests.app_pages.charts import table as table_of
from tests.app_pages.shown_text import page_text

Open = Callable[..., AppTest]
PAGE, ENCODER = "app_pages/heads/page.py", "imdb-pre-ln"
TEXTS = [("not great film", "a great film"), ("great film", "not a film"), ("a film", "great b c")]
DIGITS = {"kind": "Digit", "checkpoint": "mnist-pre-ln"}
NUMBERS = [(0, 1), (2, 5), (7, 3)]


@pytest.fixture
def open_pairs(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the tab with these pairs, of texts or of the numbers of digits, as those of a file."""
    # the answers of a tiny encoder with random weights are all nearer than 1 nat
    monkeypatch.setattr(patching_over_pairs, "LEAST_NATS_OF_MEAN", 0.01)

    def opened(pairs: Sequence[tuple] | None = None, **query: str) -> AppTest:
        defaults = {"text": "not great film", "checkpoint": ENCODER, "heads_part": "Patch"}
        app = open_app(PAGE, **defaults | {"patch_pairs": "pairs of a file"} | query)
        if pairs is not None:
            held = PairList("“a.csv”", tuple(Pair(*pair, line) for line, pair in enumerate(pairs, 2)))
            app.session_state["pairs_held" if isinstance(pairs[0][0], str) else "digit_pairs_held"] = held
            app.run()
        assert not app.exception
        return app

    return opened


def assert_means_of_library(
    app: AppTest, name: str, pairs: Sequence[tuple[InputLike, InputLike]], part: str, *, normalised: bool
) -> None:
    """The grid shows the means, deviations and intervals of `patch_pairs`, and whether 0 is inside each interval."""
    start = "share of the way" if normalised else "change of the log-odds of the predicted class"
    rows = table_of(app, start, "layer", "column", "value", "sd", "low", "high", "n", "result")
    rows = rows.sort_values(["layer", "column"])
    heads, feed_forwards = (
        patch_pairs(cache.loaded(name), pairs, kind, normalised=normalised) for kind in (part, "feed-forward")
    )
    for field, column in (("mean", "value"), ("sd", "sd"), ("low", "low"), ("high", "high")):
        expected = np.concatenate((getattr(heads, field), getattr(feed_forwards, field)), axis=1)
        np.testing.assert_allclose(rows[column], expected.ravel(), rtol=1e-3, atol=1e-4)
    assert set(rows["n"]) == {heads.n}
    assert (rows["result"] != "not tested").all()
    contains_0 = (rows["low"] <= 0) & (rows["high"] >= 0)
    assert not (contains_0 & (rows["result"] != "no clear effect")).any()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("taken", "part"), [("output z", "z"), ("values v", "v")])
def test_means_are_those_of_the_library(open_pairs, taken, part, normalised):
    app = open_pairs(TEXTS, patch_part=taken, patch_effect="share of the way" if normalised else "change")
    assert_means_of_library(app, ENCODER, TEXTS, part, normalised=normalised)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("normalised", [False, True])
def test_of_pairs_of_digits_the_means_are_those_of_the_library(open_pairs, normalised):
    app = open_pairs(NUMBERS, **DIGITS, patch_effect="share of the way" if normalised else "change")
    images, _ = digits()
    pairs = [(images[first], images[second]) for first, second in NUMBERS]
    assert_means_of_library(app, "mnist-pre-ln", pairs, "z", normalised=normalised)
    assert "3 pairs of digits from “a.csv”." in page_text(app)
    assert "taken from the second digit: mean over pairs" in page_text(app)
    assert "second text" not in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("query", "noun", "examples"),
    [
        ({}, "texts", "the examples, each with one word replaced"),
        (DIGITS, "digits", "the first test digits, each with the next one of another class"),
    ],
)
def test_without_pairs_it_asks_for_a_file_and_offers_examples(open_pairs, query, noun, examples):
    app = open_pairs(**query)
    (upload,) = app.get("file_uploader")
    assert upload.proto.label == f"Pairs of {noun} (CSV or TSV, two columns)"
    app.button(key="pairs_examples").click().run()
    assert examples in page_text(app)
    app.button(key="pairs_other").click().run()
    assert app.get("file_uploader")


def test_pairs_of_texts_and_of_digits_are_held_apart(open_pairs):
    assert open_pairs(TEXTS, **DIGITS).get("file_uploader")


def test_the_examples_differ_in_one_word():
    pairs = example_pairs().pairs
    assert len(pairs) >= 3
    for pair in pairs:
        first, second = pair.first.split(), pair.second.split()
        assert sum(one != other for one, other in zip(first, second, strict=True)) == 1


def test_equal_answers_are_left_out_of_shares_and_counted(open_pairs):
    pairs = [*TEXTS, ("a film", "a film")]
    app = open_pairs(pairs, patch_effect="share of the way")
    expected = patch_pairs(cache.loaded(ENCODER), pairs, normalised=True)
    assert expected.n_equal >= 1
    assert f"Over {expected.n} pairs" in page_text(app)
    assert re.search(rf"Left out: {expected.n_equal} pairs? whose two answers are too close", page_text(app))
    app = open_pairs(pairs[-1:], patch_effect="share of the way")
    assert "too close to divide by their difference in the only pair" in page_text(app)


def test_a_headline_names_the_largest_effect_with_n_and_interval(open_pairs):
    app = open_pairs(TEXTS, patch_effect="share of the way")
    rows = table_of(app, "share of the way", "name", "value", "interval", "n", "result")
    is_shown = rows["result"] != "no clear effect"
    largest = rows.sort_values("value", key=abs).iloc[-1]
    assert f"Over {largest['n']} pairs, {largest['name']} has the largest mean effect" in page_text(app)
    assert f"95 % interval {largest['interval']}" in page_text(app)
    assert f"{is_shown.sum()} of 6 parts" in page_text(app)
    assert "after Holm's correction for all 6 parts that are tested" in page_text(app)


def test_a_pair_given_again_counts_once(open_pairs):
    app = open_pairs([TEXTS[0], TEXTS[0]])
    assert "Over 1 pair: at least two pairs are needed to tell an effect from chance." in page_text(app)
    left_out = "Left out: 1 pair that the encoder reads like an earlier one: equal pairs count once."
    assert left_out in page_text(app)
    assert "Over 3 pairs" in page_text(open_pairs([*TEXTS, TEXTS[1]]))


@pytest.mark.parametrize(
    ("effects", "signed", "sentence"),
    [
        # the largest mean could be chance: it is named all the same
        (
            [[3.0, 0.1], [-1.0, 0.11], [1.0, 0.09]],
            True,
            "Over 3 pairs, L0 H0 has the largest mean effect: +1.00, 95 % interval −3.97 to +5.97, which could be chance. Of the parts "
            "with a clear effect, L0 FF has the largest: +0.100, 95 % interval +0.0752 to +0.125. 1 of 2 parts have a clear "
            "effect.",
        ),
        ([[0.0, 0.0], [1e-8, 0.0]], False, "Over 2 pairs, no part has an effect."),
    ],
)
def test_the_headline_follows_from_the_numbers(effects, signed, sentence):
    means = mean_effects([np.array([effect]) for effect in effects], signed=signed)
    shown = Quantity("a", signed, ("falls", "rises"))
    assert headline(means, Columns(("H0", "FF"), 1), shown) == sentence


def test_examples_of_nearly_equal_answers_do_not_decide_the_mean_share():
    """With the pairs that differ by 0.21, −0.61 and −0.39 nats, whose shares are above 0.85, L1 H0 had 0.47."""
    pairs = [(pair.first, pair.second) for pair in example_pairs().pairs]
    heads = patch_pairs(load(Path("checkpoints/imdb-pre-ln")), pairs, normalised=True)
    assert (heads.n, heads.n_equal) == (5, 4)
    assert heads.mean[1, 0] < 0.1


def test_long_work_waits_for_a_button_that_says_how_long_it_takes(open_pairs, monkeypatch):
    monkeypatch.setattr(patch_over_pairs, "AT_ONCE", 0)
    app = open_pairs(TEXTS)
    button = app.button(key="patch_pairs_all")
    assert button.label == "Patch each part in 3 pairs, about 1 s"
    assert "Over 3 pairs" not in page_text(app)
    button.click().run()
    assert "Over 3 pairs" in page_text(app)
    app.run()
    assert "Over 3 pairs" in page_text(app)


def test_a_pair_without_a_masked_word_is_named_by_its_line(open_pairs):
    texts = [("a [MASK] film", "not [MASK] film"), ("great film", "a film")]
    app = open_pairs(texts, text="not [MASK] film", answer_of="masked word")
    assert "The pair in line 3 cannot be read: the text has no [MASK]" in page_text(app)


def test_the_example_digits_differ_in_their_class():
    labels = digits()[1]
    pairs = example_digit_pairs().pairs
    assert len(pairs) >= 20
    assert all(labels[pair.first] != labels[pair.second] for pair in pairs)


TABLE_COLUMNS = Columns(("H0", "H1", "FF"), 1)
TABLE_EFFECTS = mean_effects(
    [np.array([[0.1, -2.0, 1.0]]) + shift * np.array([[1, 0.1, 0.1]]) for shift in (-1, 0, 1)]
)


def table_texts(effects: MeanEffects, *, is_tested: bool = True) -> list[list[str]]:
    """The texts of the cells, by row."""
    rows = effect_rows(effects, TABLE_COLUMNS, (0, 0), is_tested=is_tested)
    return [[cell["text"] for cell in row["cells"]] for row in rows]


def test_the_largest_mean_comes_first_with_its_interval():
    assert table_texts(TABLE_EFFECTS) == [
        ["L0 H1", "−2.00", "−2.25 to −1.75", "0.100", "3", "clear"],
        ["L0 FF", "+1.00", "+0.752 to +1.25", "0.100", "3", "clear"],
        ["L0 H0", "+0.100", "−2.38 to +2.58", "1.00", "3", "could be chance"],
    ]
    rows = effect_rows(TABLE_EFFECTS, TABLE_COLUMNS, (0, 0), is_tested=True)
    assert [row["current"] for row in rows] == [False, False, True]


def test_what_does_not_vary_is_not_tested():
    effects = mean_effects([np.array([[2.0, 0.5, 0.0]]), np.array([[2.0, 0.5 + 1e-7, 1.0]])])
    results = [texts[-1] for texts in table_texts(effects)]
    assert results == ["not tested", "not tested", "could be chance"]


def test_distances_have_no_test_and_no_sign():
    assert table_texts(TABLE_EFFECTS, is_tested=False)[1] == ["L0 FF", "1.00", "0.752 to 1.25", "0.100", "3"]


def test_of_one_pair_there_is_no_interval():
    texts = table_texts(mean_effects([np.ones((1, 3))]))
    assert texts[0] == ["L0 H0", "+1.00", "–", "–", "1", "not tested"]
