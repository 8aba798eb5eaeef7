"""One attention map in detail: the input coloured by one query's weights, and below it all weights as a matrix or as lines, or
the weights of that query in each layer.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

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
from app_pages.controls.attention_controls import ALSO_HEADS, BY_LAYER, HEAD, LINES, MATRIX
from app_pages.controls.head_choice import HeadChoice, step, take_layer, take_query
from app_pages.controls.lens import number_sentence_for
from app_pages.controls.map_controls import ALL_QUERIES
from app_pages.show.all_heads import draw_heads_overview
from app_pages.show.download import download
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.linked_view import AnswerColours, Choice, linked_tokens
from app_pages.show.show import clickable, show
from app_pages.subject.as_python import seen_picture
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION
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


def draw_one_map(shown: ShownHead, form: str, menu: DeltaGenerator) -> None:
    """Draws the overview of all heads and beside it the shown map in large: as a matrix, as lines, or the query's row in each
    layer, by `form`. Further choices of the form are drawn into `menu`.
    """
    view = shown.view
    with st.container(key="without_linked_chart"):
        tokens, verdict = token_and_verdict_containers(view.record)
    with st.container(horizontal=True, gap="medium", key="maps_and_detail"):
        with st.container(key="maps"):
            draw_heads_overview(
                view.source,
                view.measures,
                selected=shown.head,
                scale=shown.chosen.scale,
                key="overview",
                notes=view.notes,
                lens=shown.lens,
            )
        with st.container(key="detail"):
            with st.container(key="head_sentence"):
                if shown.part == HEAD:
                    say_what_it_attends_to(shown)
                else:
                    st.markdown(f"**{shown.name}**")
            if view.record.unit == "token":
                _draw_map_of_text(shown, form, menu)
            else:
                _draw_map_of_picture(shown, form)
            if shown.part == HEAD and (sentence := number_sentence_for(shown.subject, shown.chosen)):
                st.caption(sentence)
    with verdict:
        answer_colours = draw_verdict(shown)
    if view.record.unit == "token":
        with tokens:
            _draw_tokens(shown, answer_colours)


def download_tokens(shown: ShownHead) -> None:
    """Draws the button that downloads the tokens of a text coloured by the chosen query's weights."""
    record = shown.view.record
    if record.unit == "token":
        strip = call(
            weight_strip,
            shown.view.source.attended,
            shown.weights[shown.query],
            query=shown.query if record.keys is None else None,
            scale=shown.chosen.of_head(record),
            notes=shown.notes,
        )
        download(strip, "tokens")


def _draw_tokens(shown: ShownHead, answer_colours: AnswerColours | None) -> None:
    """Draws the tokens coloured by the chosen query's row of the shown map."""
    record, head = shown.view.record, shown.head
    if shown.part != HEAD:  # one map for each layer, of which only the chosen one is looked at
        record = attention_alone(record)
        masks = np.logical_or.reduce(record.mask, axis=1, keepdims=True)
        patterns = np.broadcast_to(shown.pattern, (len(masks), 1, *shown.pattern.shape))
        record, head = replace(record, pattern=patterns, mask=masks), (shown.chosen.layer, 0)
    linked_tokens(
        record,
        Choice(*head, shown.query, chosen_colouring()),
        choice_callback(shown),
        key="all_heads",
        tops=head_maxima(record) if shown.chosen.scale == "own" else None,
        answer_colours=answer_colours,
    )


def draw_cells(shown: ShownHead, links: Sequence[MatrixLink]) -> None:
    """Draws a window of the head's map cell by cell with the `links` outlined, and beside it the whole map in small, where a click
    moves the window.
    """
    ranges = window(shown.pattern, shown.query)
    with st.container(horizontal=True, gap="small", key="cells_and_window"):
        with st.container(key="weights"):
            _draw_matrix(shown, ranges, key="matrix_cells", links=links)
        if ranges is not None:
            with st.container(width=190):
                choose_window(shown.weights, ranges, shown.scale)


def _draw_map_of_text(shown: ShownHead, form: str, menu: DeltaGenerator) -> None:
    """Draws the shown map in the chosen `form`, and beside it the query's strongest keys in numbers."""
    ranges = window(shown.pattern, shown.query) if form == MATRIX else None
    with st.container(horizontal=True, gap="small", key="weights_and_keys"):
        with st.container(key="weights"):
            if form == MATRIX:
                _draw_matrix(shown, ranges)
            elif form == LINES:
                _draw_head_lines(shown, menu)
            else:
                _draw_by_layer(shown)
        with st.container(width=190):
            _draw_strongest_keys(shown)
            if ranges is not None:
                choose_window(shown.weights, ranges, shown.scale)


def _draw_map_of_picture(shown: ShownHead, form: str) -> None:
    """Draws the query's weights over the patches, and beside them the shown map as a matrix or the query's row in each layer, by
    `form`. A click on a patch or a row chooses the query.
    """
    if shown.notes:
        st.caption("  \n".join(map(plain, shown.notes)))
    with st.container(horizontal=True, key="patches_and_map"):
        with st.container(key="patches"):
            input_in_colours(
                seen_picture(shown.subject),
                shown.view.source,
                shown.weights[shown.query],
                key="overlay",
                query=shown.query,
                scale=shown.scale,
            )
            for position in shown.view.record.positions_with_role("class"):
                st.button(
                    "Back to the class token",
                    key="to_class",
                    on_click=take_query,
                    args=(position,),
                    disabled=shown.query == position,
                )
        with st.container(key="map"):
            if form == BY_LAYER:
                _draw_by_layer(shown)
            else:
                _draw_matrix(shown, None)


