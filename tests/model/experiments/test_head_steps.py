import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.capture.intervention import MaskChoice, masked
from model.checkpoint import load
from model.config import ModelConfig
from model.experiments.head_steps import ORDER, HeadSteps, head_steps, unrecorded_activations
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface.folders import build
from tests.model.tiny import SENTENCE, an_input
from tests.slow import one_of_each
from tests.tolerance import rounding

LAYER, HEAD, QUERY = 1, 1, 2


def steps_of(
    encoder: Loaded, model_input, layer: int = LAYER, head: int = HEAD, query: int = QUERY
) -> HeadSteps:
    record, seen = capture(encoder, model_input), unrecorded_activations(encoder, model_input, layer)
    return head_steps(encoder, record, seen, layer=layer, head=head, query=query)


# By hand: two positions, x = (3, 1) and (1, 3), every weight matrix the identity, no bias, no epsilon


def by_hand(placement: str) -> HeadSteps:
    config = ModelConfig(
        **dict.fromkeys(("d_model", "d_k", "d_v", "d_ff", "n_positions"), 2),
        **dict.fromkeys(("n_layers", "n_heads"), 1),
        class_names=("negative", "positive"),
        vocab_size=100,
        padding_id=0,
        norm_placement=placement,
        activation="relu",
    )
    encoder = tiny.loaded(config)
    block, tokenizer = encoder.model.blocks[0], encoder.tokenizer
    with torch.no_grad():
        encoder.model.embedding.position_table.zero_()
        for token, vector in (("[CLS]", (3.0, 1.0)), ("[SEP]", (1.0, 3.0))):
            encoder.model.embedding.tokens.weight[tokenizer.token_to_id(token)] = torch.tensor(vector)
        linear = (part for part in block.modules() if isinstance(part, torch.nn.Linear))
        for part in linear:
            part.weight.copy_(torch.eye(2))
            part.bias.zero_()
        for norm in (block.norm_attention, block.norm_feed_forward):
            norm.weight.fill_(1)
            norm.bias.zero_()
            norm.eps = 0.0
    return steps_of(encoder, "", layer=0, head=0, query=0)


T = math.tanh(math.sqrt(2))  # 2 p - 1, with p the weight that the first position gives to itself


def test_pre_by_hand():
    steps = by_hand("pre")
    assert (steps.norm_attention.mean, steps.norm_attention.deviation) == (2, 1)
    attention, feed_forward = steps.attention, steps.feed_forward
    assert_close(attention.sublayer_input, [[1, -1], [-1, 1]])
    assert_close(attention.products, [[1, 1], [-1, -1]])
    assert_close(attention.dots, [2, -2])
    assert_close(attention.scores, [math.sqrt(2), -math.sqrt(2)])
    assert_close(attention.exponentials, [1, math.exp(-2 * math.sqrt(2))])
    assert_close(attention.pattern, [(1 + T) / 2, (1 - T) / 2])
    assert_close(attention.z, [[T, -T]])
    assert_close(steps.resid_mid, [3 + T, 1 - T])
    assert_close(feed_forward.sublayer_input, [1, -1])
    assert_close(feed_forward.hidden, [1, 0])
    assert_close(feed_forward.by_unit, [[1, 0], [0, 0]])
    assert_close(steps.resid_post, [4 + T, 1 - T])


def test_post_by_hand():
    steps = by_hand("post")
    attention = steps.attention
    assert_close(attention.sublayer_input, [[3, 1], [1, 3]])
    assert_close(attention.products, [[9, 1], [3, 3]])
    assert_close(attention.dots, [10, 6])
    assert_close(attention.pattern, [(1 + T) / 2, (1 - T) / 2])
    assert_close(attention.weighted.sum(axis=0), [2 + T, 2 - T])
    assert_close(steps.attention_added, [5 + T, 3 - T])
    assert_close(steps.norm_attention.mean, 4)
    assert_close(steps.norm_attention.deviation, 1 + T)
    assert_close(steps.resid_mid, [1, -1])
    assert_close(steps.feed_forward_added, [2, -1])
    assert_close(steps.norm_feed_forward.deviation, 1.5)
    assert_close(steps.resid_post, [1, -1])


# Against the encoder, and against the formulas written out once more


