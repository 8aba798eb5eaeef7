"""Positions by distance: rotations, biases and windows, with numbers of one's own, whatever the opened encoder does."""

import numpy as np
import streamlit as st

from app_pages.controls import positions_controls as controls
from app_pages.controls.control_bar import bar
from app_pages.positions.notation import format_scientific
from app_pages.show.show import show
from model.parts.relative_bias import last_bucket_from
from model.theory import relative_positions as theory
from viz.builders.number_format import format_number
from viz.positions.bias_figures import distance_curves

FURTHEST = 160  # positions, beyond the distance from which T5's offsets share a bucket
SHOWN = 4  # curves
MOVED = (0, 10, 100, 400)  # where the query of one pair of words stands
WIDTH = 64  # of a head


def draw_by_distance() -> None:
    """Draws the chosen kind of relative position as curves over the distance of query and key, with formula and source."""
    row, _ = bar("controls")
    with row:
        kind = controls.RELATIVE_KIND.choose()
        draw = {
            controls.ROTATED: _draw_rotated,
            controls.ALIBI: _draw_alibi,
            controls.T5: _draw_buckets,
            controls.WINDOWED: _draw_windows,
        }[kind]
    draw(row)


def _draw_rotated(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        base, offset = controls.ROTARY_BASE.choose(), controls.OFFSET.choose()
    st.markdown(
        "**Rotated (RoPE).** Nothing is added to the word: each pair of numbers of q and k is a clock hand, turned by its position. "
        "What a pair adds to the score follows the distance alone."
    )
    offsets = np.arange(-FURTHEST, FURTHEST + 1)
    by_pair = theory.rotary_score(offsets, WIDTH, float(base))
    pairs = np.linspace(0, WIDTH // 2 - 1, SHOWN).round().astype(int)
    shown = {f"pair {pair}": by_pair[pair] for pair in pairs}
    show(distance_curves(offsets, shown, what="cos(ω φ)"), key="positions_rotated")
    st.latex(r"(R_t\, q) \cdot (R_s\, k) = q \cdot R_{s-t}\, k, \qquad \omega_i = \text{base}^{-2i/d_k}")
    scores = theory.moved_scores(MOVED, offset, WIDTH, float(base))
    cells = " | ".join(format_number(score, ".4f") for score in scores)
    st.markdown(
        f"**The same pair of words, {offset} apart, moved along the text: the score stays.**\n\n"
        f"| query at position | {' | '.join(map(str, MOVED))} |\n|---|{'---|' * len(MOVED)}\n| q·k | {cells} |\n\n"
        f"Largest difference: ${format_scientific(float(np.ptp(scores)))}$, which is rounding. So a shift of all positions "
        "changes nothing here; with added positions it does."
    )
    st.caption(
        f"Su et al. 2021, equations 15 and 16; q and k are vectors of {WIDTH} ones, so each pair adds 2 cos(ω φ) to q·k. A larger base "
        "turns all but the first pair more slowly."
    )


def _draw_alibi(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        n_heads = controls.BIASED_HEADS.choose()
    slopes = theory.alibi_slopes(n_heads)
    st.markdown(
        "**Biased by a straight line (ALiBi).** A penalty is added to each score: the distance times the head's own slope. "
        "Nothing is learned; heads with a small slope look far."
    )
    offsets = np.arange(-FURTHEST, FURTHEST + 1)
    heads = np.unique(np.linspace(0, n_heads - 1, SHOWN).round().astype(int))
    shown = {f"head {head}: m = {slopes[head]:.3g}": -slopes[head] * np.abs(offsets) for head in heads}
    show(distance_curves(offsets, shown, what="bias on the score"), key="positions_alibi")
    st.latex(r"\text{score}_{ts} = q_t \cdot k_s / \sqrt{d_k} - m_h\, |t - s|, \qquad m_h = 2^{-8(h+1)/n}")
    st.caption(
        "Press et al. 2022, section 3, for decoders, where keys are never later; with the distance to both sides it "
        "is the encoder's form. Heads h are counted from 0 here, from 1 in the paper. A shift of all positions changes nothing."
    )


def _draw_buckets(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        n_buckets = controls.BUCKETS.choose()
    st.markdown(
        f"**Biased by a learned table (T5).** Each head learns a number for each of {n_buckets} buckets and adds it to the score. Near "
        "offsets have buckets of their own, far ones share."
    )
    offsets = np.arange(-FURTHEST, FURTHEST + 1)
    buckets = theory.t5_buckets(FURTHEST, n_buckets)
    show(distance_curves(offsets, {"bucket": buckets}, what="bucket"), key="positions_buckets")
    st.latex(r"\text{score}_{ts} = q_t \cdot k_s + b_h[\text{bucket}(s - t)]")
    st.caption(
        f"Raffel et al. 2020, section 2.1: half of the buckets are for later keys; keys {last_bucket_from(n_buckets, theory.FURTHEST)} or more positions away share the "
        "last one of their side. T5 does not divide by √d_k; MPNet, which has the same buckets, does."
    )


def _draw_windows(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        radius, every = controls.RADIUS.choose(), controls.GLOBAL_EVERY.choose()
    n_layers = 12
    st.markdown(
        f"**Windowed.** A query sees keys at most {radius} positions away. Layer by layer information travels on, as far "
        "as the windows add up; a layer that sees everything ends the wait."
    )
    rows = [
        f"| L{layer} | {'all' if every and layer % every == 0 else f'±{radius}'} | "
        f"{f'±{reached:,.0f}' if np.isfinite(reached) else 'everything'} |"
        for layer, reached in enumerate(theory.reach(n_layers, radius, every))
    ]
    st.markdown(
        "| layer | sees | after it, a token can hold information from |\n|---|---|---|\n" + "\n".join(rows)
    )
    st.caption(
        "A window alone says how far, not where: shuffled inside a window, the words look the same to it. ModernBERT "
        "(Warner et al. 2024) therefore rotates as well; of its layers every third, from the first, sees everything."
    )
