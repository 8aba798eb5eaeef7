"""Token knock-out on both sides: which token or patch does the answer depend on most?"""

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import choose_answers
from app_pages.controls.compare_controls import CLASS_OF, SECOND_SAYS
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_position_from_second, take_query
from app_pages.controls.knock_out_choice import NAMES, choose_kind, knock_out_answers, knock_outs_expression
from app_pages.show.show import clickable
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject import as_python
from app_pages.subject.answer import Answer, ClassAnswer, StateAnswer, WordAnswer
from app_pages.subject.two_sides import Side, corresponding_position, shared_limit
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import as_code, plain, sentence
from model.experiments.knock_out import KnockOutKind
from model.measures.changes import largest_indices
from viz.attention.picture_patches import knock_out_patches
from viz.attention.token_strip import knock_out_bars
from viz.builders.number_format import format_number

_DESCRIPTIONS: dict[KnockOutKind, str] = {
    "keys": "Each {unit} in turn is hidden from every query, in all layers and heads: none attends to it, but its own "
    "state stays in the residual stream.",
    "mask": "In place of each {unit} in turn the encoder reads [MASK].",
    "unknown": "In place of each {unit} in turn the encoder reads [UNK].",
    "grey": "Each pixel of one {unit} after the other becomes the mean of the picture.",
}


_QUANTITIES = {
    ClassAnswer.scale: r"by how much the log-odds of the class, $\ln \frac{P}{1 - P}$, fall (gold) or rise (purple) without it: near 0 or "
    "1 a probability hardly moves, even when the logits do.",
    StateAnswer.scale: "the cosine distance of the pooled state from what it was.",
    WordAnswer.scale: "by how much log P of the word at [MASK] falls (gold) or rises (purple) without it, in nats.",
}


class Changes(NamedTuple):
    """How the answer of one side changes when each of `positions` is knocked out."""

    side: Side
    kind: KnockOutKind
    answer: Answer
    positions: Sequence[int]
    answers: np.ndarray  # [position, answer], as experiments return them
    changes: np.ndarray  # [position]
    falls: Expression  # as the figure shows them


def draw_knock_out(slots: Slots, first: Side, second: Side) -> None:
    """Draws on each side how the answer changes when each token or patch is knocked out alone."""
    sides = (first, second)
    with slots.controls:
        kind = choose_kind(first.subject, second.subject)
        answers = choose_answers({side.title: side.subject for side in sides})
        classes = list(
            dict.fromkeys(answer.class_name for answer in answers if isinstance(answer, ClassAnswer))
        )
        class_name = classes[0] if classes else None
        if len(classes) == 2:
            class_name = classes[CLASS_OF.choose() == SECOND_SAYS]
        query = choose_query(first.compared_record)
    changes_by_side = [
        _knock_out_changes(side, kind, answer, class_name)
        for side, answer in zip(sides, answers, strict=True)
    ]
    results = [result for result in changes_by_side if result is not None]
    limits = {
        scale: shared_limit(result.changes for result in results if result.answer.scale == scale)
        for scale in dict.fromkeys(result.answer.scale for result in results)
    }
    st.markdown(_question(first.record.unit, class_name, limits))
    columns = [st.container(), st.container()] if first.is_text else beside("knock_out")
    take = (
        lambda position: take_query(first.compared_record.number(position)),
        partial(take_position_from_second, first, second),
    )
    for i, (side, result, column) in enumerate(zip(sides, changes_by_side, columns, strict=True)):
        with column:
            if result is None:
                st.info(f"{side.title} has no class {plain(str(class_name))}.")
                continue
            st.markdown(largest_change_sentence(result))
            position = corresponding_position(first, side, query)
            limit = limits[result.answer.scale]
            _draw_changes(result, limit, query=position, take=take[i], key=f"knock_out_{NUMBERS[i]}")
    unit = first.record.unit if first.words is None else "word, with all its pieces,"
    titles = {result.answer.scale: plain(result.side.title) for result in results}
    st.caption(f"{_DESCRIPTIONS[kind].format(unit=unit)} {quantity_sentences(limits, titles)}")


