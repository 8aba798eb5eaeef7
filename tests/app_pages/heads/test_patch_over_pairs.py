import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.heads import patch_over_pairs
from app_pages.heads.parse_pairs import Pair, PairList
from app_pages.heads.patch_effect import Columns, Quantity
from app_pages.heads.patch_over_pairs import draw_effects_table, example_digit_pairs, example_pairs, headline
from app_pages.subject import cache
from app_pages.subject.shipped_inputs import test_digits as digits
from model.checkpoint import load
from model.experiments import patching_over_pairs
from model.experiments.patching_over_pairs import MeanEffects, mean_effects, patch_pairs
from tests.app_pages.charts import table as table_of

Open = Callable[..., AppTest]
PAGE, ENCODER = "app_pages/heads/page.py", "imdb-pre-ln"
TEXTS = [("not great film", "a great film"), ("great film", "not a film"), ("a film", "great b c")]
MEAN = "change of the log-odds of the predicted class"


def held(texts: list[tuple[str, str]]) -> PairList:
    return PairList("“a.csv”", tuple(Pair(*pair, line) for line, pair in enumerate(texts, 2)))


@pytest.fixture
def open_pairs(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    # the answers of a tiny encoder with random weights are all nearer than 1 nat
    monkeypatch.setattr(patching_over_pairs, "LEAST_NATS_OF_MEAN", 0.01)

    def opened(texts: list[tuple[str, str]] | None = None, **query: str) -> AppTest:
        defaults = {"text": "not great film", "checkpoint": ENCODER, "heads_part": "Patch"}
        app = open_app(PAGE, **defaults | {"patch_pairs": "pairs of a file"} | query)
        if texts is not None:
            app.session_state["pairs_held"] = held(texts)
            app.run()
        assert not app.exception
        return app

    return opened


def shown_text(app: AppTest) -> str:
    bodies = [item.proto.body for item in app.get("html")]
    texts = [item.value for item in (*app.caption, *app.info, *app.warning, *app.markdown)]
    return " ".join([*bodies, *texts])


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("taken", "part"), [("output z", "z"), ("values v", "v")])
def test_means_are_those_of_the_library(open_pairs, taken, part, normalised):
    app = open_pairs(TEXTS, patch_part=taken, patch_effect="share of the way" if normalised else "change")
    start = "share of the way" if normalised else MEAN
    rows = table_of(app, start, "layer", "column", "value", "sd", "low", "high", "n", "result")
    rows = rows.sort_values(["layer", "column"])
    loaded = cache.loaded(ENCODER)
    heads, feed_forwards = (
        patch_pairs(loaded, TEXTS, kind, normalised=normalised) for kind in (part, "feed-forward")
    )
    for name, column in (("mean", "value"), ("sd", "sd"), ("low", "low"), ("high", "high")):
        expected = np.concatenate((getattr(heads, name), getattr(feed_forwards, name)), axis=1)
        np.testing.assert_allclose(rows[column], expected.ravel(), rtol=1e-3, atol=1e-4)
    assert set(rows["n"]) == {heads.n}
    assert (rows["result"] != "not tested").all()
    contains_0 = (rows["low"] <= 0) & (rows["high"] >= 0)
    assert (contains_0 == (rows["result"] == "no clear effect")).all()


def test_without_pairs_it_asks_for_a_file_and_offers_examples(open_pairs):
    app = open_pairs()
    assert app.get("file_uploader")
    app.button(key="pairs_examples").click().run()
    assert not app.exception
    assert "the examples, each with one word replaced" in shown_text(app)
    app.button(key="pairs_other").click().run()
    assert app.get("file_uploader")


def test_the_examples_differ_in_one_word():
    pairs = example_pairs().pairs
    assert len(pairs) >= 3
    for pair in pairs:
        first, second = pair.first.split(), pair.second.split()
        assert sum(one != other for one, other in zip(first, second, strict=True)) == 1


