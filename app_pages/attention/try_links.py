"""Links to instructive states of the app, for first-time users.

Each target is found by a rule in the chosen encoder: no head, word or digit is named in the code.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import compare_controls
from app_pages.controls import input_controls as inputs
from app_pages.controls.map_controls import QUERY
from app_pages.controls.masks_controls import MASK, block_in
from app_pages.controls.pages import COMPARE, MASKS, go_to, notify
from app_pages.controls.tour_controls import STOPS
from app_pages.inputs import drawing
from app_pages.inputs.digit_input import ordered
from app_pages.inputs.row import similar_encoder
from app_pages.inputs.text_input import FIRST
from app_pages.show.heading import links_container
from app_pages.subject import encoders
from app_pages.subject.answer import most_influential_position
from app_pages.subject.shipped_inputs import correct_class, sentences, test_digits
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.callbacks import callback
from app_pages.tour.open_stop import open_stop
from model.inputs import Text

HIDING = "[MASK]"
MOST_TOKENS = 60  # of a text whose tokens are hidden one after the other while the reader waits
_USED = "try_used"  # in the session: one of the links was pressed, so that the reader has begun


def try_links(subject: LiveSubject) -> None:
    """Draws the links beside the page's title; once one was used, they fold into a button. Draws nothing during the tour, which
    guides the reader itself.
    """
    if (slot := links_container()) is None:
        return
    links: dict[str, Callable[[LiveSubject], None]] = {
        f"the tour, {len(STOPS)} stops": lambda _subject: open_stop(1),
        "hiding a word": _open_hidden_word,
        "pre-LN and post-LN": _open_two_norms,
        f"guessing a {HIDING}": _open_guess,
    }
    with slot:
        if is_folded := _USED in st.session_state:
            guide: DeltaGenerator = st.popover("Try", type="tertiary", key="try_folded")
        else:
            guide = st.container(horizontal=True, vertical_alignment="center", gap="small", key="try")
        with guide:
            if not is_folded:
                st.html("Try", width="content")
            for number, (label, open_state) in enumerate(links.items()):
                key = f"try_{number}"
                press = callback(key, partial(_open, open_state, subject))
                st.button(f"{label} →", type="tertiary", key=key, on_click=press)


def _open(open_state: Callable[[LiveSubject], None], subject: LiveSubject) -> None:
    """Callback: opens the state that a link shows, and folds the links from then on."""
    st.session_state[_USED] = True
    open_state(subject)


def _open_hidden_word(subject: LiveSubject) -> None:
    """Opens Masks with a word hidden that changes the predicted class.

    That is a word of the user's own text, if there is one. Otherwise a notice says so, and an example is used: one that is
    classified correctly and then changes or, failing that, the one whose answer changes most.
    """
    own = _with_text_input(subject)
    shown, position = own, _deciding_position(own) if _is_typed(own) else None
    if position is None:
        shown, position = _example_that_changes(own)
    if position is None:
        return
    if shown != own:
        _take_example(own, _text(shown), "In your text no single word turns the answer: here is an example.")
    MASK.take("Block tokens")
    QUERY.take(0)
    block_in(shown.record, position)
    go_to(MASKS)


def _deciding_position(subject: LiveSubject) -> int | None:
    """Position of a token that changes the predicted class when it is hidden; None if there is none, or the text is long."""
    record = subject.record
    if record.positions_with_role("mask") or len(record) > MOST_TOKENS:
        return None
    influential = most_influential_position(subject)
    return influential.position if influential is not None and influential.changes_class else None


def _example_that_changes(own: LiveSubject) -> tuple[LiveSubject, int | None]:
    """An example text in the same encoder, and the position that its answer depends on most; (None, None) if no example has one."""
    candidates = []
    for text in map(Text, sentences().values()):
        example = replace(own, model_input=text)
        record = example.record
        if record.positions_with_role("mask") or (influential := most_influential_position(example)) is None:
            continue
        is_clear = influential.changes_class and correct_class(example) == record.logits.argmax()
        candidates.append((is_clear, influential.change, example, influential.position))
        if is_clear:
            break
    if not candidates:
        return own, None
    *_, example, position = max(candidates, key=lambda candidate: candidate[:2])
    return example, position


def _text(subject: LiveSubject) -> str:
    assert isinstance(subject.model_input, Text), subject.model_input
    return subject.model_input.text


def _is_typed(own: LiveSubject) -> bool:
    return _text(own) not in sentences().values()


def _take_example(own: LiveSubject, text: str, why: str) -> None:
    """Replaces the text by an example and, if the user typed the old text, shows the message `why`."""
    if _is_typed(own):
        notify(why)
    inputs.TEXT.take(text)


def _open_two_norms(_subject: LiveSubject) -> None:
    """Opens Side by side on a digit that pre-LN and post-LN classify differently or, if none is known, on the first digit."""
    names = encoders.checkpoints(encoders.DIGIT)
    pair = next(filter(None, map(encoders.pair, names)), ())
    stored = [predictions for name in pair if (predictions := encoders.predictions(name)) is not None]
    digit = 0
    if len(stored) == 2 and len(ids := ordered(test_digits()[1], "all", inputs.DISAGREE, stored)[0]):
        digit = int(ids[0])
    inputs.KIND.take(encoders.DIGIT)
    inputs.SOURCE.take(inputs.TEST_DIGITS)
    inputs.DIGIT.take(digit)
    if shown := pair or names:
        inputs.CHECKPOINT.take(shown[0])
    QUERY.take(0)
    compare_controls.COMPARED.take(compare_controls.ENCODERS)
    compare_controls.PART.take(compare_controls.HEADS)
    go_to(COMPARE)


def _open_guess(subject: LiveSubject) -> None:
    """Shows a text with a [MASK]: the user's own or, if that has none, the first example with one."""
    own = _with_text_input(subject)
    masked = next((text for text in sentences().values() if HIDING in text), None)
    if HIDING not in _text(own) and masked is not None:
        _take_example(own, masked, f"Your text hides no word behind {HIDING}: here is an example that does.")


def _with_text_input(subject: LiveSubject) -> LiveSubject:
    """The chosen encoder and text; if a digit is chosen, switches to a text encoder and the first example."""
    if isinstance(subject.model_input, Text):
        return subject
    checkpoint = similar_encoder(subject.checkpoint, encoders.checkpoints(encoders.TEXT))
    assert checkpoint is not None, "no encoder reads texts"
    text = next(iter(sentences().values()), FIRST)
    inputs.KIND.take(encoders.TEXT)
    inputs.CHECKPOINT.take(checkpoint)
    inputs.TEXT.take(text)
    drawing.leave()
    return LiveSubject(checkpoint, Text(text))
