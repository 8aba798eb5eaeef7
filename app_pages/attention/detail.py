"""One attention map in detail: the input coloured by one query's weights, and below it all weights as a matrix or as lines, or
the weights of that query in each layer.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.attention.attributed_answer import (
    choice_callback,
    chosen_colouring,
    draw_verdict,
    token_and_verdict_containers,
)
from app_pages.attention.shown_head import ShownHead, say_what_it_attends_to
from app_pages.attention.window import choose_window, window
from app_pages.controls.attention_controls import ALSO_HEADS, BY_LAYER, HEAD, LINES, MATRIX, MEAN
from app_pages.controls.head_choice import HeadChoice, step, take_layer, take_query
from app_pages.controls.lens import number_sentence_for
from app_pages.controls.map_controls import ALL_QUERIES
from app_pages.show.all_heads import draw_heads_overview
from app_pages.show.download import download
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.linked_view import AnswerColours, Choice, linked_tokens
from app_pages.show.show import clickable, show
from app_pages.subject import as_python
from app_pages.subject.as_python import seen_picture
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION, Lens
from model.measures.head_measures import combine_heads
from model.record import AttentionRecord, Positions
from model.record.from_arrays import attention_alone
from viz.attention.head_overview import head_maxima
from viz.attention.head_view import MOST_HEADS, weight_lines
from viz.attention.layer_pictures import layer_heatmap, layer_pictures
from viz.attention.linked_layers import LEAST, N_STRONGEST
from viz.attention.matrix_links import MatrixLink, with_outlines
from viz.attention.token_heatmaps import weight_heatmap
from viz.attention.token_strip import weight_strip
from viz.builders.heatmap import position_labels
from viz.builders.number_format import format_number, head_name, percent
from viz.builders.palette import WeightScale


class _DrawnMap(NamedTuple):
    """The attention map that is drawn, with its query, scale and notes."""

    record: AttentionRecord
    source: Expression  # of the record
    weights: Expression  # [query, key]
    mask: Expression  # [query, key]
    query: int
    scale: WeightScale
    notes: Sequence[str]  # what was done to the weights
    name: str  # of the head, or of what is drawn of its layer


def draw_one_map(shown: ShownHead, part: str, form: str, menu: DeltaGenerator) -> None:
    """Draws the overview of all heads and beside it one map in large: as a matrix, as lines, or that query's row in each layer,
    by `form`.

    The map is that of the chosen head or, by `part`, the mean or maximum over the heads of its layer. Further choices of the form
    are drawn into `menu`.
    """
    subject, chosen, view = shown.subject, shown.chosen, shown.view
    maps = subject.through(shown.through)
    whole_maps = as_python.maps(subject, shown.through).pattern
    name, weights, whole = head_name(*shown.head), view.source.pattern[shown.head], whole_maps[shown.head]
    if part != HEAD:
        how: Literal["mean", "maximum"] = "mean" if part == MEAN else "maximum"
        weights = call(combine_heads, view.source.pattern[chosen.layer], how)
        whole = call(combine_heads, whole_maps[chosen.layer], how)
        name = f"L{chosen.layer}, {part} over its heads"
    tokens, verdict = token_and_verdict_containers(view.record)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="maps"):
            draw_heads_overview(
                view.source,
                view.measures,
                selected=shown.head,
                scale=chosen.scale,
                key="overview",
                notes=view.notes,
                lens=shown.lens,
            )
        with st.container(key="detail"):
            with st.container(key="head_sentence"):
                if part == HEAD:
                    say_what_it_attends_to(subject, chosen, maps)
                else:
                    st.markdown(f"**{name}**")
            _draw_map(shown, weights, part, form, name, menu)
            if part == HEAD and (sentence := number_sentence_for(subject, chosen)):
                st.caption(sentence)
    with verdict:
        answer_colours = draw_verdict(shown, whole, shown.head if part == HEAD else None)
    if view.record.unit == "token":
        with tokens:
            _draw_tokens(shown, weights(), part, answer_colours)


def download_tokens(shown: ShownHead) -> None:
    """Draws the button that downloads the tokens of a text coloured by the chosen query's weights."""
    record, source = shown.view.record, shown.view.source
    weights = source.pattern[shown.head][shown.query]
    if record.unit == "token":
        query, notes = shown.query if record.keys is None else None, shown.view.notes_on(shown.pattern)
        scale = shown.chosen.of_head(record)
        download(
            call(weight_strip, source.attended, weights, query=query, scale=scale, notes=notes), "tokens"
        )


def _draw_tokens(
    shown: ShownHead, pattern: np.ndarray, part: str, answer_colours: AnswerColours | None
) -> None:
    """Draws the tokens coloured by the chosen query's row of `pattern` [query, key]: the head's map or, by `part`, the mean or
    maximum over its layer.
    """
    record, head = shown.view.record, shown.head
    if part != HEAD:  # one map for each layer, of which only the chosen one is looked at
        record = attention_alone(record)
        masks = np.logical_or.reduce(record.mask, axis=1, keepdims=True)
        patterns = np.broadcast_to(pattern, (len(masks), 1, *pattern.shape))
        record, head = replace(record, pattern=patterns, mask=masks), (shown.chosen.layer, 0)
    linked_tokens(
        record,
        Choice(*head, shown.query, chosen_colouring()),
        choice_callback(shown, has_heads=part == HEAD and shown.lens.has_heads),
        key="all_heads",
        tops=head_maxima(record) if shown.chosen.scale == "own" else None,
        answer_colours=answer_colours,
    )