def _question(unit: str, class_name: str | None, scales: Container[str]) -> str:
    """The question of the figures and, unless they show distances, what their colours say."""
    question = f"**Which {unit}{'es' if unit == 'patch' else 's'} does the answer hang on?**"
    if StateAnswer.scale in scales:
        return question
    what = "the word at [MASK]" if class_name is None else f"“{plain(class_name)}”"
    return f"{question} Gold: the {unit} speaks for {what}; purple: against it."


def quantity_sentences(limits: Mapping[str, float], titles: Mapping[str, str]) -> str:
    """Sentences on the quantity that is shown and the end of its colour scale. `limits` are the ends and `titles` the sides'
    titles, both by quantity.
    """
    ends = {scale: format_number(limit, ".3g") for scale, limit in limits.items()}
    if len(ends) < 2:
        return " ".join(
            f"Shown is {_QUANTITIES[scale]} Both scales reach to {end}." for scale, end in ends.items()
        )
    by_side = [
        f"{titles[scale]}: {_QUANTITIES[scale]} The scale reaches to {end}." for scale, end in ends.items()
    ]
    return f"{' '.join(by_side)} One cannot be converted into the other: compare which tokens matter, not how much."


def _knock_out_changes(
    side: Side, kind: KnockOutKind, answer: Answer, class_name: str | None
) -> Changes | None:
    """Effects of all knock-outs on one side's `answer`, or on the class `class_name` if the answer is a class; None if the
    encoder has no such class.
    """
    record = side.record
    if isinstance(answer, ClassAnswer):
        if class_name not in record.class_names:
            return None
        answer = ClassAnswer.of(record, record.class_names.index(class_name))
    # A class token that is no token of a text can be masked, and not greyed.
    positions = record.positions_with_role("patch") if kind == "grey" else range(len(side.compared_record))
    sets = [(position,) for position in positions] if side.words is None else side.words.groups
    answers = knock_out_answers(side.subject, sets, kind, side.title, answer.for_experiments)
    changes = answer.changes(answers)
    written = knock_outs_expression(side.subject, sets, kind, answer.for_experiments)
    source = answer.falls_expression(as_python.record(side.subject), written)
    falls = named("falls", source, lambda: answer.falls(answers))
    return Changes(side, kind, answer, positions, answers, changes, falls)


def largest_change_sentence(result: Changes) -> str:
    side, answer, answers = result.side, result.answer, result.answers
    compared = side.compared_record
    units = compared.units if side.is_text else "positions"
    if not len(indices := largest_indices(result.changes, answer.rounding)):
        return f"**{side.title}**: hidden alone, none of the {len(answers)} {units} changes the answer."
    index = int(indices[0])
    position = result.positions[index]
    unit = "position" if side.words is None else "word"
    number = f" ({unit} {position})" if side.is_text else ""
    token = f"{as_code(compared.tokens[position])}{number}"
    n_others = len(indices) - 1
    largest = f"the largest change{f', and as large without {n_others} more' if n_others else ''}"
    sentence = f"**{side.title}**: {answer.clause_without(token, answers[index])}, {largest}."
    if not isinstance(answer, ClassAnswer):
        return sentence
    n_changed = int((answers.argmax(axis=1) != side.record.predicted_class).sum())
    return f"{sentence} Hidden alone, {n_changed} of {len(answers)} {units} change the answer."


def _draw_changes(
    result: Changes, limit: float, *, query: int | None, take: Callable[[int], None], key: str
) -> None:
    """Draws each fall at its token or patch, coloured on a scale to ±`limit`; a click makes that position the query."""
    side, record = result.side, result.side.record
    quantity = result.answer.fall_title if result.answer.is_signed else result.answer.change_title
    method, first_patch, is_grey = NAMES[result.kind], record.first_patch, result.kind == "grey"
    if side.subject.picture is None or record.patch_grid is None:
        bars = call(
            knock_out_bars,
            side.maps().tokens,
            result.falls,
            query=query,
            limit=limit,
            what=quantity,
            how=method,
        )
        clickable(
            bars,
            key=key,
            chosen=query,
            selection="token",
            take=lambda token: take(int(token["position"])),
        )
        return
    patches = call(
        knock_out_patches,
        as_python.seen_picture(side.subject),
        result.falls if is_grey else result.falls[first_patch:],
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
        clause = result.answer.clause_without("the class token among the keys", result.answers[0])
        st.caption(sentence(clause))
