"""Matches the heads of two encoders by the distance of their patterns (`model.measures.head_measures.head_distance`).

The order of heads within a layer is random, so equal indices mean nothing in encoders that were trained separately.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .head_measures import head_distance

HeadIndex = tuple[int, int]  # layer and head


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """For each head of a first encoder, its partner among the heads of a second encoder; heads are numbered layer by layer."""

    shapes: tuple[tuple[int, int], tuple[int, int]]  # (layers, heads) of the first encoder and of the second
    partners: Int[np.ndarray, " first_head"]  # heads of the second, numbered layer by layer; -1 for none
    matched: bool  # by distance, or else by number
    # all head distances in nats; None for inputs of other tokens
    matrix: Float[np.ndarray, "first_head second_head"] | None
    n_examples: int = 1  # used for matching; with 1 it is the input of `matrix`

    def partner(self, head: HeadIndex) -> HeadIndex | None:
        """The partner in the second encoder of a `head` of the first; None if it has none."""
        index = int(self.partners[np.ravel_multi_index(head, self.shapes[0])])
        return None if index < 0 else divmod(index, self.shapes[1][1])

    def partner_in_first(self, head: HeadIndex) -> HeadIndex | None:
        """The head of the first encoder whose partner is the `head` of the second; None if there is none."""
        indices = np.flatnonzero(self.partners == np.ravel_multi_index(head, self.shapes[1]))
        return divmod(int(indices[0]), self.shapes[0][1]) if len(indices) else None

    @property
    def unpaired(self) -> tuple[list[HeadIndex], list[HeadIndex]]:
        """Heads without a partner: those of the first encoder, and those of the second."""
        first, second = (list(np.ndindex(shape)) for shape in self.shapes)
        return (
            [head for head in first if self.partner(head) is None],
            [head for head in second if self.partner_in_first(head) is None],
        )

    @property
    def n_pairs(self) -> int:
        """Number of heads with a partner."""
        return int((self.partners >= 0).sum())

    @property
    def n_same_index(self) -> int:
        """Number of pairs whose two heads have the same layer and index."""
        return sum(self.partner(head) == head for head in np.ndindex(self.shapes[0]))

    @property
    def distances(self) -> Float[np.ndarray, "layer head"]:
        """Distance of each head from its partner, in nats; NaN if it has none. Raises ValueError if there is no `matrix`."""
        if self.matrix is None:
            raise ValueError("no distances: the two encoders were not compared on one input")
        distances = self.matrix[np.arange(len(self.partners)), self.partners]
        return np.where(self.partners < 0, np.nan, distances).reshape(self.shapes[0])

    @property
    def furthest_head(self) -> HeadIndex:
        """The head of the first encoder that is furthest from its partner. Raises ValueError if there is no `matrix`."""
        return divmod(int(np.nanargmax(self.distances)), self.shapes[0][1])

    def n_further_pairs(self, head: HeadIndex) -> int:
        """Number of pairs with a larger distance than `head` and its partner. Raises ValueError if there is no `matrix`."""
        return int((self.distances > self.distances[head]).sum())

    def change(
        self, first: Float[np.ndarray, " first_head"], second: Float[np.ndarray, " second_head"]
    ) -> Float[np.ndarray, "layer head"]:
        """Value of each head's partner minus the head's own value, for any measure of heads; NaN if it has no partner."""
        change = second[self.partners] - first
        return np.where(self.partners < 0, np.nan, change).reshape(self.shapes[0])


def pair_by_index(
    first: tuple[int, int],
    second: tuple[int, int],
    matrix: Float[np.ndarray, "first_head second_head"] | None = None,
) -> Pairing:
    """Pairs the heads with the same layer and index; `first` and `second` are the (layers, heads) of the encoders."""
    exists_in_both = [layer < second[0] and head < second[1] for layer, head in np.ndindex(first)]
    index_in_second = [layer * second[1] + head for layer, head in np.ndindex(first)]
    partners = np.where(exists_in_both, index_in_second, -1)
    return Pairing(shapes=(first, second), partners=partners, matched=False, matrix=matrix)


def pair_by_distance(
    first: tuple[int, int], second: tuple[int, int], matrix: Float[np.ndarray, "first_head second_head"]
) -> Pairing:
    """Pairs heads such that the sum of their distances in `matrix` is smallest; `first` and `second` are (layers, heads)."""
    return Pairing(shapes=(first, second), partners=match_heads(matrix), matched=True, matrix=matrix)


def distance_matrix(
    first: Float[np.ndarray, "layer head query key"],
    second: Float[np.ndarray, "other_layer other_head query key"],
) -> Float[np.ndarray, "first_head second_head"]:
    """Distance, in nats, of every head of the first encoder from every head of the second.

    On both axes the heads are numbered layer by layer: with four heads per layer, L1 H0 is 4.
    """
    first_heads, second_heads = (patterns.reshape(-1, *patterns.shape[2:]) for patterns in (first, second))
    # One head at a time: all pairs at once would be gigabytes for a long text.
    return np.stack([head_distance(head, second_heads) for head in first_heads])


def match_heads(distances: Float[np.ndarray, "first_head second_head"]) -> Int[np.ndarray, " first_head"]:
    """Partner of each head, such that the sum of the distances is smallest; -1 for a head without a partner.

    If one encoder has more heads, some of them have no partner. The assignment problem is solved by scipy's variant of the
    Jonker-Volgenant algorithm (Crouse 2016).
    """
    from scipy.optimize import linear_sum_assignment  # 0.2 s, which the first page would wait for

    partners = np.full(len(distances), -1)
    rows, columns = linear_sum_assignment(distances)
    partners[rows] = columns
    return partners