def draw_cells(shown: ShownHead, links: Sequence[MatrixLink] = ()) -> None:
    """Draws a window of the head's map cell by cell with the `links` outlined, and beside it the whole map in small, where a
    click moves the window.
    """
    drawn = _drawn_map(shown, shown.view.source.pattern[shown.head], head_name(*shown.head))
    ranges = window(shown.pattern, drawn.query)
    with st.container(horizontal=True, gap="small"):
        with st.container(key="weights"):
            _draw_matrix(drawn, ranges, key="matrix_cells", links=links, head=shown.head)
        if ranges is not None:
            with st.container(width=190):
                choose_window(shown.view.source.pattern[shown.head], ranges, drawn.scale)


def _drawn_map(shown: ShownHead, weights: Expression, name: str) -> _DrawnMap:
    """The map `weights` [query, key], titled `name`, with the colour scale, mask and notes of the shown head."""
    view = shown.view
    return _DrawnMap(
        view.record,
        view.source,
        weights,
        view.source.mask[shown.head],
        shown.query,
        shown.chosen.weights_to("this map's own maximum", weights()),
        view.notes_on(weights()),
        name,
    )


def _draw_map(
    shown: ShownHead, source: Expression, part: str, form: str, name: str, menu: DeltaGenerator
) -> None:
    """Draws the map `source` [query, key], titled `name`, in the chosen `form`: a matrix, lines, or the query's row in each
    layer; for a picture also over its patches. A click on a token, patch or row chooses the query.
    """
    drawn, lens, pattern = _drawn_map(shown, source, name), shown.lens, source()
    subject, record, query, weights = shown.subject, drawn.record, drawn.query, pattern[shown.query]
    if record.unit == "token":
        with st.container(horizontal=True, gap="small"):
            with st.container(key="weights"):
                ranges = window(pattern, query) if form == MATRIX else None
                if form == MATRIX:
                    _draw_matrix(drawn, ranges)
                elif form == LINES:
                    _draw_head_lines(shown, source, name, of_head=part == HEAD and lens.has_heads, menu=menu)
                else:
                    _draw_by_layer(shown, part)
            with st.container(width=190):
                _draw_strongest_keys(record, weights, query, lens)
                if ranges is not None:
                    choose_window(source, ranges, drawn.scale)
        return
    if drawn.notes:
        st.caption("  \n".join(map(plain, drawn.notes)))
    with st.container(horizontal=True):
        with st.container(key="patches"):
            input_in_colours(
                seen_picture(subject),
                drawn.source,
                source[query],
                key="overlay",
                query=query,
                scale=drawn.scale,
            )
            for position in record.positions_with_role("class"):
                st.button(
                    "Back to the class token",
                    key="to_class",
                    on_click=take_query,
                    args=(position,),
                    disabled=query == position,
                )
        with st.container(key="map"):
            if form == BY_LAYER:
                _draw_by_layer(shown, part)
            else:
                _draw_matrix(drawn, None)


def _draw_head_lines(
    shown: ShownHead, weights: Expression, name: str, *, of_head: bool, menu: DeltaGenerator
) -> None:
    """Draws the map `weights` [query, key], titled `name`, as lines from queries to keys, for one query or for all.

    If the map is `of_head`, other heads of its layer can be drawn with it, each in its own colour. The controls are drawn into
    `menu`.
    """
    chosen, query, record = shown.chosen, shown.query, shown.view.record
    with menu:
        is_alone = not ALL_QUERIES.choose()
        heads = _choose_heads(record, chosen) if of_head else ()
    source = shown.view.source
    patterns = {head_name(chosen.layer, head): source.pattern[chosen.layer, head] for head in heads}
    if len(patterns) < 2:
        patterns = {name: weights}
    maximum = "this map's own maximum" if len(patterns) == 1 else "the largest weight of these heads"
    values = [pattern() for pattern in patterns.values()]
    lines = call(
        weight_lines,
        source,
        patterns,
        query=query if is_alone else None,
        scale=chosen.weights_to(maximum, *values),
        notes=shown.view.notes_on(np.stack(values)),
    )
    drawn = lines()
    if drawn.n_lines < drawn.n_all:
        st.caption(
            f"The strongest {drawn.n_lines:,} of {drawn.n_all:,} lines; "
            f"they hold {percent(drawn.share, 0)} of the weight in this figure."
        )
    clickable(
        lines.chart,
        key="lines",
        chosen=query,
        selection="token",
        take=lambda token: take_query(token["position"]),
    )
    arrow_keys("lines", step, name="The weights of the chosen head as lines")


