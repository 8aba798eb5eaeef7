"""Attention made harder or softer: the pattern of the chosen query, and the prediction that follows."""

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import address, state
from app_pages.state import HeadSelection, Input
from app_pages.widgets.head_choice import choose_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.prediction import NO_CLASSES, prediction
from app_pages.widgets.show import clickable
from model.capture import capture
from model.intervention import at_temperature
from model.measures.heads import entropy
from model.probabilities import probabilities
from model.record import ForwardRecord
from viz.inside.temperature_curve import temperature_curve
from viz.numbers import percent

TEMPERATURES = (
    *(0.0, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7),
    *(1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, math.inf),
)
EVERYWHERE, LAYER, HEAD = "all heads", "this layer", "this head"
KEY = "inside_temperature"


def temperature(chosen: HeadSelection, controls: DeltaGenerator) -> None:
    """The box of the query goes into `controls`."""
    record = state.record(chosen.checkpoint, chosen.given)
    if not record.has_classes:
        st.info(NO_CLASSES)
        return
    with controls:
        query = choose_query(record)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        where = address.row("Applied to", (EVERYWHERE, LAYER, HEAD), key="inside_where")
        t = address.select_slider(
            "Temperature T",
            TEMPERATURES,
            1.0,
            format_func=named,
            key=KEY,
            width=420,
            help="1 is as trained. Towards 0 each query keeps its best key alone, towards ∞ it looks at all alike.",
        )
        st.button("Back to 1", key="inside_as_trained", on_click=_take, args=(1.0,), disabled=t == 1)
    st.latex(r"a = \mathrm{softmax}\!\left(\frac{q\,K^{\top}}{T \sqrt{d_k}}\right)")
    layer = None if where == EVERYWHERE else chosen.layer
    head = chosen.head if where == HEAD else None
    changed = record_at(chosen.checkpoint, chosen.given, t, layer, head)
    with st.spinner("Asking the classifier at every temperature …"):
        answers = answers_over(chosen.checkpoint, chosen.given, layer, head)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_answer"):
            prediction(changed, chosen.label, key="inside_answer", title=f"At T = {named(t)}")
            st.markdown(_what_follows(record, changed))
            st.caption(
                "A click on a point of the curve sets the temperature. At $T = 1/\\sqrt{d_k} = "
                f"{record.config.d_k**-0.5:.3g}$ the scores are the plain $q \\cdot k$, as if nothing had been divided. "
                "The encoder was trained at $T = 1$ alone. Changed attention changes what later layers receive, "
                "and so their scores too."
            )
        with st.container(key="side_curve"):
            d_k = record.config.d_k
            curve = temperature_curve(
                TEMPERATURES,
                answers,
                record.class_names,
                chosen=t,
                marks={"T = 1/√d_k: no scale": d_k**-0.5} if d_k > 1 else {},
            )
            clickable(
                curve,
                key="inside_curve",
                chosen=t,
                selection="temperature",
                take=lambda point: _take(TEMPERATURES[int(point["index"])]),
            )
    _patterns(chosen, query, record, changed, t)


def _what_follows(record: ForwardRecord, changed: ForwardRecord) -> str:
    before, after = record.probabilities, changed.probabilities
    said = int(before.argmax())
    apart = 0.5 * float(np.abs(before - after).sum())
    now = int(after.argmax())
    outcome = (
        "so the answer stays"
        if now == said
        else f"and the answer becomes **{record.class_names[now]}** with {percent(after[now])}"
    )
    return (
        f"As trained the answer is **{record.class_names[said]}** with {percent(before[said])}. At this temperature that "
        f"class gets {percent(after[said])}, {outcome}. The two predictions are **{apart:.3f}** apart (total variation "
        r"$\frac12 \sum |p - p'|$, from 0 to 1)."
    )


def _patterns(
    chosen: HeadSelection, query: int, record: ForwardRecord, changed: ForwardRecord, t: float
) -> None:
    """The row of `query`, as trained and at temperature `t`."""
    layer, head = chosen.layer, chosen.head
    rows = {"As trained": record} | ({} if t == 1 else {f"At T = {named(t)}": changed})
    is_text = record.patch_grid is None
    with st.container(horizontal=True, gap="medium"):
        for title, seen in rows.items():
            key = "trained" if seen is record else "changed"
            weights = seen.pattern[layer, head]
            share = entropy(weights, seen.mask[layer, head])[query]
            with st.container(key=f"side_{key}") if is_text else st.container(width=425):
                st.markdown(
                    f"**{title}**: weights of query {query} in L{layer} H{head}, entropy {share:.2f} of 1"
                )
                input_in_colours(
                    chosen.given,
                    seen,
                    weights[query],
                    query=query,
                    scale=chosen.scale,
                    key=f"inside_row_{key}",
                )


def _take(t: float) -> None:
    address.take(KEY, t)


def named(t: float) -> str:
    # No parentheses: in the page's address they end the url(...) by which a legend refers to its gradient.
    return {0.0: "0: argmax", math.inf: "∞: uniform"}.get(t, f"{t:g}")


@st.cache_resource(max_entries=12, show_spinner=False)
def record_at(
    name: str, given: Input, temperature: float, layer: int | None, head: int | None
) -> ForwardRecord:
    changed = at_temperature(temperature, layer=layer, head=head)
    return capture(state.loaded(name), given, changed)


@st.cache_data(max_entries=64, show_spinner=False)
def answers_over(name: str, given: Input, layer: int | None, head: int | None) -> np.ndarray:
    """Probabilities [temperature, class]."""
    changes = [at_temperature(temperature, layer=layer, head=head) for temperature in TEMPERATURES]
    return probabilities(state.loaded(name), [given], changes)[0]
