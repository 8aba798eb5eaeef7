"""Typing a text, or choosing an example."""

import streamlit as st

from app_pages.controls import address
from app_pages.subject import state
from model.inputs import Text

# Texts travel in the page's address, two of them where two are compared. Servers refuse addresses of more than
# 64 KB, and a character may take nine bytes there. Encoders read some 1,800 characters.
LONGEST = 3500
FIRST = "The film is not bad at all."  # where there are no examples
AT_MOST = f"The text box takes at most {LONGEST:,} characters."


def text_input(name: str | None) -> tuple[Text | None, None]:
    """The text for the encoder of that name, None where it is empty. The box is what counts; an example only fills it.

    Encoders that were trained on pairs read a second text behind the first, where there is one.
    """
    sentences = state.sentences()
    titles = {text: title for title, text in sentences.items()}
    text = text_box("Text", next(iter(titles), FIRST), key="text")
    st.session_state["example"] = titles.get(text)
    st.selectbox(
        "Example",
        sentences,
        index=None,
        key="example",
        placeholder="Examples" if sentences else "No examples",
        disabled=not sentences,
        on_change=_fill,
        width=160,
        label_visibility="collapsed",
    )
    second = _second_part() if name is not None and state.reads_pairs(name) else None
    if len(text) == LONGEST:  # of a longer one in the address, Streamlit takes the beginning
        st.caption(AT_MOST)
    return (Text(text, second) if text.strip() else None), None


def keep_text() -> None:
    """Of a link to a page that reads none, such as Cost: the next page that does finds it."""
    if st.session_state["arrived"] and (text := st.query_params.get("text")):
        address.take("text", text[:LONGEST])


def _second_part() -> str | None:
    with st.popover("Pair", key="second_part", help="A second text, for encoders of sentence pairs."):
        text = text_box("Second part", "", key="second")
        st.caption(
            "An encoder of sentence pairs reads this after the first text and a separator; many mark the two parts with "
            "token type embeddings. Leave it empty for a single text."
        )
    return text if text.strip() else None


def text_box(label: str, first: str, *, key: str, at_most: int = LONGEST, by_line: bool = False) -> str:
    """Two lines high, and as high as the text while one writes in it.

    Enter applies what was typed and Shift+Enter breaks the line; where the text is read `by_line`, Enter breaks it.
    """
    with st.container(key=f"text_{'by_line_' if by_line else ''}{key}"):
        return address.text(
            label, first, key=key, max_chars=at_most, height="content", label_visibility="collapsed"
        )


def _fill() -> None:
    if (title := st.session_state["example"]) is not None:
        address.take("text", state.sentences()[title])
