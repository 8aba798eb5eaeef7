"""How an encoder represents positions, measured in the encoder itself: rotary positions, biases on scores, windows, and the
terms of disentangled scores.

An offset is key minus query, in positions, or in rows or columns of patches. Where contents are held fixed, q and k before
positions act on them are those of the given query and key, and only their positions vary.
"""

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..capture import activations, capture
from ..config import ModelConfig
from ..hooks import watch
from ..huggingface.encoder import own_full_mask
from ..inputs import InputLike
from ..loaded import Loaded
from ..parts.disentangled import DisentangledAttention
from ..parts.relative_bias import last_bucket_from
from ..parts.rotary import Rotated
from ..transformer import Attention

PositionKind = Literal["added", "rotated", "biased", "windowed", "causal", "disentangled"]
MAPS = ("content_to_content", "content_to_position", "position_to_content")

FURTHEST = 160  # positions, of curves over the distance
LONGEST = 513  # positions of an input on which moved pairs are measured


def position_kinds(loaded: Loaded) -> tuple[PositionKind, ...]:
    """The ways in which the encoder represents positions: none, one, or several together."""
    config = loaded.config
    parts = config.family.parts
    is_masked = _allowed_by_layer(loaded, min(2, config.n_positions)) is not None
    has_kind: dict[PositionKind, bool] = {
        "added": config.positions != "none",
        "rotated": parts.rotary is not None,
        "biased": config.has_distance_bias,
        "windowed": is_masked and bool(parts.windows),
        "causal": is_masked and not parts.windows,
        "disentangled": parts.disentangled is not None,
    }
    return tuple(kind for kind, is_there in has_kind.items() if is_there)


def furthest_offset(config: ModelConfig) -> int:
    """The largest distance, in positions, at which curves are computed: `FURTHEST`, or less for an encoder with fewer positions."""
    return min(FURTHEST, config.n_positions - 1)


# Rotated


class RotaryScore(NamedTuple):
    """The score of one query and one key at every offset, divided among the pairs of components that are rotated together."""

    offsets: Int[np.ndarray, " offset"]
    own_offset: int  # of this query and this key
    wavelengths: Float[np.ndarray, " pair"]  # positions, or rows or columns, for one full turn
    by_pair: Float[np.ndarray, "pair offset"]  # what each pair of numbers adds to the scaled score
    not_rotated: float  # what the other numbers of the head add, whatever the offset

    @property
    def total(self) -> Float[np.ndarray, " offset"]:
        """The score at each offset."""
        return self.by_pair.sum(axis=0) + self.not_rotated

    @property
    def at_own_offset(self) -> float:
        """The score at the actual offset of the query and the key."""
        return float(self.total[self.offsets == self.own_offset][0])

    def in_groups(self, n_groups: int) -> dict[tuple[int, int], Float[np.ndarray, " offset"]]:
        """`by_pair` summed over at most `n_groups` groups of neighbouring pairs, of about equal size.

        The keys are the indices of the first and the last pair of a group.
        """
        groups = [group for group in np.array_split(np.arange(len(self.by_pair)), n_groups) if len(group)]
        return {(int(group[0]), int(group[-1])): self.by_pair[group].sum(axis=0) for group in groups}


class GridScore(NamedTuple):
    """The score of two patches, the sum of a part that depends on the offset in rows and one that depends on that in columns."""

    by_row: RotaryScore
    by_column: RotaryScore  # its `not_rotated` is 0: what is not rotated is counted once

    @property
    def total(self) -> Float[np.ndarray, "row_offset column_offset"]:
        """The score at each offset in rows and columns."""
        return self.by_row.total[:, None] + self.by_column.total

    @property
    def at_own_offset(self) -> float:
        """The score at the actual offset of the two patches."""
        return self.by_row.at_own_offset + self.by_column.at_own_offset


