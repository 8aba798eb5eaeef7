"""Why this weight: the score of the chosen key as a sum of products, each of what one earlier part of the encoder wrote at the
query and what another wrote at the key.
"""

from typing import Any

import pandas as pd
import streamlit as st

from app_pages.controls.head_choice import take_head, take_query
from app_pages.controls.inside_a_head_controls import KEY, WHY
from app_pages.controls.pages import FIGURE
from app_pages.inside_a_head.attention_table import score_columns
from app_pages.inside_a_head.view import View
from app_pages.show.show import clickable
from app_pages.subject.as_python import computed
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import as_code, plain
from model.decompositions.score_parts import OTHERS_NAME, ScoreParts, score_parts
from model.experiments.query_attention import BIAS, CONTENT_TO_POSITION, POSITION_TO_CONTENT
from viz.builders.number_format import format_number, head_name
from viz.inside.score_products import score_products

MOST_PARTS = 8  # parts of each side with a row or a column of their own
_CLICK_SENTENCE = " A click on a name with → opens that head."
_PATCH_NAME_SENTENCE = " r1c0 is the patch in row 1 and column 0, counted from 0."
_FOLD_KEY = "why_this_weight"  # in the session: whether it is open
_EARLIER_HEADS_KEY = "why_before"  # in the session: layer, head, query and key from which others were opened, the last one last
_PART_DESCRIPTIONS = {  # by the kind of a part
    "token": "the token itself",
    "patch": "the patch itself",
    "class token": "the class token",
    "register": "a register",
    "token type": "its type (first or second text)",
    "position": "its position",
    "head": "what earlier heads brought from a token",
    "feed-forward": "what earlier feed-forwards wrote",
    "biases": "biases (the same for all tokens)",
    "relative position": "how far apart the two stand (relative position)",
}
_TERM_DESCRIPTIONS = {
    BIAS: "from the bias by distance, whatever the two tokens are",
    CONTENT_TO_POSITION: "from the query's content and the key's relative position (c → p)",
    POSITION_TO_CONTENT: "from the query's relative position and the key's content (p → c)",
}


def draw_why(view: View) -> None:
    """Draws a fold; while it is open, it shows the score of the view's query and key as a sum of products of parts."""
    is_open = WHY.read() == "true"
    if st.session_state.get(_FOLD_KEY, False) != is_open:
        st.session_state[_FOLD_KEY] = is_open
    with st.expander("Why this weight?", key=_FOLD_KEY, on_change=_keep_open):
        if is_open and not view.steps.attention.mask[view.key]:
            query, key = (as_code(view.name(position)) for position in (view.query, view.key))
            st.markdown(f"{query} must not attend to {key}: its weight is 0, whatever the score.")
        elif is_open:
            _draw_parts(view)


def _keep_open() -> None:
    """Callback: writes into the address whether the fold is open and, if so, that the page scrolls to it."""
    is_open = st.session_state[_FOLD_KEY]
    WHY.take("true" if is_open else "")
    if is_open:
        st.query_params[FIGURE] = _FOLD_KEY
    else:
        st.query_params.pop(FIGURE, None)


def _draw_parts(view: View) -> None:
    """Draws the largest products; a click on a head's part opens that head."""
    chosen, attention = view.chosen, view.steps.attention
    where = chosen.layer, chosen.head, view.query, view.key
    source = computed(view.subject, score_parts, *where, by_token=True)
    parts, products_expression = source(), call(source.strongest, MOST_PARTS)
    products = products_expression()
    st.markdown(
        " ".join([_score_sentence(view, parts), _parts_sentence(parts), _largest_sentence(view, products)])
    )
    added = [
        f"{format_number(float(attention.terms[name][view.key]), '+.3g')} {words}"
        for name, words in _TERM_DESCRIPTIONS.items()
        if name in attention.terms
    ]
    if added:
        st.markdown(f"In it: {' and '.join(added)}.")
    fields = {
        "query_part": (parts.query, products.index, view.query),
        "key_part": (parts.key, products.columns, view.key),
    }
    heads = {
        (field, row.part): (row.layer, row.head, position, row.read_from)
        for field, (frame, names, position) in fields.items()
        for row in frame[(frame["kind"] == "head") & frame["part"].isin(names)].itertuples()
    }

    def take(point: dict[str, Any]) -> None:
        opened = [heads[field, point[field]] for field in fields if (field, point[field]) in heads]
        if opened:
            st.session_state.setdefault(_EARLIER_HEADS_KEY, []).append(where)
            _open(*map(int, opened[0]))

    _draw_way_back(view)
    clickable(
        call(score_products, products_expression, query=view.name(view.query), key=view.name(view.key)),
        key="inside_score",
        chosen=where,
        selection="part",
        take=take,
    )
    total, recorded = (format_number(number, ".6g") for number in (parts.total, parts.recorded))
    others = (
        f" “{OTHERS_NAME}”: the sum of all but the {MOST_PARTS} largest of {len(parts.query)} parts."
        if OTHERS_NAME in products.index
        else ""
    )
    st.caption(
        f"All cells add up to {total}; the encoder itself computed {recorded} (the difference, {format_number(parts.gap, '.0e')}, is rounding)."
        f"{others}{_CLICK_SENTENCE * bool(heads)}{_PATCH_NAME_SENTENCE * (view.record.unit == 'patch')}",
        help="This divides the score as it is. Without a part it would not change by that part's cells alone: the layers after the "
        "part would write something else, too. What is added to the scores of all keys alike changes no weight. A head opens "
        "with the token at which it wrote as query and the token that it read as key; on a product of two heads, it is the query's.",
    )


def _open(layer: int, head: int, query: int, key: int) -> None:
    take_head(layer, head)
    take_query(query)
    KEY.take(key)


def _draw_way_back(view: View) -> None:
    """Draws a button back to the head from which this one was opened, if this input still has the query and key that were shown
    there.
    """
    before = st.session_state.get(_EARLIER_HEADS_KEY)
    if not before or max(before[-1][2:]) >= view.n:
        return

    def go_back() -> None:
        _open(*before.pop())

    name = head_name(*before[-1][:2])
    st.button(f"← Back to {name}", key="inside_back_to", type="tertiary", on_click=go_back)


def _score_sentence(view: View, parts: ScoreParts) -> str:
    query, key = (as_code(view.name(position)) for position in (view.query, view.key))
    return (
        f"In {view.head}, {query} attends to {key} with weight {view.steps.attention.pattern[view.key]:.3f}. Softmax makes it from "
        f"the **score {format_number(parts.recorded, '.4g')}**, above in the column “{score_columns(view)[-1].title}”."
    )


def _parts_sentence(parts: ScoreParts) -> str:
    kinds = {*parts.query["kind"], *parts.key["kind"]}
    named = [words for kind, words in _PART_DESCRIPTIONS.items() if kind in kinds]
    return (
        f"The score is query times key, and both are sums of **parts**: {', '.join(named)}. "
        "A **cell** is what one part of the query (its row) and one of the key (its column) add to the score."
    )


def _largest_sentence(view: View, products: pd.DataFrame) -> str:
    named = products.drop(index=OTHERS_NAME, columns=OTHERS_NAME, errors="ignore").stack()
    largest = named.abs().idxmax()
    factors = (
        f"{plain(name)} of {as_code(view.name(position))}"
        for name, position in zip(largest, (view.query, view.key), strict=True)
    )
    where = f" outside “{OTHERS_NAME}”" * (OTHERS_NAME in products.index)
    return f"Largest cell{where}: {' × '.join(factors)}: **{format_number(named[largest], '+.3g')}**."
