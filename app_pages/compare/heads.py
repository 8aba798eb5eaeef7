"""Heads side by side: all of them, and one pair of them in detail."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.compare.pairing import choose_furthest, map_name, say_pair
from app_pages.compare.seed_curves import draw_distances_beside_seeds
from app_pages.compare.stored_comparisons import comparison
from app_pages.controls import head_choice
from app_pages.controls.compare_controls import ALL_WEIGHTS, DISTANCES, ONE_QUERY, VIEW
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.show.all_heads import overview_of
from app_pages.show.faithfulness.line import faithfulness_of_side
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.measures_note import measures_note
from app_pages.show.show import clickable, show
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject.stored_results import over
from app_pages.subject.subject import LensChoice
from app_pages.subject.two_sides import Side, same_position
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from model.atlas.results import EncoderComparison
from model.measures.head_matching import HeadIndex, Pairing
from model.record import AttentionRecord
from viz.attention.head_overview import head_maxima
from viz.attention.token_heatmaps import attention_heatmap
from viz.builders.figure import VegaFigure
from viz.builders.number_format import head_name
from viz.builders.palette import WeightScale
from viz.compare.distance_heatmap import distance_heatmap
from viz.compare.pair_spread import pair_spread


class _SideMap(NamedTuple):
    """The map of one side that is drawn in detail."""

    side: Side
    record: AttentionRecord  # through the lens
    head: HeadIndex
    name: str
    query: int | None  # None where the chosen query has no counterpart on this side
    scale: WeightScale
    notes: Sequence[str]
    take: Callable[[int], None]  # makes a position of this side the query


def draw_heads(
    slots: Slots, chosen: HeadChoice, first: Side, second: Side, pairing: Pairing, through: LensChoice
) -> None:
    """Draws all heads of both sides through one lens, and the chosen pair in detail."""
    head, lens = (chosen.layer, chosen.head), chosen.lens
    views = (ONE_QUERY, ALL_WEIGHTS, DISTANCES) if lens.has_heads else (ONE_QUERY, ALL_WEIGHTS)
    with slots.controls:
        view = VIEW.choose(views)
        if view != DISTANCES:
            query = head_choice.choose_query(first.record)
    with slots.view:
        choose_furthest(pairing)
    if view == DISTANCES:
        _draw_distances(first, second, pairing, head)
        say_pair(first, second, pairing, chosen)
        return
    with slots.view:
        kind = choose_kind(first.subject, second.subject)

    def take_partner(layer: int, head: int) -> None:
        if (partner := pairing.partner_in_first((layer, head))) is not None:
            take_head(*partner)

    sides, pair = (first, second), (head, pairing.partner(head))
    viewed = [side.subject.viewed(through) for side in sides]
    records = [record for record, _ in viewed]
    patterns = [
        record.pattern[index] for record, index in zip(records, pair, strict=True) if index is not None
    ]
    scale = chosen.weights_to("the maximum of the pair", *patterns)
    queries = query, same_position(first, second, query)
    take_query = head_choice.take_query, partial(head_choice.take_from_second, first, second)
    take_one = (take_head, take_partner) if lens.has_heads else (head_choice.take_layer,) * 2
    maxima = _maxima_of_partners(records, pairing)
    for i, (side, column) in enumerate(zip(sides, beside("heads"), strict=True)):
        with column, st.container(horizontal=True, gap="medium"):
            with st.container(key=f"all_{NUMBERS[i]}"):
                overview_of(
                    *viewed[i],
                    take=take_one[i],
                    small=True,
                    key=f"overview_{NUMBERS[i]}",
                    selected=pair[i],
                    scale=chosen.scale,
                    beside=maxima[i],
                    lens=lens,
                )
            with st.container(key=f"one_{NUMBERS[i]}"):
                if (own_head := pair[i]) is None:
                    st.info(f"{side.title} has no partner for {map_name(head, lens)}.")
                    continue
                name = map_name(own_head, lens)
                detail = _SideMap(
                    side, records[i], own_head, name, queries[i], scale, through.notes, take_query[i]
                )
                if view == ALL_WEIGHTS:
                    _draw_all_weights(detail, key=f"matrix_{NUMBERS[i]}")
                else:
                    _draw_one_query(detail, key=f"query_{NUMBERS[i]}")
                if (reason := through.why_unchecked(side.record)) is None:
                    key, pattern = f"faithfulness_{NUMBERS[i]}", records[i].pattern[own_head]
                    faithfulness_of_side(side, pattern, kind, lens=lens.name, head=own_head, key=key)
                else:
                    st.caption(reason)
    say_pair(first, second, pairing, chosen)
    measures_note(first.record.units, viewed[0].measures, lens)


def _maxima_of_partners(
    records: Sequence[AttentionRecord], pairing: Pairing
) -> tuple[np.ndarray, np.ndarray]:
    """For each side [layer, head] the largest weight of the head's partner; -inf where it has none."""
    ones, others = (head_maxima(record) for record in records)
    for_ones, for_others = np.full_like(ones, -np.inf), np.full_like(others, -np.inf)
    for layer, head in np.ndindex(ones.shape):
        if (partner := pairing.partner((layer, head))) is not None:
            for_ones[layer, head], for_others[partner] = others[partner], ones[layer, head]
    return for_ones, for_others


