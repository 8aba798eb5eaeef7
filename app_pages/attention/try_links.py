"""Links into telling states, for somebody who sees the app for the first time.

What each of them shows is found by a rule, in the encoder as it is: no head, word or digit is named here.
"""

from functools import partial

import streamlit as st

from app_pages import address, state
from app_pages.callbacks import callback
from app_pages.frame import go_to
from app_pages.inputs.digit_input import DISAGREE, TEST_DIGITS, ordered
from app_pages.masks.controls import block_in
from app_pages.widgets.head_choice import take_head, take_query
from app_pages.widgets.telling import telling_position
from model.inputs import Text
from model.measures.looks import most_telling_head

OPENED = (
    "opened_with"  # in the session: what was chosen when the app was opened without any choice in its address
)
MASK = "[MASK]"


def try_links(chosen: state.HeadSelection, query: int) -> None:
    """Draws nothing once the user has changed something, or where a link opened the app."""
    now = chosen.checkpoint, chosen.given, chosen.layer, chosen.head, query
    if not address.opened_bare() or st.session_state.setdefault(OPENED, now) != now:
        return
    links = {
        "a head that finds the next token": _next_token,
        "hide a word and see the answer change": _hidden_word,
        "the same digit in pre-LN and post-LN": _two_norms,
        f"guess what {MASK} hides": _guess,
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="try"):
        st.html("Try:", width="content")
        for number, (label, take) in enumerate(links.items()):
            key = f"try_{number}"
            st.button(f"{label} →", type="tertiary", key=key, on_click=callback(key, partial(take, chosen)))


def _next_token(chosen: state.HeadSelection) -> None:
    record = state.record(chosen.checkpoint, chosen.given)
    take_head(*most_telling_head(record))
    take_query(len(record) // 3)
    address.take("view", "lines")
    address.take("all_queries", True)


def _hidden_word(chosen: state.HeadSelection) -> None:
    """The first example that is read correctly and whose answer turns when one of its words is hidden, or else the one
    that moves most."""
    found = []
    for text in map(Text, state.sentences().values()):
        record = state.record(chosen.checkpoint, text)
        if record.at("mask") or (telling := telling_position(chosen.checkpoint, text)) is None:
            continue
        is_read = state.correct_class(chosen.checkpoint, text) == record.logits.argmax()
        found.append((telling.turns and is_read, telling.change, text, telling.position))
        if telling.turns and is_read:
            break
    if found:
        *_, text, position = max(found, key=lambda each: each[:2])
        address.take("text", text.text)
        address.take("masks_kind", "Block tokens")
        address.take("query", 0)
        block_in(state.record(chosen.checkpoint, text), position)
        go_to("masks")


def _two_norms(_chosen: state.HeadSelection) -> None:
    """A digit that the two call differently, where their answers are known, and else the first."""
    names = state.checkpoints(state.DIGIT)
    pair = next(filter(None, map(state.pair, names)), None)
    made = [found for name in pair or () if (found := state.predictions(name)) is not None]
    digit = 0
    if len(made) == 2 and len(ids := ordered(state.test_digits()[1], "all", DISAGREE, made)[0]):
        digit = int(ids[0])
    for key, value in {
        "kind": state.DIGIT,
        "source": TEST_DIGITS,
        "digit": digit,
        "checkpoint": (pair or names or (None,))[0],
        "query": 0,
        "compare_what": "two encoders",
        "compare_part": "Heads",
    }.items():
        address.take(key, value)
    go_to("compare")


def _guess(_chosen: state.HeadSelection) -> None:
    masked = (text for text in state.sentences().values() if MASK in text)
    if (text := next(masked, None)) is not None:
        address.take("text", text)
