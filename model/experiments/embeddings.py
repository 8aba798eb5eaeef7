"""What goes into the first block: the content of each position, its position vector, and how alike vectors are."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, UInt8
from torch import Tensor

from ..capture import activations
from ..inputs import InputLike, prepare
from ..inputs.digits import to_pictures
from ..loaded import Loaded
from ..transformer import cut_patches
from .residual_stream import norms


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingParts:
    """The two summands of an encoder's input, for one text or image: read-only, a row a position."""

    tokens: tuple[str, ...]
    looked_up: Float32[np.ndarray, "position d_model"]  # a token's row of the table, a projected patch
    content: Float32[np.ndarray, "position d_model"]  # the same as it is added, times sqrt(d_model) or not
    positions: Float32[np.ndarray, "position d_model"]

    @property
    def total(self) -> Float32[np.ndarray, "position d_model"]:
        """Content and positions added, before the norm that some encoders put behind the sum."""
        return self.content + self.positions


def embedding_parts(loaded: Loaded, text_or_image: InputLike) -> EmbeddingParts:
    """Raises ValueError as `model.capture.capture` does."""
    tokens, embedding = prepare(loaded, text_or_image)[1].tokens, loaded.model.embedding
    seen = activations(loaded, [text_or_image], ("embedding.content", "embedding.positions"))
    content, positions = (_read_only(values[0]) for values in seen.values())
    first = int(embedding.class_token is not None)  # joins the patches after they were scaled
    looked_up = np.concatenate((content[:first], content[first:] / np.float32(embedding.scale)))
    looked_up.setflags(write=False)
    return EmbeddingParts(tokens=tokens, looked_up=looked_up, content=content, positions=positions)


class LookUp(NamedTuple):
    """One token's way to its vector: the row of the table, and the same as a product."""

    token: str
    id: int
    row: Float32[np.ndarray, " d_model"]  # E[id]
    product: Float32[np.ndarray, " d_model"]  # the one-hot vector of the id, times E


def look_up(loaded: Loaded, text: InputLike, position: int) -> LookUp:
    """Of the token at that `position`. Raises ValueError as `model.capture.capture` does, and for an encoder of pictures."""
    if not loaded.config.is_text:
        raise ValueError("patches are projected, not looked up")
    ids, read = prepare(loaded, text)
    at = int(ids[0, position]) % loaded.config.vocab_size
    table = _read_only(loaded.model.embedding.tokens.weight)
    one_hot = np.zeros(len(table), np.float32)
    one_hot[at] = 1
    return LookUp(read.tokens[position], at, table[at], one_hot @ table)


def position_table(loaded: Loaded) -> Float32[np.ndarray, "position d_model"]:
    """The vectors that the encoder adds, one for each position that it has."""
    return _read_only(loaded.model.embedding.position_table)


def position_cosines(loaded: Loaded) -> Float32[np.ndarray, "position position"]:
    """Cosine similarity of all pairs in the `position_table`."""
    table = position_table(loaded)
    return cosine_similarities(table, table)


class Lengths(NamedTuple):
    """Euclidean lengths of the vectors of one input."""

    looked_up: Float[np.ndarray, " position"]
    scaled: Float[np.ndarray, " position"]  # times sqrt(d_model), whether that is what is added or not
    positions: Float[np.ndarray, " position"]

    @property
    def means(self) -> tuple[float, float, float]:
        return tuple(float(of_kind.mean()) for of_kind in self)

    @property
    def ratios(self) -> tuple[float, float]:
        """Mean length of the content, as looked up and scaled, over that of the positions."""
        looked_up, scaled, positions = self.means
        return looked_up / positions, scaled / positions


def lengths(parts: EmbeddingParts, *, scaled: bool) -> Lengths:
    """`scaled` says whether the encoder itself multiplies by sqrt(d_model)."""
    looked_up, content, positions = map(norms, (parts.looked_up, parts.content, parts.positions))
    root = np.sqrt(parts.content.shape[1])
    return Lengths(looked_up, content if scaled else looked_up * root, positions)


class Range(NamedTuple):
    smallest: float
    largest: float
    at_smallest: int
    at_largest: int


def table_lengths(loaded: Loaded) -> Range:
    """Of the vectors of the `position_table`, and the positions that have them."""
    found = norms(position_table(loaded))
    return Range(float(found.min()), float(found.max()), int(found.argmin()), int(found.argmax()))


class PairRange(NamedTuple):
    smallest: float
    largest: float
    mean: float


def pair_range(cosines: Float[np.ndarray, "position position"]) -> PairRange:
    """Over pairs of different positions, of which there must be one."""
    pairs = cosines[~np.eye(len(cosines), dtype=bool)]
    return PairRange(float(pairs.min()), float(pairs.max()), float(pairs.mean()))


