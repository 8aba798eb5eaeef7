"""DeepNorm, B2T and encoders without residual connections."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from model.config import ModelConfig
from model.hooks import hook_points
from model.schema import convert_closed
from model.transformer import Block, Transformer
from tests.model.tiny import TEXT, build

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
PADDED = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 10, 3, 0, 0]])
DEEPNORM = replace(TEXT, norm_placement="deepnorm", final_norm=False)
B2T = replace(TEXT, norm_placement="b2t", final_norm=False)
VARIANTS = {
    "DeepNorm": DEEPNORM,
    "B2T": B2T,
    "pre-LN without residual": replace(TEXT, residual=False),
    "post-LN without residual": replace(TEXT, norm_placement="post", residual=False),
}


def formula(config: ModelConfig, block: Block, x: torch.Tensor) -> torch.Tensor:
    """What the papers write down, put together from the block's own sublayers and torch's layer norm."""

    def norm(x: torch.Tensor, part: nn.LayerNorm) -> torch.Tensor:
        return functional.layer_norm(x, (8,), part.weight, part.bias)

    attend, feed = block.attention, block.feed_forward
    first, second = block.norm_attention, block.norm_feed_forward
    if config.norm_placement == "deepnorm":
        alpha = 4**0.25  # N = 2 layers
        x = norm(alpha * x + attend(x), first)
        return norm(alpha * x + feed(x), second)
    if config.norm_placement == "b2t":
        h = norm(x + attend(x), first)
        return norm(x + h + feed(h), second)
    if config.norm_placement == "pre":
        return feed(norm(attend(norm(x, first)), second))
    return norm(feed(norm(attend(x), first)), second)


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_a_block_computes_its_formula(config):
    block, x = build(config).blocks[0], torch.randn(2, 5, 8)
    torch.testing.assert_close(block(x), formula(config, block, x), **CLOSE)


def test_b2t_by_hand_where_the_sublayers_put_out_nothing():
    block = Block(replace(B2T, d_model=2, n_heads=1, d_k=2, d_v=2))
    for part in (block.attention.w_o, block.feed_forward.contract):
        nn.init.zeros_(part.weight)
        nn.init.zeros_(part.bias)
    # h = LN(5, 1) = (1, -1); x + h = (6, 0), LN of it (1, -1). Without x + it would be LN(h), the same: so
    # the sum before the norm is looked at.
    kept = []
    block.norm_feed_forward.register_forward_pre_hook(lambda _, x: kept.append(x[0]))
    out = block(torch.tensor([[[5.0, 1.0]]]))
    torch.testing.assert_close(kept[0], torch.tensor([[[6.0, 0.0]]]), rtol=0, atol=1e-4)
    torch.testing.assert_close(out, torch.tensor([[[1.0, -1.0]]]), rtol=0, atol=1e-4)


def test_deepnorm_starts_with_smaller_sublayers_and_the_same_scores():
    config = replace(DEEPNORM, d_model=64, n_heads=4, d_k=16, d_v=16, d_ff=64, n_layers=8)
    beta = 64**-0.25  # N = 8 layers
    xavier = 64**-0.5  # standard deviation of a square matrix
    block = Transformer(config).blocks[3]
    attention, feed = block.attention, block.feed_forward
    for part in (attention.w_v, attention.w_o, feed.expand, feed.contract):
        assert part.weight.std().item() == pytest.approx(beta * xavier, rel=0.05)
    for part in (attention.w_q, attention.w_k):
        assert part.weight.std().item() == pytest.approx(xavier, rel=0.05)


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_hook_points_are_the_same_in_every_variant(config):
    assert list(hook_points(Transformer(config))) == list(hook_points(Transformer(TEXT)))


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_every_parameter_learns(config):
    model = build(config)
    model(PADDED).square().sum().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    # A bias of the keys moves all scores of a row alike, which softmax does not see.
    assert [name for name in still if not name.endswith("w_k.bias")] == []


def test_a_configuration_without_the_field_has_residual_connections():
    values = TEXT.to_json()
    del values["residual"]
    assert convert_closed(values, ModelConfig) == TEXT


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"norm_placement": "deepnorm", "residual": False}, "'deepnorm' is a kind of residual connection"),
        ({"norm_placement": "b2t", "residual": False}, "'b2t' is a kind of residual connection"),
        ({"norm_placement": "deepnorm", "shared_qkv": True}, "shared_qkv makes them one"),
    ],
    ids=["deepnorm", "b2t", "shared"],
)
def test_contradictions_are_refused_and_said(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(TEXT, **changes)
