"""Cost of four kinds of layer (self-attention, restricted, recurrent, convolutional) by sequence length, counted and timed."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.cost_controls import KERNEL, WIDTH, WINDOW
from app_pages.show.show import show
from app_pages.toolkit.beside import beside
from app_pages.toolkit.stoppable import begin_anew, progress, stopped_at
from model.theory import layer_types
from viz.cost.length_scaling import length_scaling

LENGTHS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
ROUNDS = 11


def draw_measured() -> None:
    with bar("layers")[0]:
        d = int(WIDTH.choose())
        window_size = int(WINDOW.choose())
        k = int(KERNEL.choose())
        work_key = ("layers", d, window_size, k)
        is_wanted = st.button(
            "Measure",
            type="primary",
            icon=":material/timer:",
            key="cost_measure",
            on_click=partial(begin_anew, work_key),
        )
        if is_wanted:
            with progress("Measuring …", work_key) as move:
                measurement = layer_types.milliseconds(
                    LENGTHS, d, radius=window_size // 2, kernel=k, rounds=ROUNDS, progress=move
                )
            st.session_state["cost_measured"] = ((d, window_size, k), measurement)
    measured_sizes, last_times = st.session_state.get("cost_measured", (None, None))
    times: dict[str, np.ndarray] | None = last_times if measured_sizes == (d, window_size, k) else None
    fits = {name: layer_types.fit_power_law(LENGTHS, values) for name, values in (times or {}).items()}
    left, right = beside("counted", "measured")
    with left:
        st.markdown("**Counted**: multiply-adds of one pass, exact")
        figure = length_scaling(LENGTHS, _multiply_adds_by_layer(d, window_size, k), quantity="multiply-adds")
        show(figure, key="cost_operations")
    with right:
        st.markdown("**Measured**: time of one pass on this machine")
        if times is None:
            is_new = stopped_at(work_key) is None
            reason = "Not measured yet for these sizes" if is_new else "The measurement was stopped"
            st.info(f"{reason}: press Measure.", icon=":material/timer:")
        else:
            lines = {name: (fit.lengths, fit.values) for name, fit in fits.items()}
            milliseconds = {name: values.tolist() for name, values in times.items()}
            figure = length_scaling(LENGTHS, milliseconds, quantity="time (ms)", fits=lines)
            show(figure, key="cost_times")
    st.table(_growth_table(fits), hide_index=True, border="horizontal")
    if times is not None:
        st.markdown(_crossing_sentence(times, d))
    st.caption(
        'Orders, sequential operations and longest paths: table 1 of "Attention Is All You Need" (Vaswani et al. 2017), '
        "$r$ the size of the neighbourhood in restricted self-attention, $k$ the kernel. As there, "
        "attention is without its four linear maps: queries, keys and values are the input itself, $n$ "
        "vectors of width $d$, one head. Recurrent is $h_t = \\tanh(W x_t + U h_{t-1} + b)$. Restricted "
        "self-attention keeps $r\\,n$ weights, self-attention $n^2$. Each time is the processor time of one "
        "thread, so waiting "
        f"for other programs does not count; the median of {ROUNDS} interleaved runs. The exponents are "
        "least squares of ln(time) on ln(n) over the longer half of the lengths, n = "
        f"{LENGTHS[len(LENGTHS) // 2]:,} to {LENGTHS[-1]:,} (dashed), where the fixed cost of a call weighs "
        "least; after ± stands the standard error of the slope."
    )


def _multiply_adds_by_layer(d: int, r: int, k: int) -> dict[str, list[int]]:
    return {
        layer_type.name: [
            layer_types.multiply_adds(layer_type.name, n, d, radius=r // 2, kernel=k) for n in LENGTHS
        ]
        for layer_type in layer_types.LAYER_TYPES
    }


def _growth_table(fits: dict[str, layer_types.Fit]) -> pd.DataFrame:
    """Table with a row for each kind of layer: orders of growth, and the fitted exponent, a dash if not measured."""
    return pd.DataFrame(
        {
            "Layer": [layer.name for layer in layer_types.LAYER_TYPES],
            "Complexity": [f"${{{layer.order}}}$" for layer in layer_types.LAYER_TYPES],
            "Sequential": [f"${layer.sequential}$" for layer in layer_types.LAYER_TYPES],
            "Longest path": [f"${{{layer.path}}}$" for layer in layer_types.LAYER_TYPES],
            "Multiply-adds": [f"${{{layer.multiply_adds}}}$" for layer in layer_types.LAYER_TYPES],
            "Exponent of n": [str(layer.exponent) for layer in layer_types.LAYER_TYPES],
            "Fitted exponent": [
                f"**{fits[layer.name].exponent:.2f}** ± {fits[layer.name].error:.2f}"
                if layer.name in fits
                else "–"
                for layer in layer_types.LAYER_TYPES
            ],
        }
    )


def _crossing_sentence(times: dict[str, np.ndarray], d: int) -> str:
    """Sentence on the length from which on self-attention takes longer than the recurrent layer."""
    by_count = f"By the count it costs more where $n > d$ = {d}."
    length = layer_types.crossing_length(
        LENGTHS, times[layer_types.SELF_ATTENTION], times[layer_types.RECURRENT]
    )
    if length is None:
        return f"Self-attention took no longer than the recurrent layer at n = {LENGTHS[-1]:,}. {by_count}"
    return (
        f"Self-attention took longer than the recurrent layer from **n = {length:,}** on. {by_count} "
        "The recurrent layer makes its $n$ steps one after the other; attention is two matrix products."
    )
