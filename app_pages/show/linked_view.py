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

from app_pages.toolkit.callbacks import callback
from model.record import AttentionRecord
from viz.attention import linked_heads as chart
from viz.builders.palette import FALLS, RISES, WEIGHTS, WeightScale
from viz.builders.token_label import visible

_ANSWERED = "linked_answered"  # in the session: by channel, how many choices of the browser were taken
_HTML = """
<div class="linked">
  <span class="side"></span>
  <div class="tokens" role="group" aria-label="Tokens: each shows what it attends to"></div>
  <div class="keys" role="list" aria-label="Keys"></div>
  <div class="colouring" role="group" aria-label="Colours of the tokens">
    <button type="button" value="weights">what the head looks at</button>
    <button type="button" value="hiding">what the answer hangs on</button>
  </div>
  <p class="note"></p>
  <div class="announced" aria-live="polite"></div>
</div>"""


class Choice(NamedTuple):
    """A head and a query; the query is -1 where none is chosen."""

    layer: int
    head: int
    query: int


class Title(NamedTuple):
    """What stands before the tokens, where a page has two of these views, and its colour."""

    text: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """How the answer changes when each token is hidden: the second colouring of the tokens."""

    changes: Sequence[float | None]  # by key; None where it was not measured
    unit: str  # such as "log-odds of positive, nats"
    note: str


_tokens = st.components.v2.component(
    "linked_heads",
    html=_HTML,
    css=chart.STYLE.read_text(encoding="utf-8"),
    js=chart.SCRIPT.read_text(encoding="utf-8"),
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
    compact: bool = False,
    title: Title = Title("", ""),  # noqa: B008 (frozen)
    partners: Sequence[tuple[int, int] | None] = (),
    hiding: Hiding | None = None,
    notes: Sequence[str] = (),
    shares_query: str = "",
) -> None:
    """Draws the chart in the current container and its `tokens` in that one; a choice calls `take`.

    `about` [layer · head] are sentences for above the large map. `tops`, `reach` and `compact` are those of the chart. Two views on one page point together: at the same query if
    they have the same `shares_query`, and at heads that are compared: `partners` [layer · head] are those of the other view.
    """
    is_whole = record.pattern.size <= chart.MOST_WEIGHTS
    # As long as all weights are there, the chart is the same whatever is chosen, and is not sent again.
    own = (0, 0) if is_whole else (chosen.layer, chosen.head)
    stamp = chart.stamp_of(record)
    answered: dict[str, int] = st.session_state.setdefault(_ANSWERED, {})
    component_key = f"{key}_tokens"

    def taken() -> None:
        message = st.session_state[component_key].chosen
        choice = _read(message, record, has_query=chosen.query >= 0)
        if choice is None or message["stamp"] != stamp:
            return
        answered[key] = int(message["number"])
        take(choice)

    keys = None if record.keys is None else [visible(token) for token in record.keys.tokens]
    # Patches are pointed at on the picture; what stands before the first one is not in it.
    n_buttons = len(record) if picture is None else record.first_patch
    data: dict[str, Any] = {
        "channel": key,
        "place": f".st-key-{key}_chart",
        "stamp": stamp,
        "tokens_id": shares_query or key,
        "queries": [visible(token) for token in record.tokens[:n_buttons]],
        "keys": keys,
        "labels": list(record.labels),
        "kept": chosen._asdict(),
        "answered": answered.get(key, 0),
        "layers": record.pattern.shape[0],
        "heads": record.pattern.shape[1],
        "n_queries": record.pattern.shape[2],
        "n_keys": record.pattern.shape[3],
        "is_whole": is_whole,
        "own_layer": own[0],
        "own_head": own[1],
        "tops": None if tops is None else np.where(tops > 0, tops, 1).ravel().tolist(),
        "title": title.text,
        "title_colour": title.colour,
        "partners": [partner and list(partner) for partner in partners],
        "colours": list(WEIGHTS),
        "hidden": None if hiding is None else _colouring(hiding),
    }
    for name, numbers in chart.weight_numbers(record, own).items():
        data[name] = base64.b64encode(numbers.astype("<u2").tobytes()).decode()
    with tokens:
        _tokens(key=component_key, data=data, on_chosen_change=callback(component_key, taken))
    figure = chart.linked_heads(
        record,
        selected=own,
        measures=measures,
        about=about,
        by_layer=by_layer,
        scale=scale,
        tops=tops,
        reach=reach,
        picture=picture,
        compact=compact,
        channel=key,
        notes=notes,
    )
    with st.container(key=f"{key}_chart", gap=None):
        st.vega_lite_chart(
            {**figure.specification, "datasets": figure.frames},
            key=f"{key}_vega",
            width="stretch",
            height="stretch",
        )


def _read(message: Any, record: AttentionRecord, *, has_query: bool) -> Choice | None:
    """The choice in a message of the browser; None if it is none or lies outside of the record.

    Where no query was chosen before, without `has_query`, a head can be chosen without one.
    """
    if not isinstance(message, Mapping) or not {"stamp", "number", *Choice._fields} <= message.keys():
        return None
    values = [message[name] for name in Choice._fields]
    if not all(type(value) is int for value in (*values, message["number"])):
        return None
    choice = Choice(*values)
    n_layers, n_heads, n_queries, _ = record.pattern.shape
    ranges = range(n_layers), range(n_heads), range(0 if has_query else -1, n_queries)
    inside = all(value in allowed for value, allowed in zip(choice, ranges, strict=True))
    return choice if inside else None


def _colouring(hiding: Hiding) -> dict[str, Any]:
    changes = [0.0 if change is None else float(change) for change in hiding.changes]
    words = [
        "not measured" if change is None else f"{-change:+.3f} {hiding.unit}" for change in hiding.changes
    ]
    return {
        "changes": [-change for change in changes],
        "words": words,
        "largest": max(map(abs, changes), default=0) or 1,
        "falls": FALLS,
        "rises": RISES,
        "note": hiding.note,
    }
