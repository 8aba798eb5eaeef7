"""Cross-attention, as in a decoder: queries from one input, keys and values from another.

The encoders here were never trained for it. What a head computes is the same formula on other vectors.
"""

import math

import numpy as np
import torch
from jaxtyping import Float

from ..record import ForwardRecord
from ..transformer import masked_softmax


def cross_pattern(
    query_record: ForwardRecord, key_record: ForwardRecord, layer: int, head: int
) -> Float[np.ndarray, "query key"]:
    """Cross-attention pattern softmax(Q Kᵀ / √d_k) of a head's queries on one input and keys on another (Vaswani et al. 2017, 3.2.3).

    Both records must be of one encoder. Raises ValueError where queries and keys differ in width.
    """
    q, k = query_record.q[layer, head], key_record.k[layer, head]
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"queries of width {q.shape[-1]} cannot be multiplied with keys of width {k.shape[-1]}"
        )
    return masked_softmax(torch.tensor(q) @ torch.tensor(k).T / math.sqrt(q.shape[-1]), None).numpy()
