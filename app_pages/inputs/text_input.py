"""Typing a text, or starting from an example."""

import streamlit as st

from app_pages import address, state
from model.inputs import Text

# Texts travel in the page's address, two of them where two are compared. Servers refuse addresses of more than
# 64 KB, and a character may take nine bytes there. Encoders read some 1,800 characters.
LONGEST = 3500
AT_MOST = f"The box takes no text of more than {LONGEST:,} characters."


def text_input() -> tuple[Text | None, None]:
    """The text, None where it is empty. The box is what counts; an example only fills it."""
    sentences = state.sentences()
    titles = {text: title for title, text in sentences.items()}
    first = next(iter(titles))
    above = st.container()  # for the examples, which must know what is in the box
    text = address.text(
        "Text",
        first,
        key="text",
        max_chars=LONGEST,
        height=150,
        help="Ctrl+Enter, or a click elsewhere, sends the text to the encoder. Write `[MASK]` for a word, and the "
        "Attention page says what the encoder expects there. " + AT_MOST,
    )
    st.session_state["example"] = titles.get(text)
    above.selectbox(
        "Example", sentences, index=None, key="example", placeholder="your own text", on_change=_fill
    )
    if len(text) == LONGEST:  # of a longer one in the address, Streamlit takes the beginning
        st.caption(AT_MOST)
    return (Text(text) if text.strip() else None), None


def _fill() -> None:
    if (title := st.session_state["example"]) is not None:
        address.take("text", state.sentences()[title])
