"""Content and position vectors, whose sum enters the first block: norms, similarities, and projections to two dimensions by
scikit-learn, of which PCA preserves variance and t-SNE neighbourhoods.
"""

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, UInt8
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from torch import Tensor

from ..capture import activations
from ..inputs import InputLike, prepare
from ..inputs.digits import to_pictures
from ..inputs.text import vocabulary_texts
from ..loaded import Loaded
from ..record.pieces import SPACE
from ..transformer import cut_patches
from .residual_stream import norms

FEWEST_FOR_TSNE = 4
_STEPS = 500  # twice as many move a few hundred vectors hardly further, and take twice as long


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingParts:
    """Content and position vectors of one text or image, as read-only arrays; their sum enters the first block.

    `looked_up` is the content before it is multiplied by sqrt(d_model), which some encoders do.
    """

    tokens: tuple[str, ...]
    looked_up: Float32[np.ndarray, "position d_model"]  # a token's row of the table, a projected patch
    content: Float32[np.ndarray, "position d_model"]  # the same as it is added, times sqrt(d_model) or not
    positions: Float32[np.ndarray, "position d_model"]  # what is added to the content; zeros if nothing is

    @property
    def total(self) -> Float32[np.ndarray, "position d_model"]:
        """Content plus positions, before the norm that some encoders apply to the sum."""
        return self.content + self.positions


def embedding_parts(loaded: Loaded, text_or_image: InputLike) -> EmbeddingParts:
    """Content and position vectors of one input. Raises ValueError as `model.capture.capture` does."""
    tokens, embedding = prepare(loaded, text_or_image)[1].tokens, loaded.model.embedding
    batch = activations(loaded, [text_or_image], ("embedding.content", "embedding.positions"))
    content, positions = (_read_only(values[0]) for values in batch.values())
    n_class_tokens = int(embedding.class_token is not None)  # joins the patches after they were scaled
    looked_up = np.concatenate(
        (content[:n_class_tokens], content[n_class_tokens:] / np.float32(embedding.scale))
    )
    looked_up.setflags(write=False)
    return EmbeddingParts(tokens=tokens, looked_up=looked_up, content=content, positions=positions)


class LookUp(NamedTuple):
    """Embedding of one token, computed in two ways: as a row of the embedding table, and as a one-hot vector times the table."""

    token: str
    id: int
    row: Float32[np.ndarray, " d_model"]  # E[id]
    product: Float32[np.ndarray, " d_model"]  # the one-hot vector of the id, times E


def look_up(loaded: Loaded, text: InputLike, position: int) -> LookUp:
    """The embedding of the token at `position`. Raises ValueError as `model.capture.capture` does, and for images."""
    if loaded.config.vocab_size is None:
        raise ValueError("patches are projected, not looked up")
    ids, positions = prepare(loaded, text)
    token_id = int(ids[0, position]) % loaded.config.vocab_size
    table = _read_only(loaded.model.embedding.tokens.weight)
    one_hot = np.zeros(len(table), np.float32)
    one_hot[token_id] = 1
    return LookUp(positions.tokens[position], token_id, table[token_id], one_hot @ table)


def position_table(loaded: Loaded) -> Float32[np.ndarray, "position d_model"]:
    """The encoder's position vectors, one row for each position."""
    return _read_only(loaded.model.embedding.position_table)


def position_cosines(loaded: Loaded) -> Float32[np.ndarray, "position position"]:
    """Cosine similarity of every pair of rows of the `position_table`."""
    table = position_table(loaded)
    return cosine_similarities(table, table)


class Lengths(NamedTuple):
    """Euclidean norms of one input's vectors: looked-up content, the same times sqrt(d_model) (`scaled`), position vectors."""

    looked_up: Float[np.ndarray, " position"]
    scaled: Float[np.ndarray, " position"]  # times sqrt(d_model), whether that is what is added or not
    positions: Float[np.ndarray, " position"]

    @property
    def means(self) -> tuple[float, float, float]:
        """Mean norms of the looked-up, the scaled and the position vectors."""
        return float(self.looked_up.mean()), float(self.scaled.mean()), float(self.positions.mean())

    @property
    def ratios(self) -> tuple[float, float]:
        """Mean norms of the looked-up and of the scaled vectors, each divided by that of the position vectors."""
        looked_up, scaled, positions = self.means
        return looked_up / positions, scaled / positions


def lengths(parts: EmbeddingParts, *, scaled: bool) -> Lengths:
    """Norms of content and position vectors; `scaled` is whether the encoder multiplies content by sqrt(d_model)."""
    looked_up, content, positions = map(norms, (parts.looked_up, parts.content, parts.positions))
    sqrt_d_model = np.sqrt(parts.content.shape[1])
    return Lengths(looked_up, content if scaled else looked_up * sqrt_d_model, positions)


