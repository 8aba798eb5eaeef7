"""Cross-attention, as in a decoder: queries from one input, keys and values from another.

The encoders here were never trained for this; the formula of a head is applied to other vectors.
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
    """Cross-attention pattern softmax(Q Kᵀ / √d_k) of one head (Vaswani et al. 2017, 3.2.3).

    The queries are those of one input, the keys those of another; both records must be of one encoder. Raises ValueError if
    queries and keys differ in width.
    """
    q, k = query_record.q[layer, head], key_record.k[layer, head]
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"queries of width {q.shape[-1]} cannot be multiplied with keys of width {k.shape[-1]}"
        )
    return masked_softmax(torch.tensor(q) @ torch.tensor(k).T / math.sqrt(q.shape[-1]), None).numpy()
