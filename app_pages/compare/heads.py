"""Heads side by side: all of them, and a pair of them in detail."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from app_pages.compare.over_data import against, over
from app_pages.compare.pairing import about, about_layers, choose_furthest, lens_name
from app_pages.compare.seeds import distances_beside_seeds
from app_pages.controls.compare_controls import ALL_WEIGHTS, DISTANCES, ONE_QUERY, VIEW
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import (
    HeadChoice,
    choose_query,
    step,
    take_from_second,
    take_head,
    take_layer,
    take_query,
)
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.show.all_heads import overview_of
from app_pages.show.faithfulness.line import faithfulness_of_side
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.measures_note import measures_note
from app_pages.show.show import clickable, show
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject.subject import LensChoice
from app_pages.subject.two_sides import Side, same_position
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from model.atlas.results import EncoderComparison
from model.measures.head_matching import HeadIndex, Pairing
from model.record import AttentionRecord
from viz.attention.head_overview import head_maxima
from viz.attention.token_heatmaps import attention_heatmap
from viz.builders.number_format import head_name
from viz.builders.palette import WeightScale
from viz.compare.distance_heatmap import distance_heatmap
from viz.compare.pair_spread import pair_spread


def heads(
    slots: Slots, chosen: HeadChoice, first: Side, second: Side, pairing: Pairing, through: LensChoice
) -> None:
    """All heads of both sides through one lens, and the chosen pair in detail."""
    head, lens = (chosen.layer, chosen.head), chosen.lens
    maps = tuple(side.subject.viewed(through) for side in (first, second))
    views = (ONE_QUERY, ALL_WEIGHTS, DISTANCES) if lens.has_heads else (ONE_QUERY, ALL_WEIGHTS)
    with slots.controls:
        view = VIEW.choose(views)
        if view != DISTANCES:
            query = choose_query(first.record)
    with slots.view:
        choose_furthest(pairing)
    if view == DISTANCES:
        _distances(first, second, pairing, head)
        about(first, second, pairing, head)
        return
    with slots.view:
        kind = choose_kind(first.subject, second.subject)

    def take_partner(*other: int) -> None:
        if (one := pairing.partner_in_first(other)) is not None:
            take_head(*one)

    sides, shown = (first, second), (head, pairing.partner(head))
    records = [record for record, _ in maps]
    patterns = [record.pattern[one] for record, one in zip(records, shown, strict=True) if one is not None]
    scale = chosen.weights_to("the maximum of the pair", *patterns)
    queries = query, same_position(first, second, query)
    each_side = zip(
        NUMBERS,
        sides,
        maps,
        shown,
        queries,
        _maxima_beside(records, pairing),
        (take_head, take_partner) if lens.has_heads else (take_layer, take_layer),
        (take_query, partial(take_from_second, first, second)),
        beside("heads"),
        strict=False,
    )
    for number, side, seen, selected, at, others, take_one, take_position, place in each_side:
        with place, st.container(horizontal=True, gap="medium"):
            with st.container(key=f"all_{number}"):
                overview_of(
                    *seen,
                    take=take_one,
                    small=True,
                    key=f"overview_{number}",
                    selected=selected,
                    scale=chosen.scale,
                    beside=others,
                    lens=lens,
                )
            with st.container(key=f"one_{number}"):
                if selected is None:
                    st.info(f"{side.title} has no partner for {lens_name(head, lens)}.")
                else:
                    draw, figure = (_all_weights, "matrix") if view == ALL_WEIGHTS else (_one_query, "query")
                    which = (side, seen[0], through, selected, at)
                    draw(*which, scale, take_position, key=f"{figure}_{number}")
                    if (why := through.why_unchecked(side.record)) is None:
                        faithfulness_of_side(
                            side,
                            seen[0].pattern[selected],
                            kind,
                            lens=lens.name,
                            head=selected,
                            key=f"faithfulness_{number}",
                        )
                    else:
                        st.caption(why)
    if lens.has_heads:
        about(first, second, pairing, head)
    else:
        about_layers(first, second, pairing, chosen.layer)
    measures_note(first.record.units, maps[0][1], lens)


def _maxima_beside(records: Sequence[AttentionRecord], pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """For each side, the largest weight [layer, head] of the head that every one of its heads is paired with."""
    ones, others = (head_maxima(record) for record in records)
    beside_ones, beside_others = np.full_like(ones, -np.inf), np.full_like(others, -np.inf)
    for one in np.ndindex(ones.shape):
        if (other := pairing.partner(one)) is not None:
            beside_ones[one], beside_others[other] = others[other], ones[one]
    return beside_ones, beside_others


def _all_weights(
    side: Side,
    record: AttentionRecord,
    through: LensChoice,
    head: HeadIndex,
    query: int | None,
    scale: WeightScale,
    take: Callable[[int], None],
    *,
    key: str,
) -> None:
    title = f"{side.title} {lens_name(head, through.lens)}"
    figure = attention_heatmap(record, *head, query=query, scale=scale, title=title, notes=through.notes)
    with st.container(key=f"{key}_place"):
        show(figure, key=key, height="stretch")
        row_clicks(f"{key}_place", len(record), take)
        arrow_keys(f"{key}_place", step)


def _one_query(
    side: Side,
    record: AttentionRecord,
    through: LensChoice,
    head: HeadIndex,
    query: int | None,
    scale: WeightScale,
    take: Callable[[int], None],
    *,
    key: str,
) -> None:
    """The row of `query`; a click takes its position instead."""
    st.markdown(f"**{lens_name(head, through.lens)}** of {side.title}")
    if query is None:
        st.caption("The chosen query has no counterpart here.")
        return
    input_in_colours(
        side.given,
        record,
        record.pattern[head][query],
        key=key,
        take=take,
        query=query,
        scale=scale,
        whole=side.record,
        notes=through.notes,
    )


def _distances(first: Side, second: Side, pairing: Pairing, head: HeadIndex) -> None:
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
    stored = against(first.checkpoint, second.checkpoint)
    with st.container(horizontal=True, gap="large"):
        with st.container(width="content"):
            clickable(
                chart,
                key="distances",
                chosen=head,
                selection="pair",
                take=partial(_take_pair, n_heads),
                width="content",
            )
        if stored is not None:
            with st.container(width="content"):
                _spread(pairing, stored, head)
    if stored is not None:
        distances_beside_seeds(first, second)


def _spread(pairing: Pairing, stored: EncoderComparison, head: HeadIndex) -> None:
    """Every pair as it is chosen, on this input and over the data set."""
    ones = np.flatnonzero(pairing.partners >= 0)
    others = pairing.partners[ones]
    (_, n_heads), (_, n_others) = pairing.shapes
    pairs = zip(ones.tolist(), others.tolist(), strict=True)
    chart = pair_spread(
        [
            f"{head_name(*divmod(one, n_heads))} ↔ {head_name(*divmod(other, n_others))}"
            for one, other in pairs
        ],
        *(matrix[ones, others] for matrix in (pairing.matrix, stored.distances.mean, stored.distances.sd)),
        ones=ones,
        others=others,
        selected=int(np.ravel_multi_index(head, pairing.shapes[0])),
    )
    st.markdown(f"**Over {over(stored.source)}**; the dot is this input", help="Mean ± standard deviation.")
    clickable(
        chart,
        key="spread_of_pairs",
        chosen=head,
        selection="pair",
        take=partial(_take_pair, n_heads),
        width="content",
    )


def _take_pair(n_heads: int, pair: dict) -> None:
    """For callbacks: the head that is the first of a clicked pair, numbered through all layers."""
    take_head(*divmod(int(pair["one"]), n_heads))
