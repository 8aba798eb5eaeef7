"""Experiments on the current input: its content in another order, its positions left out, or shifted."""

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.positions import cached
from app_pages.positions.notation import scientific
from app_pages.positions.readings import Reading, consequence
from app_pages.state import HeadSelection
from app_pages.widgets.prediction import NO_CLASSES
from app_pages.widgets.show import clickable
from model.config import ModelConfig
from model.order import STAY, movable, shuffled
from model.record import ForwardRecord
from viz.numbers import percent
from viz.positions.position_curves import shift_curve
from viz.positions.shuffle_strip import shuffle_strip

SHUFFLE, LEAVE_OUT, SHIFT = "shuffle the content", "leave the positions out", "shift the positions"
WITH, WITHOUT = "with positions", "without positions"
N_SEEDS, LARGEST_SEED = 32, 9999
N_SHIFTS = 49  # on the curve: every shift of 7 × 7 patches


def position_experiments(chosen: HeadSelection) -> None:
    if not state.record(chosen.checkpoint, chosen.given).has_classes:
        st.info(NO_CLASSES)
        return
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with bar:
        experiment = address.row("Experiment", (SHUFFLE, LEAVE_OUT, SHIFT), key="positions_try")
    if experiment == SHUFFLE:
        with bar:
            seed = _choose_seed()
            zeroed = address.row("Both times", (WITH, WITHOUT), key="positions_try_with") == WITHOUT
        _shuffle(chosen, seed, zeroed)
    elif experiment == LEAVE_OUT:
        _leave_out(chosen)
    else:
        with bar:
            k = _choose_shift(state.loaded(chosen.checkpoint).config)
        _shift(chosen, k)


# Shuffling


def _choose_seed() -> int:
    seed = address.number(
        "Seed",
        0,
        LARGEST_SEED,
        key="positions_try_seed",
        width=120,
        help="Each seed is another order.",
    )
    st.button("Next order", key="positions_try_next", icon=":material/shuffle:", on_click=_next_seed)
    return seed


def _next_seed() -> None:
    address.take("positions_try_seed", (address.held("positions_try_seed") + 1) % (LARGEST_SEED + 1))


def _shuffle(chosen: HeadSelection, seed: int, zeroed: bool) -> None:
    name, given = chosen.checkpoint, chosen.given
    in_order = _in_order(chosen)
    found = state.record(name, given)
    order = shuffled(found.roles, seed)
    with_positions, without = (
        cached.largest_deviation(name, given, order=order, zeroed=each) for each in (False, True)
    )
    st.markdown(
        f"With the {found.units} put back in order, the largest change of any attention weight, in all layers and heads, "
        rf"$\max |A'_{{ij}} - A_{{\pi(i)\pi(j)}}|$: **${scientific(with_positions)}$** with positions, "
        f"**${scientific(without)}$** without."
    )
    if len(movable(found.roles)) < 2:
        st.info(f"Fewer than two {found.units} can move, so there is one order alone.")
    elif order == in_order:
        st.info(f"This order leaves all {found.units} where they were: take another seed.")
    st.caption(_what_is_permuted(found))
    remark = ", no positions" if zeroed else ""
    consequence(
        chosen,
        Reading(
            side="before",
            name=f"In order{remark}",
            record=cached.repositioned(name, given, zeroed=zeroed),
            order=in_order,
        ),
        Reading(
            side="after",
            name=f"Shuffled{remark}",
            record=cached.repositioned(name, given, order=order, zeroed=zeroed),
            order=order,
        ),
    )
    _many_orders(chosen, seed)


def _what_is_permuted(record: ForwardRecord) -> str:
    what = (
        "typing the tokens in that order"
        if record.patch_grid is None
        else "a picture with its patches in other places"
    )
    stay = list(dict.fromkeys(record.tokens[at] for at in record.at(*STAY)))
    if stay:
        what += f"; {' and '.join(stay)} {'stay' if len(stay) > 1 else 'stays'}"
    return (
        r"What is permuted is the content: at place $i$ stands $x_{\pi(i)} + p_i$, so each place keeps its position "
        f"vector. That is the same as {what}. Without positions nothing tells one place from another: attention, "
        "feed-forward and norm treat all places alike, so the order of rows and columns is all that can change. "
        "What is left then is rounding: sums are taken in another order."
    )


