"""What the checkpoint really adds: its own table of positions, and how long its vectors are beside the content."""

import math

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.positions import cached
from app_pages.state import Selection
from app_pages.widgets.head_choice import choose_query, take_query
from app_pages.widgets.show import clickable, show
from model.config import ModelConfig
from model.measures.embeddings import grid_means
from viz.positions.position_curves import norm_curves
from viz.positions.position_heatmaps import learned_positions, similarity_of_positions
from viz.positions.position_similarities import position_similarity_grid, position_similarity_map

GRID, LENGTHS, PAIRS, TABLE = "patch by patch", "lengths", "all pairs", "the numbers"
READ, ALL = "of this input", "all"
COSINE = r"$\cos(p_s, p_t) = p_s \cdot p_t \,/\, (|p_s|\,|p_t|)$."


def checkpoint_positions(chosen: Selection) -> None:
    config = state.loaded(chosen.checkpoint).config
    st.markdown(_what_is_added(chosen.checkpoint, config))
    views = (LENGTHS, PAIRS, TABLE) if config.is_text else (GRID, LENGTHS, PAIRS, TABLE)
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with bar:
        view = address.row("Show", views, key="positions_own")
    if view == GRID:
        with bar:
            query = choose_query(state.record(chosen.checkpoint, chosen.given))
        _grid(chosen, config, query)
    elif view == LENGTHS:
        _lengths(chosen, config)
    else:
        n = config.n_positions
        if config.is_text:
            with bar:
                n = _how_many(chosen, config)
        (_pairs if view == PAIRS else _table)(chosen, config, n)


def _what_is_added(name: str, config: ModelConfig) -> str:
    size = f"{config.n_positions} × {config.d_model} numbers"
    if config.positions == "learned":
        table = f"`{name}` has **learned** its positions: a table of {size}, trained like every other weight."
    else:
        table = (
            f"`{name}` adds **sinusoids**: a table of {size} that is computed (Vaswani et al. 2017, section 3.5) "
            "and never trained."
        )
    content = (
        "is the token's row of the embedding table"
        if config.is_text
        else "are the projected pixels of a patch"
    )
    added, about = "x_t + p_t", f"$x_t$ {content}, not multiplied by anything"
    if config.embedding_scaled:
        added = r"\sqrt{d_\text{model}}\, x_t + p_t"
        root = rf"$\sqrt{{{config.d_model}}} = {math.sqrt(config.d_model):.1f}$"
        about = f"{root} (section 3.4), and $x_t$ {content}"
    if config.embedding_norm:
        added = rf"\text{{LN}}({added})"
    return f"{table} What enters the first layer is ${added}$; {about}."


def _grid(chosen: Selection, config: ModelConfig, query: int) -> None:
    cosines = cached.table_cosines(chosen.checkpoint)
    tokens = state.record(chosen.checkpoint, chosen.given).tokens
    first = len(tokens) - config.n_patches  # position of the first patch
    selected = query - first if query >= first else None
    patches = cosines[first:, first:]
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=490):
            st.markdown("**Each patch's position against all others**, a small map a patch")
            clickable(
                position_similarity_grid(patches, config.patch_grid, selected=selected),
                key="positions_own_grid",
                chosen=query,
                selection="patch",
                take=lambda point: take_query(point["patch"] + first),
                width="content",
            )
        with st.container(width=380):
            what = "the class token" if selected is None else tokens[query]
            st.markdown(f"**The position of {what}** against those of all patches")
            clickable(
                position_similarity_map(
                    cosines[query, first:], config.patch_grid, of=what, selected=selected
                ),
                key="positions_own_map",
                chosen=query,
                selection="patch",
                take=lambda point: take_query(point["patch"] + first),
                width="content",
            )
            if selected is not None and first:
                st.markdown(f"and against that of the class token: **{cosines[query, 0]:.2f}**")
    means = grid_means(patches, config.patch_grid)
    st.markdown(
        f"Mean cosine similarity of patches side by side **{means.beside:.2f}**, one above the other "
        f"**{means.above:.2f}**, of all other pairs **{means.others:.2f}**."
    )
    st.caption(
        (
            "Nothing told the encoder which patches touch: the table is a plain list, and what the maps show of "
            "rows and columns was learned from digits. "
            if config.positions == "learned"
            else "These sinusoids count the patches as one long row: that they lie in a grid is not in them. "
        )
        + "The layout is that of Dosovitskiy et al. 2021, figure 7. "
        + COSINE
    )


