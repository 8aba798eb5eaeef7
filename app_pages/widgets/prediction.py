"""What the classifier answers, in words and as bars."""

import streamlit as st

from app_pages.widgets.show import show
from model.record import ForwardRecord
from viz.bars import probabilities


def prediction(record: ForwardRecord, label: int | None, *, key: str, title: str = "Prediction") -> None:
    """The most probable class, whether it is the right one where `label` says which that is, and all of them.

    Of an encoder without classes it says so.
    """
    if not record.has_classes:
        st.caption("This encoder has no classes, and so no prediction.")
        return
    values = record.probabilities
    said = int(values.argmax())
    verdict = None if label is None else "right" if label == said else f"wrong, it is {_name(record, label)}"
    with st.container(horizontal=True, vertical_alignment="center", width=720):
        st.metric(title, _name(record, said), verdict, delta_color="off", delta_arrow="off", width=170)
        show(probabilities(values, record.class_names), key=key)


def _name(record: ForwardRecord, label: int) -> str:
    """Of a class; an encoder may have fewer than the data."""
    return record.class_names[label] if label < len(record.class_names) else str(label)
