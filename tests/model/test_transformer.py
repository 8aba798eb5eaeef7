import math
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.config import ModelConfig
from model.hooks import watch
from model.masks import causal
from model.transformer import Attention, Transformer, cut_patches, masked_softmax, sinusoidal
from tests.model.tiny import DIGIT, TEXT, build

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
PADDED = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 10, 3, 0, 0]])


def attention(config: ModelConfig) -> Attention:
    """Of a tiny encoder, with random biases."""
    return build(config).blocks[0].attention


# Embedding


def test_sinusoidal_positions_by_hand():
    by_hand = [
        [0, 1, 0, 1],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    torch.testing.assert_close(sinusoidal(3, 4), torch.tensor(by_hand))


def test_sinusoidal_positions_are_not_trained_and_not_saved():
    model = Transformer(replace(TEXT, positions="sinusoidal"))
    assert "embedding.position_table" not in dict(model.named_parameters())
    assert "embedding.position_table" not in model.state_dict()


def test_learned_positions_are_trained():
    model = build(replace(TEXT, positions="learned"))
    model(PADDED).sum().backward()
    gradient = model.embedding.position_table.grad
    assert gradient[:6].abs().sum(dim=-1).all()
    assert not gradient[6:].any()  # positions that no token stood on


@pytest.mark.parametrize(("scaled", "factor"), [(True, math.sqrt(8)), (False, 1.0)])
def test_token_embeddings_are_scaled_before_positions_are_added(scaled, factor):
    embedding = build(replace(TEXT, embedding_scaled=scaled)).embedding
    expected = embedding.tokens(PADDED) * factor + sinusoidal(6, 8)
    torch.testing.assert_close(embedding(PADDED), expected)


def test_the_norm_after_the_embedding():
    embedding = build(replace(TEXT, embedding_norm=True)).embedding
    nn.init.ones_(embedding.norm.weight)
    nn.init.zeros_(embedding.norm.bias)
    out = embedding(PADDED)
    torch.testing.assert_close(out.mean(dim=-1), torch.zeros(2, 6), **CLOSE)
    torch.testing.assert_close(out.var(dim=-1, correction=0), torch.ones(2, 6), rtol=0, atol=1e-3)


def test_patches_are_cut_row_by_row():
    image = torch.arange(16.0).reshape(1, 4, 4)
    by_hand = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    assert cut_patches(image, 2)[0].tolist() == by_hand


def test_pixels_are_read_from_their_mean_in_standard_deviations():
    plain = build(DIGIT)
    scaled = build(replace(DIGIT, pixel_mean=0.25, pixel_std=0.5))
    scaled.load_state_dict(plain.state_dict())
    images = torch.rand(2, 8, 8)
    torch.testing.assert_close(scaled(images), plain((images - 0.25) / 0.5))


@pytest.mark.parametrize(("pooling", "n_positions"), [("class", 5), ("mean", 4), ("max", 4)])
def test_only_class_pooling_brings_a_class_token(pooling, n_positions):
    config = replace(DIGIT, pooling=pooling, n_positions=n_positions)
    embedding = build(config).embedding
    out = embedding(torch.rand(1, 8, 8))
    assert out.shape == (1, n_positions, 8)
    if pooling == "class":
        torch.testing.assert_close(out[0, 0], embedding.class_token + embedding.position_table[0])


# Attention


def test_attention_of_two_tokens_by_hand():
    ours = Attention(replace(TEXT, d_model=2, n_heads=1, d_k=2, d_v=2))
    for part in (ours.w_q, ours.w_k, ours.w_v, ours.w_o):
        nn.init.eye_(part.weight)
        nn.init.zeros_(part.bias)
    # scores [[1, 0], [0, 4]] / sqrt(2); exp(1 / sqrt(2)) = 2.028, exp(4 / sqrt(2)) = 16.92
    by_hand = [[[2.02811 / 3.02811, 2 * 1 / 3.02811], [1 / 17.91883, 2 * 16.91883 / 17.91883]]]
    out = ours(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]))
    torch.testing.assert_close(out, torch.tensor(by_hand), **CLOSE)