class Range(NamedTuple):
    """Smallest and largest of several values, and their indices `at_smallest` and `at_largest`."""

    smallest: float
    largest: float
    at_smallest: int
    at_largest: int


def position_norm_range(loaded: Loaded) -> Range:
    """Smallest and largest norm among the rows of `position_table`, and the positions of these rows."""
    values = norms(position_table(loaded))
    return Range(float(values.min()), float(values.max()), int(values.argmin()), int(values.argmax()))


class PairRange(NamedTuple):
    """Smallest, largest and mean cosine similarity of pairs of positions."""

    smallest: float
    largest: float
    mean: float


def pair_range(cosines: Float[np.ndarray, "position position"]) -> PairRange:
    """Smallest, largest and mean of `cosines` over pairs of different positions; there must be at least two positions."""
    pairs = cosines[~np.eye(len(cosines), dtype=bool)]
    return PairRange(float(pairs.min()), float(pairs.max()), float(pairs.mean()))


def token_table(loaded: Loaded) -> tuple[tuple[str, ...], Float32[np.ndarray, "token d_model"]]:
    """All tokens of a text encoder's vocabulary in the order of their ids, and their embeddings, scaled as the encoder does.

    A token that begins with a space is shown with "·" before it.
    Raises ValueError for an encoder of images.
    """
    tokenizer, vocab_size = loaded.tokenizer, loaded.config.vocab_size
    if tokenizer is None or vocab_size is None:
        raise ValueError(f"{loaded.name} reads images: it has no vocabulary")
    embedding = loaded.model.embedding
    tokens = tuple(token or "" for token in vocabulary_texts(tokenizer, range(vocab_size)))
    return tokens, _read_only(embedding.tokens.weight * embedding.scale)


def patch_pictures(loaded: Loaded, image: InputLike) -> UInt8[np.ndarray, "patch height width *colour"]:
    """The patches into which an image encoder cuts `image` after resizing it, each as a picture.

    Raises ValueError as `model.capture.capture` does.
    """
    inputs, _ = prepare(loaded, image)
    sides = loaded.config.patch_sides
    patches = cut_patches(inputs, sides)[0].unflatten(-1, (*loaded.config.image_shape[:-2], *sides))
    pictures = to_pictures(patches)
    pictures.setflags(write=False)
    return pictures


def first_word_ids(pieces: tuple[str, ...], n: int) -> list[int]:
    """Ids of the first `n` of the vocabulary's `pieces` that begin a word and have three letters or more.

    They are frequent words, since WordPiece training forms frequent pieces first; some are only beginnings of words
    ("charact"), since the pieces of a word are formed before the word.
    """
    marks_beginnings = any(piece[:1] == SPACE and piece[1:].isalpha() for piece in pieces)
    word_begin = SPACE if marks_beginnings else ""
    word_ids = (
        token_id
        for token_id, piece in enumerate(pieces)
        if piece.startswith(word_begin)
        and (word := piece.removeprefix(word_begin)).isalpha()
        and len(word) >= 3
    )
    return list(islice(word_ids, n))


def vectors(
    loaded: Loaded, text_or_image: InputLike, *, positioned: bool, n_words: int = 0
) -> Float32[np.ndarray, "vector d_model"]:
    """Content vectors of the input's positions, then the embeddings of `n_words` tokens of the vocabulary (`first_word_ids`).

    If `positioned`, the position vectors are added to those of the input. Raises ValueError as `model.capture.capture`
    does, and for an encoder of images if `n_words` is not 0.
    """
    parts = embedding_parts(loaded, text_or_image)
    input_vectors = parts.total if positioned else parts.content
    if not n_words:
        return input_vectors
    tokens, embeddings = token_table(loaded)
    return np.concatenate((input_vectors, embeddings[first_word_ids(tokens, n_words)]))


def n_distinct_vectors(vectors: Float[np.ndarray, "vector d_model"]) -> int:
    """Number of different vectors."""
    return len(np.unique(vectors, axis=0))


def cosine_similarities(
    a: Float[np.ndarray, "row d_model"], b: Float[np.ndarray, "column d_model"]
) -> Float[np.ndarray, "row column"]:
    """Cosine similarity a·b / (|a| |b|), from -1 to 1, of every row of `a` with every row of `b`; NaN for a vector of zeros."""
    a, b = (
        vectors_of_side / np.where(norms(vectors_of_side) > 0, norms(vectors_of_side), np.nan)[:, None]
        for vectors_of_side in (a, b)
    )
    return np.clip(a @ b.T, -1, 1)


class Neighbour(NamedTuple):
    """A vector similar to a given one: its row in the array of vectors, and its cosine similarity with the given vector."""

    row: int
    cosine: float


