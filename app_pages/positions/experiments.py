"""Experiments on the current input: its tokens reordered, its positions left out, or its positions shifted."""

from collections.abc import Hashable
from functools import partial

import streamlit as st

from app_pages.controls import positions_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.estimated_work import A_SECOND, duration, multiply_adds
from app_pages.controls.head_choice import HeadChoice, choose_head, choose_query
from app_pages.controls.positions_controls import BACK, DIFFERENCE, MAPS, ROWS, SIDE_BY_SIDE
from app_pages.positions.experiment_sentences import (
    left_out_sentences,
    permutation_sentences,
    shift_sentences,
)
from app_pages.positions.notation import format_scientific
from app_pages.positions.reordered_head import draw_reordered_head
from app_pages.show.changed_head import BOTH, CHANGE, draw_changed_input, draw_changed_maps
from app_pages.show.prediction import prediction
from app_pages.show.show import clickable, show
from app_pages.show.side_predictions import NUMBERS, beside, tell
from app_pages.subject import as_python, cache
from app_pages.subject.answer import DISTANCE_HEADING, whole_answer
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, answers_expression
from app_pages.toolkit.expression import call
from app_pages.toolkit.stoppable import in_steps, is_wanted, until_done
from model.capture import activations
from model.capture.intervention import repositioned
from model.experiments.position_kinds import PositionKind, is_everything_seen, position_kinds
from model.inputs import Input
from model.measures.changes import (
    ROUNDING_DISTANCE,
    class_under_interventions,
    cosine_distance,
    largest_change,
)
from model.record import ForwardRecord
from model.theory.permutation_equivariance import restore_order, shuffled_order
from viz.builders.number_format import percent
from viz.compare.stage_curves import stage_curves
from viz.positions.position_curves import shift_curve, shuffle_strip

N_SEEDS = 32
N_SHIFTS = 49  # on the curve: every shift of 7 × 7 patches
SMALL = 0.0001  # a change below it is written with its power of ten
MINUTE = 60 * A_SECOND  # multiply-adds


def draw_experiment(subject: LiveSubject, slots: Slots) -> None:
    """Draws the buttons that choose an experiment, and the chosen experiment."""
    with slots.controls:
        experiment = controls.EXPERIMENT.choose()
    chosen = choose_head(subject, slots, with_colours=experiment != controls.ONE_HEAD, with_roles=False)
    draw = {
        controls.SHUFFLE: _draw_shuffle,
        controls.LEAVE_OUT: _draw_without_positions,
        controls.SHIFTED: _draw_shift,
        controls.ONE_HEAD: draw_reordered_head,
    }[experiment]
    draw(subject, slots, chosen)


# Shuffling