def test_equal_answers_are_left_out_of_shares_and_counted(open_pairs):
    app = open_pairs([*TEXTS, ("a film", "a film")], patch_effect="share of the way")
    expected = patch_pairs(cache.loaded(ENCODER), [*TEXTS, ("a film", "a film")], normalised=True)
    assert expected.n_equal >= 1
    assert f"Over {expected.n} pairs" in shown_text(app)
    assert re.search(rf"Left out: {expected.n_equal} pairs? whose two answers are too close", shown_text(app))
    app = open_pairs([("a film", "a film")], patch_effect="share of the way")
    assert "too close to divide by their difference in the only pair" in shown_text(app)


def test_one_pair_shows_nothing(open_pairs):
    app = open_pairs(TEXTS[:1])
    assert "at least two pairs are needed to tell an effect from chance" in shown_text(app)
    assert set(table_of(app, MEAN, "interval")["interval"]) == {"not known: one pair"}


def test_a_headline_names_the_largest_effect_with_n_and_interval(open_pairs):
    app = open_pairs(TEXTS, patch_effect="share of the way")
    rows = table_of(app, "share of the way", "name", "value", "interval", "n", "result")
    is_shown = rows["result"] != "no clear effect"
    largest = rows.sort_values("value", key=abs).iloc[-1]
    assert f"Over {largest['n']} pairs, {largest['name']} has the largest mean effect" in shown_text(app)
    assert f"95 % interval {largest['interval']}" in shown_text(app)
    assert f"{is_shown.sum()} of 6 parts" in shown_text(app)
    assert "after Holm's correction for all 6 parts that are tested" in shown_text(app)


def test_where_no_effect_is_clear_no_part_is_named(open_pairs):
    """A text patched by itself changes nothing."""
    app = open_pairs([("great film", "great film"), ("a b", "a b")])
    assert "Over 2 pairs, no part has an effect." in shown_text(app)


def test_a_pair_given_again_counts_once(open_pairs):
    app = open_pairs([TEXTS[0], TEXTS[0]])
    assert "Over 1 pair: at least two pairs are needed to tell an effect from chance." in shown_text(app)
    assert (
        "Left out: 1 pair that the encoder reads like an earlier one: equal pairs count once."
        in shown_text(app)
    )
    app = open_pairs([*TEXTS, TEXTS[1]])
    assert "Over 3 pairs" in shown_text(app)


COLUMNS = Columns(("H0", "FF"), 1)
SIGNED, UNSIGNED = Quantity("a", True, ("falls", "rises")), Quantity("a", False, ("as before", "furthest"))


@pytest.mark.parametrize(
    ("effects", "shown", "sentence"),
    [
        # the largest mean could be chance: it is named all the same
        (
            [[3.0, 0.1], [-1.0, 0.11], [1.0, 0.09]],
            SIGNED,
            "Over 3 pairs, L0 H0 has the largest mean effect: +1.00, 95 % interval −3.97 to +5.97, which could be chance. Of the parts "
            "with a clear effect, L0 FF has the largest: +0.100, 95 % interval +0.0752 to +0.125. 1 of 2 parts have a clear "
            "effect.",
        ),
        (
            [[-2.0, 0.1], [-2.1, 0.11], [-1.9, 0.09]],
            SIGNED,
            "Over 3 pairs, L0 H0 has the largest mean effect: −2.00, 95 % interval −2.25 to −1.75. 2 of 2 parts have a clear "
            "effect.",
        ),
        (
            [[3.0, 0.0], [-2.0, 0.0]],
            SIGNED,
            "Over 2 pairs, no part has a clear effect; L0 H0 has the largest mean effect: +0.500, 95 % interval −31.3 to +32.3.",
        ),
        # equal in size
        (
            [[3.0, -3.0], [-2.0, 2.0]],
            SIGNED,
            "Over 2 pairs, no part has a clear effect; L0 H0, L0 FF have the largest mean effect: +0.500.",
        ),
        # no variance, no test
        (
            [[2.0, 0.0], [2.0, 0.0]],
            SIGNED,
            "Over 2 pairs, no part has a clear effect; L0 H0 has the largest mean effect: +2.00, 95 % interval +2.00 to +2.00.",
        ),
        ([[0.0, 0.0], [1e-8, 0.0]], SIGNED, "Over 2 pairs, no part has an effect."),
        ([[0.0, 0.0], [1e-8, 0.0]], UNSIGNED, "Over 2 pairs, no part has an effect."),
        (
            [[0.3, 0.1], [0.3, 0.2]],
            UNSIGNED,
            "Over 2 pairs, L0 H0 has the largest mean effect: 0.300, 95 % interval 0.300 to 0.300.",
        ),
        ([[1.0, 2.0]], SIGNED, "Over 1 pair: at least two pairs are needed to tell an effect from chance."),
    ],
)
def test_the_headline_follows_from_the_numbers(effects, shown, sentence):
    means = mean_effects([np.array([effect]) for effect in effects], signed=shown.signed)
    assert headline(means, COLUMNS, shown) == sentence


