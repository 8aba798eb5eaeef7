"""Links into telling states, for somebody who sees the app for the first time.

What each of them shows is found by a rule, in the encoder as it is: no head, word or digit is named here.
"""

from functools import partial

import streamlit as st

from app_pages.controls import compare_controls
from app_pages.controls.attention_controls import LINES, VIEW
from app_pages.controls.blocked import block_in
from app_pages.controls.head_choice import take_head, take_query
from app_pages.controls.input_controls import CHECKPOINT, DIGIT, DISAGREE, KIND, SOURCE, TEST_DIGITS, TEXT
from app_pages.controls.map_controls import ALL_QUERIES, QUERY
from app_pages.controls.masks_controls import MASK
from app_pages.controls.pages import COMPARE, MASKS, go_to, notify
from app_pages.inputs import drawing
from app_pages.inputs.digit_input import ordered
from app_pages.inputs.row import alike
from app_pages.inputs.text_input import FIRST
from app_pages.show.most_influential_position import telling_position
from app_pages.subject import state
from app_pages.subject.cache import Checkpoint
from app_pages.toolkit.callbacks import callback
from model.inputs import Text
from model.measures.attended_kinds import most_telling_head

HIDING = "[MASK]"
MOST_TOKENS = 60  # of a text whose every token is hidden in turn while the reader waits


def try_links(chosen: state.HeadSelection) -> None:
    """Always drawn, also once a link was used: if the row went away, all figures would move up."""
    links = {
        "a head that finds the next token": _next_token,
        "hide a word and see the answer change": _hidden_word,
        "the same digit in pre-LN and post-LN": _two_norms,
        f"guess what {HIDING} hides": _guess,
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="try"):
        st.html("Try:", width="content")
        for number, (label, take) in enumerate(links.items()):
            key = f"try_{number}"
            st.button(f"{label} →", type="tertiary", key=key, on_click=callback(key, partial(take, chosen)))


def _next_token(chosen: state.HeadSelection) -> None:
    record = state.record(*_with_a_text(chosen))
    take_head(*most_telling_head(record))
    take_query(len(record) // 3)
    VIEW.take(LINES)
    ALL_QUERIES.take(True)


def _hidden_word(chosen: state.HeadSelection) -> None:
    """What the reader has typed, where its answer turns when one of its words is hidden.

    Else, and said so, the first example that is read correctly and turns, or the one that moves most.
    """
    checkpoint, own = _with_a_text(chosen)
    turning = _turning_position(checkpoint, own) if _is_typed(own) else None
    text, position = (own, turning) if turning is not None else _example_that_turns(checkpoint)
    if text is None:
        return
    if text != own:
        _take_another(own, text.text, "In your text no single word turns the answer: here is an example.")
    MASK.take("Block tokens")
    QUERY.take(0)
    block_in(state.record(checkpoint, text), position)
    go_to(MASKS)


def _turning_position(checkpoint: Checkpoint, text: Text) -> int | None:
    """The position of a token without which the predicted class changes; None where there is none, or the text is long."""
    record = state.record(checkpoint, text)
    if record.at("mask") or len(record) > MOST_TOKENS:
        return None
    telling = telling_position(checkpoint, text)
    return telling.position if telling is not None and telling.turns else None


def _example_that_turns(checkpoint: Checkpoint) -> tuple[Text | None, int]:
    candidates = []
    for text in map(Text, state.sentences().values()):
        record = state.record(checkpoint, text)
        if record.at("mask") or (telling := telling_position(checkpoint, text)) is None:
            continue
        is_read = state.correct_class(checkpoint, text) == record.logits.argmax()
        candidates.append((telling.turns and is_read, telling.change, text, telling.position))
        if telling.turns and is_read:
            break
    if not candidates:
        return None, 0
    *_, text, position = max(candidates, key=lambda candidate: candidate[:2])
    return text, position


def _is_typed(text: Text) -> bool:
    return text.text not in state.sentences().values()


def _take_another(own: Text, text: str, why: str) -> None:
    """Replaces the text by an example, and tells the reader `why` where that text was typed."""
    if _is_typed(own):
        notify(why)
    TEXT.take(text)


def _two_norms(_chosen: state.HeadSelection) -> None:
    """A digit that the two call differently, where their answers are known, and else the first."""
    names = state.checkpoints(state.DIGIT)
    pair = next(filter(None, map(state.pair, names)), None)
    made = [found for name in pair or () if (found := state.predictions(name)) is not None]
    digit = 0
    if len(made) == 2 and len(ids := ordered(state.test_digits()[1], "all", DISAGREE, made)[0]):
        digit = int(ids[0])
    KIND.take(state.DIGIT)
    SOURCE.take(TEST_DIGITS)
    DIGIT.take(digit)
    CHECKPOINT.take((pair or names or (None,))[0])
    QUERY.take(0)
    compare_controls.COMPARED.take(compare_controls.ENCODERS)
    compare_controls.PART.take(compare_controls.HEADS)
    go_to(COMPARE)


def _guess(chosen: state.HeadSelection) -> None:
    _, own = _with_a_text(chosen)
    masked = (text for text in state.sentences().values() if HIDING in text)
    if HIDING not in own.text and (text := next(masked, None)) is not None:
        _take_another(own, text, f"Your text hides no word behind {HIDING}: here is an example that does.")


def _with_a_text(chosen: state.HeadSelection) -> tuple[str, Text]:
    """The chosen encoder and text; where a digit is chosen, a text encoder and the first example instead."""
    if isinstance(chosen.given, Text):
        return chosen.checkpoint, chosen.given
    checkpoint = alike(chosen.checkpoint, state.checkpoints(state.TEXT))
    text = Text(next(iter(state.sentences().values()), FIRST))
    for choice in (KIND.to(state.TEXT), CHECKPOINT.to(checkpoint), TEXT.to(text.text)):
        choice.take()
    drawing.leave()
    return checkpoint, text
