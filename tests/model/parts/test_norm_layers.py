"""What `linear_norm` says of a norm recomputes the norm."""

import pytest
import torch
from torch import nn

from model.parts.norm_layers import linear_norm


@pytest.mark.parametrize(
    "norm", [nn.LayerNorm(6), nn.LayerNorm(6, bias=False), nn.RMSNorm(6, eps=1e-3), nn.Identity()]
)
def test_centre_divide_scale_and_shift_make_the_norm(norm: nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    for parameter in norm.parameters():
        parameter.data = torch.randn(6, generator=generator)
    x = torch.randn(3, 6, generator=generator)
    parts = linear_norm(norm, 6)
    torch.testing.assert_close(parts.centre(x) / parts.divisor(x) * parts.gain + parts.shift, norm(x))
