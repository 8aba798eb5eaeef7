"""The position vectors that the encoder adds to its embeddings: their values and similarities, and their lengths beside those of
the content.
"""

import math

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_query
from app_pages.controls.positions_controls import GRID, LENGTHS, OF_INPUT, OWN_RANGE, OWN_TABLE, PAIRS, TABLE
from app_pages.show.show import clickable, show
from app_pages.subject import as_python, cache
from app_pages.subject.as_python import encoder
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call, named
from model.experiments import embeddings
from model.record import ForwardRecord
from viz.builders.number_format import format_short
from viz.positions.position_curves import norm_curves
from viz.positions.position_heatmaps import (
    learned_positions,
    map_step,
    position_similarity_grid,
    position_similarity_map,
    similarity_of_positions,
)

COSINE = r"$\cos(p_s, p_t) = p_s \cdot p_t \,/\, (|p_s|\,|p_t|)$."


def draw_checkpoint_positions(subject: LiveSubject, slots: Slots) -> None:
    """Draws the encoder's position vectors in the chosen view: similarities on the grid of patches or of all pairs, lengths, or
    values.
    """
    name, record = subject.checkpoint, subject.record
    on_grid = record.unit == "patch"
    with slots.controls:
        view = OWN_TABLE.choose((GRID, LENGTHS, PAIRS, TABLE) if on_grid else (LENGTHS, PAIRS, TABLE))
        if view == GRID:
            query = choose_query(record)
        n_all = record.config.n_positions
        is_of_input = (
            not on_grid
            and view != LENGTHS
            and OWN_RANGE.choose(help=f"{len(record)} or all {n_all}.") == OF_INPUT
        )
        n = len(record) if is_of_input else n_all
    if view == GRID:
        _draw_grid(name, record, query)
    elif view == LENGTHS:
        _draw_lengths(subject, record)
    elif view == PAIRS:
        _draw_pairs(name, record, n)
    else:
        table = call(embeddings.position_table, encoder(name))[:n]
        show(call(learned_positions, table), key="positions_own_numbers")
        if on_grid and record.positions_with_role("class"):
            st.caption("Position 0 is that of the class token; the patches follow, row by row.")
    st.markdown(_addition_sentences(name, record))


def _addition_sentences(name: Checkpoint, record: ForwardRecord) -> str:
    config = record.config
    size = f"{config.n_positions} × {config.d_model} numbers"
    if config.positions == "learned":
        table = f"`{name}` has a **learned table** of positions: {size}, a parameter like every other weight."
    else:
        table = (
            f"`{name}` adds **sinusoids**: a table of {size} that is computed (Vaswani et al. 2017, section 3.5) "
            "and never trained."
        )
    of_token, of_patch = "is the token's row of the embedding table", "are the projected pixels of a patch"
    content = of_token if record.unit == "token" else of_patch
    formula, about = "x_t + p_t", f"$x_t$ {content}, not multiplied by anything"
    if config.embedding_scaled:
        formula = r"\sqrt{d_\text{model}}\, x_t + p_t"
        root = rf"$\sqrt{{{config.d_model}}} = {math.sqrt(config.d_model):.1f}$"
        about = f"{root} (section 3.4), and $x_t$ {content}"
    if config.embedding_norm:
        formula = rf"\text{{LN}}({formula})"
    return f"{table} What enters the first layer is ${formula}$; {about}."


def _draw_grid(name: Checkpoint, record: ForwardRecord, query: int) -> None:
    cosines = cache.of(embeddings.position_cosines, name)
    first_patch, grid, selected = record.first_patch, record.patch_grid, record.patch_at(query)
    assert grid is not None  # it is drawn for patches alone
    patches = cosines[first_patch:, first_patch:]
    token = "the class token" if selected is None else record.tokens[query]

    def take(point: dict) -> None:
        take_query(point["patch"] + first_patch)

    with st.container(horizontal=True, gap="medium"):
        with st.container(width=490):
            step = map_step(grid)
            which = "one small map per patch" if step == 1 else f"maps {step} patches apart"
            st.markdown(f"**Each patch's position against all others**, {which}")
            source = named("cosines", call(embeddings.position_cosines, encoder(name)), lambda: cosines)
            charts = call(
                position_similarity_grid, source[first_patch:, first_patch:], grid, selected=selected
            )
            clickable(
                charts, key="positions_own_grid", chosen=query, selection="patch", take=take, width="content"
            )
        with st.container(width=380):
            st.markdown(f"**The position of {token}** against those of all patches")
            detail = call(
                position_similarity_map, source[query, first_patch:], grid, name=token, selected=selected
            )
            clickable(
                detail, key="positions_own_map", chosen=query, selection="patch", take=take, width="content"
            )
            if selected is not None and first_patch:
                st.markdown(f"and against that of the class token: **{format_short(cosines[query, 0])}**")
    means = embeddings.grid_means(patches, grid)
    st.markdown(
        f"Mean cosine similarity of patches side by side **{format_short(means.beside)}**, one above the other "
        f"**{format_short(means.above)}**, of all other pairs **{format_short(means.others)}**."
    )
    st.caption(
        f"{grid_sentence(means, is_learned=record.config.positions == 'learned')} The layout is that of Dosovitskiy et al. 2021, figure 7. {COSINE}"
    )


