"""The prediction on one line: the class, and its probability."""

from html import escape

import numpy as np
import streamlit as st

from app_pages.toolkit.markdown import plain
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent

LIKELIEST = 3  # of many classes so many are shown
_BAR = 52  # pixels of a bar that stands for 100 %


def prediction(record: ForwardRecord, label: int | None, *, title: str = "") -> None:
    """The most probable class, whether it is the correct one where `label` says which that is, and how probable.

    With more than two classes also those that come next. An encoder may answer otherwise: with numbers, with a yes or
    no for each class, with a class for each token, or with nothing but its state; then this says so.
    """
    if not record.has_classes:
        _otherwise(record)
        return
    values = record.probabilities
    said = int(values.argmax())
    verdict = (
        None if label is None else "correct" if label == said else f"wrong, it is {_name(record, label)}"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.metric(
            title or "Prediction",
            plain(_name(record, said)),
            verdict and plain(verdict),
            delta_color="off",
            delta_arrow="off",
            width="content",
            label_visibility="visible" if title else "collapsed",
        )
        st.html(_bars(record), width="content")


def _otherwise(record: ForwardRecord) -> None:
    answers = record.probabilities
    if not len(answers):
        per_token = (
            "This encoder predicts a class for each token: see below." if record.token_class_names else ""
        )
        st.caption(
            per_token or "This encoder has no classification head, and so no prediction.", width="content"
        )
        return
    numbers = record.config.family.answers == "numbers"
    order = range(len(answers)) if numbers else np.argsort(-answers, kind="stable").tolist()
    said = [
        f"<b>{escape(_name(record, at))}</b> "
        + (format_number(float(answers[at]), ".3g") if numbers else percent(float(answers[at])))
        for at in list(order)[:LIKELIEST]
    ]
    how = "a number, not a probability" if numbers else "multi-label: a probability for each class"
    st.html(f'<div class="answer">{" ".join(said)}<span class="other">{how}</span></div>', width="content")


def _bars(record: ForwardRecord) -> str:
    """The probability of the answer as a bar, and those of the next ones in numbers."""
    values = record.probabilities
    order = np.argsort(-values, kind="stable")[: LIKELIEST if len(values) > 2 else 1].tolist()
    # 100 % is said only where no other class has any.
    one_below = np.nextafter(1, 0) if np.count_nonzero(values) > 1 else 1.0
    texts = [percent(min(float(values[at]), one_below), below="<", above=">") for at in order]
    first = float(values[order[0]])
    others = "".join(
        f'<span class="other">{escape(_name(record, at))}: {text}</span>'
        for at, text in zip(order[1:], texts[1:], strict=True)
    )
    every = ", ".join(f"{_name(record, at)} {value:.4f}" for at, value in enumerate(values.tolist()))
    return (
        f'<div class="answer" title="{escape(every)}"><span class="bar" style="width: {_BAR}px">'
        f'<span style="width: {first:.1%}"></span></span><span>{texts[0]}</span>{others}</div>'
    )


def _name(record: ForwardRecord, label: int) -> str:
    """Of a class; an encoder may have fewer than the data."""
    return record.class_names[label] if label < len(record.class_names) else str(label)