@pytest.fixture(scope="module")
def of_examples() -> dict[str, MeanEffects]:
    """Shares of the way in the encoder that comes with the project, over the examples, by part."""
    loaded = load(Path("checkpoints/imdb-pre-ln"))
    pairs = [(pair.first, pair.second) for pair in example_pairs().pairs]
    return {part: patch_pairs(loaded, pairs, part, normalised=True) for part in ("z", "q", "feed-forward")}


@pytest.mark.slow
def test_the_largest_effect_over_the_examples_is_named_though_it_could_be_chance(of_examples):
    heads, feed_forwards = of_examples["q"], of_examples["feed-forward"]
    names = ("mean", "sd", "low", "high")
    means = [np.concatenate((getattr(heads, name), getattr(feed_forwards, name)), axis=1) for name in names]
    columns = Columns(("H0", "H1", "H2", "H3", "FF"), 1)
    sentence = headline(MeanEffects(*means, heads.n), columns, SIGNED)
    assert sentence.startswith("Over 5 pairs, L0 FF has the largest mean effect: +0.248")
    assert (
        "which could be chance. Of the parts with a clear effect, L3 FF has the largest: −0.0545" in sentence
    )


def test_examples_of_nearly_equal_answers_do_not_decide_the_mean_share(of_examples):
    """With the pairs that differ by 0.21, −0.61 and −0.39 nats, whose shares are above 0.85, L1 H0 had 0.47."""
    heads = of_examples["z"]
    assert (heads.n, heads.n_equal) == (5, 4)
    assert heads.mean[1, 0] < 0.1


def test_long_work_waits_for_a_button_that_says_how_long_it_takes(open_pairs, monkeypatch):
    monkeypatch.setattr(patch_over_pairs, "AT_ONCE", 0)
    app = open_pairs(TEXTS)
    button = app.button(key="patch_pairs_all")
    assert button.label == "Patch each part in 3 pairs, about 1 s"
    assert "Over 3 pairs" not in shown_text(app)
    button.click().run()
    assert "Over 3 pairs" in shown_text(app)
    app.run()
    assert "Over 3 pairs" in shown_text(app)


def test_a_pair_without_a_masked_word_is_named_by_its_line(open_pairs):
    texts = [("a [MASK] film", "not [MASK] film"), ("great film", "a film")]
    app = open_pairs(texts, text="not [MASK] film", answer_of="masked word")
    assert "The pair in line 3 cannot be read: the text has no [MASK]" in shown_text(app).replace("\\", "")


DIGITS = {"kind": "Digit", "checkpoint": "mnist-pre-ln", "text": "not great film"}
NUMBERS = [(0, 1), (2, 5), (7, 3)]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("normalised", [False, True])
def test_of_pairs_of_digits_the_means_are_those_of_the_library(open_pairs, normalised):
    app = open_pairs(**DIGITS, patch_effect="share of the way" if normalised else "change")
    listed = tuple(Pair(*pair, line) for line, pair in enumerate(NUMBERS, 1))
    app.session_state["digit_pairs_held"] = PairList("“d.csv”", listed)
    app.run()
    assert "3 pairs of digits from “d.csv”." in shown_text(app)
    start = "share of the way" if normalised else MEAN
    rows = table_of(app, start, "layer", "column", "value", "sd", "low", "high", "n")
    rows = rows.sort_values(["layer", "column"])
    loaded, (images, _) = cache.loaded("mnist-pre-ln"), digits()
    pairs = [(images[first], images[second]) for first, second in NUMBERS]
    heads, feed_forwards = (
        patch_pairs(loaded, pairs, kind, normalised=normalised) for kind in ("z", "feed-forward")
    )
    for name, column in (("mean", "value"), ("sd", "sd"), ("low", "low"), ("high", "high")):
        expected = np.concatenate((getattr(heads, name), getattr(feed_forwards, name)), axis=1)
        np.testing.assert_allclose(rows[column], expected.ravel(), rtol=1e-3, atol=1e-4)
    assert set(rows["n"]) == {heads.n}
    assert "taken from the second digit: mean over pairs" in shown_text(app)
    assert "text" not in shown_text(app).split("mean over pairs")[1].split("What")[0]


