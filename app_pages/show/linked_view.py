"""All heads of a record and one of them in large, linked in the browser: what is pointed at in one part shows in all.

The chart is one, of `viz.attention.linked_heads`; the tokens above it are the buttons of that module's script. A choice
shows at once and reaches the server afterwards, which has only the address and the sentences to bring up to date.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.attention_controls import BY_ATTENTION, COLOURINGS
from app_pages.show.heading import shows_figure_alone
from app_pages.toolkit.callbacks import callback
from model.record import AttentionRecord
from viz.attention import linked_data
from viz.attention import linked_heads as chart
from viz.attention.matrix_links import MatrixLink
from viz.builders.palette import FALLS, RISES, WeightScale

_ANSWERED = "linked_answered"  # in the session: by channel, how many choices of the browser were taken


class Choice(NamedTuple):
    """The chosen layer and head, the query (-1 if none is chosen), and what colours the tokens."""

    layer: int
    head: int
    query: int
    coloured_by: str = BY_ATTENTION


@dataclass(frozen=True, kw_only=True)
class AnswerColours:
    """How the answer depends on each token, by knock-out or by attribution: the second colouring of the tokens."""

    # by key: the fall of the answer without it, or its attribution; None where it was not measured
    effects: Sequence[float | None]
    what: str  # what an effect is, such as "falls without it by"
    unit: str  # such as "log-odds of positive, nats"
    note: str


# For what would take a while, until the reader wants it.
NOT_MEASURED = AnswerColours(
    effects=(), what="", unit="", note="Not measured yet: a button behind “why” starts it."
)
_tokens = st.components.v2.component(
    "linked_heads",
    html=chart.HTML.read_text(encoding="utf-8"),
    css=chart.STYLE.read_text(encoding="utf-8"),
    js=chart.SCRIPT,
)


def linked_view(
    record: AttentionRecord,
    chosen: Choice,
    take: Callable[[Choice], None],
    *,
    key: str,
    tokens: DeltaGenerator,
    measures: Mapping[str, np.ndarray],
    about: Sequence[str],
    by_layer: bool = False,
    scale: WeightScale,
    tops: np.ndarray | None = None,
    reach: str = "1",
    picture: np.ndarray | None = None,
    on_picture: bool = True,
    compact: bool = False,
    partners: Sequence[tuple[int, int] | None] = (),
    answer_colours: Callable[[], AnswerColours | None] = lambda: None,
    notes: Sequence[str] = (),
    links: Sequence[MatrixLink] | None = None,
    shares_query: str = "",
) -> None:
    """Draws the chart in the current container and its tokens in the container `tokens`; a click calls `take` with the new
    choice.

    `about` has a sentence above the large map for each head [layer · head]. `tops`, `reach`, `on_picture`, `compact` and `links`
    are those of `viz.attention.linked_heads`. Two views on one page are linked: they point at the same query if they have the
    same `shares_query`, and at the paired head in `partners` [layer · head] of the other view. `answer_colours` computes the
    second colouring; it is called after the chart is sent, so that the chart does not wait for it.
    """
    # As long as all weights are there, the chart is the same whatever is chosen, and is not sent again.
    own = None if linked_data.sends_all(record) else (chosen.layer, chosen.head)
    figure = chart.linked_heads(
        record,
        selected=own or (0, 0),
        query=chosen.query if own else 0,  # of all weights, the browser knows which row is chosen
        measures=measures,
        about=about,
        by_layer=by_layer,
        scale=scale,
        tops=tops,
        reach=reach,
        picture=picture,
        on_picture=on_picture,
        compact=compact,
        channel=key,
        notes=notes,
        links=links,
    )
    specification = {**figure.specification, "datasets": figure.frames}
    if shows_figure_alone():  # a canvas would be magnified pixel by pixel
        specification["usermeta"] = {"embedOptions": {"renderer": "svg"}}
    with st.container(key=f"{key}_chart", gap=None):
        st.vega_lite_chart(
            specification,
            key=f"{key}_vega",
            width="stretch",
            height="stretch",
        )
    with tokens:
        linked_tokens(
            record,
            chosen,
            take,
            key=key,
            has_picture=picture is not None,
            tops=tops,
            partners=partners,
            answer_colours=answer_colours(),
            shares_query=shares_query,
        )


def linked_tokens(
    record: AttentionRecord,
    chosen: Choice,
    take: Callable[[Choice], None],
    *,
    key: str,
    has_picture: bool = False,
    tops: np.ndarray | None = None,
    partners: Sequence[tuple[int, int] | None] = (),
    answer_colours: AnswerColours | None = None,
    shares_query: str = "",
) -> None:
    """Draws the tokens alone, as buttons coloured by the chosen row of weights; arguments as in `linked_view`."""
    stamp = linked_data.stamp_of(record)
    answered: dict[str, int] = st.session_state.setdefault(_ANSWERED, {})
    component_key = f"{key}_tokens"

    def taken() -> None:
        message = st.session_state[component_key].chosen
        choice = _read(message, record, has_query=chosen.query >= 0)
        if choice is None or message["stamp"] != stamp:
            return
        answered[key] = int(message["number"])
        take(choice)

    data = linked_data.script_data(
        record,
        channel=key,
        chart_selector=f".st-key-{key}_chart",
        kept=chosen[:3],
        coloured_by=chosen.coloured_by,
        own=None if linked_data.sends_all(record) else (chosen.layer, chosen.head),
        has_picture=has_picture,
        tops=tops,
        shares_query=shares_query,
        partners=partners,
        hidden=None if answer_colours is None else _colouring(answer_colours),
        answered=answered.get(key, 0),
    )
    for name, numbers in data.items():
        if isinstance(numbers, np.ndarray):
            data[name] = base64.b64encode(numbers.astype("<u2").tobytes()).decode()
    _tokens(key=component_key, data=data, on_chosen_change=callback(component_key, taken))


def _read(message: Any, record: AttentionRecord, *, has_query: bool) -> Choice | None:
    """The choice in the browser's `message`; None if the message is malformed or its indices lie outside the record.

    Without `has_query`, that is, if no query was chosen before, a head can be chosen without one.
    """
    if not isinstance(message, Mapping) or not {"stamp", "number", *Choice._fields} <= message.keys():
        return None
    *values, coloured_by = (message[name] for name in Choice._fields)
    if not all(type(value) is int for value in (*values, message["number"])) or coloured_by not in COLOURINGS:
        return None
    layer, head, query = values
    choice = Choice(layer, head, query, coloured_by)
    n_layers, n_heads, n_queries, _ = record.pattern.shape
    ranges = range(n_layers), range(n_heads), range(0 if has_query else -1, n_queries)
    inside = all(value in allowed for value, allowed in zip(values, ranges, strict=True))
    return choice if inside else None


def _colouring(answer_colours: AnswerColours) -> dict[str, Any]:
    """The second colouring as data for the browser."""
    effects = [0.0 if effect is None else float(effect) for effect in answer_colours.effects]
    numbers = [
        "not measured" if effect is None else f"{effect:+.3f} {answer_colours.unit}"
        for effect in answer_colours.effects
    ]
    return {
        "effects": effects,
        "words": [f"{answer_colours.what}: {number}" for number in numbers],
        "largest": max(map(abs, effects), default=0) or 1,
        "falls": FALLS,
        "rises": RISES,
        "note": answer_colours.note,
    }
