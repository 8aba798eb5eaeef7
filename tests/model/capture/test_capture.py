import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from torch import Tensor

from model.capture import BY_LAYER, capture, copy_by_pieces, evaluation_mode, to_cpu
from model.capture.intervention import Intervention, MaskChoice, masked
from model.config import preset
from model.hooks import watch
from model.inputs import prepare
from model.inputs.digits import to_input
from model.masks import causal, local_window, patch_window
from model.record import ForwardRecord
from tests.model import tiny
from tests.model.tiny import CLOSE, DIGIT, SENTENCE, TEXT, an_input
from tests.tolerance import rounding

MASKS = ("none", "causal", "window", "by key", "by layer and head", "empty row", "padding")
PIECE = 8


def a_mask(kind: str, config, n: int) -> torch.Tensor | None:
    random = torch.Generator().manual_seed(2)
    if kind == "causal":
        return causal(n)
    if kind == "window":
        near = None if config.is_text else patch_window(config.patch_grid, 1, config.n_before_patches)
        return local_window(n, 2) if near is None else near
    if kind == "by key":
        return (torch.arange(n) % 3 > 0)[None]
    if kind == "by layer and head":
        return torch.rand(config.n_layers, config.n_heads, n, n, generator=random) < 0.5
    if kind == "empty row":
        mask = torch.ones(n, n, dtype=torch.bool)
        mask[1] = False
        return mask
    return None


def under(mask: torch.Tensor | None, config, n: int) -> Intervention:
    """An intervention that forbids, in each head of each layer, the cells that `mask` forbids there."""
    if mask is None:
        return Intervention()
    whole = mask.expand(config.n_layers, config.n_heads, n, n)
    choices = (
        MaskChoice(
            kind="cells",
            cells=tuple(map(tuple, (~head).nonzero().tolist())),
            layers=(layer,),
            heads=(number,),
        )
        for layer, heads in enumerate(whole)
        for number, head in enumerate(heads)
    )
    return sum(map(masked, choices), Intervention())


def softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Over the allowed keys alone, in float64; a row without any is all zeros."""
    weights = np.where(mask, np.exp(scores.astype(float)), 0)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1)


def assert_same(one: ForwardRecord, other: ForwardRecord) -> None:
    """Bit for bit."""
    for field in fields(ForwardRecord):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", MASKS)
def test_what_a_record_says_of_itself_holds(encoder, kind):
    config, model_input = encoder.config, an_input(encoder.config)
    n = len(encoder.tokenizer.encode(SENTENCE)) if config.is_text else config.n_positions
    if kind == "padding" and config.padding_id is not None:
        encoder, n = replace(encoder, tokenizer=tiny.tokenizer(config.n_positions)), n + 3
        encoder.tokenizer.enable_padding(length=n)
    mask = a_mask(kind, config, n)
    record = capture(encoder, model_input, under(mask, config, n))

    with torch.inference_mode():
        inputs = (
            torch.tensor([encoder.tokenizer.encode(model_input).ids])
            if config.is_text
            else to_input(model_input[None], config)
        )
        computed = encoder.model(inputs, mask)[0]
    if record.has_classes:
        np.testing.assert_array_equal(computed, record.logits)
    else:
        assert record.logits.shape == (0,)
        np.testing.assert_allclose(computed, record.pooled, **CLOSE)
    np.testing.assert_allclose(record.logits_by_layer[-1], record.logits, atol=1e-5)

    allowed = np.ones(record.pattern.shape, bool) if mask is None else mask.numpy()
    if config.is_text and config.padding_id is not None:
        allowed = allowed & (inputs[0].numpy() != config.padding_id)
    np.testing.assert_array_equal(record.mask, np.broadcast_to(allowed, record.mask.shape))
    apart = rounding(2 * record.pattern.shape[-1] + 16)
    np.testing.assert_allclose(record.pattern, softmax(record.scores, record.mask), rtol=0, atol=apart)
    np.testing.assert_allclose(
        record.pattern.sum(axis=-1), record.mask.any(axis=-1).astype(float), rtol=0, atol=1e-5
    )
    assert not record.pattern[~record.mask].any()
    np.testing.assert_allclose(record.pattern @ record.v, record.z, **CLOSE)
    q_k = record.q @ record.k.swapaxes(-1, -2) / math.sqrt(config.d_k)
    np.testing.assert_allclose(record.scores, q_k, **CLOSE)


@pytest.mark.rest_is_slow
@torch.inference_mode()
def test_what_was_captured_recomputes_what_the_encoder_computed(encoder):
    """Layer by layer, from the residual stream and the weights, with the two placements written out."""
    config, model = encoder.config, encoder.model
    record = capture(encoder, an_input(config))
    pre = config.norm_placement == "pre"
    residual = torch.tensor(record.residual)[:, None]  # with the batch axis of the encoder
    for layer, block in enumerate(model.blocks):
        before, mid, after = residual[2 * layer : 2 * layer + 3]
        x = block.norm_attention(before) if pre else before
        for name, projection in (("q", block.attention.w_q), ("k", block.attention.w_k)):
            heads = torch.cat(projection(x).chunk(config.n_heads, dim=-1)).numpy()
            np.testing.assert_allclose(getattr(record, name)[layer], heads, **CLOSE)
        attended = block.attention.w_o(torch.cat(tuple(torch.tensor(record.z[layer])), dim=-1)[None])
        expected = before + attended if pre else block.norm_attention(before + attended)
        np.testing.assert_allclose(mid, expected, **CLOSE)
        fed = block.feed_forward(block.norm_feed_forward(mid) if pre else mid)
        expected = mid + fed if pre else block.norm_feed_forward(mid + fed)
        np.testing.assert_allclose(after, expected, **CLOSE)
    inputs, _ = prepare(encoder, an_input(config))
    for state, logits in zip(residual, record.logits_by_layer, strict=True):
        read = model.classify(model.final_norm(state), inputs)[0]
        np.testing.assert_allclose(read[: config.n_classes], logits, **CLOSE)
    np.testing.assert_allclose(model.pool(model.final_norm(residual[-1]), inputs)[0], record.pooled, **CLOSE)


def test_the_residual_of_post_ln_is_the_one_after_the_norm():
    encoder = tiny.loaded(replace(TEXT, norm_placement="post"))
    for block in encoder.model.blocks:
        for norm in (block.norm_attention, block.norm_feed_forward):
            torch.nn.init.ones_(norm.weight)
            torch.nn.init.zeros_(norm.bias)
    states = capture(encoder, SENTENCE).residual[1:]
    apart = rounding(4 * TEXT.d_model, np.abs(states).max())
    np.testing.assert_allclose(states.mean(axis=-1), 0, atol=apart)
    np.testing.assert_allclose(states.std(axis=-1), 1, atol=1e-3)


def test_arrays_are_float32_read_only_and_apart_from_each_other(text_loaded):
    record = capture(text_loaded, SENTENCE)
    for field in fields(ForwardRecord):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, field.name
            assert value.dtype == (bool if field.name == "mask" else np.float32), field.name
    again = capture(text_loaded, "film")
    assert not any(np.shares_memory(getattr(record, name), getattr(again, name)) for name in BY_LAYER)


def test_shapes(digit_loaded, image):
    record = capture(digit_loaded, image)  # two layers, two heads, d_k 3, d_v 5, 2 × 2 patches
    assert record.tokens == ("[CLS]", "r0c0", "r0c1", "r1c0", "r1c1")
    assert record.pattern.shape == record.scores.shape == record.mask.shape == (2, 2, 5, 5)
    assert record.q.shape == record.k.shape == (2, 2, 5, 3)
    assert record.v.shape == record.z.shape == (2, 2, 5, 5)
    assert record.residual.shape == (5, 5, 8)
    assert record.logits_by_layer.shape == (5, 10)
    assert (record.logits.shape, record.pooled.shape) == ((10,), (8,))


@pytest.mark.parametrize("config", [TEXT, DIGIT], ids=["text", "digit"])
def test_without_classes_a_record_has_no_logits_but_the_pooled_state(config):
    with_classes = tiny.loaded(config)
    encoder = tiny.loaded(replace(config, class_names=()))
    encoder.model.load_state_dict(with_classes.model.state_dict(), strict=False)
    record, other = (capture(loaded, an_input(config)) for loaded in (encoder, with_classes))
    assert (record.has_classes, other.has_classes) == (False, True)
    assert record.logits.shape == record.probabilities.shape == (0,)
    assert record.logits_by_layer.shape == (5, 0)
    np.testing.assert_array_equal(record.pooled, other.pooled)
    read = with_classes.model.classifier(torch.tensor(record.pooled)).detach()
    np.testing.assert_allclose(read, other.logits, **CLOSE)


def test_patches_have_no_class_token_where_they_are_pooled_otherwise(image):
    record = capture(tiny.loaded(replace(DIGIT, pooling="max", n_positions=4)), image)
    assert record.tokens == ("r0c0", "r0c1", "r1c0", "r1c1")


# Intervening


def test_a_watch_around_the_capture_intervenes_and_what_it_returns_is_kept(text_loaded):
    with watch(text_loaded.model, {"blocks.0.attention.pattern": torch.zeros_like}):
        record = capture(text_loaded, SENTENCE)
    assert not record.pattern[0].any()
    assert not record.z[0].any()
    assert record.pattern[1].any()
    assert not np.array_equal(record.logits, capture(text_loaded, SENTENCE).logits)


def test_a_watcher_may_return_a_view_of_what_it_was_given(text_loaded):
    name = "blocks.0.attention.scores"
    with watch(text_loaded.model, {name: lambda scores: scores.mT}):
        turned = capture(text_loaded, SENTENCE)
    with watch(text_loaded.model, {name: lambda scores: scores.mT.contiguous()}):
        copied = capture(text_loaded, SENTENCE)
    assert_same(turned, copied)
    np.testing.assert_array_equal(turned.scores[0], capture(text_loaded, SENTENCE).scores[0].swapaxes(-1, -2))


def test_what_a_watcher_saw_stays_what_it_was(text_loaded):
    name, seen = "blocks.0.attention.pattern", []

    def keep_and_replace(pattern):
        seen.append(pattern)
        return torch.zeros_like(pattern)

    with watch(text_loaded.model, {name: keep_and_replace}):
        capture(text_loaded, SENTENCE)
    np.testing.assert_array_equal(seen[0][0], capture(text_loaded, SENTENCE).pattern[0])


# The state of the encoder


@pytest.mark.parametrize("training", [True, False])
def test_the_mode_is_as_before_also_after_an_exception(training):
    encoder = tiny.loaded(replace(TEXT, dropout_embedding=0.5))
    calm = capture(encoder, SENTENCE)
    encoder.model.train(training)
    assert_same(capture(encoder, SENTENCE), calm)
    assert all(part.training == training for part in encoder.model.modules())
    with pytest.raises(ArithmeticError), watch(encoder.model, {"embedding.output": fail}):
        capture(encoder, SENTENCE)
    assert all(part.training == training for part in encoder.model.modules())


def fail(*_):
    raise ArithmeticError("from a watcher")


def test_a_model_in_evaluation_mode_is_not_touched(text_loaded, monkeypatch):
    monkeypatch.setattr(torch.nn.Module, "train", fail)
    with evaluation_mode(text_loaded.model):
        pass


def test_a_capture_leaves_no_gradient_and_nothing_watched(text_loaded):
    capture(text_loaded, SENTENCE)
    assert all(parameter.grad is None for parameter in text_loaded.model.parameters())
    with watch(text_loaded.model, {}):
        assert text_loaded.model(torch.tensor([[2, 3]])).requires_grad


def test_a_capture_that_missed_something_is_an_error():
    encoder = tiny.loaded(TEXT)
    encoder.model.blocks[1].attention.pattern.forward = lambda pattern: pattern
    with pytest.raises(RuntimeError, match=r"never seen: \['blocks\.1\.attention\.pattern'\]"):
        capture(encoder, SENTENCE)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["mnist-pre-ln", "imdb-post-ln"])
def test_sixteen_threads_capture_what_each_would_capture_alone(name):
    encoder = tiny.loaded(config := preset(name))
    random = np.random.default_rng(3)
    if config.is_text:
        inputs = [" ".join(random.choice(("great", "film", "not", "x"), 3 + index)) for index in range(16)]
    else:
        inputs = list(random.integers(0, 256, (16, 28, 28), dtype=np.uint8))
    alone = [capture(encoder, model_input) for model_input in inputs]
    together = threading.Barrier(16)

    def in_a_thread(model_input):
        together.wait(timeout=60)
        return capture(encoder, model_input)

    with ThreadPoolExecutor(16) as pool:
        for seen, expected in zip(pool.map(in_a_thread, inputs), alone, strict=True):
            assert_same(seen, expected)


# What users type and draw


def test_long_text_is_cut_to_the_positions_and_still_ends_with_its_separator(text_loaded):
    record = capture(text_loaded, "film " * 100)
    assert record.tokens == ("[CLS]", *["film"] * 10, "[SEP]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\0\x07\x1b[31m\ufeff",
        "🎬👩‍👩‍👧 Ça ّ 映画",
        "\ud83d alone \udfff",
        "a" * 5000,
        "[MASK] [CLS] [PAD]",
    ],
)
def test_any_text_can_be_captured(text_loaded, text):
    record = capture(text_loaded, text)
    assert record.tokens[0] == "[CLS]"
    assert record.tokens[-1] == "[SEP]"
    assert len(record.tokens) == record.pattern.shape[-1] <= 12
    assert np.isfinite(record.logits).all()


def test_images_of_another_size_are_brought_to_the_encoders(digit_loaded):
    wanted = capture(digit_loaded, np.full((8, 8), 255, np.uint8))
    assert_same(capture(digit_loaded, np.full((4, 4), 255, np.uint8)), wanted)


def test_input_of_the_wrong_kind_is_refused(text_loaded, digit_loaded, image):
    with pytest.raises(ValueError, match="tiny takes text, got a picture"):
        capture(text_loaded, image)
    with pytest.raises(ValueError, match="tiny takes pictures, got text"):
        capture(digit_loaded, "film")


@pytest.mark.parametrize(
    "wrong", [np.zeros((8, 8), np.float32), np.zeros((1, 8, 8), np.uint8), np.zeros((0, 8), np.uint8)]
)
def test_an_image_of_the_wrong_type_or_shape_is_refused(digit_loaded, wrong):
    with pytest.raises(ValueError, match=r"uint8 of \[height, width\] or \[height, width, 3\], got"):
        capture(digit_loaded, wrong)


class LateTransfers:
    """Transfers that fill their piece only when somebody waits for them; before that it holds 255."""

    def __init__(self) -> None:
        self.n_begun, self.n_waited_for = 0, 0

    def __call__(self, chunk: Tensor, piece: Tensor) -> Callable[[], None]:
        piece.fill_(255)
        self.n_begun += 1

        def wait() -> None:
            piece.copy_(chunk)
            self.n_waited_for += 1

        return wait


@pytest.mark.parametrize("n", [1, 3, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 3])
def test_every_byte_arrives_whatever_the_length(n):
    source = torch.arange(n, dtype=torch.uint8)
    target = np.full(n, 254, np.uint8)
    pieces = [torch.empty(PIECE, dtype=torch.uint8) for _ in range(2)]
    transfers = LateTransfers()
    copy_by_pieces(source, target, pieces, transfers)
    np.testing.assert_array_equal(target, np.arange(n))
    assert transfers.n_begun == transfers.n_waited_for == -(-n // PIECE)


def test_an_error_of_the_device_is_raised():
    def start_transfer(_chunk: Tensor, _piece: Tensor) -> Callable[[], None]:
        raise RuntimeError("the device is gone")

    piece = torch.empty(PIECE, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="the device is gone"):
        copy_by_pieces(piece, np.empty(PIECE, np.uint8), [piece, piece], start_transfer)


def test_what_lies_in_the_machines_memory_is_not_copied():
    values = torch.rand(2, 3)
    assert to_cpu(values).data_ptr() == values.data_ptr()