@pytest.mark.slow
def test_without_pairs_of_digits_it_asks_for_a_file_and_offers_examples(open_pairs):
    app = open_pairs(**DIGITS)
    (upload,) = app.get("file_uploader")
    assert upload.proto.label == "Pairs of digits (CSV or TSV, two columns)"
    app.button(key="pairs_examples").click().run()
    assert not app.exception
    assert "the first test digits, each with the next one of another class" in shown_text(app)
    app.button(key="pairs_other").click().run()
    assert app.get("file_uploader")


def test_pairs_of_texts_and_of_digits_are_held_apart(open_pairs):
    app = open_pairs(**DIGITS)
    app.session_state["pairs_held"] = held(TEXTS)
    app.run()
    assert not app.exception
    assert app.get("file_uploader")


def test_the_example_digits_differ_in_their_class():
    labels = digits()[1]
    pairs = example_digit_pairs().pairs
    assert len(pairs) >= 20
    assert all(labels[pair.first] != labels[pair.second] for pair in pairs)


TABLE_COLUMNS = Columns(("H0", "H1", "FF"), 1)
TABLE_EFFECTS = mean_effects(
    [np.array([[0.1, -2.0, 1.0]]) + shift * np.array([[1, 0.1, 0.1]]) for shift in (-1, 0, 1)]
)


class Drawn:
    """In place of the table: what it was given."""

    def draw(self, headings, rows, **options):
        self.titles, self.rows = [heading["title"] for heading in headings], rows
        self.take_row = options["take_row"]

    @property
    def texts(self) -> list[list[str]]:
        return [[cell["text"] for cell in row["cells"]] for row in self.rows]


@pytest.fixture
def drawn(monkeypatch) -> Drawn:
    table = Drawn()
    monkeypatch.setattr(patch_over_pairs, "_table", table)
    return table


def test_the_largest_mean_comes_first_with_its_interval(drawn):
    draw_effects_table(TABLE_EFFECTS, TABLE_COLUMNS, (0, 0), is_tested=True)
    assert drawn.titles == ["part", "mean", "95 % interval", "sd", "pairs", "effect"]
    assert drawn.texts == [
        ["L0 H1", "−2.00", "−2.25 to −1.75", "0.100", "3", "clear"],
        ["L0 FF", "+1.00", "+0.752 to +1.25", "0.100", "3", "clear"],
        ["L0 H0", "+0.100", "−2.38 to +2.58", "1.00", "3", "could be chance"],
    ]
    assert [row["current"] for row in drawn.rows] == [False, False, True]


def test_what_does_not_vary_is_not_tested(drawn):
    effects = mean_effects([np.array([[2.0, 0.5, 0.0]]), np.array([[2.0, 0.5 + 1e-7, 1.0]])])
    draw_effects_table(effects, TABLE_COLUMNS, (0, 0), is_tested=True)
    assert [texts[-1] for texts in drawn.texts] == ["not tested", "not tested", "could be chance"]


def test_distances_have_no_test_and_no_sign(drawn):
    draw_effects_table(TABLE_EFFECTS, TABLE_COLUMNS, (0, 0), is_tested=False)
    assert "effect" not in drawn.titles
    assert drawn.texts[1][:2] == ["L0 FF", "1.00"]


def test_of_one_pair_there_is_no_interval(drawn):
    draw_effects_table(mean_effects([np.ones((1, 3))]), TABLE_COLUMNS, (0, 0), is_tested=True)
    assert drawn.texts[0] == ["L0 H0", "+1.00", "–", "–", "1", "not tested"]