@pytest.mark.rest_is_slow
def test_every_step_is_what_the_encoder_did(encoder):
    config = encoder.config
    for layer in {0, config.n_layers - 1}:
        steps = steps_of(encoder, an_input(config), layer=layer, head=config.n_heads - 1)
        assert max(steps.differences.values()) < 1e-3  # float32, of dot products in the hundreds
        unseen = {"input", "mask"}
        if config.norm_placement == "post":
            unseen |= {"add_attention", "add_feed_forward"}
        assert set(steps.order) - set(steps.differences) == unseen


@pytest.mark.rest_is_slow
def test_every_step_is_its_formula(encoder):
    config, model_input = encoder.config, an_input(encoder.config)
    layer, head = config.n_layers - 1, config.n_heads - 1
    record = capture(encoder, model_input)
    steps = steps_of(encoder, model_input, layer=layer, head=head)
    weights = {name: value.numpy().astype(float) for name, value in encoder.model.state_dict().items()}

    def linear(name, x):
        return weights[f"blocks.{layer}.{name}.weight"] @ x + weights[f"blocks.{layer}.{name}.bias"]

    def norm(name, x):
        centred = x - sum(x) / len(x)
        scaled = centred / math.sqrt(sum(centred**2) / len(x) + 1e-5)
        return scaled * weights[f"blocks.{layer}.{name}.weight"] + weights[f"blocks.{layer}.{name}.bias"]

    pre = config.norm_placement == "pre"
    stream = record.residual[2 * layer].astype(float)
    seen = [norm("norm_attention", x) if pre else x for x in stream]
    w_k, w_v = ("attention.w_q",) * 2 if config.shared_qkv else ("attention.w_k", "attention.w_v")
    z = []
    for h in range(config.n_heads):
        of_k, of_v = (slice(h * width, (h + 1) * width) for width in (config.d_k, config.d_v))
        q = linear("attention.w_q", seen[QUERY])[of_k]
        scores = [sum(q * linear(w_k, x)[of_k]) / math.sqrt(config.d_k) for x in seen]
        pattern = [math.exp(score) / sum(map(math.exp, scores)) for score in scores]
        z.append(sum(a * linear(w_v, x)[of_v] for a, x in zip(pattern, seen, strict=True)))
        if h == head:
            assert_close(steps.attention.q, q)
            assert_close(steps.attention.scores, scores)
            assert_close(steps.attention.pattern, pattern)
    out = linear("attention.w_o", np.concatenate(z))
    mid = stream[QUERY] + out if pre else norm("norm_attention", stream[QUERY] + out)
    before = linear("feed_forward.expand", norm("norm_feed_forward", mid) if pre else mid)
    if config.activation == "relu":
        hidden = np.array([max(value, 0) for value in before])
    else:
        hidden = np.array([value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in before])
    fed = linear("feed_forward.contract", hidden)
    assert_close(steps.attention.z, z)
    assert_close(steps.attention.out, out)
    assert_close(steps.attention.by_head.sum(axis=0) + steps.attention.bias, out)
    assert_close(steps.resid_mid, mid)
    assert_close(steps.feed_forward.before, before)
    assert_close(steps.feed_forward.hidden, hidden)
    assert_close(steps.feed_forward.out, fed)
    assert_close(steps.resid_post, mid + fed if pre else norm("norm_feed_forward", mid + fed))


def assert_wrong_from(first: str, encoder: Loaded, model_input, change) -> None:
    """Compares the steps of a block that was changed behind the encoder's back: `first` is the first wrong one."""
    record, unrecorded = capture(encoder, model_input), unrecorded_activations(encoder, model_input, LAYER)
    with torch.no_grad():
        change(encoder.model)
    steps = head_steps(encoder, record, unrecorded, layer=LAYER, head=HEAD, query=QUERY)
    assert next(name for name in steps.order if steps.differences.get(name, 0) > 1e-4) == first


@pytest.mark.parametrize(
    ("weight", "first"),
    [
        ("norm_attention.weight", "norm_attention"),
        ("attention.w_k.weight", "project"),
        ("attention.w_o.bias", "output"),
        ("feed_forward.expand.weight", "expand"),
        ("feed_forward.contract.weight", "contract"),
    ],
)
def test_a_step_that_is_not_what_the_encoder_did_is_seen(weight, first):
    encoder = tiny.loaded(tiny.TEXT)
    assert_wrong_from(
        first, encoder, SENTENCE, lambda model: model.blocks[LAYER].get_parameter(weight).add_(0.1)
    )


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "first", "change"),
    [
        (
            "DebertaV2Model",
            "relative_positions",
            lambda model: model.relative_positions.vectors.weight.mul_(-1),
        ),
        ("T5EncoderModel", "bias", lambda model: model.relative_bias.weight.mul_(-1)),
        (
            "EsmModel",
            "rotate",
            lambda model: model.blocks[LAYER].attention.q.stored_frequencies.copy_(
                torch.tensor([0.9, 0.1, 0.0])
            ),
        ),
    ],
)
def test_wrong_positions_are_seen(architecture, first, change, tmp_path):
    build(tmp_path, architecture)
    assert_wrong_from(first, load(tmp_path), "the film", change)


