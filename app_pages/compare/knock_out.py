"""Token knock-out on both sides: which token or patch does the answer hang on?"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.compare_controls import CLASS_OF, FIRST_SAYS, SECOND_SAYS
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_from_second, take_query
from app_pages.controls.knock_out_choice import NAMES, choose_kind, knock_out_answers
from app_pages.show.show import clickable
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject.two_sides import Side, same_position, shared_limit
from app_pages.toolkit.markdown import as_code, plain
from model.experiments.knock_out import KnockOutKind
from model.inputs import as_seen
from model.measures.changes import class_changes, class_under_interventions, strongest_change
from viz.attention.picture_patches import knock_out_patches
from viz.attention.token_bars import knock_out_bars
from viz.builders.number_format import format_number, percent

_DONE: dict[KnockOutKind, str] = {
    "keys": "Each {unit} in turn is hidden from every query, in all layers and heads: none attends to it, but its own "
    "state stays in the residual stream.",
    "mask": "In place of each {unit} in turn the encoder reads [MASK].",
    "unknown": "In place of each {unit} in turn the encoder reads [UNK].",
    "grey": "Each pixel of one {unit} after the other becomes the mean of the picture.",
}
POOLED = "pooled state (cosine distance)"  # what changes where there are no classes


def knock_out(slots: Slots, first: Side, second: Side) -> None:
    sides = (first, second)
    classes = list(dict.fromkeys(side.said for side in sides if side.said is not None))
    measured = (
        r"Shown is the change of the log-odds of the class, $\ln \frac{P}{1 - P}$: near 0 or 1 a probability "
        "hardly moves, even when the logits do."
    )
    if not classes:
        measured = "Shown is the cosine distance of the pooled state from what it was."
    done = st.container()
    with slots.controls:
        kind = choose_kind(first.subject, second.subject)
        asked = classes[0] if classes else None
        if len(classes) == 2:
            rows = dict(zip((FIRST_SAYS, SECOND_SAYS), classes, strict=True))
            asked = rows[CLASS_OF.choose()]
        query = choose_query(first.record)
    done.markdown(f"{_DONE[kind].format(unit=first.record.unit)} {measured}")
    answers = [
        knock_out_answers(
            side.subject, [(position,) for position in _positions(side, kind)], kind, side.title
        )
        for side in sides
    ]
    changes = [_changes(side, each, asked) for side, each in zip(sides, answers, strict=True)]
    limit = shared_limit(change for change in changes if change is not None)
    places = [st.container(), st.container()] if first.is_text else beside("knock_out")
    takes = take_query, partial(take_from_second, first, second)
    for number, side, each, change, take, place in zip(
        NUMBERS, sides, answers, changes, takes, places, strict=False
    ):
        with place:
            if change is None:
                st.info(f"{side.title} has no class {plain(asked)}.")
                continue
            st.markdown(_in_words(side, kind, each, change, asked))
            at = same_position(first, side, query)
            _draw(side, kind, each, change, limit, asked, query=at, take=take, key=f"knock_out_{number}")
    st.caption(f"Both scales reach to {format_number(limit, '.3g')}, the largest change on either side.")


def _positions(side: Side, kind: KnockOutKind) -> Sequence[int]:
    """What can be knocked out: a class token that is no token of a text can be masked, and not greyed."""
    return side.record.at("patch") if kind == "grey" else range(len(side.record))


def _changes(side: Side, answers: np.ndarray, asked: str | None) -> np.ndarray | None:
    """[position], None where this side does not know the class."""
    if asked is None:
        return class_changes(side.record, answers, None)
    names = side.record.class_names
    return class_changes(side.record, answers, names.index(asked)) if asked in names else None


def _in_words(
    side: Side, kind: KnockOutKind, answers: np.ndarray, change: np.ndarray, asked: str | None
) -> str:
    record, most = side.record, strongest_change(change)
    at = _positions(side, kind)[most]
    token = as_code(record.tokens[at]) + (f" (position {at})" if side.is_text else "")
    if asked is None:
        turned = format_number(float(change[most]), ".2g")
        return f"**{side.title}**: without {token} the pooled state moves by {turned}, the largest change."
    before = float(record.probabilities[record.class_names.index(asked)])
    flips = len(answers) - class_under_interventions(answers, record.class_names.index(side.said)).kept
    unit = "tokens" if side.is_text else "positions"
    changes = "changes" if flips == 1 else "each change"
    others = f"{flips} of {len(answers)} {unit}, taken alone, {changes}" if flips else "No single one changes"
    return (
        f"**{side.title}**: P({plain(asked)}) is {percent(before, 2)}; without {token} it is "
        f"{percent(answers[most, record.class_names.index(asked)], 2)}, the largest change "
        f"({format_number(float(change[most]), '+.2f')} in log-odds). {others} the answer."
    )


def _draw(
    side: Side,
    kind: KnockOutKind,
    answers: np.ndarray,
    change: np.ndarray,
    limit: float,
    asked: str | None,
    *,
    query: int | None,
    take: Callable[[int], None],
    key: str,
) -> None:
    """A click takes its position as the query."""
    what = POOLED if asked is None else f"log-odds of {asked}"
    draw = partial(clickable, key=key, chosen=query)
    if side.is_text:
        bars = knock_out_bars(
            side.record.tokens, change, query=query, limit=limit, what=what, how=NAMES[kind]
        )
        draw(bars, selection="token", take=lambda token: take(int(token["position"])))
        return
    first, grid = side.record.first_patch, side.record.patch_grid
    at = None if query is None else side.record.patch_at(query)
    picture = as_seen(side.given.array, side.record)
    on_patches = change if kind == "grey" else change[first:]
    patches = knock_out_patches(picture, on_patches, grid, query=at, limit=limit, what=what, how=NAMES[kind])
    draw(patches, selection="patch", take=lambda patch: take(int(patch["position"]) + first), width="content")
    if not first or kind == "grey":
        return
    if asked is None:
        said = f"the pooled state moves by {format_number(float(change[0]), '.2g')} (cosine distance)"
    else:
        said = f"P({plain(asked)}) is {percent(answers[0, side.record.class_names.index(asked)], 2)}"
    st.caption(f"Without the class token among the keys, {said}.")
