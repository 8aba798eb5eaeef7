"""What the checkpoint makes of its positions, kept between runs; keys are plain values."""

import numpy as np
import streamlit as st

from app_pages import state
from model.measures import embeddings
from model.measures.embeddings import EmbeddingParts
from model.measures.projection import Neighbourhoods, Projection, pca, t_sne


@st.cache_resource(max_entries=16, show_spinner=False)
def parts(name: str, given: state.Input) -> EmbeddingParts:
    return embeddings.embedding_parts(state.loaded(name), given)


@st.cache_resource(max_entries=8, show_spinner=False)
def table(name: str) -> np.ndarray:
    """All position vectors [position, d_model]."""
    return embeddings.position_table(state.loaded(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def table_cosines(name: str) -> np.ndarray:
    """Of all pairs [position, position]."""
    cosines = embeddings.cosine_similarities(table(name), table(name))
    cosines.setflags(write=False)
    return cosines


@st.cache_resource(max_entries=4, show_spinner=False)
def vocabulary(name: str) -> tuple[tuple[str, ...], np.ndarray]:
    """As `model.measures.embeddings.token_table`."""
    return embeddings.token_table(state.loaded(name))


@st.cache_data(max_entries=32, show_spinner=False)
def vectors(name: str, given: state.Input, *, positioned: bool, n_words: int) -> np.ndarray:
    """Of the input's tokens, then of the first words of the vocabulary: [vector, d_model], as they are added."""
    seen = parts(name, given)
    own = seen.total if positioned else seen.content
    if not n_words:
        return own
    pieces, rows = vocabulary(name)
    return np.concatenate((own, rows[embeddings.first_words(pieces, n_words)]))


@st.cache_data(max_entries=32, show_spinner="Finding the axes of the largest variance …")
def pca_of(name: str, given: state.Input, *, positioned: bool, n_words: int) -> Projection:
    return pca(vectors(name, given, positioned=positioned, n_words=n_words))


@st.cache_data(max_entries=32, show_spinner="Placing neighbours near each other …")
def t_sne_of(
    name: str, given: state.Input, *, positioned: bool, n_words: int, perplexity: int, seed: int
) -> Neighbourhoods | None:
    shown = vectors(name, given, positioned=positioned, n_words=n_words)
    return t_sne(shown, perplexity=perplexity, seed=seed)