def _choose_heads(record: AttentionRecord, chosen: HeadChoice) -> Sequence[int]:
    """Draws the list of further heads to draw with the chosen one, and a note on those above the limit; returns all heads to
    draw, in order.
    """
    n_heads = record.pattern.shape[1]
    if n_heads < 2:
        return ()
    others = [head for head in ALSO_HEADS.choose(range(n_heads)) if head != chosen.head]
    if left_out := others[MOST_HEADS - 1 :]:
        names = ", ".join(head_name(chosen.layer, head) for head in left_out)
        st.caption(
            f"{MOST_HEADS} heads at once, since more colours could not be told apart. Left out: {names}."
        )
    return sorted((chosen.head, *others[: MOST_HEADS - 1]))


def _draw_by_layer(shown: ShownHead, part: str) -> None:
    """Draws the query's weights in each layer: those of the chosen head number or, by `part`, the mean or maximum over the
    layer's heads. A click on a row, or on the picture of a layer, chooses that layer.
    """
    chosen, query, record = shown.chosen, shown.query, shown.view.record
    source = shown.view.source
    if part == HEAD:  # [layer, key]
        weights, mask = (maps[:, chosen.head, query] for maps in (source.pattern, source.mask))
        what = f"head {chosen.head} of each" if chosen.lens.has_heads else ""
    else:
        # [head, layer, key]
        rows, masks = (call(np.swapaxes, maps[:, :, query], 0, 1) for maps in (source.pattern, source.mask))
        weights = call(combine_heads, rows, "mean" if part == MEAN else "maximum")
        mask = call(np.any, masks, axis=0)
        what = f"{part} over its heads"
    what_is_shown: dict[str, Any] = {
        "query": query,
        "layer": chosen.layer,
        "scale": chosen.weights_to("the largest weight here", weights()),
        "what": what,
        "notes": shown.view.notes_on(weights()),
    }
    if record.patch_grid is None:
        with st.container(key="matrix_by_layer"):
            show(call(layer_heatmap, source, weights, mask=mask, **what_is_shown), key="by_layer")
            row_clicks("matrix_by_layer", len(record.pattern), take_layer)
            arrow_keys("matrix_by_layer", step, name="What the query attends to in each layer")
    else:
        clickable(
            call(layer_pictures, source, seen_picture(shown.subject), weights, **what_is_shown),
            key="overview_by_layer",
            chosen=chosen.layer,
            selection="layer",
            take=lambda clicked: take_layer(int(clicked["layer"])),
            width="content",
        )
        arrow_keys("overview_by_layer", step, name="What the query attends to in each layer")
    if part == HEAD and chosen.lens.has_heads:
        st.caption(
            "Heads of the same number in different layers have no more in common than any others. “Mean”, under View, "
            "shows what a layer as a whole attends to."
        )


def _draw_matrix(
    drawn: _DrawnMap,
    shown: tuple[range, range] | None,
    key: str = "matrix",
    links: Sequence[MatrixLink] = (),
    head: tuple[int, int] = (0, 0),
) -> None:
    """Draws a map as a heatmap with the widget key `key`. `shown` are the visible ranges of queries and keys, None for all.
    `links` are outlined, with solid lines where `head` (layer, head) follows the link.
    """
    record, source = drawn.record, drawn.source
    figure = call(
        weight_heatmap,
        drawn.weights,
        source.tokens,
        query=drawn.query,
        mask=drawn.mask,
        scale=drawn.scale,
        window=shown,
        keys=None if record.keys is None else source.keys.tokens,
        numbers=source.numbers,
        notes=drawn.notes,
        description=f"Attention of {drawn.name}, queries down, keys across",
    )
    figure = call(with_outlines, figure, links, head, shown) if links else figure
    with st.container(key="matrix_place"):
        show(figure, key=key, height="stretch")
        rows = range(len(record)) if shown is None else shown[0]
        row_clicks("matrix_place", len(rows), lambda row: take_query(record.number(rows[row])))
        arrow_keys("matrix_place", step, name="The map of the chosen head")


def _draw_strongest_keys(record: AttentionRecord, weights: np.ndarray, query: int, lens: Lens) -> None:
    """Draws a table of the keys with the largest of `weights` [key], and the sum of these weights."""
    order = np.argsort(-weights, kind="stable")[:N_STRONGEST]
    order = order[weights[order] >= LEAST].tolist()
    keys, queries = _labels(record.attended), _labels(record)
    rows = [(escape(keys[key]), float(weights[key])) for key in order]
    if len(order) < len(weights):
        rows.append((f"<small>sum of these {len(order)}</small>", float(weights[order].sum())))
    cells = "".join(
        f"<tr><td>{name}</td><td>{format_number(weight, '.3f')}</td></tr>" for name, weight in rows
    )
    relation = " attends to" if lens.name == ATTENTION else f": {lens.quantity}"
    st.html(
        f'<table class="strongest"><caption>“{escape(queries[query])}”{relation}</caption>{cells}</table>'
    )


def _labels(positions: Positions) -> list[str]:
    """Labels of the positions, as beside the matrix: a token that occurs more than once is followed by its position."""
    return position_labels(
        positions.tokens, [positions.number(index) for index in range(len(positions.tokens))]
    )
