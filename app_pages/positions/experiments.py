"""Experiments on the current input: its content reordered, its positions left out or shifted."""

from functools import partial

import streamlit as st

from app_pages.controls import positions_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.positions.before_after import draw_consequence
from app_pages.positions.notation import format_scientific
from app_pages.show.show import clickable, show
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, answers_under
from app_pages.toolkit.markdown import plain
from app_pages.toolkit.stoppable import in_steps
from model.capture.intervention import repositioned
from model.experiments.shuffling import FIXED_ROLES, movable_positions, restore_order, shuffled_order
from model.inputs import Input
from model.measures.changes import class_changes, class_under_interventions, largest_change
from model.record import ForwardRecord
from viz.builders.number_format import percent
from viz.compare.stage_curves import stage_curves
from viz.positions.position_curves import shift_curve
from viz.positions.shuffle_strip import shuffle_strip

N_SEEDS = 32
N_SHIFTS = 49  # on the curve: every shift of 7 × 7 patches
POOLED = "cosine distance of the pooled state"  # what is measured where there are no classes


def draw_experiment(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the row of buttons with the experiments, and the chosen experiment."""
    with slots.controls:
        experiment = controls.EXPERIMENT.choose()
    draw = {
        controls.SHUFFLE: _draw_shuffle,
        controls.LEAVE_OUT: _draw_without_positions,
        controls.SHIFTED: _draw_shift,
    }[experiment]
    draw(subject, slots, chosen, subject.record)


# Shuffling


def _draw_shuffle(subject: LiveSubject, slots: Slots, chosen: HeadChoice, record: ForwardRecord) -> None:
    with slots.controls:
        seed = controls.ORDER_SEED.choose()
        st.button("Next order", key="positions_try_next", icon=":material/shuffle:", on_click=_take_next_seed)
        zeroed = controls.IN_BOTH_ORDERS.choose() == controls.WITHOUT
    order = shuffled_order(record.roles, seed)
    name, model_input = subject.checkpoint, subject.model_input
    calls = [partial(_deviation_in_order, name, model_input, order, without) for without in (False, True)]
    deviations = in_steps(calls, "Reading the input in this order …", ("order", name, model_input, order))
    is_unchanged = order == tuple(range(len(record)))
    remark = ", no positions" if zeroed else ""
    intervention = repositioned(order=order, zeroed=zeroed)
    draw_consequence(
        slots,
        chosen,
        "In this order",
        Side(subject.under(repositioned(zeroed=zeroed)), f"In order{remark}"),
        Side(subject.under(intervention), f"Shuffled{remark}", None if is_unchanged else order),
    )
    with_positions, without = map(format_scientific, deviations)
    st.markdown(
        f"With the {record.units} put back in order, the largest change of any attention weight, in all "
        "layers and heads, "
        rf"$\max |A'_{{ij}} - A_{{\pi(i)\pi(j)}}|$: **${with_positions}$** with positions, **${without}$** "
        "without."
    )
    if len(movable_positions(record.roles)) < 2:
        st.info(f"Fewer than two {record.units} can move, so there is one order alone.")
    elif is_unchanged:
        st.info(f"This order leaves all {record.units} where they were: take another seed.")
    st.caption(_permutation_sentences(record))
    _draw_many_orders(subject, record, seed)


def _take_next_seed() -> None:
    controls.ORDER_SEED.take((controls.ORDER_SEED.held() + 1) % (controls.LARGEST_SEED + 1))


@cached
def _deviation_in_order(name: Checkpoint, model_input: Input, order: tuple[int, ...], zeroed: bool) -> float:
    """Largest change of any attention weight after the shuffled tokens are put back in order."""
    before, after = (
        LiveSubject(name, model_input, changed=repositioned(order=content, zeroed=zeroed)).record
        for content in (None, order)
    )
    return largest_change(before.pattern, restore_order(after.pattern, order))


def _permutation_sentences(record: ForwardRecord) -> str:
    equivalent = (
        "typing the tokens in that order"
        if record.unit == "token"
        else "a picture with its patches in other places"
    )
    fixed_tokens = list(
        dict.fromkeys(record.tokens[position] for position in record.positions_with_role(*FIXED_ROLES))
    )
    if fixed_tokens:
        equivalent += (
            f"; {' and '.join(map(plain, fixed_tokens))} {'stay' if len(fixed_tokens) > 1 else 'stays'}"
        )
    permuted = (
        r"What is permuted is the content: at position $i$ stands $x_{\pi(i)} + p_i$, so each position keeps its "
        f"vector. That is the same as {equivalent}."
    )
    if record.config.has_distance_bias:
        return (
            f"{permuted} Even without position vectors the order counts in this encoder: it also adds a bias to each "
            "score that depends on how far apart query and key are, and that bias stays."
        )
    return (
        f"{permuted} Without positions nothing tells one position from another: attention, feed-forward and norm "
        "treat all alike, so the order of rows and columns is all that can change. The small differences that "
        "remain are rounding: the sums are taken in another order."
    )


def _draw_many_orders(subject: LiveSubject, record: ForwardRecord, seed: int) -> None:
    """Draws the answers for many orders, with and without positions, since one order alone could be chance."""
    st.markdown(f"**{N_SEEDS} orders**, seeds 0 to {N_SEEDS - 1}: a dot each; a bar marks the input in order")
    zeroed = subject.under(repositioned(zeroed=True)).record
    orders = [shuffled_order(record.roles, order_seed) for order_seed in range(N_SEEDS)]
    with_positions, without = (
        answers_under(
            subject,
            (repositioned(order=order, zeroed=is_zeroed) for order in orders),
            "Running many orders …",
        )
        for is_zeroed in (False, True)
    )
    if not record.has_classes:
        changes = {
            controls.WITH: class_changes(record, with_positions, None),
            controls.WITHOUT: class_changes(zeroed, without, None),
        }
        figure = stage_curves(changes, list(map(str, range(N_SEEDS))), y_title=POOLED, x_title="seed")
        show(figure, key="positions_pooled_by_order")
        return
    predicted = int(record.probabilities.argmax())
    name = record.class_names[predicted]
    chart = shuffle_strip(
        {controls.WITH: with_positions[:, predicted], controls.WITHOUT: without[:, predicted]},
        {
            controls.WITH: float(record.probabilities[predicted]),
            controls.WITHOUT: float(zeroed.probabilities[predicted]),
        },
        class_name=name,
        selected=seed,
    )
    clickable(
        chart,
        key="positions_try_orders",
        chosen=seed,
        selection="seed",
        take=lambda point: controls.ORDER_SEED.take(int(point["seed"])),
    )
    result = class_under_interventions(with_positions, predicted)
    st.markdown(
        f"With positions, **{result.kept} of {N_SEEDS}** orders keep the prediction {name}, whose "
        f"probability goes from {percent(result.lowest, 2)} to {percent(result.highest, 2)}. Without, "
        "none of them changes any probability by more than "
        f"**${format_scientific(largest_change(zeroed.probabilities, without))}$**."
    )


# Leaving out


def _draw_without_positions(
    subject: LiveSubject, slots: Slots, chosen: HeadChoice, record: ForwardRecord
) -> None:
    before = Side(subject, "With positions")
    after = Side(subject.under(repositioned(zeroed=True)), "Without positions")
    draw_consequence(slots, chosen, "Without positions", before, after)
    st.markdown(_largest_change_sentence(record, after.record))
    st.caption(
        "Zeros are added in place of the position vectors; every weight stays as it was trained, with positions. "
        "So this shows what this encoder lacks without them, not what an encoder trained without any would do."
    )


# Shifting


def _draw_shift(subject: LiveSubject, slots: Slots, chosen: HeadChoice, record: ForwardRecord) -> None:
    config = record.config
    largest_shift = max(1, (config.n_positions if record.patch_grid is None else config.n_patches) - 1)
    with slots.controls:
        k = controls.SHIFT_BY.choose(most=largest_shift)
    before = Side(subject, "As trained")
    after = Side(subject.under(repositioned(shift=k)), f"Shifted by {k}")
    draw_consequence(slots, chosen, f"With positions shifted by {k}", before, after)
    st.markdown(_largest_change_sentence(record, after.record))
    st.caption(_shift_sentences(record, k))
    shifts = sorted({round(largest_shift * step / (N_SHIFTS - 1)) for step in range(N_SHIFTS)})
    changes = (repositioned(shift=shift) for shift in shifts)
    answers = answers_under(subject, changes, "Running many shifts …")
    if not record.has_classes:
        st.markdown(f"**{len(shifts)} shifts** of the same input")
        curve = {"shifted": class_changes(record, answers, None)}
        figure = stage_curves(curve, list(map(str, shifts)), y_title=POOLED, x_title="shift k, in positions")
        show(figure, key="positions_pooled_by_shift")
        return
    predicted = answers.argmax(axis=1)
    remark = "; hollow: another class is predicted" if (predicted != predicted[0]).any() else ""
    st.markdown(f"**{len(shifts)} shifts** of the same input{remark}")
    clickable(
        shift_curve(shifts, answers, config.class_names, selected=k),
        key="positions_try_shifts",
        chosen=k,
        selection="shift",
        take=lambda point: controls.SHIFT_BY.take(int(point["shift"])),
    )


def _shift_sentences(record: ForwardRecord, k: int) -> str:
    config = record.config
    if config.positions == "sinusoidal":
        last_position = k + len(record) - 1
        remark = f" The table ends at {config.n_positions - 1}; what lies beyond was never met in training."
        return (
            rf"Position $t$ gets $p_{{t+k}}$: the input stands at positions {k} to {last_position}. The dot products of the "
            "position vectors with each other depend on offsets alone and stay what they were; the vectors do not."
            + (remark if last_position >= config.n_positions else "")
        )
    if record.patch_grid is None:
        return (
            rf"Position $t$ gets $p_{{t+k}}$ of the learned table, which begins again after its last row, "
            f"{config.n_positions - 1}."
        )
    return (
        "Each patch gets the learned position of the patch that comes $k$ later, row by row: "
        f"{record.patch_grid[1]} is a whole row, and the last ones get those at the beginning. A class "
        "token keeps its own."
    )


def _largest_change_sentence(before: ForwardRecord, after: ForwardRecord) -> str:
    return (
        "The largest change of any attention weight, in all layers and heads, "
        rf"$\max |A'_{{ij}} - A_{{ij}}|$: **{largest_change(before.pattern, after.pattern):.4f}**."
    )
