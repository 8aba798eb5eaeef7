"""The line that says by what rule two encoders are compared whose tokenizers differ."""

import streamlit as st

from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import as_code, plain

WEIGHTS = "the weights that go to the pieces of a word are added up, those that come from them averaged"
ENTROPIES = f"{WEIGHTS}; entropies of these rows"
KNOCKED_OUT = "the pieces of a word knocked out together"
STATES = "the states of the pieces of a word averaged"
# What is done with words without a counterpart.
_MISSING = {
    WEIGHTS: "left out of differences of maps; for distances of heads their weights are added up as one more key",
    ENTROPIES: "part of the entropy on their own side only",
    KNOCKED_OUT: "knocked out on their side alone",
    STATES: "left out of what is compared",
}
DIFFERS = "The tokens differ: compared by words"
LISTED = 6  # words of one side, by name


def say_rule(first: Side, second: Side, rule: str) -> None:
    """Writes the `rule` by which the words of the two sides are compared, and how many have a counterpart.

    Writes nothing if tokens or patches are compared.
    """
    if first.words is None or second.words is None:
        return
    st.caption(
        rule_sentence(first, second, rule),
        help="Words correspond by their letters in the text, class tokens and separators by their role. Words that "
        "one tokenizer splits where the other does not are joined.",
    )


def rule_sentence(first: Side, second: Side, rule: str) -> str:
    """The `rule`, how many words have a counterpart, and what becomes of the others; both sides are compared by words."""
    assert first.words is not None
    assert second.words is not None
    n = len(first.words.matched)
    counterparts = f"{n} words and special tokens" if n != 1 else "one word or special token"
    if first.words.unmatched or second.words.unmatched:
        missing = " and ".join(filter(None, map(_missing_text, (first, second))))
        n_missing = len(first.words.unmatched) + len(second.words.unmatched)
        counterparts += f"; {n_missing} without a counterpart, {_MISSING[rule]}: {missing}"
    return f"{DIFFERS} — {rule}; {counterparts}."


def _missing_text(side: Side) -> str:
    """The words of one side without a counterpart, such as "`warm`, `film` of my-bert"; their number if they are many."""
    assert side.words is not None
    words = side.words.unmatched
    if not words:
        return ""
    names = ", ".join(as_code(side.compared.tokens[word]) for word in words)
    return f"{names if len(words) <= LISTED else len(words)} of {plain(side.title)}"


def say_each_over_its_own(first: Side) -> None:
    """Writes that a figure is not by words; nothing if tokens or patches are compared on the page."""
    if first.words is not None:
        st.caption("The tokens differ: each side is read over its own tokens.")