def _draw_all_weights(drawn: _SideMap, *, key: str) -> None:
    """Draws the map as a heatmap; a click on a row makes its position the query."""
    figure = attention_heatmap(
        drawn.record,
        *drawn.head,
        query=drawn.query,
        scale=drawn.scale,
        title=f"{drawn.side.title} {drawn.name}",
        notes=drawn.notes,
    )
    with st.container(key=f"{key}_place"):
        show(figure, key=key, height="stretch")
        row_clicks(f"{key}_place", len(drawn.record), drawn.take)
        arrow_keys(f"{key}_place", head_choice.step)


def _draw_one_query(drawn: _SideMap, *, key: str) -> None:
    """Draws the input in the colours of the query's row; a click makes its position the query."""
    st.markdown(f"**{drawn.name}** of {drawn.side.title}")
    if drawn.query is None:
        st.caption("The chosen query has no counterpart here.")
        return
    input_in_colours(
        drawn.side.model_input,
        drawn.record,
        drawn.record.pattern[drawn.head][drawn.query],
        key=key,
        take=drawn.take,
        query=drawn.query,
        scale=drawn.scale,
        whole=drawn.side.record,
        notes=drawn.notes,
    )


def _draw_distances(first: Side, second: Side, pairing: Pairing, head: HeadIndex) -> None:
    if pairing.matrix is None:
        st.info(
            "Head distances compare rows of weights over the same keys, and these sides have none in common."
        )
        return
    (_, n_heads), (_, n_others) = pairing.shapes
    chart = distance_heatmap(
        pairing.matrix,
        pairing.partners,
        n_heads=(n_heads, n_others),
        names=(first.title, second.title),
        selected=head[0] * n_heads + head[1],
    )
    st.markdown(
        r"**Head distance** of two heads $A$ and $B$: $\frac{1}{n} \sum_i \mathrm{JSD}(A'_i, B'_i)$ with "
        r"$A' = 0.999\,A + 0.001 / n$, the Jensen-Shannon divergence of their rows, from 0 to just below "
        r"$\ln 2 \approx 0.693$ nats (Clark et al. 2019, who sum over the rows). Rings mark the pairs; a "
        "click chooses the head of its row."
    )
    stored = comparison(first.checkpoint, second.checkpoint)
    with st.container(horizontal=True, gap="large"):
        with st.container(width="content"):
            _draw_pairs(chart, "distances", head, n_heads)
        if stored is not None:
            with st.container(width="content"):
                _draw_spread(pairing, pairing.matrix, stored, head)
    if stored is not None:
        draw_distances_beside_seeds(first, second)


def _draw_spread(pairing: Pairing, matrix: np.ndarray, stored: EncoderComparison, head: HeadIndex) -> None:
    """Draws the distance of every pair, on this input and over the data set."""
    ones = np.flatnonzero(pairing.partners >= 0)
    others = pairing.partners[ones]
    (_, n_heads), (_, n_others) = pairing.shapes
    chart = pair_spread(
        [
            f"{head_name(*divmod(one, n_heads))} ↔ {head_name(*divmod(other, n_others))}"
            for one, other in zip(ones.tolist(), others.tolist(), strict=True)
        ],
        *(distances[ones, others] for distances in (matrix, stored.distances.mean, stored.distances.sd)),
        ones=ones.tolist(),
        others=others.tolist(),
        selected=int(np.ravel_multi_index(head, pairing.shapes[0])),
    )
    st.markdown(f"**Over {over(stored.source)}**; the dot is this input", help="Mean ± standard deviation.")
    _draw_pairs(chart, "spread_of_pairs", head, n_heads)


def _draw_pairs(chart: VegaFigure, key: str, head: HeadIndex, n_heads: int) -> None:
    """Draws a chart of pairs; a click chooses the first head of a pair. Heads are numbered across layers, `n_heads` in each."""
    clickable(
        chart,
        key=key,
        chosen=head,
        selection="pair",
        take=lambda pair: take_head(*divmod(int(pair["one"]), n_heads)),
        width="content",
    )