def test_widths_of_heads_are_free():
    ours = attention(replace(TEXT, d_model=6, n_heads=2, d_k=3, d_v=5))
    x = torch.randn(1, 4, 6)
    heads = []
    for head in range(2):
        keys, values = slice(3 * head, 3 * head + 3), slice(5 * head, 5 * head + 5)
        q = x[0] @ ours.w_q.weight[keys].T + ours.w_q.bias[keys]
        k = x[0] @ ours.w_k.weight[keys].T + ours.w_k.bias[keys]
        v = x[0] @ ours.w_v.weight[values].T + ours.w_v.bias[values]
        heads.append((q @ k.T / math.sqrt(3)).softmax(dim=-1) @ v)
    expected = torch.cat(heads, dim=-1) @ ours.w_o.weight.T + ours.w_o.bias
    torch.testing.assert_close(ours(x)[0], expected, **CLOSE)


def test_shared_projection_is_one_for_q_k_and_v():
    config = replace(TEXT, shared_qkv=True)
    shared, kept = attention(config), {}
    with watch(shared, {name: lambda x, name=name: kept.update({name: x}) for name in "qkv"}):
        shared(torch.randn(1, 3, 8))
    assert torch.equal(kept["q"], kept["k"])
    assert torch.equal(kept["q"], kept["v"])
    saved = sum(parameter.numel() for parameter in attention(TEXT).parameters())
    assert saved - sum(parameter.numel() for parameter in shared.parameters()) == 2 * (8 * 8 + 8)


def test_a_masked_key_is_as_if_it_were_not_there():
    ours, x = attention(TEXT), torch.randn(1, 4, 8)
    mask = torch.tensor([True, False, True, True])
    torch.testing.assert_close(ours(x, mask[None, None, None])[:, mask], ours(x[:, mask]), **CLOSE)


def test_masked_softmax_by_hand():
    scores = torch.log(torch.tensor([[1.0, 3.0, 4.0], [1.0, 1.0, 2.0], [5.0, 6.0, 7.0]]))
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    by_hand = torch.tensor([[0.25, 0.75, 0], [0.25, 0.25, 0.5], [0, 0, 0]])
    torch.testing.assert_close(masked_softmax(scores, mask), by_hand)
    assert torch.equal(masked_softmax(scores, mask) > 0, mask)  # exactly zero where masked


def test_a_masked_key_gets_nothing_however_low_the_others_score():
    scores, mask = torch.tensor([[-1e30, 1e30]]), torch.tensor([[True, False]])
    assert masked_softmax(scores, mask).tolist() == [[1, 0]]


def test_a_fully_masked_row_gives_zeros_and_finite_gradients():
    ours, x = attention(TEXT), torch.randn(1, 3, 8, requires_grad=True)
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, False]])
    kept = {}
    names = ("pattern", "z")
    with watch(ours, {name: lambda value, name=name: kept.update({name: value}) for name in names}):
        out = ours(x, mask=mask[None, None])
    assert not kept["pattern"][:, :, 1].any()
    assert not kept["z"][:, :, 1].any()
    torch.testing.assert_close(out[0, 1], ours.w_o.bias)
    out.square().sum().backward()
    assert x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in ours.parameters())


def test_an_encoder_that_may_attend_to_nothing_stays_finite():
    model = build(TEXT)
    logits = model(PADDED, torch.zeros(6, 6, dtype=torch.bool))
    logits.sum().backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients)


# Masks of the whole encoder


