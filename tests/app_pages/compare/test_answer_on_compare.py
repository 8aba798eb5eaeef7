"""The masked word as the answer in Side by side: the line below each side's heads, and knock-outs."""

import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache
from model.capture import capture
from model.capture.intervention import without_keys
from model.experiments.masked_word import guesses, masked_word
from tests.app_pages.shown_text import joined_captions
from tests.model.experiments.test_masked_word import log_p
from viz.builders.number_format import format_number

TEXT, SECOND = "not [MASK] film a b x", "great [MASK] film b a x"
MASKED = {"answer_of": "masked word"}
TWO_ENCODERS = {"compare_pairing": "of the same number", **MASKED}


def lines(app: AppTest) -> list[tuple[str, str]]:
    """The line of each side and its details."""
    assert not app.exception
    return [
        (block.value.replace("\\", ""), block.help.replace("\\", ""))
        for block in app.markdown
        if block.value.startswith(":small[explains the answer?")
    ]


def spearman(name: str, text: str, typed: str | None) -> str:
    """Of the weights from [MASK] in L0 H0 and the falls of log P, one forward pass after the other."""
    loaded = cache.loaded(name)
    word, positions = masked_word(loaded, text, typed), [1, 3, 4, 5, 6, 7]
    before = log_p(loaded, text, word)
    effects = [before - log_p(loaded, text, word, without_keys(position)) for position in positions]
    weights = capture(loaded, text).pattern[0, 0, 2, positions]
    return f"{stats.spearmanr(weights, effects).statistic:.2f}".replace("-", "−")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("typed", ["great", ""])
def test_each_side_is_checked_against_the_same_word(open_compare, typed):
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", **TWO_ENCODERS, answer_word=typed)
    word = typed or guesses(cache.loaded("imdb-pre-ln"), TEXT)[2][0].token
    for name, (line, details) in zip(("imdb-pre-ln", "imdb-post-ln"), lines(app), strict=True):
        assert f"(from every query): **{spearman(name, TEXT, word)}** over 6 tokens" in details
        assert f"what “{word}” at [MASK] hangs on" in line + details


def test_two_inputs_are_asked_for_the_same_word(open_compare):
    two = {"compare_what": "two inputs", "compare_text": SECOND, "answer_word": "great"}
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", **MASKED, **two)
    for text, (_, details) in zip((TEXT, SECOND), lines(app), strict=True):
        assert f"**{spearman('imdb-pre-ln', text, 'great')}** over 6 tokens" in details


def test_a_side_without_a_masked_word_is_asked_for_its_class_and_says_so(open_compare):
    two = {"compare_what": "two inputs", "compare_text": "great film a b x not"}
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", **MASKED, **two)
    (_, first), (_, second) = lines(app)
    assert "at [MASK] hangs on" in first
    assert "at [MASK] hangs on" not in second
    assert (
        "second text: there is no such masked word to predict, so the answer is that of the whole input"
        in (joined_captions(app))
    )


def test_a_word_that_is_no_token_is_replaced_by_the_first_guess_on_both_sides(open_compare):
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", **TWO_ENCODERS, answer_word="unheard of")
    word = guesses(cache.loaded("imdb-pre-ln"), TEXT)[2][0].token
    assert "The first guess is taken instead" in joined_captions(app)
    assert all(f"“{word}” at" in line + details for line, details in lines(app))


def test_it_is_not_asked_where_nothing_is_masked(open_compare):
    app = open_compare(text="not great film", checkpoint="imdb-pre-ln")
    assert not app.exception
    assert "answer_of" not in {widget.key for widget in app.get("button_group")}


def test_a_knock_out_changes_log_p_of_the_word_on_both_sides(open_compare):
    app = open_compare(
        text=TEXT, checkpoint="imdb-pre-ln", **MASKED, answer_word="great", compare_part="Knock-out"
    )
    assert not app.exception
    sentences = [block.value.replace("\\", "") for block in app.markdown]
    assert "Shown is by how much log P of the word at [MASK] falls (gold)" in joined_captions(app)
    largest = []
    for name in ("imdb-pre-ln", "imdb-post-ln"):
        loaded = cache.loaded(name)
        word = masked_word(loaded, TEXT, "great")
        before = log_p(loaded, TEXT, word)
        record = capture(loaded, TEXT)
        changes = [
            log_p(loaded, TEXT, word, without_keys(position)) - before for position in range(len(record))
        ]
        index = max(range(len(changes)), key=lambda position: abs(changes[position]))
        numbers = [
            format_number(value, "+.2f") for value in (before, before + changes[index], changes[index])
        ]
        (line,) = (text for text in sentences if text.startswith(f"**{name}**: log P"))
        assert line == (
            f"**{name}**: log P(“great” at [MASK]) is {numbers[0]} nats; without `{record.tokens[index]}` (position {index}) it is "
            f"{numbers[1]} ({numbers[2]} nats), the largest change."
        )
        largest.append(abs(changes[index]))
    assert f"Both scales reach to {format_number(max(largest), '.3g')}." in joined_captions(app)


def test_a_knock_out_of_a_word_beside_that_of_a_class_has_a_scale_of_its_own(open_compare):
    two = {"compare_what": "two inputs", "compare_text": "great film a b x not"}
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", **MASKED, **two, compare_part="Knock-out")
    shown = joined_captions(app)
    assert "second text: by how much the log-odds of the class" in shown