def _many_orders(chosen: HeadSelection, seed: int) -> None:
    """One order is one draw: what do many do?"""
    name, given = chosen.checkpoint, chosen.given
    record, zeroed = state.record(name, given), cached.repositioned(name, given, zeroed=True)
    said = int(record.probabilities.argmax())
    said_name = record.class_names[said]
    st.markdown(f"**{N_SEEDS} orders**, seeds 0 to {N_SEEDS - 1}: a dot each; a bar marks the input in order")
    found = cached.over_orders(name, given, N_SEEDS, zeroed=False)
    without = cached.over_orders(name, given, N_SEEDS, zeroed=True)
    chart = shuffle_strip(
        {WITH: found[:, said], WITHOUT: without[:, said]},
        {WITH: float(record.probabilities[said]), WITHOUT: float(zeroed.probabilities[said])},
        of=said_name,
        selected=seed,
    )
    clickable(chart, key="positions_try_orders", chosen=seed, selection="seed", take=_take_seed)
    kept = int((found.argmax(axis=1) == said).sum())
    lowest, highest = found[:, said].min(), found[:, said].max()
    changed = float(np.abs(without - zeroed.probabilities).max())
    st.markdown(
        f"With positions, **{kept} of {N_SEEDS}** orders keep the prediction {said_name}, whose probability goes from "
        f"{percent(lowest, 2)} to {percent(highest, 2)}. Without, none of them changes any probability by more than "
        f"**${scientific(changed)}$**."
    )


def _take_seed(point: dict) -> None:
    address.take("positions_try_seed", int(point["seed"]))


# Leaving out


def _leave_out(chosen: HeadSelection) -> None:
    before = state.record(chosen.checkpoint, chosen.given)
    after = cached.repositioned(chosen.checkpoint, chosen.given, zeroed=True)
    order = _in_order(chosen)
    st.markdown(_largest_change(before.pattern, after.pattern))
    st.caption(
        "Zeros are added in place of the position vectors; every weight stays as it was trained, with positions. "
        "So this shows what this checkpoint lacks without them, not what an encoder trained without any would do."
    )
    consequence(
        chosen,
        Reading(side="before", name="With positions", record=before, order=order),
        Reading(side="after", name="Without positions", record=after, order=order),
    )


# Shifting


def _choose_shift(config: ModelConfig) -> int:
    return address.slider(
        "Shift $k$",
        *(0, _most_shift(config), 1),
        key="positions_try_shift",
        width=300,
        help="With the slider in focus, the arrow keys step through the shifts.",
    )


def _most_shift(config: ModelConfig) -> int:
    return max(1, (config.n_positions if config.is_text else config.n_patches) - 1)


def _shift(chosen: HeadSelection, k: int) -> None:
    config = state.loaded(chosen.checkpoint).config
    before = state.record(chosen.checkpoint, chosen.given)
    after = cached.repositioned(chosen.checkpoint, chosen.given, shift=k)
    order = _in_order(chosen)
    st.markdown(_largest_change(before.pattern, after.pattern))
    st.caption(_what_is_shifted(config, len(order), k))
    consequence(
        chosen,
        Reading(side="before", name="As trained", record=before, order=order),
        Reading(side="after", name=f"Shifted by {k}", record=after, order=order),
    )
    shifts = tuple(np.unique(np.linspace(0, _most_shift(config), N_SHIFTS).round().astype(int)).tolist())
    st.markdown(f"**{len(shifts)} shifts** of the same input; hollow: the prediction is another")
    found = cached.over_shifts(chosen.checkpoint, chosen.given, shifts)
    chart = shift_curve(shifts, found, config.class_names, selected=k)
    clickable(chart, key="positions_try_shifts", chosen=k, selection="shift", take=_take_shift)


def _what_is_shifted(config: ModelConfig, n: int, k: int) -> str:
    if config.positions == "sinusoidal":
        last = k + n - 1
        beyond = f" The table ends at {config.n_positions - 1}; what lies beyond was never met in training."
        return (
            rf"Place $t$ gets $p_{{t+k}}$: the input stands at positions {k} to {last}. The dot products of the "
            "position vectors with each other depend on offsets alone and stay what they were; the vectors do not."
            + (beyond if last >= config.n_positions else "")
        )
    if config.is_text:
        return (
            rf"Place $t$ gets $p_{{t+k}}$ of the learned table, which begins again after its last row, "
            f"{config.n_positions - 1}."
        )
    return (
        "Each patch gets the learned position of the patch $k$ places on, row by row: "
        f"{config.patch_grid[1]} is a whole row, and the last ones get those at the beginning. A class token keeps its own."
    )


def _take_shift(point: dict) -> None:
    address.take("positions_try_shift", int(point["shift"]))


def _in_order(chosen: HeadSelection) -> tuple[int, ...]:
    return tuple(range(len(state.record(chosen.checkpoint, chosen.given).tokens)))


def _largest_change(before: np.ndarray, after: np.ndarray) -> str:
    return (
        "The largest change of any attention weight, in all layers and heads, "
        rf"$\max |A'_{{ij}} - A_{{ij}}|$: **{np.abs(after - before).max():.4f}**."
    )
