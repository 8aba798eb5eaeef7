"""The input's embedding vectors projected to two dimensions, and the nearest neighbours of the query in all dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls import positions_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import choose_query, take_query
from app_pages.show.show import clickable, show
from app_pages.subject import cache
from app_pages.subject.as_python import computed, encoder
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import as_code
from model.experiments import embeddings
from model.experiments.embeddings import Neighbour, pca, t_sne
from model.inputs import Input
from model.measures.changes import largest_change
from model.record import ForwardRecord
from model.record.pieces import SPACE
from viz.builders.number_format import format_number, percent
from viz.positions.embedding_scatter import embedding_scatter
from viz.positions.position_curves import neighbour_bars

N_NEIGHBOURS = 8


@dataclass(frozen=True)
class DrawnVectors:
    """Selects the vectors to draw: those of the input's tokens, with positions added if `positioned`, and those of the first
    `n_words` words of the vocabulary.
    """

    checkpoint: Checkpoint
    model_input: Input
    positioned: bool  # whether positions are added
    n_words: int

    @property
    def source(self) -> Expression:
        """The selected vectors [vector, d_model]: those of the tokens, then those of the words."""
        subject = LiveSubject(self.checkpoint, self.model_input)
        options = {"positioned": self.positioned, "n_words": self.n_words}
        return named("vectors", computed(subject, embeddings.vectors, **options))

    def words(self) -> list[str]:
        """The words of the vocabulary that are drawn, as texts."""
        if not self.n_words:
            return []
        pieces, _ = cache.of(embeddings.token_table, self.checkpoint)
        return [
            pieces[number].removeprefix(SPACE) for number in embeddings.first_word_ids(pieces, self.n_words)
        ]


class FlatMap(NamedTuple):
    """Vectors projected to two dimensions, with axis titles and a caption."""

    points: np.ndarray  # [vector, 2]
    axes: tuple[str, str]
    caption: str


def draw_embedding_map(subject: LiveSubject, slots: Slots) -> None:
    """Draws the map with its controls, the nearest neighbours of the query, and the lookup of the query's vector in the embedding
    table.
    """
    record = subject.record
    with slots.controls:
        method = controls.METHOD.choose()
        positioned = controls.VECTORS.choose() == controls.SUM
        query = choose_query(record)
        with_words = record.unit == "token" and not positioned and controls.WORDS.choose()
        if method == controls.TSNE:
            perplexity, seed = controls.PERPLEXITY.choose(), controls.T_SNE_SEED.choose()
    n_words = controls.N_WORDS if with_words else 0
    drawn = DrawnVectors(subject.checkpoint, subject.model_input, positioned, n_words)
    flat = _project_by_t_sne(drawn, perplexity, seed) if method == controls.TSNE else _project_by_pca(drawn)
    vectors, words = drawn.source(), drawn.words()
    neighbours = embeddings.neighbours(vectors, query, N_NEIGHBOURS)
    with st.container(horizontal=True, gap="medium", key="map_and_neighbours"):
        with st.container(key="detail"):
            st.markdown(
                "**Which vectors are alike, before any layer?** A dot each; lines join the query to those most like it."
            )
            if flat is None:
                st.info("t-SNE needs four vectors or more that are not all the same. PCA shows these.")
            else:
                points = (
                    call(t_sne, drawn.source, perplexity=perplexity, seed=seed).coordinates
                    if method == controls.TSNE
                    else call(pca, drawn.source)[0]
                )
                points = named("points", points, lambda: flat.points)
                _draw_scatter(subject, query, neighbours, flat, words, points)
        with st.container(width=300, key="neighbours"):
            if vectors[query].any():
                _draw_neighbours(drawn, record, query, neighbours, words)
            else:
                st.markdown("This vector is all zeros: without a direction it has no neighbours.")
    n, different = len(record), embeddings.n_distinct_vectors(vectors[: len(record)])
    unit = "tokens" if record.unit == "token" else "positions"
    same = "" if different == n else ": equal vectors lie in one spot"
    st.markdown(f"The {n} {unit} of the input have **{different}** different vectors{same}.")
    if record.unit == "token":
        _draw_embedding_lookup(subject.checkpoint, subject.model_input, query)


def _draw_embedding_lookup(name: Checkpoint, model_input: Input, query: int) -> None:
    """Draws how the query's token is mapped to its number and to that row of the embedding table, and the same row as a product
    with a one-hot vector.
    """
    lookup = embeddings.look_up(cache.loaded(name), model_input, query)
    n = cache.loaded(name).config.vocab_size
    assert n is not None  # it reads text
    d_model = len(lookup.row)
    numbers = ", ".join(format_number(value, ".3f") for value in lookup.row[:4])
    apart = largest_change(lookup.row, lookup.product)
    st.markdown(
        f"**From word to vector.** {as_code(lookup.token)} has the number **{lookup.id:,}** in the vocabulary of {n:,} tokens. Its "
        f"vector is row {lookup.id:,} of the embedding table $E$, {n:,} × {d_model}: ({numbers}, …)."
    )
    st.latex(rf"\mathrm{{onehot}}({lookup.id}) \, E = E_{{{lookup.id}}}")
    st.caption(
        f"A vector of {n:,} numbers, 1 at number {lookup.id:,} and 0 elsewhere, times $E$ picks the same row: largest difference "
        f"{format_number(apart, '.1g')}. The lookup saves the multiplication by zeros."
    )


# Two dimensions


@cached(spinner="Finding the axes of the largest variance …")
def _project_by_pca(drawn: DrawnVectors) -> FlatMap:
    vectors = drawn.source()
    points, explained = pca(vectors)
    if np.isnan(explained[0]):
        return FlatMap(points, ("first axis", "second axis"), "All vectors are the same.")
    first, second = (f"principal axis ({percent(share)} of the variance)" for share in explained)
    return FlatMap(
        points,
        (f"first {first}", f"second {second}"),
        f"Each dot is a vector of {vectors.shape[1]} numbers. In two, the picture keeps **{percent(sum(explained))}** of the "
        f"variance of the {len(points)} vectors drawn. "
        "The lines are those of the full space: where one is long, the picture misleads.",
    )


@cached(spinner="Placing neighbours near each other …")
def _project_by_t_sne(drawn: DrawnVectors, perplexity: int, seed: int) -> FlatMap | None:
    placed = t_sne(drawn.source(), perplexity=perplexity, seed=seed)
    if placed is None:
        return None
    used_perplexity = placed.perplexity
    fewer = f" ({perplexity} is not below the number of vectors)" if used_perplexity < perplexity else ""
    return FlatMap(
        placed.coordinates,
        ("t-SNE, first axis", "t-SNE, second axis"),
        f"Perplexity {used_perplexity}{fewer}, seed {seed}, begun from the PCA. t-SNE (van der Maaten & Hinton 2008) "
        "tries to keep near what was near; how far groups lie apart, how large they are, and the axes mean nothing. "
        "The lines are those of the full space.",
    )


def _draw_scatter(
    subject: LiveSubject,
    query: int,
    neighbours: list[Neighbour],
    flat: FlatMap,
    words: list[str],
    points: Expression,
) -> None:
    """Draws the `points` of `flat` (an expression of them) with lines from the query to its `neighbours`, the drawn `words` of the
    vocabulary paler; a click chooses the query.
    """
    record = subject.record
    chart = call(
        embedding_scatter,
        points,
        record.tokens,
        selected=query,
        neighbours=[neighbour.row for neighbour in neighbours],
        axes=flat.axes,
        background=words,
        thumbnails=computed(subject, embeddings.patch_pictures) if record.unit == "patch" else None,
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


def _draw_neighbours(
    drawn: DrawnVectors, record: ForwardRecord, query: int, neighbours: list[Neighbour], words: list[str]
) -> None:
    if not neighbours:
        st.markdown("No other vector is drawn that could be near to this one.")
        return
    token, of_tokens = record.tokens[query], record.unit == "token"
    st.markdown("**Nearest among the vectors drawn**")
    positions = [row if of_tokens and row < len(record) else None for row, _ in neighbours]
    near_vectors = call(embeddings.neighbours, drawn.source, query, N_NEIGHBOURS)
    names = [*record.tokens, *words]
    _draw_bars(near_vectors, neighbours, names, token, "positions_map_nearest", positions)
    if of_tokens and not drawn.positioned:
        pieces, rows = cache.of(embeddings.token_table, drawn.checkpoint)
        # by its number: a Unigram shows of what it does not know the text itself, which is no piece
        number = embeddings.look_up(cache.loaded(drawn.checkpoint), drawn.model_input, query).id
        near = embeddings.neighbours(rows, number, N_NEIGHBOURS)
        st.markdown(f"**Nearest in the whole vocabulary** of {len(pieces):,} pieces")
        table = call(embeddings.token_table, encoder(drawn.checkpoint))
        near_rows = call(embeddings.neighbours, table[1], number, N_NEIGHBOURS)
        _draw_bars(near_rows, near, pieces, token, "positions_map_vocabulary")
    st.caption(
        rf"Cosine similarity $a \cdot b \,/\, (|a|\,|b|)$ in all {record.config.d_model} dimensions, not "
        "nearness in the picture."
    )


def _draw_bars(
    source: Expression,
    near: list[Neighbour],
    names: Sequence[str],
    token: str,
    key: str,
    positions: Sequence[int | None] = (),
) -> None:
    """Draws the cosine similarities of the neighbours `near`, which `source` computes, with the word `token`, as bars; row i of the
    vectors is called `names[i]`. A neighbour in the input has its position in `positions`.
    """
    neighbours = named("near", source, lambda: near)
    cosines = [neighbours[index].cosine for index in range(len(near))]
    labels = [names[row] for row, _ in near]
    show(call(neighbour_bars, labels, cosines, word=token, positions=positions), key=key)
