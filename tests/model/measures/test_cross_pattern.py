from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from model.capture import capture
from model.measures.cross_pattern import cross_pattern
from tests.model import tiny
from tests.tolerance import rounding

LAYER, HEAD = 1, 0


def test_it_is_what_torch_computes():
    encoder = tiny.loaded(tiny.TEXT)
    asks, answers = capture(encoder, "great film"), capture(encoder, "not a great plot")
    pattern = cross_pattern(asks, answers, LAYER, HEAD)
    assert pattern.shape == (len(asks), len(answers))
    q, k, v = (torch.tensor(array[LAYER, HEAD]) for array in (asks.q, answers.k, answers.v))
    expected = scaled_dot_product_attention(q[None], k[None], v[None])[0].numpy()
    np.testing.assert_allclose(
        pattern @ answers.v[LAYER, HEAD], expected, atol=rounding(64, np.abs(expected).max())
    )


def test_on_one_input_it_is_the_encoders_own_attention():
    record = capture(tiny.loaded(tiny.TEXT), "great film")
    pattern = cross_pattern(record, record, LAYER, HEAD)
    np.testing.assert_allclose(pattern, record.pattern[LAYER, HEAD], atol=rounding(64))


def test_keys_of_another_width_are_refused():
    one = capture(tiny.loaded(tiny.TEXT), "great film")
    other = capture(tiny.loaded(replace(tiny.TEXT, d_k=2 * tiny.TEXT.d_k)), "great film")
    with pytest.raises(ValueError, match="cannot be multiplied"):
        cross_pattern(one, other, LAYER, HEAD)