def _draw_shuffle(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws what another order of the content changes: in one order, and in many."""
    record = subject.record
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
    if is_unchanged:
        st.info(f"This order leaves all {record.units} where they were.")
    sees_all = bool(cache.of(is_everything_seen, name, len(record)).all())
    for sentence in permutation_sentences(record, _kinds(subject), sees_all=sees_all):
        st.caption(sentence)
    _draw_many_orders(subject, seed)


def _take_next_seed() -> None:
    controls.ORDER_SEED.take((controls.ORDER_SEED.held() + 1) % (controls.LARGEST_SEED + 1))


@cached
def _deviation_in_order(name: Checkpoint, model_input: Input, order: tuple[int, ...], zeroed: bool) -> float:
    """Largest change of any attention weight when the tokens are shuffled and the weights put back into the input's order;
    `zeroed` leaves positions out.
    """
    encoder = cache.loaded(name)
    patterns = [f"blocks.{layer}.attention.pattern" for layer in range(encoder.config.n_layers)]
    # not whole records, which of 1,370 patches would be 9 GB with and without positions
    before, after = (
        activations(encoder, [model_input], patterns, intervention=repositioned(order=content, zeroed=zeroed))
        for content in (None, order)
    )
    return max(
        largest_change(before[layer].cpu().numpy(), restore_order(after[layer].cpu().numpy(), order))
        for layer in patterns
    )


def _draw_many_orders(subject: LiveSubject, seed: int) -> None:
    """Draws the answers for many random orders, with and without positions, since a single order could be chance."""
    record = subject.record
    drawn = (
        "a dot each; a bar marks the input in order"
        if record.has_classes
        else "how far each moves the pooled state from that of the input in order"
    )
    st.markdown(f"**{N_SEEDS} orders**, seeds 0 to {N_SEEDS - 1}: {drawn}")
    work_key = ("many orders", subject)
    if not _are_wanted(
        subject, work_key, 2 * N_SEEDS, f"Run {N_SEEDS} orders", "positions_try_orders_wanted"
    ):
        return
    orders = [shuffled_order(record.roles, order_seed) for order_seed in range(N_SEEDS)]
    with until_done(work_key):
        by_condition = [
            answers_expression(
                subject,
                (call(repositioned, order=order, zeroed=is_zeroed) for order in orders),
                "Running many orders …",
            )
            for is_zeroed in (False, True)
        ]
        with_positions, without = (answers() for answers in by_condition)
    without_positions = subject.under(repositioned(zeroed=True))
    zeroed = without_positions.record
    if not record.has_classes:
        changes = {
            controls.WITH: call(cosine_distance, as_python.record(subject).pooled, by_condition[0]),
            controls.WITHOUT: call(
                cosine_distance, as_python.record(without_positions).pooled, by_condition[1]
            ),
        }
        figure = call(
            stage_curves, changes, list(map(str, range(N_SEEDS))), y_title=DISTANCE_HEADING, x_title="seed"
        )
        show(figure, key="positions_pooled_by_order")
        return
    predicted = int(record.probabilities.argmax())
    name = record.class_names[predicted]
    chart = call(
        shuffle_strip,
        {controls.WITH: by_condition[0][:, predicted], controls.WITHOUT: by_condition[1][:, predicted]},
        {
            controls.WITH: as_python.record(subject).probabilities[predicted],
            controls.WITHOUT: as_python.record(without_positions).probabilities[predicted],
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


def _draw_without_positions(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws what the encoder computes without its positions."""
    before = Side(subject, "With positions")
    after = Side(subject.under(repositioned(zeroed=True)), "Without positions")
    draw_consequence(slots, chosen, "Without positions", before, after)
    st.markdown(_largest_change_sentence(subject.record, after.record))
    st.caption(left_out_sentences(_kinds(subject)))


# Shifting


def _draw_shift(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws what a shift of all positions changes: by one offset, and by many."""
    record = subject.record
    config, kinds = record.config, _kinds(subject)
    n_shifts = config.n_positions
    if record.patch_grid is not None:
        n_shifts = config.n_patches if "added" in kinds else record.patch_grid[0]
    largest_shift = max(1, n_shifts - 1)
    with slots.controls:
        k = controls.SHIFT_BY.choose(most=largest_shift)
    before = Side(subject, "As trained")
    after = Side(subject.under(repositioned(shift=k)), f"Shifted by {k}")
    draw_consequence(slots, chosen, f"With positions shifted by {k}", before, after)
    st.markdown(_largest_change_sentence(subject.record, after.record))
    st.caption(shift_sentences(record, kinds, k))
    shifts = sorted({round(largest_shift * step / (N_SHIFTS - 1)) for step in range(N_SHIFTS)})
    changes = (call(repositioned, shift=shift) for shift in shifts)
    work_key = ("many shifts", subject)
    if not _are_wanted(
        subject, work_key, len(shifts), f"Run {len(shifts)} shifts", "positions_try_shifts_wanted"
    ):
        return
    with until_done(work_key):
        source = answers_expression(subject, changes, "Running many shifts …")
        answers = source()
    unit = "positions" if record.patch_grid is None or "added" in kinds else "rows"
    if not record.has_classes:
        distances = whole_answer(record).changes(answers)
        if distances.max() < ROUNDING_DISTANCE:
            st.markdown(no_effect_sentence(len(shifts), largest_change(record.pooled, answers)))
            return
        st.markdown(f"**{len(shifts)} shifts** of the same input: how far each moves the pooled state")
        moved = call(cosine_distance, as_python.record(subject).pooled, source)
        figure = call(
            stage_curves,
            {"shifted": moved},
            list(map(str, shifts)),
            y_title=DISTANCE_HEADING,
            x_title=f"shift k, in {unit}",
        )
        show(figure, key="positions_pooled_by_shift")
        return
    predicted = answers.argmax(axis=1)
    remark = "; hollow: another class is predicted" if (predicted != predicted[0]).any() else ""
    st.markdown(f"**{len(shifts)} shifts** of the same input{remark}")
    clickable(
        call(shift_curve, shifts, source, config.class_names, selected=k, unit=unit),
        key="positions_try_shifts",
        chosen=k,
        selection="shift",
        take=lambda point: controls.SHIFT_BY.take(int(point["shift"])),
    )


def _are_wanted(subject: LiveSubject, work_key: Hashable, n_forwards: int, label: str, key: str) -> bool:
    """Whether to run `n_forwards` forward passes now: they take less than a minute, were run before under this `work_key`, or the
    button drawn here is pressed, with the `label` and the widget key `key`.
    """
    work = n_forwards * multiply_adds(subject.loaded.config, len(subject.record))
    return is_wanted(work_key, f"{label}, {duration(work)}", key, is_short=work <= MINUTE)


def no_effect_sentence(n: int, largest: float) -> str:
    """Sentence that none of `n` shifts changes the pooled state beyond rounding; `largest` is the largest change of one of its
    components.
    """
    if not largest:
        return f"**{n} shifts** of the same input leave the pooled state exactly as it is."
    return (
        f"**{n} shifts** of the same input leave the pooled state as it is: none of its numbers moves by more than "
        f"**${format_scientific(largest)}$**, which is rounding in single precision."
    )


def _largest_change_sentence(before: ForwardRecord, after: ForwardRecord) -> str:
    change = largest_change(before.pattern, after.pattern)
    amount = f"{change:.4f}" if change >= SMALL else f"${format_scientific(change)}$"
    return (
        "The largest change of any attention weight, in all layers and heads, "
        rf"$\max |A'_{{ij}} - A_{{ij}}|$: **{amount}**."
    )


def _kinds(subject: LiveSubject) -> tuple[PositionKind, ...]:
    return cache.of(position_kinds, subject.checkpoint)


def draw_consequence(slots: Slots, chosen: HeadChoice, change_clause: str, before: Side, after: Side) -> None:
    """Draws prediction and attention of the chosen head before and after a change, which `change_clause` names, such as "Without
    positions"; `before` is in the input's order.
    """
    with slots.view:
        query = choose_query(before.record)
    tell(whole_answer(before.record).change_sentence(change_clause, after.subject))
    head, scale = (chosen.layer, chosen.head), chosen.of_head(before.record, after.record)
    for ordinal, side, column in zip(NUMBERS, (before, after), beside("positions_input"), strict=False):
        with column:
            if side.record.has_classes:
                prediction(side.record, side.subject.label, title=side.title)
            else:
                st.caption(side.title)
            draw_changed_input(
                before, side, head, query=query, scale=scale, key=f"positions_try_input_{ordinal}"
            )
    with slots.view:
        view = MAPS.choose()
        is_order_restored = view == SIDE_BY_SIDE and after.order is not None and ROWS.choose() == BACK
    draw_changed_maps(
        before,
        after,
        head,
        CHANGE if view == DIFFERENCE else BOTH,
        query=query,
        scale=scale,
        key="positions_try_map",
        is_order_restored=is_order_restored,
    )