def grid_sentence(means: embeddings.GridMeans, *, is_learned: bool) -> str:
    """Sentence on whether nearby patches have similar position vectors, from the mean similarities `means`."""
    if not is_learned:
        return "These sinusoids number the patches as one long row. They do not tell that the patches lie in a grid."
    remark = (
        "the grid was learned in training" if means.are_neighbours_similar else "the grid is not visible here"
    )
    return f"The table is a plain list that does not say which patches touch: {remark}."


def _draw_lengths(subject: LiveSubject, record: ForwardRecord) -> None:
    name, is_scaled = subject.checkpoint, record.config.embedding_scaled
    parts = cache.of(embeddings.embedding_parts, name, subject.model_input)
    lengths = embeddings.lengths(parts, scaled=is_scaled)
    looked_up, scaled, of_positions = lengths.means
    means = (
        {"word, looked up": looked_up, "word × √d_model, added": scaled}
        if is_scaled
        else {"word, added": looked_up}
    )
    means |= {"position, added": of_positions}
    st.markdown(
        "What enters the first layer is a vector for the word plus one for the position. How long is each, on average?"
    )
    with st.container(horizontal=True, gap="large", key="totals"):
        for label, mean in means.items():
            st.metric(label, f"{mean:.2f}", width="content")
    vectors = as_python.computed(subject, embeddings.embedding_parts)
    source = named("lengths", call(embeddings.lengths, vectors, scaled=is_scaled))
    values = (source.looked_up, *([source.scaled] if is_scaled else []), source.positions)
    curves = dict(zip(means, values, strict=True))
    show(call(norm_curves, curves, as_python.record(subject).tokens), key="positions_own_lengths")
    unscaled_ratio, scaled_ratio = lengths.ratios
    if is_scaled:
        root = r"$\sqrt{d_\text{model}}$"
        ratio, remark = (
            scaled_ratio,
            f"; without the factor {root} it would be **{unscaled_ratio:.2f}** times",
        )
    else:
        ratio, remark = unscaled_ratio, ""
    st.markdown(f"The word's vector is **{ratio:.2f}** times as long as the position's{remark}.")
    n, table = record.config.n_positions, cache.of(embeddings.position_norm_range, name)
    if record.config.positions == "sinusoidal":
        length = math.sqrt(record.config.d_model / 2)
        st.caption(
            rf"Every sinusoid has the same length, $|p_t| = \sqrt{{d_\text{{model}}/2}} = {length:.2f}$, since "
            rf"$\sin^2 + \cos^2 = 1$ for each of its $d_\text{{model}}/2$ pairs; measured over all "
            f"{n} positions: {table.smallest:.4f} to {table.largest:.4f}."
        )
    else:
        st.caption(
            f"Over all {n} positions of the table, the lengths go from {table.smallest:.2f} "
            f"(position {table.at_smallest}) to {table.largest:.2f} (position {table.at_largest})."
        )


def _draw_pairs(name: Checkpoint, record: ForwardRecord, n: int) -> None:
    cosines = cache.of(embeddings.position_cosines, name)[:n, :n]
    names = tuple(map(str, range(n))) if record.unit == "token" else record.tokens
    source = call(embeddings.position_cosines, encoder(name))
    show(call(similarity_of_positions, source[:n, :n], names), key="positions_own_pairs")
    if n > 1:
        cosine_range = embeddings.pair_range(cosines)
        st.markdown(
            f"Two different positions: from **{format_short(cosine_range.smallest)}** to **{format_short(cosine_range.largest)}**, mean "
            f"**{format_short(cosine_range.mean)}**."
        )
    st.caption(COSINE)
