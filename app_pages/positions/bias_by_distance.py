"""Learned biases on attention scores by the distance of query and key, in the opened encoder: a curve or a map for each head."""

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_head
from app_pages.controls.map_controls import HEAD
from app_pages.positions.notation import between_patches
from app_pages.show.show import clickable, show
from app_pages.subject import cache
from app_pages.subject.as_python import encoder
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.markdown import counted
from model.config import ModelConfig
from model.experiments.position_kinds import (
    DistanceBias,
    GridBiases,
    bias_shared_from,
    distance_bias,
    grid_biases,
    is_bias_shared,
)
from viz.builders.number_format import format_distinct, format_number, head_name
from viz.positions.bias_figures import bias_curves, bias_maps, offset_map


def draw_bias(subject: LiveSubject, slots: Slots) -> None:
    """Draws each head's bias over the distance of query and key (text) or over rows and columns (pictures), with the chosen head
    in front.
    """
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    if subject.record.patch_grid is None:
        _draw_over_distance(subject, chosen)
    else:
        _draw_over_grid(subject, chosen)


def _take_head(point: dict) -> None:
    HEAD.take(int(point["head"]))


def _draw_over_distance(subject: LiveSubject, chosen: HeadChoice) -> None:
    config = subject.record.config
    bias: DistanceBias = cache.of(distance_bias, subject.checkpoint, chosen.layer)
    curve = bias.by_head[chosen.head]
    source = named("bias", call(distance_bias, encoder(subject.checkpoint), chosen.layer), lambda: bias)
    st.markdown(
        f"**What is added to a score, over the distance of query and key**, a line for each head. {_shared_sentence(config)} "
        f"{extremes_sentence(head_name(chosen.layer, chosen.head), bias.offsets, curve)}"
    )
    clickable(
        call(bias_curves, source.offsets, source.by_head, head=chosen.head),
        key="positions_own_bias",
        chosen=chosen.head,
        selection="head",
        take=_take_head,
    )
    is_scaled = config.family.parts.scaled
    products = r"q_t \cdot k_s" + (r" / \sqrt{d_k}" if is_scaled else "")
    st.latex(rf"\text{{score}}_{{ts}} = {products} + b_h[\text{{bucket}}(s - t)]")
    remark = "" if is_scaled else " The products are not divided by $\\sqrt{d_k}$."
    st.caption(
        f"Raffel et al. 2020, section 2.1: {config.family.n_relative_buckets} learned numbers a head, half of them for later keys; "
        f"keys {bias_shared_from(config)} or more positions away share the last one of their side.{remark}"
    )


def extremes_sentence(name: str, offsets: np.ndarray, curve: np.ndarray) -> str:
    """Sentence on the offsets at which the head `name` has its largest and smallest bias, from its `curve` [offset] at the
    `offsets`. Far offsets share a bias.
    """
    if np.ptp(curve) == 0:
        return f"{name} adds **{format_number(curve[0], '+.2f')}** at every offset."
    most, least = format_distinct(curve.max(), curve.min(), "+.2f")
    end = int(np.abs(offsets).max())
    at_most, at_least = (_offsets_text(offsets[curve == value], end) for value in (curve.max(), curve.min()))
    return f"{name} adds most, **{most}**, at {at_most}, and least, **{least}**, at {at_least}."


def _offsets_text(equal: np.ndarray, end: int) -> str:
    """Offsets that share one bias: "offset +3", "offsets +8 to +11", or "offset −91 and beyond" if they reach the `end`."""
    nearest, furthest = sorted((int(equal[0]), int(equal[-1])), key=abs)
    first, last = (format_number(offset, "+d") for offset in (nearest, furthest))
    if nearest == furthest:
        return f"offset {first}"
    if len(equal) != abs(furthest - nearest) + 1:
        return f"{len(equal)} offsets, the nearest {first}"
    return f"offset {first} and beyond" if abs(furthest) == end else f"offsets {first} to {last}"


def _draw_over_grid(subject: LiveSubject, chosen: HeadChoice) -> None:
    bias: GridBiases = cache.of(grid_biases, subject.checkpoint, chosen.layer)
    own = bias.by_offset[chosen.head]
    source = named("bias", call(grid_biases, encoder(subject.checkpoint), chosen.layer), lambda: bias)
    row, column = np.unravel_index(int(own.argmax()), own.shape)
    n_equal = int((own == own.max()).sum()) - 1
    also = f", and as much at {counted(n_equal, 'other offset')}" if n_equal else ""
    down, right = int(row) - own.shape[0] // 2, int(column) - own.shape[1] // 2
    name = head_name(chosen.layer, chosen.head)
    st.markdown(
        "**What is added to a score by the rows and columns between two patches**, the query's in the middle. "
        f"{_shared_sentence(subject.record.config)} {name} adds most, **{format_number(own.max(), '+.2f')}**, where the key is "
        f"{between_patches(down, right)}{also}."
    )
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=560):
            clickable(
                call(bias_maps, source.by_offset, head=chosen.head),
                key="positions_own_bias_maps",
                chosen=chosen.head,
                selection="head",
                take=_take_head,
                width="content",
            )
        with st.container(width=460):
            figure = call(offset_map, source.by_offset[chosen.head], what=f"bias of {name}")
            show(figure, key="positions_own_bias_map")
    if subject.record.first_patch:
        as_query, as_key, to_itself = (
            format_number(value, "+.2f") for value in bias.of_class_token[chosen.head]
        )
        st.markdown(
            f"Scores of the class token have biases of their own, in {name}: **{as_query}** with the class token as query and a patch "
            f"as key, **{as_key}** with a patch as query and the class token as key, **{to_itself}** with the class token as both."
        )
    st.latex(r"\text{score}_{ts} = q_t \cdot k_s / \sqrt{d_k} + b_h[\text{rows}_{ts}, \text{columns}_{ts}]")
    st.caption("Bao et al. 2022 (BEiT), with the bias of Raffel et al. 2020, section 2.1, on a grid.")


def _shared_sentence(config: ModelConfig) -> str:
    return "All layers share it." if is_bias_shared(config) else "Each layer has its own."
