"""Token knock-out on both sides: on which token or patch does the answer depend most?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

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
from model.measures.changes import class_changes, class_under_interventions, strongest_change
from viz.attention.picture_patches import knock_out_patches
from viz.attention.token_bars import knock_out_bars
from viz.builders.number_format import format_number, percent

_DESCRIPTIONS: dict[KnockOutKind, str] = {
    "keys": "Each {unit} in turn is hidden from every query, in all layers and heads: none attends to it, but its own "
    "state stays in the residual stream.",
    "mask": "In place of each {unit} in turn the encoder reads [MASK].",
    "unknown": "In place of each {unit} in turn the encoder reads [UNK].",
    "grey": "Each pixel of one {unit} after the other becomes the mean of the picture.",
}


class _Changes(NamedTuple):
    """How the answer of one side changes when each of `positions` is knocked out."""

    side: Side
    kind: KnockOutKind
    class_name: str | None  # whose log-odds change; None without classes: the pooled state changes
    positions: Sequence[int]
    answers: np.ndarray  # [position, class], or [position, d_model] without classes
    changes: np.ndarray  # [position]

    @property
    def is_pooled(self) -> bool:
        """Whether the changes are those of the pooled state, not of log-odds."""
        return self.class_name is None

    def probability(self, index: int) -> str:
        """Probability of the class after the knock-out of `positions[index]`, as text."""
        return percent(self.answers[index, self.side.record.class_names.index(self.class_name)], 2)


def draw_knock_out(slots: Slots, first: Side, second: Side) -> None:
    """Draws on each side how the answer changes when each position is knocked out alone."""
    sides = (first, second)
    classes = list(dict.fromkeys(side.predicted for side in sides if side.predicted is not None))
    quantity = _quantity_sentences(sides)
    description = st.container()
    with slots.controls:
        kind = choose_kind(first.subject, second.subject)
        class_name = classes[0] if classes else None
        if len(classes) == 2:
            class_name = classes[CLASS_OF.choose() == SECOND_SAYS]
        query = choose_query(first.compared)
    unit = first.record.unit if first.words is None else "word, with all its pieces,"
    description.markdown(f"{_DESCRIPTIONS[kind].format(unit=unit)} {quantity}")
    by_side = [
        _knock_out_changes(side, kind, class_name if side.record.has_classes else None) for side in sides
    ]
    # log-odds and cosine distances have no scale in common
    limits = {
        is_pooled: shared_limit(
            result.changes for result in by_side if result is not None and result.is_pooled == is_pooled
        )
        for is_pooled in (False, True)
    }
    columns = [st.container(), st.container()] if first.is_text else beside("knock_out")
    take = partial(_take_from_first, first), partial(take_position_from_second, first, second)
    for i, (side, result, column) in enumerate(zip(sides, by_side, columns, strict=True)):
        with column:
            if result is None:
                st.info(f"{side.title} has no class {plain(str(class_name))}.")
                continue
            st.markdown(_largest_change_sentence(result))
            position = same_position(first, side, query)
            limit = limits[result.is_pooled]
            _draw_changes(result, limit, query=position, take=take[i], key=f"knock_out_{NUMBERS[i]}")
    st.caption(_scale_sentence([result for result in by_side if result is not None], limits))


def _quantity_sentences(sides: Sequence[Side]) -> str:
    """What is shown: log-odds of sides with classes, the pooled state of others."""
    has_classes = {side.record.has_classes for side in sides}
    log_odds = (
        r"Shown is the change of the log-odds of the class, $\ln \frac{P}{1 - P}$: near 0 or 1 a probability "
        "hardly moves, even when the logits do."
    )
    if has_classes == {True}:
        return log_odds
    if has_classes == {False}:
        return "Shown is the cosine distance of the pooled state from what it was."
    (without,) = (side.title for side in sides if not side.record.has_classes)
    return f"{log_odds} {plain(without)} has no classes: there it is the cosine distance of the pooled state from what it was."


def _scale_sentence(results: Sequence[_Changes], limits: Mapping[bool, float]) -> str:
    """How far the scales reach; `limits` are those of log-odds (False) and of cosine distances of the pooled state (True)."""
    log_odds, distance = (format_number(limits[is_pooled], ".3g") for is_pooled in (False, True))
    if len({result.is_pooled for result in results}) > 1:
        return (
            f"The scale of the log-odds reaches to {log_odds}, that of the cosine distance to {distance}, each the largest "
            "change there. One cannot be converted into the other: compare which tokens matter, not how much."
        )
    is_pooled = any(result.is_pooled for result in results)
    return f"Both scales reach to {distance if is_pooled else log_odds}, the largest change on either side."


def _take_from_first(first: Side, position: int) -> None:
    """Callback on the first side: makes the position, or the word, the query."""
    take_query(first.compared.number(position))


def _knock_out_changes(side: Side, kind: KnockOutKind, class_name: str | None) -> _Changes | None:
    """Effects of all knock-outs on one side, on its pooled state if `class_name` is None; None if it lacks the class."""
    record = side.record
    # A class token that is no token of a text can be masked, and not greyed.
    positions = record.positions_with_role("patch") if kind == "grey" else range(len(side.compared))
    sets = [(position,) for position in positions] if side.words is None else side.words.groups
    answers = knock_out_answers(side.subject, sets, kind, side.title)
    if class_name is not None and class_name not in record.class_names:
        return None
    index = None if class_name is None else record.class_names.index(class_name)
    return _Changes(side, kind, class_name, positions, answers, class_changes(record, answers, index))


def _largest_change_sentence(result: _Changes) -> str:
    side, answers, record = result.side, result.answers, result.side.record
    index = strongest_change(result.changes)
    position, change = result.positions[index], float(result.changes[index])
    compared = side.compared
    unit = "position" if side.words is None else "word"
    number = f" ({unit} {position})" if side.is_text else ""
    token = f"{as_code(compared.tokens[position])}{number}"
    if result.class_name is None or record.predicted_class is None:
        return f"**{side.title}**: without {token} the pooled state moves by {format_number(change, '.2g')}, the largest change."
    probability = float(record.probabilities[record.class_names.index(result.class_name)])
    n_changed = len(answers) - class_under_interventions(answers, record.predicted_class).kept
    unit = compared.units if side.is_text else "positions"
    verb = "changes" if n_changed == 1 else "each change"
    beginning = (
        f"{n_changed} of {len(answers)} {unit}, taken alone, {verb}" if n_changed else "No single one changes"
    )
    return (
        f"**{side.title}**: P({plain(result.class_name)}) is {percent(probability, 2)}; without {token} it is "
        f"{result.probability(index)}, the largest change "
        f"({format_number(change, '+.2f')} in log-odds). {beginning} the answer."
    )


def _draw_changes(
    result: _Changes, limit: float, *, query: int | None, take: Callable[[int], None], key: str
) -> None:
    """Draws each change at its token or patch, on a scale to `limit`; a click makes that position the query."""
    side, record, changes = result.side, result.side.record, result.changes
    quantity = POOLED if result.class_name is None else f"log-odds of {result.class_name}"
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
