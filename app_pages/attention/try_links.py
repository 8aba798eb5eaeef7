"""Links into telling states, for somebody who sees the app for the first time.

What each of them shows is found by a rule, in the encoder as it is: no head, word or digit is named here.
"""

from dataclasses import replace
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
from app_pages.subject import encoders, shipped_inputs
from app_pages.subject.most_influential_position import telling_position
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.callbacks import callback
from model.inputs import Text
from model.measures.attended_kinds import clearest_head

HIDING = "[MASK]"
MOST_TOKENS = 60  # of a text whose every token is hidden in turn while the reader waits


def try_links(subject: LiveSubject) -> None:
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
            st.button(f"{label} →", type="tertiary", key=key, on_click=callback(key, partial(take, subject)))


def _next_token(subject: LiveSubject) -> None:
    record = _with_a_text(subject).record
    take_head(*clearest_head(record))
    take_query(len(record) // 3)
    VIEW.take(LINES)
    ALL_QUERIES.take(True)


def _hidden_word(subject: LiveSubject) -> None:
    """What the reader has typed, where its answer turns when one of its words is hidden.

    Else, and said so, the first example that is read correctly and turns, or the one that moves most.
    """
    own = _with_a_text(subject)
    turning = _turning_position(own) if _is_typed(own) else None
    shown, position = (own, turning) if turning is not None else _example_that_turns(own)
    if shown is None:
        return
    if shown != own:
        _take_another(own, shown.given, "In your text no single word turns the answer: here is an example.")
    MASK.take("Block tokens")
    QUERY.take(0)
    block_in(shown.record, position)
    go_to(MASKS)


def _turning_position(subject: LiveSubject) -> int | None:
    """The position of a token without which the predicted class changes; None where there is none, or the text is long."""
    record = subject.record
    if record.at("mask") or len(record) > MOST_TOKENS:
        return None
    telling = telling_position(subject)
    return telling.position if telling is not None and telling.turns else None


def _example_that_turns(own: LiveSubject) -> tuple[LiveSubject | None, int]:
    """An example text in the same encoder, and the position on which its answer hangs."""
    candidates = []
    for text in map(Text, shipped_inputs.sentences().values()):
        example = replace(own, given=text)
        record = example.record
        if record.at("mask") or (telling := telling_position(example)) is None:
            continue
        is_read = shipped_inputs.correct_class(example) == record.logits.argmax()
        candidates.append((telling.turns and is_read, telling.change, example, telling.position))
        if telling.turns and is_read:
            break
    if not candidates:
        return None, 0
    *_, example, position = max(candidates, key=lambda candidate: candidate[:2])
    return example, position


def _is_typed(own: LiveSubject) -> bool:
    return isinstance(own.given, Text) and own.given.text not in shipped_inputs.sentences().values()


def _take_another(own: LiveSubject, text: Text, why: str) -> None:
    """Replaces the text by an example, and tells the reader `why` where that text was typed."""
    if _is_typed(own):
        notify(why)
    TEXT.take(text.text)


def _two_norms(_subject: LiveSubject) -> None:
    """A digit that the two call differently, where their answers are known, and else the first."""
    names = encoders.checkpoints(encoders.DIGIT)
    pair = next(filter(None, map(encoders.pair, names)), None)
    made = [found for name in pair or () if (found := encoders.predictions(name)) is not None]
    digit = 0
    if len(made) == 2 and len(ids := ordered(shipped_inputs.test_digits()[1], "all", DISAGREE, made)[0]):
        digit = int(ids[0])
    KIND.take(encoders.DIGIT)
    SOURCE.take(TEST_DIGITS)
    DIGIT.take(digit)
    CHECKPOINT.take((pair or names or (None,))[0])
    QUERY.take(0)
    compare_controls.COMPARED.take(compare_controls.ENCODERS)
    compare_controls.PART.take(compare_controls.HEADS)
    go_to(COMPARE)


def _guess(subject: LiveSubject) -> None:
    own = _with_a_text(subject)
    masked = (text for text in shipped_inputs.sentences().values() if HIDING in text)
    if HIDING not in own.given.text and (text := next(masked, None)) is not None:
        why = f"Your text hides no word behind {HIDING}: here is an example that does."
        _take_another(own, Text(text), why)


def _with_a_text(subject: LiveSubject) -> LiveSubject:
    """The chosen encoder and text; where a digit is chosen, a text encoder and the first example instead."""
    if isinstance(subject.given, Text):
        return subject
    checkpoint = alike(subject.checkpoint, encoders.checkpoints(encoders.TEXT))
    text = next(iter(shipped_inputs.sentences().values()), FIRST)
    for choice in (KIND.to(encoders.TEXT), CHECKPOINT.to(checkpoint), TEXT.to(text)):
        choice.take()
    drawing.leave()
    return LiveSubject(checkpoint, Text(text))