def _lengths(chosen: Selection, config: ModelConfig) -> None:
    parts = cached.parts(chosen.checkpoint, chosen.given)
    looked_up, content, positions = (
        np.linalg.norm(vectors, axis=1) for vectors in (parts.looked_up, parts.content, parts.positions)
    )
    root = math.sqrt(config.d_model)
    # Where the factor is not used, it still says what it would do.
    scaled = content if config.embedding_scaled else looked_up * root
    with st.container(horizontal=True, gap="large"):
        for label, values, remark in (
            (r"mean $|x|$", looked_up, None if config.embedding_scaled else "added"),
            (
                r"mean $|\sqrt{d_\text{model}}\, x|$",
                scaled,
                "added" if config.embedding_scaled else "not used here",
            ),
            (r"mean $|p|$", positions, "added"),
        ):
            st.metric(label, f"{values.mean():.2f}", remark, delta_color="off", delta_arrow="off", width=170)
    if config.embedding_scaled:
        curves = {
            "|x|, looked up": looked_up,
            "|√d_model x|, added": content,
            "|p|, added": positions,
        }
    else:
        curves = {"|x|, added": content, "|p|, added": positions}
    show(norm_curves(curves, parts.tokens), key="positions_own_lengths")
    ratio, without = (values.mean() / positions.mean() for values in (scaled, looked_up))
    whole = np.linalg.norm(cached.table(chosen.checkpoint), axis=1)
    mean = f"Over the {len(content)} positions of this input, the mean length of the content is"
    if config.embedding_scaled:
        st.markdown(
            rf"{mean} **{ratio:.2f}** times that of the positions; without the factor $\sqrt{{d_\text{{model}}}}$ it would "
            f"be **{without:.2f}** times."
        )
    else:
        st.markdown(
            rf"{mean} **{without:.2f}** times that of the positions; with a factor $\sqrt{{d_\text{{model}}}}$, which this "
            f"checkpoint was trained without, it would be **{ratio:.2f}** times."
        )
    if config.positions == "sinusoidal":
        half = math.sqrt(config.d_model / 2)
        st.caption(
            rf"Every sinusoid has the same length, $|p_t| = \sqrt{{d_\text{{model}}/2}} = {half:.2f}$, since "
            rf"$\sin^2 + \cos^2 = 1$ for each of its $d_\text{{model}}/2$ pairs; measured over all "
            f"{len(whole)} positions: {whole.min():.4f} to {whole.max():.4f}."
        )
    else:
        at = f"{whole.min():.2f} (position {whole.argmin()}) to {whole.max():.2f} (position {whole.argmax()})"
        st.caption(f"Over all {len(whole)} positions of the table, the lengths go from {at}.")


def _pairs(chosen: Selection, config: ModelConfig, n: int) -> None:
    cosines = cached.table_cosines(chosen.checkpoint)[:n, :n]
    numbers = tuple(str(position) for position in range(n))
    names = numbers if config.is_text else state.record(chosen.checkpoint, chosen.given).tokens
    show(similarity_of_positions(cosines, names), key="positions_own_pairs")
    if n > 1:
        off = cosines[~np.eye(n, dtype=bool)]
        st.markdown(
            f"Two different positions: from **{off.min():.2f}** to **{off.max():.2f}**, mean **{off.mean():.2f}**."
        )
    st.caption(COSINE)


def _table(chosen: Selection, config: ModelConfig, n: int) -> None:
    show(learned_positions(cached.table(chosen.checkpoint)[:n]), key="positions_own_numbers")
    if not config.is_text and config.pooling == "class":
        st.caption("Position 0 is that of the class token; the patches follow, row by row.")


def _how_many(chosen: Selection, config: ModelConfig) -> int:
    """Positions to show: those that the text takes up, or all that the encoder has."""
    n = len(state.record(chosen.checkpoint, chosen.given).tokens)
    which = address.row(
        "Positions", (READ, ALL), key="positions_own_range", help=f"{n} or all {config.n_positions}."
    )
    return n if which == READ else config.n_positions