def rotary_score(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> RotaryScore:
    """The score of a query and a key of a text with their contents held fixed, at every offset and split by frequency.

    With each pair of rotated components as one complex number, a pair of frequency ω adds Re(q k̄ e^(−iωδ)) / sqrt(d_k) at the
    offset δ (Su et al. 2021, eq. 12 and 16). `head` is (layer, head). Raises ValueError as `model.capture.capture` does.
    """
    products, not_rotated, frequencies = _rotary_products(loaded, model_input, head, query, key)
    furthest = max(furthest_offset(loaded.config), abs(key - query))
    offsets = np.arange(-furthest, furthest + 1)
    return _score_over(offsets, key - query, products, frequencies, not_rotated)


def grid_score(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> GridScore:
    """The score of two patches with their contents held fixed, at every offset in rows and columns (`rotary_score`).

    Half of the pairs are rotated by the row, the others by the column (Siméoni et al. 2025). Raises ValueError as
    `model.capture.capture` does, and for a position that is not a patch, since only patches are rotated.
    """
    config = loaded.config
    assert config.patch_grid is not None, "an encoder of texts"
    n_rows, n_columns = config.patch_grid
    if min(query, key) < config.n_before_patches:
        raise ValueError(f"position {min(query, key)} is no patch: it is not rotated")
    products, not_rotated, frequencies = _rotary_products(loaded, model_input, head, query, key)
    (query_row, query_column), (key_row, key_column) = (
        divmod(position - config.n_before_patches, n_columns) for position in (query, key)
    )
    half = len(products) // 2
    by_row = _score_over(
        np.arange(1 - n_rows, n_rows), key_row - query_row, products[:half], frequencies[:half], not_rotated
    )
    by_column = _score_over(
        np.arange(1 - n_columns, n_columns),
        key_column - query_column,
        products[half:],
        frequencies[half:],
        0.0,
    )
    return GridScore(by_row, by_column)


class MovedScores(NamedTuple):
    """Scores that the encoder computes for one query and one key at all pairs of positions with the same offset."""

    queries: Int[np.ndarray, " placement"]  # positions of the query
    keys: Int[np.ndarray, " placement"]
    scores: Float[np.ndarray, " placement"]

    @property
    def largest_difference(self) -> float:
        """Largest difference between two of the scores."""
        return float(np.ptp(self.scores))


def moved_scores(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> MovedScores:
    """Scores of a query and a key, contents held fixed, at all pairs of positions with the same offset.

    The encoder's own module rotates them. In a text these are positions below `LONGEST`, of patches all of the grid. Raises
    ValueError as `model.capture.capture` does.
    """
    layer, _ = head
    config, attention = loaded.config, loaded.model.blocks[layer].attention
    q, k = _unrotated_query_and_key(loaded, model_input, head, query, key)
    n = min(config.n_positions, max(LONGEST, query + 1, key + 1)) if config.is_text else config.n_positions
    with torch.inference_mode():
        rotated_q = attention.q(q.expand(1, 1, n, -1))[0, 0]
        rotated_k = attention.k(k.expand(1, 1, n, -1))[0, 0]
        queries, keys = _placements(config, n, query, key)
        scores = (rotated_q[queries] * rotated_k[keys]).sum(dim=-1) / attention.scale
    return MovedScores(queries, keys, scores.cpu().numpy())


def _placements(
    config: ModelConfig, n: int, query: int, key: int
) -> tuple[Int[np.ndarray, " placement"], Int[np.ndarray, " placement"]]:
    """All positions of a query and of its key with the same offset as `query` and `key`, in an input of `n` positions."""
    if config.patch_grid is None:
        queries = np.arange(max(0, query - key), n - max(0, key - query))
        return queries, queries + key - query
    n_before, (n_rows, n_columns) = config.n_before_patches, config.patch_grid
    (query_row, query_column), (key_row, key_column) = (
        divmod(position - n_before, n_columns) for position in (query, key)
    )
    down, right = key_row - query_row, key_column - query_column
    rows = np.arange(max(0, -down), n_rows - max(0, down))
    columns = np.arange(max(0, -right), n_columns - max(0, right))
    queries = (n_before + rows[:, None] * n_columns + columns).ravel()
    return queries, queries + down * n_columns + right


def _unrotated_query_and_key(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> tuple[Float[Tensor, " d_k"], Float[Tensor, " d_k"]]:
    """q and k of one head at two positions before they are rotated."""
    layer, head_index = head
    names = tuple(f"blocks.{layer}.attention.{name}.content" for name in "qk")
    contents = activations(loaded, [model_input], names)
    q, k = (contents[name][0, head_index] for name in names)
    return q[query], k[key]


def _rotary_products(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> tuple[np.ndarray, float, Float[np.ndarray, " pair"]]:
    """The scaled complex products q k̄ of all rotated pairs, the sum of the other components' products, and the frequencies."""
    attention = loaded.model.blocks[head[0]].attention
    rotated = attention.q
    assert isinstance(rotated, Rotated)
    q, k = (
        vector.cpu().numpy().astype(np.float64)
        for vector in _unrotated_query_and_key(loaded, model_input, head, query, key)
    )
    frequencies = rotated.frequencies().detach().cpu().numpy().astype(np.float64)
    # the numbers of a pair are neighbours, or half a width apart
    order: Literal["C", "F"] = "C" if rotated.interleaved else "F"
    (q_first, q_second), (k_first, k_second) = (
        vector[: rotated.n_rotated].reshape((-1, 2), order=order).T for vector in (q, k)
    )
    products = (q_first + 1j * q_second) * (k_first + 1j * k_second).conj() / attention.scale
    not_rotated = float(q[rotated.n_rotated :] @ k[rotated.n_rotated :] / attention.scale)
    return products, not_rotated, frequencies


def _score_over(
    offsets: Int[np.ndarray, " offset"],
    own_offset: int,
    products: np.ndarray,
    frequencies: Float[np.ndarray, " pair"],
    not_rotated: float,
) -> RotaryScore:
    by_pair = (products[:, None] * np.exp(-1j * frequencies[:, None] * offsets)).real
    return RotaryScore(offsets, own_offset, 2 * np.pi / frequencies, by_pair, not_rotated)


# Biased


class DistanceBias(NamedTuple):
    """The bias on the scores of one layer, for each head and each offset of key and query."""

    offsets: Int[np.ndarray, " offset"]
    by_head: Float[np.ndarray, "head offset"]


class GridBiases(NamedTuple):
    """The bias on the scores of one layer, for each head and each offset of two patches in rows and columns."""

    by_offset: Float[np.ndarray, "head row_offset column_offset"]  # the middle is the patch itself
    of_class_token: Float[np.ndarray, "head 3"]  # as the query of a patch, as the key of a patch, and both


def distance_bias(loaded: Loaded, layer: int) -> DistanceBias:
    """The bias that `layer` adds to the scores of a text at all offsets up to `furthest_offset`, or to `bias_shared_from` if that is
    larger.
    """
    config = loaded.config
    furthest = min(config.n_positions - 1, max(FURTHEST, bias_shared_from(config)))
    bias = _bias_on_scores(loaded, layer, 2 * furthest + 1)
    return DistanceBias(np.arange(-furthest, furthest + 1), bias[:, furthest].copy())


def bias_shared_from(config: ModelConfig) -> int:
    """The distance from which on all keys before the query share one bias, and all after it another."""
    family = config.family
    assert family.n_relative_buckets is not None, "an encoder without such a bias"
    return last_bucket_from(family.n_relative_buckets, family.furthest_bucket)


def grid_biases(loaded: Loaded, layer: int) -> GridBiases:
    """The bias that `layer` adds to the scores of patches at all offsets in rows and columns."""
    config = loaded.config
    assert config.patch_grid is not None, "an encoder of texts"
    n_rows, n_columns = config.patch_grid
    n_before = config.n_before_patches
    bias = _bias_on_scores(loaded, layer, config.n_positions)
    down, right = np.meshgrid(
        np.arange(1 - n_rows, n_rows), np.arange(1 - n_columns, n_columns), indexing="ij"
    )
    query = n_before + np.maximum(0, -down) * n_columns + np.maximum(0, -right)
    by_offset = bias[:, query, query + down * n_columns + right]
    of_class_token = np.stack((bias[:, 0, n_before], bias[:, n_before, 0], bias[:, 0, 0]), axis=1)
    return GridBiases(by_offset, of_class_token)


def is_bias_shared(config: ModelConfig) -> bool:
    """Whether all layers add the same bias to their scores."""
    family = config.family
    if family.n_relative_buckets:
        return not family.relative_bias_by_layer
    return not family.parts.grid_bias_by_layer


def _bias_on_scores(loaded: Loaded, layer: int, n: int) -> Float[np.ndarray, "head query key"]:
    """The bias that `layer` adds to the scores of an input of `n` positions."""
    no_scores = torch.zeros(1, loaded.config.n_heads, n, n, device=loaded.device)
    with torch.inference_mode():
        return loaded.model.blocks[layer].attention.scores(no_scores)[0].cpu().numpy()


# Windowed


class Reach(NamedTuple):
    """How many positions before and after the middle token of a text of 2 · `half` + 1 tokens can influence it, by layer.

    `sees` is the distance of the furthest key to which the token can attend in the layer, `holds` that of the furthest position
    on which its state after the layer can depend.
    """

    half: int  # no distance is larger
    sees: Int[np.ndarray, "layer 2"]
    holds: Int[np.ndarray, "layer 2"]


def reach(loaded: Loaded) -> Reach:
    """How far a query can attend in each layer under the encoder's windows or causal mask, and on what its state can depend."""
    config, parts = loaded.config, loaded.config.family.parts
    half = (config.n_positions - 1) // 2
    windows = parts.windows or (None,) * config.n_layers
    before = np.array([half if window is None else min(window, half) for window in windows])
    sees = np.stack((before, np.zeros_like(before) if parts.causal else before), axis=1)
    return Reach(half, sees, np.minimum(sees.cumsum(axis=0), half))


def is_everything_seen(loaded: Loaded, n: int) -> Bool[np.ndarray, " layer"]:
    """Whether each layer lets every query attend to every key of an input of `n` positions without padding."""
    allowed = _allowed_by_layer(loaded, n)
    if allowed is None:
        return np.ones(loaded.config.n_layers, bool)
    return np.asarray(allowed.all(axis=(1, 2)))


def _allowed_by_layer(loaded: Loaded, n: int) -> Bool[np.ndarray, "layer query key"] | None:
    """Which keys the encoder's own masks allow in an input of `n` positions without padding; None for all."""
    mask = own_full_mask(loaded.config, n) if loaded.config.is_text else None
    return None if mask is None else mask[0, :, 0].numpy()


# Disentangled


class PositionTerms(NamedTuple):
    """The score of one query and one key in disentangled attention, term by term, if they stood at other offsets than they do.

    A term that the encoder lacks is None.
    """

    offsets: Int[np.ndarray, " offset"]  # position of the key minus that of the query
    own_offset: int  # at which the two stand in the text
    content_to_content: float  # whatever the offset
    content_to_position: Float[np.ndarray, " offset"] | None
    position_to_content: Float[np.ndarray, " offset"] | None

    @property
    def total(self) -> Float[np.ndarray, " offset"]:
        """The score at each offset."""
        terms = [term for term in (self.content_to_position, self.position_to_content) if term is not None]
        return np.full(len(self.offsets), self.content_to_content) + sum(terms)

    @property
    def at_own_offset(self) -> float:
        """The score at the offset of this query and this key."""
        return float(self.total[self.offsets == self.own_offset][0])


def position_terms(
    loaded: Loaded, model_input: InputLike, head: tuple[int, int], query: int, key: int
) -> PositionTerms:
    """The disentangled score of a query and a key with their contents held fixed, at every offset, split into its terms.

    Computed by the encoder's own attention with the same q at every query and the same k at every key (He et al. 2021, eq. 4).
    `head` is (layer, head). Raises ValueError as `model.capture.capture` does.
    """
    layer, head_index = head
    attention = _disentangled(loaded, layer)
    record = capture(loaded, model_input)
    furthest = max(furthest_offset(loaded.config), abs(key - query))
    n = 2 * furthest + 1
    q, k = (
        torch.tensor(vectors, device=loaded.device)[None, :, None].expand(-1, -1, n, -1)
        for vectors in (record.q[layer, :, query], record.k[layer, :, key])
    )
    maps: dict[str, np.ndarray] = {}

    def keep_map(name: str, values: Tensor) -> Tensor:
        maps[name] = values[0, head_index].cpu().numpy()
        return values

    names = [name for name in MAPS if getattr(attention, name) is not None]
    with torch.inference_mode(), watch(attention, {name: partial(keep_map, name) for name in names}):
        attention.score(q, k)
    by_query, by_key = (maps.get(name) for name in MAPS[1:])
    return PositionTerms(
        np.arange(-furthest, furthest + 1),
        key - query,
        float(maps[MAPS[0]][furthest, furthest]),
        None if by_query is None else by_query[furthest].copy(),
        None if by_key is None else by_key[::-1, furthest].copy(),
    )


def map_sizes(loaded: Loaded, model_input: InputLike, layer: int) -> dict[str, Float[np.ndarray, " head"]]:
    """Mean absolute value, over all queries and keys, of each term of the disentangled scores of `layer`, by the term's name.

    Raises ValueError as `model.capture.capture` does.
    """
    attention = _disentangled(loaded, layer)
    names = {
        name: f"blocks.{layer}.attention.{name}" for name in MAPS if getattr(attention, name) is not None
    }
    maps = activations(loaded, [model_input], tuple(names.values()))
    return {name: maps[hook][0].abs().mean(dim=(1, 2)).cpu().numpy() for name, hook in names.items()}


def _disentangled(loaded: Loaded, layer: int) -> DisentangledAttention:
    attention: Attention = loaded.model.blocks[layer].attention
    assert isinstance(attention, DisentangledAttention)
    return attention
