"""Which head of one encoder does what a head of another does: heads matched by their distance.

Separately trained encoders do not number their heads alike. The distance is `model.measures.heads.head_distance`.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from model.measures.heads import head_distance


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
    partners = np.full(len(distances), -1)
    ones, others = linear_sum_assignment(distances)
    partners[ones] = others
    return partners