class GridMeans(NamedTuple):
    """Mean cosine similarity of horizontal neighbours (`beside`), vertical neighbours (`above`) and all other pairs of
    patches.

    NaN if there are no such pairs.
    """

    beside: float
    above: float
    others: float

    @property
    def are_neighbours_similar(self) -> bool:
        """Whether horizontal or vertical neighbours are more similar than other pairs, by more than 0.1."""
        return bool(np.fmax(self.beside, self.above) > self.others + 0.1)


def grid_means(cosines: Float[np.ndarray, "patch patch"], patch_grid: tuple[int, int]) -> GridMeans:
    """Mean cosine similarity of horizontally adjacent, of vertically adjacent, and of all other pairs of patches."""
    patch_rows, patch_columns = np.unravel_index(np.arange(len(cosines)), patch_grid)
    row_distances, column_distances = (
        np.abs(index[:, None] - index) for index in (patch_rows, patch_columns)
    )
    is_beside = (row_distances == 0) & (column_distances == 1)
    is_above = (row_distances == 1) & (column_distances == 0)
    is_other = ~(is_beside | is_above) & ~np.eye(len(cosines), dtype=bool)

    def mean(pairs: Bool[np.ndarray, "patch patch"]) -> float:
        return float(cosines[pairs].mean()) if pairs.any() else np.nan

    return GridMeans(mean(is_beside), mean(is_above), mean(is_other))


def neighbours(vectors: Float[np.ndarray, "vector d_model"], row: int, n: int) -> list[Neighbour]:
    """The `n` vectors most similar to `vectors[row]` by cosine similarity, the most similar first.

    Vectors of zeros are left out; the list is shorter if fewer than `n` others remain.
    """
    cosines = cosine_similarities(vectors[row : row + 1], vectors)[0]
    cosines[row] = np.nan
    ranked = np.argsort(-cosines, kind="stable")  # NaN comes last
    return [
        Neighbour(int(other_row), float(cosines[other_row]))
        for other_row in ranked[:n]
        if not np.isnan(cosines[other_row])
    ]


def _read_only(values: Tensor) -> np.ndarray:
    array = values.detach().cpu().numpy().copy()
    array.setflags(write=False)
    return array


class Projection(NamedTuple):
    """Result of PCA: two coordinates of each vector, and the share of the total variance (0 to 1) along each axis."""

    coordinates: Float[np.ndarray, "vector 2"]
    explained_variance: tuple[
        float, float
    ]  # share of the variance along each axis; NaN where there is none to share


class Neighbourhoods(NamedTuple):
    """Result of t-SNE: two coordinates of each vector, and the perplexity that was used."""

    coordinates: Float[np.ndarray, "vector 2"]
    perplexity: int  # the one used


def pca(vectors: Float[np.ndarray, "vector d_model"]) -> Projection:
    """Projects the vectors on the two directions with the largest variance.

    For fewer than three vectors, the second coordinates are zero.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    coordinates, explained = np.zeros((len(vectors), 2)), np.zeros(2)
    if not _are_different(vectors):
        return Projection(coordinates, (np.nan, np.nan))
    fitted = PCA(n_components=min(2, *vectors.shape), svd_solver="full").fit(vectors)
    n_components = fitted.n_components_
    coordinates[:, :n_components] = fitted.transform(vectors)
    explained[:n_components] = fitted.explained_variance_ratio_
    return Projection(coordinates, (float(explained[0]), float(explained[1])))


def t_sne(
    vectors: Float[np.ndarray, "vector d_model"], *, perplexity: int, seed: int
) -> Neighbourhoods | None:
    """Two-dimensional t-SNE embedding (van der Maaten & Hinton 2008), initialised by PCA.

    `perplexity`, roughly the number of neighbours taken into account, is at most the number of vectors minus one. The
    result is None for fewer than four vectors, or if all are equal.
    """
    n = len(vectors)
    if n < FEWEST_FOR_TSNE or not _are_different(vectors):
        return None
    perplexity = min(perplexity, n - 1)
    # Exact: Barnes-Hut pays beyond some thousand vectors, and its threads quarrel with those of other sessions.
    options = {"max_iter": _STEPS, "method": "exact", "init": "pca" if vectors.shape[1] > 1 else "random"}
    tsne = TSNE(n_components=2, perplexity=perplexity, random_state=seed, **options)
    coordinates = tsne.fit_transform(np.asarray(vectors, dtype=np.float32))
    return Neighbourhoods(np.asarray(coordinates, dtype=np.float64), perplexity)


def _are_different(vectors: np.ndarray) -> bool:
    return len(vectors) > 1 and bool((vectors != vectors[0]).any())
