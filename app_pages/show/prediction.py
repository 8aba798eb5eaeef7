"""The prediction on one line: the class and its probability."""

from html import escape

import numpy as np
import streamlit as st

from app_pages.toolkit.markdown import plain
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent, share_below_one

LIKELIEST = 3  # of many classes so many are shown
_LAST_BAR = "last_answer_bar"  # in the session: the probability that the second of two bars showed last
_BAR = 52  # pixels of a bar that stands for 100 %


def prediction(record: ForwardRecord, label: int | None, *, title: str = "") -> None:
    """Draws the most probable class below the `title`, its probability and, if the correct class `label` is known, whether the
    prediction is right.

    With more than two classes the next most probable follow. An encoder without single-label classes shows its numbers, a
    probability for each class, or a sentence that it has no prediction. If more than half of the tokens are unknown, a remark
    says so first, and the answer is small.
    """
    if sentence := unknown_sentence(record):
        small = f"<small>{escape(title)} {answer_in_words(record, None)}</small>"
        st.html(f'<div class="answer"><b>{sentence}</b>{small}</div>', width="content")
        return
    if not record.has_classes:
        _draw_other_answers(record)
        return
    values = record.probabilities
    top = int(values.argmax())
    verdict = (
        None if label is None else "correct" if label == top else f"wrong, it is {_class(record, label)}"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.metric(
            title or "Prediction",
            plain(_class(record, top)),
            verdict and plain(verdict),
            delta_color="off",
            delta_arrow="off",
            width="content",
            label_visibility="visible" if title else "collapsed",
        )
        st.html(_probability_bars(record), width="content")


def unknown_sentence(record: ForwardRecord) -> str:
    """Sentence on the number of unknown tokens, if these are more than half of all tokens (special tokens left out); else ""."""
    n_unknown = len(record.positions_with_role("unknown"))
    n = len(record.positions_with_role("unknown", "word", "continuation", "mask"))
    if 2 * n_unknown <= n:
        return ""
    tokens, are = "token" if n == 1 else "tokens", "is" if n_unknown == 1 else "are"
    return f"{n_unknown:,} of {n:,} {tokens} {are} unknown to this encoder"


def before_and_after(before: ForwardRecord, after: ForwardRecord, label: int | None) -> None:
    """Draws the probability of the class that was predicted before a change, before and after it, as two bars on one scale.

    If another class is predicted afterwards, its name follows, and the bars name theirs. The second bar moves from its length in
    the previous run. Both records must have classes.
    """
    old, new = int(before.probabilities.argmax()), int(after.probabilities.argmax())
    last = st.session_state.get(_LAST_BAR)
    shares = [float(record.probabilities[old]) for record in (before, after)]
    st.session_state[_LAST_BAR] = shares[1]
    names, of_class = escape(_class(before, old)), ""
    if new != old:
        names, of_class = f"{names} → {escape(_class(after, new))}", f"{names} "
    unknown = unknown_sentence(before)
    moved = "" if last is None else f"; --last: {last:.2%}"
    rows = "".join(
        f'<span>{of_class}{name}</span><span class="bar"><span class="{name}" style="width: {share:.2%}{moved}"></span></span>'
        f"<span>{_share(record.probabilities, old)}</span>"
        for name, share, record in zip(("before", "after"), shares, (before, after), strict=True)
    )
    verdict = "" if label is None else " ✓" if label == new else " ✗"
    hint = "" if label is None else "correct" if label == new else f"wrong, it is {_class(after, label)}"
    st.html(
        f'<div class="two-answers"><b title="{escape(hint)}">{unknown or names + verdict}</b><div>{rows}</div></div>',
        width="content",
    )


def answer_in_words(record: ForwardRecord, label: int | None) -> str:
    """The most probable class, its probability and whether it is the correct class, as plain text; "" without classes."""
    if not record.has_classes:
        return ""
    top = int(record.probabilities.argmax())
    words = f"{_class(record, top)} {_share(record.probabilities, top)}"
    if label is None:
        return words
    return f"{words}, correct" if label == top else f"{words}, wrong: it is {_class(record, label)}"


def _draw_other_answers(record: ForwardRecord) -> None:
    """Draws the answer of an encoder that does not choose one class: its numbers, or a sentence that it has none."""
    answers = record.probabilities
    if not len(answers):
        message = (
            "This encoder predicts a class for each token: see below." if record.token_class_names else ""
        )
        st.caption(
            message or "This encoder has no classification head, and so no prediction.", width="content"
        )
        return
    is_numeric = record.config.family.answers == "numbers"
    order = range(len(answers)) if is_numeric else np.argsort(-answers, kind="stable").tolist()
    texts = [
        f"<b>{escape(_class(record, index))}</b> "
        + (
            format_number(float(answers[index]), ".3g")
            if is_numeric
            else percent(float(answers[index]), brief=True)
        )
        for index in list(order)[:LIKELIEST]
    ]
    note = "a number, not a probability" if is_numeric else "multi-label: a probability for each class"
    st.html(f'<div class="answer">{" ".join(texts)}<span class="other">{note}</span></div>', width="content")


def _probability_bars(record: ForwardRecord) -> str:
    """HTML with the probability of the predicted class as a bar, and those of the next classes as numbers."""
    values = record.probabilities
    order = np.argsort(-values, kind="stable")[: LIKELIEST if len(values) > 2 else 1].tolist()
    texts = [_share(values, index) for index in order]
    top = float(values[order[0]])
    other_texts = "".join(
        f'<span class="other">{escape(_class(record, index))}: {text}</span>'
        for index, text in zip(order[1:], texts[1:], strict=True)
    )
    all_texts = ", ".join(
        f"{_class(record, index)} {value:.4f}" for index, value in enumerate(values.tolist())
    )
    return (
        f'<div class="answer" title="{escape(all_texts)}"><span class="bar" style="width: {_BAR}px">'
        f'<span style="width: {top:.1%}"></span></span><span>{texts[0]}</span>{other_texts}</div>'
    )


def answer(record: ForwardRecord) -> str:
    """The most probable class and its probability as HTML within a sentence; "" if the encoder chooses no class. If more than
    half of the tokens are unknown, says so instead.
    """
    if not record.has_classes:
        return ""
    if sentence := unknown_sentence(record):
        return (
            f"<b>{sentence.replace(' are ', ' ').replace(' is ', ' ').removesuffix(' to this encoder')}</b>"
        )
    top = int(record.probabilities.argmax())
    name = _class(record, top)
    comma = "," if name[-1:].isdigit() else ""  # between two numbers
    return f"<b>{escape(name)}</b>{comma} {_share(record.probabilities, top)}"


def _share(values: np.ndarray, index: int) -> str:
    """The probability of the class `index` in `values` [class] as a percentage; 100 % only if all others are 0."""
    return percent(share_below_one(values, index), brief=True)


def _class(record: ForwardRecord, label: int) -> str:
    """Name of the class `label`, or its number if the encoder has fewer classes than the data set."""
    return record.class_names[label] if label < len(record.class_names) else str(label)
