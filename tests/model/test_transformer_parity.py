"""The encoder and its attention against torch's own, with our weights copied into them."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from model.hooks import watch
from model.masks import causal
from model.transformer import Attention, Transformer
from tests.model.tiny import TEXT, build

ACTIVATIONS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
}
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
PADDED = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 10, 3, 0, 0]])


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.w_q, ours.w_k, ours.w_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.load_state_dict(ours.w_o.state_dict())


def torchs_encoder(ours: Transformer) -> nn.TransformerEncoder:
    """torch's own encoder with our weights."""
    config = ours.config
    layer = nn.TransformerEncoderLayer(
        config.d_model,
        config.n_heads,
        config.d_ff,
        activation=ACTIVATIONS[config.activation],
        layer_norm_eps=config.layer_norm_eps,
        norm_first=config.norm_placement == "pre",
        batch_first=True,
    )
    norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_eps) if config.final_norm else None
    theirs = nn.TransformerEncoder(layer, config.n_layers, norm=norm, enable_nested_tensor=False).eval()
    for block, layer in zip(ours.blocks, theirs.layers, strict=True):
        copy_attention(block.attention, layer.self_attn)
        layer.linear1.load_state_dict(block.feed_forward.expand.state_dict())
        layer.linear2.load_state_dict(block.feed_forward.contract.state_dict())
        layer.norm1.load_state_dict(block.norm_attention.state_dict())
        layer.norm2.load_state_dict(block.norm_feed_forward.state_dict())
    if norm is not None:
        theirs.norm.load_state_dict(ours.final_norm.state_dict())
    return theirs


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("final_norm", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm_placement", ["pre", "post"])
def test_the_encoder_agrees_with_torchs_own(norm_placement, activation, final_norm):
    config = replace(TEXT, norm_placement=norm_placement, activation=activation, final_norm=final_norm)
    ours = build(config)
    theirs = torchs_encoder(ours)
    full = PADDED[:1]
    torch.testing.assert_close(ours.encode(full), theirs(ours.embedding(full)), **CLOSE)
    padding = PADDED == 0
    expected = theirs(ours.embedding(PADDED), src_key_padding_mask=padding)
    torch.testing.assert_close(ours.encode(PADDED)[~padding], expected[~padding], **CLOSE)


def test_the_encoder_agrees_with_torchs_own_with_another_epsilon():
    ours = build(replace(TEXT, layer_norm_eps=1e-2))
    full = PADDED[:1]
    torch.testing.assert_close(ours.encode(full), torchs_encoder(ours)(ours.embedding(full)), **CLOSE)
    usual = build(TEXT)
    assert (ours.encode(full) - usual.encode(full)).abs().max() > 1e-3


def test_the_encoder_agrees_with_torchs_own_under_a_mask():
    ours = build(TEXT)
    full = PADDED[:1]
    expected = torchs_encoder(ours)(ours.embedding(full), mask=~causal(6))
    torch.testing.assert_close(ours.encode(full, causal(6)), expected, **CLOSE)


def test_attention_agrees_with_torchs_own():
    config = replace(TEXT, d_model=12, n_heads=3, d_k=4, d_v=4)
    ours = build(config).blocks[0].attention
    theirs = nn.MultiheadAttention(12, 3, batch_first=True)
    copy_attention(ours, theirs)
    x = torch.randn(2, 5, 12)
    mask = torch.rand(5, 5) < 0.6
    mask[:, 0] = True  # torch gives NaN where a row is fully masked
    kept = []
    with watch(ours, {"pattern": kept.append}):
        out = ours(x, mask[None, None])
    expected, pattern = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
    torch.testing.assert_close(out, expected, **CLOSE)
    torch.testing.assert_close(kept[0], pattern, **CLOSE)
