"""How the opened encoder knows positions: it has one kind of them, or several."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.map_controls import HEAD
from app_pages.controls.positions_controls import OWN_KIND
from app_pages.positions.bias_by_distance import draw_bias
from app_pages.positions.checkpoint import draw_checkpoint_positions
from app_pages.positions.rotated_scores import choose_pair, draw_rotated_scores
from app_pages.positions.windows import draw_windows
from app_pages.show.show import clickable, show
from app_pages.subject import cache
from app_pages.subject.subject import LiveSubject
from model.experiments.position_kinds import MAPS, PositionTerms, map_sizes, position_kinds, position_terms
from viz.builders.number_format import format_number, head_name, percent
from viz.positions.bias_figures import score_curves
from viz.positions.position_curves import map_shares

NAMES = {name: name.replace("_", " ") for name in MAPS}


def draw_this_encoder(subject: LiveSubject, slots: Slots) -> None:
    """Draws the figures of the encoder's kind of positions, with a row of buttons to choose one if it has several."""
    kinds = cache.of(position_kinds, subject.checkpoint)
    if not kinds:
        st.info(f"`{subject.checkpoint}` has no positions: to it, every order is the same.")
        return
    kind: str = kinds[0]
    if len(kinds) > 1:
        with slots.controls:
            kind = OWN_KIND.choose(kinds)
    draw = {
        "added": draw_checkpoint_positions,
        "rotated": draw_rotated_scores,
        "biased": draw_bias,
        "windowed": draw_windows,
        "causal": draw_windows,
        "disentangled": _draw_terms,
    }[kind]
    draw(subject, slots)


# Disentangled attention: the terms of a score over the distance, and how large its maps are


def _draw_terms(subject: LiveSubject, slots: Slots) -> None:
    """Draws the terms of the chosen score over the distance, and the share of each map in the scores of every head."""
    pair = choose_pair(subject, slots)
    terms: PositionTerms = subject.compute(position_terms, pair.head, pair.query, pair.key)
    curves = {
        NAMES[name]: values
        for name, values in zip(
            MAPS,
            (
                np.full(len(terms.offsets), terms.content_to_content),
                terms.content_to_position,
                terms.position_to_content,
            ),
            strict=True,
        )
        if values is not None
    }
    st.markdown(
        f"**{pair.name}**: contents held fixed, the distance varied. At their own offset, "
        f"{format_number(terms.own_offset, '+d')}, the score is **{format_number(terms.own, '.3f')}**: the thick line, the sum of "
        f"{len(curves)} terms."
    )
    figure = score_curves(terms.offsets, curves, terms.total, own_offset=terms.own_offset)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="side_terms_curves"):
            show(figure, key="positions_own_terms")
        with st.container(key="side_terms_shares"):
            sizes: dict[str, np.ndarray] = subject.compute(map_sizes, pair.chosen.layer)
            named = {NAMES[name]: values for name, values in sizes.items()}
            total = sum(values[pair.chosen.head] for values in named.values())
            shares = ", ".join(
                f"{name} **{percent(float(values[pair.chosen.head] / total), 0)}**"
                for name, values in named.items()
            )
            st.markdown(
                f"**Share of each map in the scores of this input**, {head_name(*pair.head)}: {shares}."
            )
            clickable(
                map_shares(named, head=pair.chosen.head),
                key="positions_own_shares",
                chosen=pair.chosen.head,
                selection="head",
                take=lambda point: HEAD.take(int(point["head"])),
            )
            st.caption("Mean size of a map over all queries and keys, as a share of the sum over the maps.")
    st.latex(score_formula(list(curves)))
    st.caption(
        "He et al. 2021, section 3.1: each relative position δ has a vector, projected to a query and to a key as contents are. "
        "Far offsets share vectors, so the curves end in steps or level off. Their equation 4 has δ(s, t) in the last term; their "
        "code, and so every trained encoder, has δ(t, s)."
    )


def score_formula(names: Sequence[str]) -> str:
    """LaTeX of the score of query t and key s, from the `names` of the terms that the encoder has."""
    products = {
        "content_to_content": r"q_t \cdot k_s",
        "content_to_position": r"q_t \cdot k_{\delta(t,s)}",
        "position_to_content": r"q_{\delta(t,s)} \cdot k_s",
    }
    terms = [products[name] for name in MAPS if NAMES[name] in names]
    divisor = rf"\sqrt{{{len(terms)} \, d_k}}" if len(terms) > 1 else r"\sqrt{d_k}"
    return rf"\text{{score}}_{{ts}} = \left( {' + '.join(terms)} \right) / {divisor}"
