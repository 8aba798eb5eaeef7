"""Token classification, such as finding the names in a text: below each token its predicted class."""

from html import escape

import numpy as np
import streamlit as st

from model.record import ForwardRecord
from viz.builders.number_format import percent
from viz.builders.token_label import visible

_MOST = 512  # tokens


def token_answers(record: ForwardRecord) -> None:
    """The tokens in a row that wraps, each with its most probable class; nothing where the encoder has no such output.

    Of one class alone, whether it holds: its probability. The class of most tokens, such as O for "no name", stands back.
    """
    values, names = record.token_probabilities, record.token_class_names
    if values is None:
        return
    said = values.argmax(axis=-1)
    usual = np.bincount(said).argmax() if len(names) > 1 else None
    cells = [
        _cell(token, names[at], row[at], stands_back=at == usual if usual is not None else row[at] < 0.5)
        for token, at, row in zip(record.tokens[:_MOST], said.tolist(), values, strict=False)
    ]
    st.html(f'<div class="token-answers">{"".join(cells)}</div>')
    st.caption(
        "Below each token: its most probable class, and that probability."
        if len(names) > 1
        else f"Below each token: the probability of “{names[0]}”."
    )


def _cell(token: str, name: str, probability: float, *, stands_back: bool) -> str:
    look = ' class="back"' if stands_back else ""
    answer = f"{escape(name)} {percent(float(probability))}"
    return f"<span{look}><code>{escape(visible(token))}</code><small>{answer}</small></span>"
