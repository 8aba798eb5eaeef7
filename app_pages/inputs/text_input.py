"""Choice of a text: typed, or an example."""

import re

import streamlit as st

from app_pages.controls.address import LONGEST
from app_pages.controls.input_controls import SECOND_PART, TEXT
from app_pages.subject import encoders, shipped_inputs
from model.inputs import Text

_PAIRS = [
    ("not", "very"),
    ("never", "always"),
    ("good", "bad"),
    ("great", "awful"),
    ("beautifully", "badly"),
    ("wonderful", "dreadful"),
    ("best", "worst"),
    ("funny", "boring"),
    ("dull", "gripping"),
    ("hardly", "really"),
]
OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}


FIRST = "The film is not bad at all."  # where there are no examples
LENGTH_LIMIT_SENTENCE = f"The text box takes at most {LONGEST:,} characters."


def text_input(name: str | None) -> Text | None:
    """Draws the text box and the list of examples, which fills it; returns the text, None if it is empty.

    Encoders that were trained on pairs get a box for the second text.
    """
    sentences = shipped_inputs.sentences()
    titles = {text: title for title, text in sentences.items()}
    text = TEXT.choose(first_text())
    st.session_state["example"] = titles.get(text)
    st.selectbox(
        "Example",
        sentences,
        index=None,
        required=True,  # without a cross, which would empty the list alone and not the text
        key="example",
        placeholder="Examples" if sentences else "No examples",
        disabled=not sentences,
        on_change=_fill_in_example,
        width=160,
        label_visibility="collapsed",
    )
    second = _choose_second_part() if name is not None and encoders.reads_pairs(name) else None
    if len(text) == LONGEST:  # of a longer one in the address, Streamlit takes the beginning
        st.caption(LENGTH_LIMIT_SENTENCE)
    return Text(text, second) if text.strip() else None


def first_text() -> str:
    """The text with which the app opens: the first example."""
    return next(iter(shipped_inputs.sentences().values()), FIRST)


def keep_text() -> None:
    """Keeps the text of a link to a page without a text box, such as Cost, for the next page that has one."""
    if st.session_state["arrived"] and (text := st.query_params.get("text")):
        TEXT.take(text[:LONGEST])


def _choose_second_part() -> str | None:
    with st.popover("Pair", key="second_part", help="A second text, for encoders of sentence pairs."):
        text = SECOND_PART.choose()
        st.caption(
            "An encoder of sentence pairs reads this after the first text and a separator; many mark the two parts with "
            "token type embeddings. Leave it empty for a single text."
        )
    return text if text.strip() else None


def _fill_in_example() -> None:
    if (title := st.session_state["example"]) is not None:
        TEXT.take(shipped_inputs.sentences()[title])


def one_word_changed(text: str) -> str:
    """The text with its first word that has a listed opposite replaced by the opposite; if it has none, with its longest word
    masked.
    """
    words = re.findall(r"\w+", text)
    for word in words:
        if (opposite := OPPOSITES.get(word.lower())) is not None:
            return re.sub(rf"\b{word}\b", opposite, text, count=1)
    return text.replace(max(words, key=len), "[MASK]", 1) if words else text