# Masks, orders, and what is refused


def test_masked_keys_have_no_weight():
    encoder = tiny.loaded(tiny.TEXT)
    text = "film [PAD] not"
    index = capture(encoder, text).tokens.index("[PAD]")
    steps = steps_of(encoder, text)
    assert not steps.attention.mask[index]
    assert steps.attention.pattern[index] == steps.attention.exponentials[index] == 0
    assert steps.attention.exponentials.max() == 1
    assert max(steps.differences.values()) < 1e-5


def test_a_query_without_any_key_has_no_weights():
    encoder = tiny.loaded(tiny.TEXT)
    closed = MaskChoice(kind="cells", cells=tuple((QUERY, key) for key in range(6)))
    record = capture(encoder, "a b c d", masked(closed))
    steps = head_steps(
        encoder, record, unrecorded_activations(encoder, "a b c d", 0), layer=0, head=HEAD, query=QUERY
    )
    assert not steps.attention.pattern.any()
    assert not steps.attention.z.any()
    assert steps.differences["softmax"] == 0


def test_the_norms_stand_before_the_sublayers_or_after_the_additions():
    pre, post = ORDER["pre"], ORDER["post"]
    assert sorted(pre) == sorted(post)
    assert pre[1:3] == ("norm_attention", "project")
    assert pre[pre.index("add_attention") :][1:3] == ("norm_feed_forward", "expand")
    assert post[1] == "project"
    assert post[post.index("add_attention") :][1:3] == ("norm_attention", "expand")
    assert post[-2:] == ("add_feed_forward", "norm_feed_forward")


@pytest.mark.parametrize(
    ("change", "kind"),
    [({"norm_placement": "b2t"}, "b2t"), ({"residual": False}, "no residual connections")],
)
def test_blocks_with_other_steps_are_refused(change, kind):
    encoder = tiny.loaded(replace(tiny.TEXT, **change))
    with pytest.raises(ValueError, match=f"tiny has {kind}"):
        steps_of(encoder, SENTENCE)


# Blocks of other families


MODERN, POST = ("input", "norm_attention", "project", "rotate", "products", "scale"), ("input", "project")
FAMILIES = [
    ("ModernBertModel", {}, MODERN),
    ("ModernBertModel", {"norm_bias": True, "attention_bias": True, "mlp_bias": True}, MODERN),
    ("EsmModel", {}, MODERN),
    ("EuroBertModel", {"num_key_value_heads": 2}, MODERN),
    ("NomicBertModel", {}, (*POST, "rotate")),
    ("T5EncoderModel", {}, ("input", "norm_attention", "project", "products", "scale", "bias", "mask")),
    ("T5EncoderModel", {"feed_forward_proj": "gated-gelu"}, ("input", "norm_attention", "project")),
    ("UMT5EncoderModel", {}, ("input", "norm_attention", "project", "products", "scale", "bias")),
    ("MPNetModel", {}, (*POST, "products", "scale", "bias", "mask")),
    ("DebertaV2Model", {}, (*POST, "products", "scale", "relative_positions", "mask")),
    ("DebertaV2Model", {"share_att_key": False, "norm_rel_ebd": "none", "position_buckets": -1}, POST),
    ("DebertaV2Model", {"pos_att_type": ["c2p"], "share_att_key": False}, POST),
    ("DebertaV2Model", {"pos_att_type": ["p2c"], "position_buckets": 6}, POST),
    (
        "DebertaV2Model",
        {"relative_attention": False, "pos_att_type": None, "position_biased_input": True},
        (*POST, "products"),
    ),
    ("Dinov2Model", {"use_swiglu_ffn": True, "num_channels": 1}, ("input", "norm_attention", "project")),
    ("DINOv3ViTModel", {"num_channels": 1}, MODERN),
    ("BeitModel", {"num_channels": 1}, ("input", "norm_attention", "project", "products", "scale", "bias")),
]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("architecture", "changed", "first_steps"), one_of_each(FAMILIES))
def test_every_step_is_what_encoders_of_other_families_did(architecture, changed, first_steps, tmp_path):
    build(tmp_path, architecture, **changed)
    encoder = load(tmp_path)
    config = encoder.config
    model_input = "the film is not bad at all" if config.is_text else an_input(config)
    for layer in (1, 2):
        steps = steps_of(encoder, model_input, layer=layer, head=config.n_heads - 1)
        assert steps.order[: len(first_steps)] == first_steps
        attention = steps.attention
        assert_close(sum(attention.terms.values(), attention.scaled), attention.scores)
        # float32, of numbers that a few dozen products add up to
        compared = (attention.scores, steps.resid_post, steps.feed_forward.hidden)
        largest = max(np.abs(values).max() for values in compared)
        assert max(steps.differences.values()) < 1e-5 * max(largest, 1)
        unseen = {"input", "mask"}
        if config.norm_placement == "post":
            unseen |= {"add_attention", "add_feed_forward"}
        if config.has_distance_bias:  # the encoder keeps scores with their bias alone
            unseen |= {"products", "scale"}
        assert set(steps.order) - set(steps.differences) == unseen