def token_table(loaded: Loaded) -> tuple[tuple[str, ...], Float32[np.ndarray, "token d_model"]]:
    """All pieces of a text encoder's vocabulary by id, and the vector of each, times sqrt(d_model) or not.

    Raises ValueError for an encoder of images.
    """
    if loaded.tokenizer is None:
        raise ValueError(f"{loaded.name} reads images: it has no vocabulary")
    embedding = loaded.model.embedding
    pieces = tuple(loaded.tokenizer.id_to_token(at) or "" for at in range(loaded.config.vocab_size))
    return pieces, _read_only(embedding.tokens.weight * embedding.scale)


def patch_pictures(loaded: Loaded, image: InputLike) -> UInt8[np.ndarray, "patch size size *colour"]:
    """The patches into which an image encoder cuts `image`, at the size at which it sees them.

    Raises ValueError as `model.capture.capture` does.
    """
    inputs, _ = prepare(loaded, image)
    size = loaded.config.patch_size
    patches = cut_patches(inputs, size)[0].unflatten(-1, (*loaded.config.image_shape[:-2], size, size))
    pictures = to_pictures(patches)
    pictures.setflags(write=False)
    return pictures


def first_words(pieces: tuple[str, ...], n: int) -> list[int]:
    """Ids of the first `n` pieces that begin a word and are made of three letters or more.

    WordPiece training forms what is frequent first, so that these are frequent; some are only beginnings of
    words ("charact"), since the pieces of a word are formed before the word.
    """
    words = (at for at, piece in enumerate(pieces) if piece.isalpha() and len(piece) >= 3)
    return [at for at, _ in zip(words, range(n), strict=False)]


def vectors(
    loaded: Loaded, text_or_image: InputLike, *, positioned: bool, n_words: int = 0
) -> Float32[np.ndarray, "vector d_model"]:
    """What enters at each position, with its position vector or without; then `n_words` first words' content.

    Raises ValueError as `model.capture.capture` does, and for words of an encoder of images.
    """
    parts = embedding_parts(loaded, text_or_image)
    own = parts.total if positioned else parts.content
    if not n_words:
        return own
    pieces, rows = token_table(loaded)
    return np.concatenate((own, rows[first_words(pieces, n_words)]))


def n_different(vectors: Float[np.ndarray, "vector d_model"]) -> int:
    """Vectors that are the same in every number count once."""
    return len(np.unique(vectors, axis=0))


def cosine_similarities(
    a: Float[np.ndarray, "row d_model"], b: Float[np.ndarray, "column d_model"]
) -> Float[np.ndarray, "row column"]:
    """a·b / (|a| |b|), from -1 to 1; NaN for a vector of zeros, which has no direction."""
    a, b = (rows / np.where(norms(rows) > 0, norms(rows), np.nan)[:, None] for rows in (a, b))
    return np.clip(a @ b.T, -1, 1)


class Neighbour(NamedTuple):
    index: int
    cosine: float


class GridMeans(NamedTuple):
    beside: float
    above: float
    others: float

    @property
    def neighbours_alike(self) -> bool:
        """Whether neighbours, in a row or in a column, are clearly more alike than other patches: by over 0.1."""
        return bool(np.fmax(self.beside, self.above) > self.others + 0.1)


def grid_means(cosines: Float[np.ndarray, "patch patch"], patch_grid: tuple[int, int]) -> GridMeans:
    """Mean similarity of patches side by side, of patches one above the other, and of all other pairs.

    NaN where a grid has no such pair.
    """
    row, column = np.unravel_index(np.arange(len(cosines)), patch_grid)
    rows, columns = (np.abs(place[:, None] - place) for place in (row, column))
    beside, above = (rows == 0) & (columns == 1), (rows == 1) & (columns == 0)
    others = ~(beside | above) & ~np.eye(len(cosines), dtype=bool)
    return GridMeans(*(float(cosines[at].mean()) if at.any() else np.nan for at in (beside, above, others)))


def neighbours(vectors: Float[np.ndarray, "vector d_model"], at: int, n: int) -> list[Neighbour]:
    """The `n` others (fewer where there are fewer) with the largest cosine similarity to the vector `at`.

    The nearest first. Vectors of zeros are nobody's neighbours.
    """
    cosines = cosine_similarities(vectors[at : at + 1], vectors)[0]
    cosines[at] = np.nan
    ranked = np.argsort(-cosines, kind="stable")  # NaN comes last
    return [
        Neighbour(int(other), float(cosines[other])) for other in ranked[:n] if not np.isnan(cosines[other])
    ]


def _read_only(values: Tensor) -> np.ndarray:
    array = values.detach().cpu().numpy().copy()
    array.setflags(write=False)
    return array