def patterns(model: Transformer, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """[layer, batch, head, query, key]"""
    kept = []
    with watch(model, {f"blocks.{layer}.attention.pattern": kept.append for layer in range(2)}):
        model(inputs, mask)
    return torch.stack(kept)


@pytest.mark.parametrize(
    "shape",
    [(6, 6), (1, 6), (2, 6, 6), (2, 1, 6, 6), (2, 2, 6, 6), (2, 1, 1, 1, 6), (2, 2, 2, 6, 6)],
    ids=str,
)
def test_a_mask_of_any_shape_that_broadcasts_is_obeyed_with_padding_masked_besides(shape):
    model = build(TEXT)
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.7
    allowed = mask & (PADDED != 0)[:, None, None, None]  # [batch, layer, head, query, key]
    seen = patterns(model, PADDED, mask).transpose(0, 1) > 0
    assert torch.equal(seen, allowed.expand_as(seen))


@pytest.mark.parametrize(
    "shape", [(5, 5), (3, 1, 6, 6), (4, 6, 6), (1, 2, 2, 2, 6, 6), (3, 1, 1, 6, 6)], ids=str
)
def test_a_mask_that_does_not_broadcast_is_refused(shape):
    with pytest.raises(ValueError, match=r"a mask of .* does not broadcast to .* = \(2, 2, 2, 6, 6\)"):
        build(TEXT)(PADDED, torch.ones(shape, dtype=torch.bool))


def test_digits_take_a_mask_as_well():
    model = build(DIGIT)
    seen = patterns(model, torch.rand(1, 8, 8), causal(5))
    assert torch.equal(seen > 0, causal(5).expand_as(seen))


# Pooling and outputs


@pytest.mark.parametrize("pooling", ["class", "mean", "max"])
def test_padding_changes_no_logit(pooling):
    model = build(replace(TEXT, pooling=pooling))
    short = PADDED[1:, :4]
    torch.testing.assert_close(model(PADDED)[1:], model(short), **CLOSE)


@pytest.mark.parametrize(
    ("pooling", "by_hand"), [("class", [1.0, -2.0]), ("mean", [2.0, -4.0]), ("max", [3.0, -2.0])]
)
def test_pooling_by_hand_leaves_padding_out(pooling, by_hand):
    model = build(replace(TEXT, d_model=2, pooling=pooling))
    nn.init.eye_(model.classifier.weight)
    nn.init.zeros_(model.classifier.bias)
    states = torch.tensor([[[1.0, -2.0], [3.0, -6.0], [9.0, 9.0]]])
    logits = model.classify(states, torch.tensor([[2, 5, 0]]))
    torch.testing.assert_close(logits, torch.tensor([by_hand]))


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_padding_alone_is_pooled_to_zeros(pooling):
    model = build(replace(TEXT, pooling=pooling))
    logits = model(torch.zeros(1, 4, dtype=torch.int64))
    torch.testing.assert_close(logits[0], model.classifier.bias)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_patches_are_pooled_without_padding(pooling):
    model = build(replace(DIGIT, pooling=pooling, n_positions=4))
    images = torch.rand(3, 8, 8)
    states = model.encode(images)
    pooled = states.mean(dim=1) if pooling == "mean" else states.amax(dim=1)
    torch.testing.assert_close(model(images), model.classifier(pooled))


def test_without_classes_the_pooled_state_is_returned():
    model = build(replace(TEXT, class_names=()))
    assert torch.equal(model(PADDED), model.encode(PADDED)[:, 0])


def test_the_masked_token_output_reads_the_token_embedding_backwards():
    model = build(replace(TEXT, masked_token_output=True))
    output, states = model.masked_token_output, torch.randn(3, 8)
    read = output.norm(nn.functional.gelu(output.transform(states)))
    expected = read @ model.embedding.tokens.weight.T + output.bias
    torch.testing.assert_close(model.predict_tokens(states), expected, **CLOSE)
    names = [name for name, parameter in model.named_parameters() if parameter.shape == (100, 8)]
    assert names == ["embedding.tokens.weight"]  # tied: there is no second table


@pytest.mark.parametrize(("activation", "approximate"), [("gelu", "none"), ("gelu_tanh", "tanh")])
def test_both_gelus(activation, approximate):
    model = build(replace(TEXT, activation=activation, masked_token_output=True))
    block, output, x = model.blocks[0].feed_forward, model.masked_token_output, torch.randn(3, 8)
    hidden = nn.functional.gelu(block.expand(x), approximate=approximate)
    torch.testing.assert_close(block(x[None])[0], block.contract(hidden), **CLOSE)
    read = output.norm(nn.functional.gelu(output.transform(x), approximate=approximate))
    expected = read @ model.embedding.tokens.weight.T + output.bias
    torch.testing.assert_close(model.predict_tokens(x), expected, **CLOSE)


def test_every_norm_has_the_epsilon_of_the_configuration():
    config = replace(TEXT, layer_norm_eps=1e-3, embedding_norm=True, masked_token_output=True)
    norms = [part for part in build(config).modules() if isinstance(part, nn.LayerNorm)]
    assert [norm.eps for norm in norms] == [1e-3] * 7  # embedding, two in each of two blocks, final, output
    assert {part.eps for part in build(TEXT).modules() if isinstance(part, nn.LayerNorm)} == {1e-5}


def test_the_colours_of_a_patch_stand_one_behind_the_other():
    images = torch.rand(2, 3, 4, 6)
    patches = cut_patches(images, 2)
    assert patches.shape == (2, 6, 12)
    torch.testing.assert_close(patches[1, 4], images[1, :, 2:4, 2:4].flatten())
    torch.testing.assert_close(cut_patches(images[:, 0], 2), patches[..., :4])


def test_an_encoder_of_colours_maps_patches_as_a_convolution_does():
    model = build(replace(DIGIT, n_channels=3, pooling="mean", n_positions=4))
    images, patches = torch.rand(2, 3, 8, 8), model.embedding.patches
    expected = nn.functional.conv2d(images, patches.weight.view(8, 3, 4, 4), patches.bias, stride=4)
    seen = []
    with watch(model, {"embedding.content": seen.append}):
        model(images)
    torch.testing.assert_close(seen[0], expected.flatten(2).mT, **CLOSE)
    with pytest.raises(ValueError, match=r"images must be of \(3, 8, 8\), got \(8, 8\)"):
        model(images[:, 0])


def test_an_encoder_without_masked_token_output_says_so():
    with pytest.raises(ValueError, match="no masked-token output"):
        build(TEXT).predict_tokens(torch.randn(1, 8))


def test_input_that_is_too_long_or_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="13 tokens exceed the 12 positions"):
        build(TEXT)(torch.ones(1, 13, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"images must be of \(8, 8\), got \(8, 9\)"):
        build(DIGIT)(torch.rand(1, 8, 9))


# Training


@pytest.mark.parametrize("option", ["dropout_embedding", "dropout_pattern", "dropout_sublayer"])
def test_each_dropout_is_used_in_training_alone(option):
    model = build(replace(TEXT, **{option: 0.5}))
    plain = build(TEXT)(PADDED)
    assert torch.equal(model(PADDED), plain)
    model.train()
    assert not torch.allclose(model(PADDED), plain)


def test_the_pattern_that_is_watched_is_the_one_before_dropout():
    model = build(replace(TEXT, dropout_pattern=0.9)).train()
    rows = patterns(model, PADDED[:1], causal(6)).sum(dim=-1)
    torch.testing.assert_close(rows, torch.ones_like(rows))


@pytest.mark.parametrize("norm_placement", ["pre", "post"])
@pytest.mark.parametrize("config", [TEXT, DIGIT], ids=["text", "digit"])
def test_every_parameter_learns(config, norm_placement):
    model = build(replace(config, norm_placement=norm_placement))
    inputs = PADDED if config.is_text else torch.rand(2, 8, 8)
    model(inputs).square().sum().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    # A bias of the keys moves all scores of a row alike, which softmax does not see.
    assert [name for name in still if not name.endswith("w_k.bias")] == []


def test_padding_has_an_embedding_of_zeros_to_begin_with():
    table = Transformer(TEXT).embedding.tokens.weight
    assert not table[0].any()
    assert table[1:].std().item() == pytest.approx(8**-0.5, rel=0.1)


def test_the_encoder_needs_no_reader_of_files():
    script = "import sys, model.transformer; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    readers = (
        "model.files",
        "model.checkpoint",
        "model.huggingface",
        "jsonschema",
        "safetensors",
        "tokenizers",
    )
    assert not [name for name in loaded.stdout.split() if name.startswith(readers)]
