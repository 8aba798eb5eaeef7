"""Which head of one encoder does what a head of another does: heads matched by their distance.

Separately trained encoders do not number their heads alike. The distance is `model.measures.head_measures.head_distance`.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from .head_measures import head_distance

Head = tuple[int, int]  # layer and head


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The head of a second encoder that stands beside each head of a first one."""

    shapes: tuple[tuple[int, int], tuple[int, int]]  # layers and heads of the first, and of the second
    partners: Int[np.ndarray, " one"]  # heads of the second, numbered layer by layer; -1 for none
    matched: bool  # by distance, or else by number
    matrix: Float[np.ndarray, "one other"] | None  # all head distances; None where maps have no common cells
    n_examples: int = 1  # over which they were matched; with 1 it is the input of `matrix`

    def partner(self, head: Head) -> Head | None:
        number = int(self.partners[np.ravel_multi_index(head, self.shapes[0])])
        return None if number < 0 else divmod(number, self.shapes[1][1])

    def of(self, other: Head) -> Head | None:
        """The head of the first encoder whose partner is `other`."""
        found = np.flatnonzero(self.partners == np.ravel_multi_index(other, self.shapes[1]))
        return divmod(int(found[0]), self.shapes[0][1]) if len(found) else None

    @property
    def alone(self) -> tuple[list[Head], list[Head]]:
        """The heads of the first and of the second encoder that have no partner."""
        first, second = (list(np.ndindex(shape)) for shape in self.shapes)
        return [h for h in first if self.partner(h) is None], [h for h in second if self.of(h) is None]

    @property
    def n_pairs(self) -> int:
        return int((self.partners >= 0).sum())

    @property
    def n_of_one_number(self) -> int:
        """Pairs that are the same head of the same layer on both sides."""
        return sum(self.partner(head) == head for head in np.ndindex(self.shapes[0]))

    @property
    def distances(self) -> Float[np.ndarray, "layer head"]:
        """Of each head from its partner, in nats; NaN where it has none. Only with a `matrix`."""
        distances = self.matrix[np.arange(len(self.partners)), self.partners]
        return np.where(self.partners < 0, np.nan, distances).reshape(self.shapes[0])

    @property
    def furthest(self) -> Head:
        """The head that is furthest from its partner. Only with a `matrix`."""
        return divmod(int(np.nanargmax(self.distances)), self.shapes[0][1])

    def n_further(self, head: Head) -> int:
        """Pairs whose distance is larger than that of this one. Only with a `matrix`."""
        return int((self.distances > self.distances[head]).sum())

    def change(
        self, first: Float[np.ndarray, " one"], second: Float[np.ndarray, " other"]
    ) -> Float[np.ndarray, "layer head"]:
        """A measure of each head's partner less the head's own; NaN where it has no partner."""
        change = second[self.partners] - first
        return np.where(self.partners < 0, np.nan, change).reshape(self.shapes[0])


def by_number(
    first: tuple[int, int], second: tuple[int, int], matrix: Float[np.ndarray, "one other"] | None = None
) -> Pairing:
    """L1 H0 beside L1 H0, and so on, for encoders of these (layers, heads)."""
    common = [layer < second[0] and head < second[1] for layer, head in np.ndindex(first)]
    partners = [layer * second[1] + head for layer, head in np.ndindex(first)]
    partners = np.where(common, partners, -1)
    return Pairing(shapes=(first, second), partners=partners, matched=False, matrix=matrix)


def by_distance(
    first: tuple[int, int], second: tuple[int, int], matrix: Float[np.ndarray, "one other"]
) -> Pairing:
    """By the `matching` of these distances."""
    return Pairing(shapes=(first, second), partners=matching(matrix), matched=True, matrix=matrix)


def as_over(data: Pairing, n: int, matrix: Float[np.ndarray, "one other"]) -> Pairing:
    """The pairs that `data` has over `n` examples, with the distances of one input."""
    return replace(data, matrix=matrix, n_examples=n)


def distance_matrix(
    first: Float[np.ndarray, "layer head query key"],
    second: Float[np.ndarray, "other_layer other_head query key"],
) -> Float[np.ndarray, "one other"]:
    """Head distance of every head of the first patterns to every one of the second, in nats.

    Heads are numbered layer by layer on both axes: L1 H0 of four heads a layer is 4.
    """
    ones, others = (patterns.reshape(-1, *patterns.shape[2:]) for patterns in (first, second))
    # One head at a time: all pairs at once would be gigabytes for a long text.
    return np.stack([head_distance(one, others) for one in ones])


def matching(distances: Float[np.ndarray, "one other"]) -> Int[np.ndarray, " one"]:
    """For each head its partner, such that the distances of all pairs add up to the least; -1 for none.

    Where one side has more heads, those that fit worst stay without a partner. The assignment problem, by
    Crouse's variant of Jonker and Volgenant's algorithm (scipy).
    """
    from scipy.optimize import linear_sum_assignment  # 0.2 s, which the first page would wait for

    partners = np.full(len(distances), -1)
    ones, others = linear_sum_assignment(distances)
    partners[ones] = others
    return partners