def _draw_head_lines(shown: ShownHead, menu: DeltaGenerator) -> None:
    """Draws the shown map as lines from queries to keys, for one query or for all.

    If it is that of a head, other heads of its layer can be drawn with it, each in its own colour. The controls are drawn into
    `menu`.
    """
    chosen, query, source = shown.chosen, shown.query, shown.view.source
    with menu:
        is_alone = not ALL_QUERIES.choose()
        heads = _choose_heads(shown.view.record, chosen) if shown.has_heads else ()
    patterns = {head_name(chosen.layer, head): source.pattern[chosen.layer, head] for head in heads}
    if len(patterns) < 2:
        patterns = {shown.name: shown.weights}
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


def _draw_by_layer(shown: ShownHead) -> None:
    """Draws the query's weights in each layer: those of the chosen head number or, if the shown map is over the layer's heads, the
    same mean or maximum. A click on a row, or on the picture of a layer, chooses that layer.
    """
    chosen, query, part, source = shown.chosen, shown.query, shown.part, shown.view.source
    if part == HEAD:  # [layer, key]
        weights, mask = (maps[:, chosen.head, query] for maps in (source.pattern, source.mask))
        what = f"head {chosen.head} of each" if chosen.lens.has_heads else ""
    else:
        # [head, layer, key]
        rows, masks = (call(np.swapaxes, maps[:, :, query], 0, 1) for maps in (source.pattern, source.mask))
        weights, mask = call(combine_heads, rows, part), call(np.any, masks, axis=0)
        what = f"{part} over its heads"
    what_is_shown: dict[str, Any] = {
        "query": query,
        "layer": chosen.layer,
        "scale": chosen.weights_to("the largest weight here", weights()),
        "what": what,
        "notes": shown.view.notes_on(weights()),
    }
    gestures_name = "What the query attends to in each layer"
    if shown.view.record.patch_grid is None:
        with st.container(key="matrix_by_layer"):
            show(call(layer_heatmap, source, weights, mask=mask, **what_is_shown), key="by_layer")
            row_clicks("matrix_by_layer", len(shown.view.record.pattern), take_layer)
            arrow_keys("matrix_by_layer", step, name=gestures_name)
    else:
        clickable(
            call(layer_pictures, source, seen_picture(shown.subject), weights, **what_is_shown),
            key="overview_by_layer",
            chosen=chosen.layer,
            selection="layer",
            take=lambda clicked: take_layer(int(clicked["layer"])),
            width="content",
        )
        arrow_keys("overview_by_layer", step, name=gestures_name)
    if shown.has_heads:
        st.caption(
            "Heads of the same number in different layers have no more in common than any others. “Mean”, under View, "
            "shows what a layer as a whole attends to."
        )


def matrix_figure(
    shown: ShownHead,
    links: Sequence[MatrixLink],
    ranges: tuple[range, range] | None = None,
    links_note: str = "",
) -> Expression:
    """The shown map as a heatmap with the `links` outlined. `ranges` are the visible queries and keys, None for all; `links_note` is a
    line that explains the outlines, for files.
    """
    record, source = shown.view.record, shown.view.source
    figure = call(
        weight_heatmap,
        shown.weights,
        source.tokens,
        query=shown.query,
        mask=source.mask[shown.head],
        scale=shown.scale,
        window=ranges,
        keys=None if record.keys is None else source.keys.tokens,
        numbers=source.numbers,
        notes=[*shown.notes, *filter(None, [links_note])],
        description=f"Attention of {shown.name}, queries down, keys across",
    )
    return call(with_outlines, figure, links, shown.head, ranges) if links else figure


def _draw_matrix(
    shown: ShownHead,
    ranges: tuple[range, range] | None,
    key: str = "matrix",
    links: Sequence[MatrixLink] = (),
) -> None:
    """Draws `matrix_figure` with the widget key `key`; a click on a row chooses its query."""
    record = shown.view.record
    with st.container(key="matrix_place"):
        show(matrix_figure(shown, links, ranges), key=key, height="stretch")
        rows = range(len(record)) if ranges is None else ranges[0]
        row_clicks("matrix_place", len(rows), lambda row: take_query(record.number(rows[row])))
        arrow_keys("matrix_place", step, name="The map of the chosen head")


def _draw_strongest_keys(shown: ShownHead) -> None:
    """Draws a table of the keys with the largest weights of the query, and the sum of these weights."""
    record, weights, lens = shown.view.record, shown.pattern[shown.query], shown.lens
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
        f'<table class="strongest"><caption>“{escape(queries[shown.query])}”{relation}</caption>{cells}</table>'
    )


def _labels(positions: Positions) -> list[str]:
    """Labels of the positions, as beside the matrix: a token that occurs more than once is followed by its position."""
    return position_labels(positions.tokens, positions.numbers)
