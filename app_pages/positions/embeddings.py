"""The input's vectors in two dimensions, and the nearest neighbours of the query in all of them."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.positions import cached
from app_pages.state import Selection
from app_pages.widgets.head_choice import choose_query, take_query
from app_pages.widgets.show import clickable, show
from model.measures.embeddings import Neighbour, first_words, nearest, patch_pictures
from viz.bars import neighbour_bars
from viz.numbers import percent
from viz.positions.embedding_scatter import embedding_scatter

PCA, TSNE = "PCA", "t-SNE"
CONTENT, SUM = "content alone", "content + positions"
N_WORDS = 200
N_NEIGHBOURS = 8
PERPLEXITY, MOST_PERPLEXITY, LARGEST_SEED = 15, 50, 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    places: np.ndarray  # [vector, 2]
    axes: tuple[str, str]
    caption: str


def embedding_map(chosen: Selection) -> None:
    name, given = chosen.checkpoint, chosen.given
    record = state.record(name, given)
    is_text = record.patch_grid is None
    tokens = record.tokens
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        method = address.row("Method", (PCA, TSNE), key="positions_map_method")
        positioned = address.row("Vectors", (CONTENT, SUM), key="positions_map_vectors") == SUM
        query = choose_query(record)
        n_words = N_WORDS if is_text and not positioned and _with_words() else 0
        perplexity, seed = _t_sne_settings() if method == TSNE else (PERPLEXITY, 0)
    words = _words(name, n_words)
    vectors = cached.vectors(name, given, positioned=positioned, n_words=n_words)
    found = _others(vectors, query)
    if method == PCA:
        picture = _pca(chosen, positioned, n_words)
    else:
        picture = _t_sne(chosen, positioned, n_words, perplexity, seed)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="detail"):
            if picture is not None:
                chart = embedding_scatter(
                    picture.places,
                    tokens,
                    selected=query,
                    neighbours=[neighbour.index for neighbour in found],
                    axes=picture.axes,
                    background=words,
                    thumbnails=None if is_text else _thumbnails(name, given),
                )
                clickable(
                    chart,
                    key="positions_map",
                    chosen=query,
                    selection="token",
                    take=lambda point: take_query(point["position"]),
                )
                st.caption(picture.caption)
        with st.container(width=300):
            if vectors[query].any():
                _neighbours(chosen, query, found, [*tokens, *words], positioned=positioned)
            else:
                st.markdown("This vector is all zeros: without a direction it has no neighbours.")
    st.markdown(_how_many_differ(vectors[: len(tokens)], is_text))


def _with_words() -> bool:
    return address.toggle(
        f"{N_WORDS} words around",
        key="positions_map_words",
        help="The first entries of the vocabulary that begin a word, of three letters or more. Frequent ones were "
        "entered first; where the vocabulary is of pieces, some are only beginnings of words. "
        "They have no position, so they are drawn with the content alone.",
    )


def _t_sne_settings() -> tuple[int, int]:
    perplexity = address.slider(
        "Perplexity",
        2,
        MOST_PERPLEXITY,
        PERPLEXITY,
        key="positions_map_perplexity",
        width=180,
        help="About how many neighbours count for each vector.",
    )
    seed = address.number(
        "Seed",
        0,
        LARGEST_SEED,
        key="positions_map_seed",
        width=130,
    )
    return perplexity, seed


def _words(name: str, n: int) -> list[str]:
    if not n:
        return []
    pieces, _ = cached.vocabulary(name)
    return [pieces[at] for at in first_words(pieces, n)]


def _pca(chosen: Selection, positioned: bool, n_words: int) -> Picture:
    places, explained = cached.pca_of(chosen.checkpoint, chosen.given, positioned=positioned, n_words=n_words)
    if np.isnan(explained[0]):
        return Picture(places=places, axes=("first axis", "second axis"), caption="All vectors are the same.")
    return Picture(
        places=places,
        axes=tuple(
            f"{which} principal axis ({percent(share)} of the variance)"
            for which, share in zip(("first", "second"), explained, strict=True)
        ),
        caption=f"The picture keeps **{percent(sum(explained))}** of the variance of the {len(places)} vectors drawn. "
        "Lines join the query to its nearest neighbours in the full space: where one is long, the picture misleads.",
    )


def _t_sne(chosen: Selection, positioned: bool, n_words: int, perplexity: int, seed: int) -> Picture | None:
    placed = cached.t_sne_of(
        chosen.checkpoint,
        chosen.given,
        positioned=positioned,
        n_words=n_words,
        perplexity=perplexity,
        seed=seed,
    )
    if placed is None:
        st.info("t-SNE needs four vectors or more that are not all the same. PCA shows these.")
        return None
    used = placed.perplexity
    fewer = f" ({perplexity} is not below the number of vectors)" if used < perplexity else ""
    return Picture(
        places=placed.places,
        axes=("t-SNE, first axis", "t-SNE, second axis"),
        caption=f"Perplexity {used}{fewer}, seed {seed}, begun from the PCA. t-SNE (van der Maaten & Hinton 2008) "
        "tries to keep near what was near; how far groups lie apart, how large they are, and the axes mean nothing. "
        "Lines join the query to its nearest neighbours in the full space.",
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _thumbnails(name: str, given: state.Input) -> np.ndarray:
    return patch_pictures(state.loaded(name), given)


def _others(vectors: np.ndarray, query: int) -> list[Neighbour]:
    """The nearest to one of the vectors, itself left out."""
    ranked = nearest(vectors[query], vectors, N_NEIGHBOURS + 1)
    return [neighbour for neighbour in ranked if neighbour.index != query][:N_NEIGHBOURS]


def _neighbours(
    chosen: Selection, query: int, found: list[Neighbour], names: list[str], *, positioned: bool
) -> None:
    record = state.record(chosen.checkpoint, chosen.given)
    n_tokens, is_text = len(record), record.patch_grid is None
    if not found:
        st.markdown("No other vector is drawn that could be near to this one.")
        return
    st.markdown("**Nearest among the vectors drawn**")
    bars = neighbour_bars(
        [names[at] for at, _ in found],
        [cosine for _, cosine in found],
        of=names[query],
        places=[at if is_text and at < n_tokens else None for at, _ in found],
    )
    show(bars, key="positions_map_nearest")
    if is_text and not positioned:
        pieces, rows = cached.vocabulary(chosen.checkpoint)
        near = _others(rows, pieces.index(names[query]))
        st.markdown(f"**Nearest in the whole vocabulary** of {len(pieces):,} pieces")
        bars = neighbour_bars([pieces[at] for at, _ in near], [cosine for _, cosine in near], of=names[query])
        show(bars, key="positions_map_vocabulary")
    d_model = state.loaded(chosen.checkpoint).config.d_model
    st.caption(
        rf"Cosine similarity $a \cdot b \,/\, (|a|\,|b|)$ in all {d_model} dimensions, not nearness in the picture."
    )


def _how_many_differ(vectors: np.ndarray, is_text: bool) -> str:
    different = len(np.unique(vectors, axis=0))
    unit = "tokens" if is_text else "positions"
    same = "" if different == len(vectors) else ": what is the same lies in one spot"
    return f"The {len(vectors)} {unit} of the input have **{different}** different vectors{same}."