def test_where_there_is_no_first_norm_the_step_is_left_out(tmp_path):
    build(tmp_path, "ModernBertModel")
    encoder = load(tmp_path)
    first, second = (steps_of(encoder, "the film is bad", layer=layer) for layer in (0, 1))
    assert first.norm_attention is None
    assert [step for step in second.order if step not in first.order] == ["norm_attention"]
    np.testing.assert_array_equal(first.attention.sublayer_input, first.x)
    assert max(first.differences.values()) < 1e-5
    assert not second.norm_attention.has_shift


def test_what_lies_between_is_kept_for_all_positions_and_read_only(digit_loaded, image):
    seen = unrecorded_activations(digit_loaded, image, 1)
    assert {name: values.shape for name, values in seen.items()} == {
        "attention_in": (5, 8),
        "attention_out": (5, 8),
        "feed_forward_in": (5, 8),
        "feed_forward.hidden": (5, 16),
        "feed_forward_out": (5, 8),
    }
    assert not any(values.flags.writeable for values in seen.values())
    # pre-LN: what attention adds is the difference of two states of the stream
    residual = capture(digit_loaded, image).residual
    apart = rounding(4, np.abs(residual).max())
    np.testing.assert_allclose(seen["attention_out"], residual[3] - residual[2], atol=apart)


def assert_close(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


# What the steps say of themselves


def test_the_strongest_keys_by_hand():
    four = dict.fromkeys(("k", "v", "products"), np.zeros((4, 2))) | {
        "dots": np.zeros(4),
        "scaled": np.zeros(4),
        "exponentials": np.zeros(4),
    }
    steps = replace(
        by_hand("pre").attention,
        **four,
        scores=np.array([1.0, 9.0, 3.0, 2.0]),
        mask=np.array([True, False, True, True]),
        pattern=np.array([0.25, 0.0, 0.5, 0.25]),
        weighted=np.array([[1.0, 2.0], [0.0, 0.0], [4.0, -1.0], [0.5, 8.0]]),
    )
    assert steps.largest_score == 3
    np.testing.assert_array_equal(steps.allowed(steps.scores), [1, np.nan, 3, 2])
    assert steps.strongest(2) == [2, 0]  # of equal weights the first key
    assert steps.strongest(9) == [2, 0, 3, 1]
    assert steps.share((2, 3)) == 0.75
    together, share = steps.remaining((2,))
    assert (together.tolist(), share) == ([1.5, 10.0], 0.5)
    assert replace(steps, mask=np.zeros(4, bool)).largest_score == -math.inf


def test_the_strongest_hidden_units_by_hand():
    steps = replace(
        by_hand("pre").feed_forward,
        before=np.array([-1.0, 0.0, 2.0, 3.0]),
        activated=np.zeros(4),
        hidden=np.array([-3.0, 0.0, 1.0, 4.0]),
        by_unit=np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 6.0], [1.0, 1.0]]),
    )
    assert steps.n_positive == 2
    assert steps.sum_over_units.tolist() == [4, 11]
    assert steps.strongest(2) == [3, 0]
    assert steps.largest_contributions(2) == [2, 0]  # of lengths 5, 0, 6 and √2
    assert steps.share((3, 0)) == 7 / 8
    assert replace(steps, hidden=np.zeros(4)).share((0,)) == 0
