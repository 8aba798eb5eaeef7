"""The input's vectors in two dimensions, and the nearest neighbours of the query in all dimensions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_query
from app_pages.controls.positions_controls import (
    METHOD,
    N_WORDS,
    PERPLEXITY,
    SUM,
    T_SNE_SEED,
    TSNE,
    VECTORS,
    WORDS,
)
from app_pages.show.show import clickable, show
from app_pages.subject import cache
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import as_code
from model.experiments import embeddings
from model.experiments.embeddings import Neighbour
from model.inputs import Input
from model.measures.changes import largest_change
from model.measures.projection import Neighbourhoods, Projection, pca, t_sne
from model.record import ForwardRecord
from viz.builders.number_format import format_number, percent
from viz.positions.embedding_scatter import embedding_scatter
from viz.positions.neighbour_bars import neighbour_bars

N_NEIGHBOURS = 8


Drawn = tuple[
    Checkpoint, Input, bool, int
]  # encoder, input, whether positions are added, number of words beside it


class FlatMap(NamedTuple):
    """Vectors projected to two dimensions, with axis titles and a caption."""

    points: np.ndarray  # [vector, 2]
    axes: tuple[str, str]
    caption: str


def draw_embedding_map(subject: LiveSubject, slots: Slots) -> None:
    """Draws the map with its controls, the nearest neighbours of the query, and how its vector is looked up."""
    name, given = subject.checkpoint, subject.given
    record = subject.record
    with slots.controls:
        method = METHOD.choose()
        is_positioned = VECTORS.choose() == SUM
        query = choose_query(record)
        with_words = record.unit == "token" and not is_positioned and WORDS.choose()
        settings = (PERPLEXITY.choose(), T_SNE_SEED.choose()) if method == TSNE else None
    n_words = N_WORDS if with_words else 0
    vector_set = name, given, is_positioned, n_words
    flat_map = _pca(vector_set) if settings is None else _t_sne(vector_set, *settings)
    words = _words(name, n_words)
    vectors = _vectors(*vector_set)
    neighbours = embeddings.neighbours(vectors, query, N_NEIGHBOURS)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="detail"):
            if flat_map is None:
                st.info("t-SNE needs four vectors or more that are not all the same. PCA shows these.")
            else:
                _draw_scatter(subject, record, query, neighbours, flat_map, words)
        with st.container(width=300):
            if vectors[query].any():
                _draw_nearest(vector_set, record, query, neighbours, words)
            else:
                st.markdown("This vector is all zeros: without a direction it has no neighbours.")
    n, n_distinct_vectors = len(record), embeddings.n_distinct_vectors(vectors[: len(record)])
    unit = "tokens" if record.unit == "token" else "positions"
    remark = "" if n_distinct_vectors == n else ": equal vectors lie in one spot"
    st.markdown(f"The {n} {unit} of the input have **{n_distinct_vectors}** different vectors{remark}.")
    if record.unit == "token":
        _write_lookup(name, given, query)


def _write_lookup(name: Checkpoint, given: Input, query: int) -> None:
    """Writes how a word becomes its id and then its row, and the same as a matrix product."""
    lookup = embeddings.look_up(cache.loaded(name), given, query)
    n = cache.loaded(name).config.vocab_size
    assert n is not None  # it reads text
    d_model = len(lookup.row)
    numbers = ", ".join(format_number(value, ".3f") for value in lookup.row[:4])
    difference = largest_change(lookup.row, lookup.product)
    st.markdown(
        f"**From word to vector.** {as_code(lookup.token)} has the number **{lookup.id:,}** in the vocabulary of {n:,} tokens. Its "
        f"vector is row {lookup.id:,} of the embedding table $E$, {n:,} × {d_model}: ({numbers}, …)."
    )
    st.latex(rf"\mathrm{{onehot}}({lookup.id}) \, E = E_{{{lookup.id}}}")
    st.caption(
        f"A vector of {n:,} numbers, 1 at number {lookup.id:,} and 0 elsewhere, times $E$ picks the same row: largest difference "
        f"{format_number(difference, '.1g')}. The lookup saves the multiplication by zeros."
    )


def _words(name: Checkpoint, n: int) -> list[str]:
    if not n:
        return []
    pieces, _ = cache.of(embeddings.token_table, name)
    return [pieces[number] for number in embeddings.first_words(pieces, n)]


# Two dimensions


def _vectors(name: Checkpoint, given: Input, positioned: bool, n_words: int) -> np.ndarray:
    """Vectors [vector, d_model] of the tokens, followed by those of the words."""
    return cache.of(embeddings.vectors, name, given, positioned=positioned, n_words=n_words)


@cached(spinner="Finding the axes of the largest variance …")
def _projection(name: Checkpoint, given: Input, positioned: bool, n_words: int) -> Projection:
    return pca(_vectors(name, given, positioned, n_words))


@cached(spinner="Placing neighbours near each other …")
def _neighbourhoods(
    name: Checkpoint, given: Input, positioned: bool, n_words: int, perplexity: int, seed: int
) -> Neighbourhoods | None:
    return t_sne(_vectors(name, given, positioned, n_words), perplexity=perplexity, seed=seed)


def _pca(drawn: Drawn) -> FlatMap:
    projection: Projection = _projection(*drawn)
    points, explained = projection
    if np.isnan(explained[0]):
        return FlatMap(points, ("first axis", "second axis"), "All vectors are the same.")
    x_title, y_title = (f"principal axis ({percent(share)} of the variance)" for share in explained)
    return FlatMap(
        points,
        (f"first {x_title}", f"second {y_title}"),
        f"The picture keeps **{percent(sum(explained))}** of the variance of the {len(points)} vectors drawn. "
        "Lines join the query to its nearest neighbours in the full space: where one is long, the picture misleads.",
    )


def _t_sne(drawn: Drawn, perplexity: int, seed: int) -> FlatMap | None:
    embedding: Neighbourhoods | None = _neighbourhoods(*drawn, perplexity, seed)
    if embedding is None:
        return None
    perplexity_used = embedding.perplexity
    remark = f" ({perplexity} is not below the number of vectors)" if perplexity_used < perplexity else ""
    return FlatMap(
        embedding.places,
        ("t-SNE, first axis", "t-SNE, second axis"),
        f"Perplexity {perplexity_used}{remark}, seed {seed}, begun from the PCA. t-SNE (van der Maaten & Hinton 2008) "
        "tries to keep near what was near; how far groups lie apart, how large they are, and the axes mean nothing. "
        "Lines join the query to its nearest neighbours in the full space.",
    )


def _draw_scatter(
    subject: LiveSubject,
    record: ForwardRecord,
    query: int,
    neighbours: list[Neighbour],
    flat: FlatMap,
    words: list[str],
) -> None:
    is_picture = record.unit == "patch"
    pictures = subject.compute(embeddings.patch_pictures) if is_picture else None
    chart = embedding_scatter(
        flat.points,
        record.tokens,
        selected=query,
        neighbours=[neighbour.row for neighbour in neighbours],
        axes=flat.axes,
        background=words,
        thumbnails=pictures,
    )
    clickable(
        chart,
        key="positions_map",
        chosen=query,
        selection="token",
        take=lambda point: take_query(point["position"]),
    )
    st.caption(flat.caption)


# All dimensions


def _draw_nearest(
    drawn: Drawn, record: ForwardRecord, query: int, neighbours: list[Neighbour], words: list[str]
) -> None:
    if not neighbours:
        st.markdown("No other vector is drawn that could be near to this one.")
        return
    (name, given, positioned, _), word, is_text = drawn, record.tokens[query], record.unit == "token"
    st.markdown("**Nearest among the vectors drawn**")
    positions = [row if is_text and row < len(record) else None for row, _ in neighbours]
    _draw_bars(neighbours, [*record.tokens, *words], word, "positions_map_nearest", positions)
    if is_text and not positioned:
        pieces, rows = cache.of(embeddings.token_table, name)
        # by its number: a Unigram shows of what it does not know the text itself, which is no piece
        token_id = embeddings.look_up(cache.loaded(name), given, query).id
        in_vocabulary = embeddings.neighbours(rows, token_id, N_NEIGHBOURS)
        st.markdown(f"**Nearest in the whole vocabulary** of {len(pieces):,} pieces")
        _draw_bars(in_vocabulary, pieces, word, "positions_map_vocabulary")
    st.caption(
        rf"Cosine similarity $a \cdot b \,/\, (|a|\,|b|)$ in all {record.config.d_model} dimensions, not "
        "nearness in the picture."
    )


def _draw_bars(
    neighbours: list[Neighbour],
    names: Sequence[str],
    word: str,
    key: str,
    positions: Sequence[int | None] = (),
) -> None:
    labels, cosines = [names[row] for row, _ in neighbours], [cosine for _, cosine in neighbours]
    show(neighbour_bars(labels, cosines, word=word, positions=positions), key=key)
