"""Token knock-out on both sides: which token or patch does the answer hang on?"""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.compare.in_steps import in_steps
from app_pages.compare.sides import Side, beside, same_position, take_from_second
from app_pages.widgets.head_choice import choose_query, take_query
from app_pages.widgets.show import clickable
from app_pages.widgets.spelling import as_code
from model.intervention import without_keys
from model.probabilities import at_once, probabilities
from viz.numbers import percent, written
from viz.picture_patches import knock_out_patches
from viz.token_bars import knock_out_bars

FIRST_SAYS, SECOND_SAYS = "what the first says", "what the second says"


def knock_out(first: Side, second: Side) -> None:
    unit = "token" if first.is_text else "patch"
    st.markdown(
        f"Each {unit} in turn is masked out of the keys, in all layers and heads: nobody looks at it any more, "
        r"while its own state stays in the stream. $\Delta P = P(\text{class} \mid \text{masked}) - P(\text{class})$."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked = first.said
        if (
            first.said != second.said
            and address.row("Class", (FIRST_SAYS, SECOND_SAYS), key="compare_class") == SECOND_SAYS
        ):
            asked = second.said
        query = choose_query(first.record)
    without = [_knocked_out(side) for side in (first, second)]
    changes = [_change(side, answers, asked) for side, answers in zip((first, second), without, strict=True)]
    limit = max((float(np.abs(change).max()) for change in changes if change is not None), default=0) or 1.0
    places = [st.container(), st.container()] if first.is_text else beside("knock_out")
    for number, side, answers, change, place in zip(
        ("first", "second"), (first, second), without, changes, places, strict=True
    ):
        with place:
            if change is None:
                st.info(f"{side.title} knows no class {asked}.")
                continue
            st.markdown(_in_words(side, answers, change, asked))
            if number == "first":
                at, take = query, take_query
            else:
                at, take = same_position(first, second, query), partial(take_from_second, first, second)
            _draw(side, change, limit, asked, query=at, take=take, key=f"knock_out_{number}")
    st.caption(f"Both scales reach to {written(limit, '.3g')}, the largest change on either side.")


def _knocked_out(side: Side) -> np.ndarray:
    """Probabilities [position, class] with each position masked."""
    n = len(side.record.tokens)
    size = at_once(side.record.config, n)
    chunks = [tuple(range(start, min(start + size, n))) for start in range(0, n, size)]
    steps = [partial(_chunk, side.checkpoint, side.given, positions) for positions in chunks]
    return np.concatenate(in_steps(steps, f"Masking one token after the other in {side.title} …"))


@st.cache_data(max_entries=1024, show_spinner=False)
def _chunk(name: str, given: state.Input, positions: tuple[int, ...]) -> np.ndarray:
    changes = [without_keys(position) for position in positions]
    return probabilities(state.loaded(name), [given], changes)[0]


def _change(side: Side, without: np.ndarray, asked: str) -> np.ndarray | None:
    """[position], None where this side does not know the class."""
    if asked not in side.record.class_names:
        return None
    column = side.record.class_names.index(asked)
    return without[:, column] - side.record.probabilities[column]


def _in_words(side: Side, without: np.ndarray, change: np.ndarray, asked: str) -> str:
    record = side.record
    strongest = int(np.abs(change).argmax())
    before = float(record.probabilities[record.class_names.index(asked)])
    flips = int((without.argmax(axis=1) != record.logits.argmax()).sum())
    unit = "tokens" if side.is_text else "positions"
    others = (
        f"{flips} of {len(record.tokens)} {unit}, each alone, change" if flips else "No single one changes"
    )
    return (
        f"**{side.title}**: P({asked}) is {percent(before, 2)}; without {as_code(record.tokens[strongest])} "
        f"{'(position ' + str(strongest) + ') ' if side.is_text else ''}it is {percent(before + change[strongest], 2)}, "
        f"the largest change. {others} the answer."
    )


def _draw(
    side: Side,
    change: np.ndarray,
    limit: float,
    asked: str,
    *,
    query: int | None,
    take: Callable[[int], None],
    key: str,
) -> None:
    """A click takes its position as the query."""
    what = f"P({asked})"
    draw = partial(clickable, key=key, chosen=query)
    if side.is_text:
        bars = knock_out_bars(side.record.tokens, change, query=query, limit=limit, what=what)
        draw(bars, selection="token", take=lambda token: take(int(token["position"])))
        return
    first = int(side.record.has_class_token)
    at = query - first if query is not None and query >= first else None
    patches = knock_out_patches(
        side.given.array, change[first:], side.record.patch_grid, query=at, limit=limit, what=what
    )
    draw(patches, selection="patch", take=lambda patch: take(int(patch["position"]) + first), width="content")
    if first:
        answer = side.record.probabilities[side.record.class_names.index(asked)] + change[0]
        st.caption(f"Without the class token among the keys, {what} is {percent(answer, 2)}.")
