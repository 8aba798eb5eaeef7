"""How far apart two right results in float32 may be.

Every operation rounds, by at most half of EPSILON of its result, and processors add the terms of a sum in orders of
their own. So two sums of n terms whose sizes add up to m may differ by n · EPSILON · m (Higham 2002, section 4.2).
What is float64, or a copy, needs none of this.
"""

import numpy as np

from model.config import ModelConfig

EPSILON = float(np.finfo(np.float32).eps)  # 1.2e-7


def rounding(terms: int, size: float = 1.0) -> float:
    """For sums of `terms` numbers whose sizes add up to `size`; with the default a relative tolerance.

    What is no sum, such as one product or an exponential, counts as a few terms.
    """
    return terms * EPSILON * size


def through(config: ModelConfig, size: float = 1.0) -> float:
    """For what an encoder computes of its input, of values up to `size`: the sums of all layers, one after another."""
    norms = 2 * 2 * config.d_model  # mean and variance, before or after both sublayers
    attention = config.d_model + config.d_k + 2 * config.n_positions + config.n_heads * config.d_v
    feed_forward = config.d_model + config.d_ff
    return rounding(config.n_layers * (norms + attention + feed_forward), size)
