"""Tolerances: how much two correct float32 results may differ.

Every operation rounds, by at most half of EPSILON of its result, and processors add the terms of a sum in orders of
their own. So two sums of n terms whose sizes add up to m may differ by n · EPSILON · m (Higham 2002, section 4.2).
What is float64, or a copy, needs none of this.
"""

import numpy as np

from model.config import ModelConfig

EPSILON = float(np.finfo(np.float32).eps)  # 1.2e-7


def rounding(terms: int, size: float = 1.0) -> float:
    """Tolerance for a sum of `terms` numbers whose absolute values add up to `size`; relative with the default.

    Count a few terms for a single operation, such as a product or an exponential.
    """
    return terms * EPSILON * size


def encoder_rounding(config: ModelConfig, size: float = 1.0) -> float:
    """Tolerance for the output of a whole encoder, with values up to `size`: that of the sums in all layers together."""
    norms = 2 * 2 * config.d_model  # mean and variance, before or after both sublayers
    attention = config.d_model + config.d_k + 2 * config.n_positions + config.n_heads * config.d_v
    feed_forward = config.d_model + config.d_ff
    return rounding(config.n_layers * (norms + attention + feed_forward), size)
