"""Token knock-out on both sides: on which token or patch does the answer depend most?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import Answer, choose_answers
from app_pages.controls.compare_controls import CLASS_OF, SECOND_SAYS
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_position_from_second, take_query
from app_pages.controls.knock_out_choice import NAMES, choose_kind, knock_out_answers
from app_pages.show.show import clickable
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject.two_sides import POOLED, Side, same_position, shared_limit
from app_pages.toolkit.markdown import as_code, plain
from model.experiments.knock_out import KnockOutKind
from model.inputs import preprocessed_picture
from model.measures.changes import (
    ROUNDING,
    ROUNDING_DISTANCE,
    class_changes,
    class_under_interventions,
    largest_indices,
)
from model.record import ForwardRecord, read_answers
from viz.attention.picture_patches import knock_out_patches
from viz.attention.token_bars import knock_out_bars
from viz.builders.number_format import format_number, percent, share_of

_DESCRIPTIONS: dict[KnockOutKind, str] = {
    "keys": "Each {unit} in turn is hidden from every query, in all layers and heads: none attends to it, but its own "
    "state stays in the residual stream.",
    "mask": "In place of each {unit} in turn the encoder reads [MASK].",
    "unknown": "In place of each {unit} in turn the encoder reads [UNK].",
    "grey": "Each pixel of one {unit} after the other becomes the mean of the picture.",
}


_SCALES = _LOG_P, _LOG_ODDS, _DISTANCE = "log P", "the log-odds", "the cosine distance"
_QUANTITIES = {
    _LOG_ODDS: r"the change of the log-odds of the class, $\ln \frac{P}{1 - P}$: near 0 or 1 a probability hardly moves, even when "
    "the logits do.",
    _DISTANCE: "the cosine distance of the pooled state from what it was.",
    _LOG_P: "the change of log P of the word at [MASK], in nats.",
}


class Changes(NamedTuple):
    """How the answer of one side changes when each of `positions` is knocked out."""

    side: Side
    kind: KnockOutKind
    answer: Answer
    class_name: (
        str | None
    )  # whose log-odds change; None for a masked word, and without classes: the pooled state changes
    positions: Sequence[int]
    answers: (
        np.ndarray
    )  # [position, class], [position, d_model] without classes, or [position, 1] of a masked word
    changes: np.ndarray  # [position]

    @property
    def scale(self) -> str:
        """What the changes are of: only changes of one quantity have a scale in common."""
        return _scale(self.answer, self.side.record)

    def probability(self, index: int) -> str:
        """Probability of the class after the knock-out of `positions[index]`, as text."""
        return percent(share_of(self.answers[index], self.side.record.class_names.index(self.class_name)), 2)


def draw_knock_out(slots: Slots, first: Side, second: Side) -> None:
    """Draws on each side how the answer changes when each position is knocked out alone."""
    sides = (first, second)
    with slots.controls:
        kind = choose_kind(first.subject, second.subject)
        answers = choose_answers({side.title: side.subject for side in sides})
        classes = list(
            dict.fromkeys(
                side.predicted
                for side, answer in zip(sides, answers, strict=True)
                if side.predicted is not None and not answer.is_masked_word
            )
        )
        class_name = classes[0] if classes else None
        if len(classes) == 2:
            class_name = classes[CLASS_OF.choose() == SECOND_SAYS]
        query = choose_query(first.compared)
    by_side = [
        _knock_out_changes(side, kind, answer, class_name)
        for side, answer in zip(sides, answers, strict=True)
    ]
    limits = {
        scale: shared_limit(
            result.changes for result in by_side if result is not None and result.scale == scale
        )
        for scale in _SCALES
        if any(result is not None and result.scale == scale for result in by_side)
    }
    columns = [st.container(), st.container()] if first.is_text else beside("knock_out")
    take = partial(_take_from_first, first), partial(take_position_from_second, first, second)
    for i, (side, result, column) in enumerate(zip(sides, by_side, columns, strict=True)):
        with column:
            if result is None:
                st.info(f"{side.title} has no class {plain(str(class_name))}.")
                continue
            st.markdown(largest_change_sentence(result))
            position = same_position(first, side, query)
            limit = limits[result.scale]
            _draw_changes(result, limit, query=position, take=take[i], key=f"knock_out_{NUMBERS[i]}")
    is_moved = any(result is not None and result.changes.any() for result in by_side)
    unit = first.record.unit if first.words is None else "word, with all its pieces,"
    scale = scale_sentence(limits) if is_moved else "Nothing changes on either side."
    st.caption(f"{_DESCRIPTIONS[kind].format(unit=unit)} {_quantity_sentences(sides, answers)} {scale}")


def _scale(answer: Answer, record: ForwardRecord) -> str:
    if answer.is_masked_word:
        return _LOG_P
    return _LOG_ODDS if record.has_classes else _DISTANCE


def _quantity_sentences(sides: Sequence[Side], answers: Sequence[Answer]) -> str:
    """What is shown on each side, in Markdown."""
    titles = {
        _scale(answer, side.record): plain(side.title) for side, answer in zip(sides, answers, strict=True)
    }
    first, *others = sorted(titles, key=_SCALES.index)
    why = "is not asked for a masked word" if first == _LOG_P else "has no classes"
    of_others = [f"{titles[other]} {why}: there it is {_QUANTITIES[other]}" for other in others]
    return " ".join([f"Shown is {_QUANTITIES[first]}", *of_others])


def scale_sentence(limits: Mapping[str, float]) -> str:
    """Sentence on the largest values of the colour scales; `limits` holds them by quantity."""
    ends = {scale: format_number(limit, ".3g") for scale, limit in limits.items()}
    if len(ends) < 2:
        return f"Both scales reach to {next(iter(ends.values()), 0)}, the largest change on either side."
    (first, first_end), (second, second_end) = ends.items()
    return (
        f"The scale of {first} reaches to {first_end}, that of {second} to {second_end}, each the largest "
        "change there. One cannot be converted into the other: compare which tokens matter, not how much."
    )


def _take_from_first(first: Side, position: int) -> None:
    """Callback on the first side: makes the position, or the word, the query."""
    take_query(first.compared.number(position))


def _knock_out_changes(
    side: Side, kind: KnockOutKind, answer: Answer, class_name: str | None
) -> Changes | None:
    """Effects of all knock-outs on one side: on the masked word of the `answer`, or else on the class, or on the pooled state of a
    side without classes; None if it lacks the class.
    """
    record = side.record
    if answer.is_masked_word or not record.has_classes:
        class_name = None
    # A class token that is no token of a text can be masked, and not greyed.
    positions = record.positions_with_role("patch") if kind == "grey" else range(len(side.compared))
    sets = [(position,) for position in positions] if side.words is None else side.words.groups
    answers = knock_out_answers(side.subject, sets, kind, side.title, answer.measured)
    if class_name is not None and class_name not in record.class_names:
        return None
    if answer.is_masked_word:
        changes = answer.changes(side.subject, answers)
    else:
        index = None if class_name is None else record.class_names.index(class_name)
        changes = class_changes(record, answers, index)
        if index is not None:
            answers = read_answers(answers, record.config.family.answers)
    return Changes(side, kind, answer, class_name, positions, answers, changes)


def largest_change_sentence(result: Changes) -> str:
    side, answers, record = result.side, result.answers, result.side.record
    compared = side.compared
    units = compared.units if side.is_text else "positions"
    rounding = ROUNDING_DISTANCE if result.scale == _DISTANCE else ROUNDING
    if not len(indices := largest_indices(result.changes, rounding)):
        return f"**{side.title}**: hidden alone, none of the {len(answers)} {units} changes the answer."
    index = int(indices[0])
    position, change = result.positions[index], float(result.changes[index])
    unit = "position" if side.words is None else "word"
    number = f" ({unit} {position})" if side.is_text else ""
    token = f"{as_code(compared.tokens[position])}{number}"
    n_others = len(indices) - 1
    largest = f"the largest change{f', and as large without {n_others} more' if n_others else ''}"
    if result.answer.is_masked_word:
        before = result.answer.log_probability(side.subject)
        log_p = plain(f"log P({result.answer.name})")
        return (
            f"**{side.title}**: {log_p} is {format_number(before, '+.2f')} nats; without {token} it is "
            f"{format_number(before + change, '+.2f')}, {largest} ({format_number(change, '+.2f')} nats)."
        )
    if result.class_name is None or record.predicted_class is None:
        return f"**{side.title}**: without {token} the pooled state moves by {format_number(change, '.2g')}, {largest}."
    probability = share_of(record.probabilities, record.class_names.index(result.class_name))
    n_changed = len(answers) - class_under_interventions(answers, record.predicted_class).kept
    return (
        f"**{side.title}**: P({plain(result.class_name)}) is {percent(probability, 2)}; without {token} it is "
        f"{result.probability(index)}, {largest} "
        f"({format_number(change, '+.2f')} in log-odds). Hidden alone, {n_changed} of {len(answers)} {units} change the answer."
    )


def _draw_changes(
    result: Changes, limit: float, *, query: int | None, take: Callable[[int], None], key: str
) -> None:
    """Draws each change at its token or patch, on a scale to `limit`; a click makes that position the query."""
    side, record, changes = result.side, result.side.record, result.changes
    quantity = POOLED if result.class_name is None else f"log-odds of {result.class_name}"
    if result.answer.is_masked_word:
        quantity = f"log P({result.answer.name}), nats"
    method, first_patch, is_grey = NAMES[result.kind], record.first_patch, result.kind == "grey"
    if side.subject.picture is None or record.patch_grid is None:
        bars = knock_out_bars(
            side.compared.tokens, changes, query=query, limit=limit, what=quantity, how=method
        )
        clickable(
            bars,
            key=key,
            chosen=query,
            selection="token",
            take=lambda token: take(int(token["position"])),
        )
        return
    patches = knock_out_patches(
        preprocessed_picture(side.subject.picture, record),
        changes if is_grey else changes[first_patch:],
        record.patch_grid,
        query=None if query is None else record.patch_at(query),
        limit=limit,
        what=quantity,
        how=method,
    )
    clickable(
        patches,
        key=key,
        chosen=query,
        selection="patch",
        take=lambda patch: take(int(patch["position"]) + first_patch),
        width="content",
    )
    if first_patch and not is_grey:
        effect = f"the pooled state moves by {format_number(float(changes[0]), '.2g')} (cosine distance)"
        if result.class_name is not None:
            effect = f"P({plain(result.class_name)}) is {result.probability(0)}"
        st.caption(f"Without the class token among the keys, {effect}.")
