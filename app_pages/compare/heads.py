"""Heads side by side: all of them, and a pair of them in detail."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from app_pages import address, state
from app_pages.compare.pairing import Head, Pairing, name
from app_pages.compare.sides import Side, beside, same_position, take_from_second
from app_pages.widgets.head_choice import choose_query, overview, take_head, take_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.measures_note import measures_note
from app_pages.widgets.show import clickable, show
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import attention_heatmap
from viz.compare.distance_heatmap import distance_heatmap

ONE_QUERY, ALL_WEIGHTS, DISTANCES = "one query", "all weights", "distances of all heads"


def heads(chosen: state.HeadSelection, first: Side, second: Side, pairing: Pairing) -> None:
    head = (chosen.layer, chosen.head)
    partner = pairing.partners.get(head)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = address.row("Show", (ONE_QUERY, ALL_WEIGHTS, DISTANCES), key="compare_view")
        if view != DISTANCES:
            query = choose_query(first.record)
    if view == DISTANCES:
        _distances(first, second, pairing, head)
        return
    left, right = beside("overview")
    with left:
        st.markdown(f"**{first.title}**, all heads")
        overview(first.checkpoint, first.given, selected=head, scale=chosen.scale, key="overview_first")
    with right:
        st.markdown(f"**{second.title}**, all heads")
        _partners(chosen, second, pairing, partner)
    pairs = zip(("first", "second"), (first, second), (head, partner), beside("detail"), strict=True)
    for number, side, shown, place in pairs:
        with place:
            if shown is None:
                st.info(f"{side.title} has no partner for {name(head)}.")
            else:
                at, take = query, take_query
                if number == "second":
                    at, take = same_position(first, second, query), partial(take_from_second, first, second)
                if view == ALL_WEIGHTS:
                    _all_weights(chosen, side, shown, at, key=f"matrix_{number}")
                else:
                    _one_query(chosen, side, shown, at, take, key=f"query_{number}")
    measures_note("tokens" if first.is_text else "patches")


def _partners(chosen: state.HeadSelection, second: Side, pairing: Pairing, partner: Head | None) -> None:
    """All heads of the second side; a click on one chooses the head of the first whose partner it is."""
    chart = head_overview(
        second.record.pattern,
        selected=partner,
        hover=state.head_measures(second.checkpoint, second.given),
        scale=chosen.scale,
    )

    def take(point: dict) -> None:
        if (head := pairing.of((int(point["layer"]), int(point["head"])))) is not None:
            take_head(*head)

    clickable(chart, key="overview_second", chosen=partner, selection="head", take=take, width="content")


def _all_weights(chosen: state.HeadSelection, side: Side, head: Head, query: int | None, *, key: str) -> None:
    record = side.record
    figure = attention_heatmap(
        record.pattern[head],
        record.tokens,
        mask=record.mask[head],
        query=query,
        scale=chosen.scale,
        title=f"{side.title} {name(head)}",
    )
    show(figure, key=key)


def _one_query(
    chosen: state.HeadSelection,
    side: Side,
    head: Head,
    query: int | None,
    take: Callable[[int], None],
    *,
    key: str,
) -> None:
    """The row of `query`; a click takes its position instead."""
    st.markdown(f"**{name(head)}** of {side.title}")
    if query is None:
        st.caption("The chosen query has no counterpart here.")
        return
    input_in_colours(
        side.given,
        side.record,
        side.record.pattern[head][query],
        query=query,
        scale=chosen.scale,
        key=key,
        take=take,
    )


def _distances(first: Side, second: Side, pairing: Pairing, head: Head) -> None:
    if pairing.matrix is None:
        st.info(
            "Head distances compare rows of weights over the same keys, and these sides have none in common."
        )
        return
    n_heads = tuple(side.record.config.n_heads for side in (first, second))
    partners = [-1] * len(pairing.matrix)
    for one, other in pairing.partners.items():
        partners[one[0] * n_heads[0] + one[1]] = other[0] * n_heads[1] + other[1]
    chart = distance_heatmap(
        pairing.matrix,
        partners,
        n_heads=n_heads,
        names=(first.title, second.title),
        selected=head[0] * n_heads[0] + head[1],
    )
    st.markdown(
        r"**Head distance** of two heads $A$ and $B$: $\frac{1}{n} \sum_i \mathrm{JSD}(A'_i, B'_i)$ with "
        r"$A' = 0.999\,A + 0.001 / n$, the Jensen-Shannon divergence of their rows, from 0 to $\ln 2 \approx 0.693$ nats "
        "(Clark et al. 2019, who sum over the rows). Rings are the pairs; a click chooses the head of its row."
    )
    clickable(
        chart,
        key="distances",
        chosen=head,
        selection="pair",
        take=lambda pair: take_head(*divmod(int(pair["one"]), n_heads[0])),
        width="content",
    )
