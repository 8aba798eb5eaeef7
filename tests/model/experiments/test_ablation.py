from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

from model.capture import activations, capture
from model.capture.intervention import without_keys
from model.checkpoint import load
from model.experiments import batching
from model.experiments.ablation import ablate_heads, ablated, importance
from model.experiments.probabilities import probabilities
from model.experiments.pruning import greedy
from model.hooks import watch
from model.inputs import prepare
from model.loaded import Loaded
from model.measures.changes import class_changes, log_odds
from tests.model import tiny
from tests.model.experiments.known_heads import GIVEN_STREAM, answer_with, uniform_encoder
from tests.model.huggingface.folders import encoder
from tests.model.tiny import CLOSE, TEXT, changed_at, encoders

SENTENCE = "not great film a b"
TEXTS = [SENTENCE, "film", "great [PAD] film", "a b c", "great film [PAD]"]


def means_of(loaded: Loaded, seed: int = 1) -> np.ndarray:
    config = loaded.config
    shape = (config.n_layers, config.n_heads, config.d_v)
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def one_by_one(loaded: Loaded, given_input, means: np.ndarray | None) -> np.ndarray:
    """A whole forward for each head, with z replaced by a watcher of its own."""
    config = loaded.config
    result = []
    for layer in range(config.n_layers):
        for head in range(config.n_heads):
            replaced = changed_at((0, head), 0.0 if means is None else torch.tensor(means[layer, head]))
            result.append(answer_with(loaded, given_input, f"blocks.{layer}.attention.z", replaced))
    return np.stack(result).reshape(config.n_layers, config.n_heads, -1)


@pytest.mark.rest_is_slow
@encoders
@pytest.mark.parametrize("with_means", [False, True])
def test_each_head_is_as_in_a_forward_of_its_own(loaded, given_input, with_means, monkeypatch):
    means = means_of(loaded) if with_means else None
    expected = one_by_one(loaded, given_input, means)
    for numbers in (batching.NUMBERS_AT_ONCE, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        result = ablate_heads(loaded, [given_input], means if with_means else "zero")
        np.testing.assert_allclose(result[0], expected, **CLOSE)


def test_many_texts_with_padding_in_some(text_loaded, monkeypatch):
    expected = [one_by_one(text_loaded, text, None) for text in TEXTS]
    for numbers in (batching.NUMBERS_AT_ONCE, 700, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        result = ablate_heads(text_loaded, TEXTS)
        assert result.shape == (5, 2, 2, 2)
        np.testing.assert_allclose(result, expected, **CLOSE)


@pytest.mark.parametrize("means", [None, means_of(tiny.loaded(TEXT))], ids=["zero", "mean"])
def test_it_is_what_the_intervention_says(text_loaded, means):
    result = ablate_heads(text_loaded, TEXTS, "zero" if means is None else means)
    interventions = [ablated(heads=((layer, head),), means=means) for layer in range(2) for head in range(2)]
    expected = probabilities(text_loaded, TEXTS, interventions)
    np.testing.assert_allclose(result.reshape(5, 4, 2), expected, **CLOSE)


def test_by_hand_with_two_tokens():
    """One layer of two heads without norms or feed-forward: the stream is x + z_0 + z_1 + b, pooled by its mean."""
    loaded = uniform_encoder(n_heads=2)
    with torch.no_grad():
        loaded.model.blocks[0].attention.w_o.bias.copy_(torch.tensor([0.5, 0.0]))
    # q and k are zero, so each query takes the mean over both tokens: z_0 = 0.5, z_1 = 1.
    # Pooled: the mean of x is (0.5, 1), to which attention adds (0.5 + 0.5, 1).
    expected = {None: (1.5, 2.0), 0: (1.0, 2.0), 1: (1.5, 1.0)}
    with watch(loaded.model, GIVEN_STREAM):
        result = ablate_heads(loaded, ["a b"])
        clean = probabilities(loaded, ["a b"])[0, 0]
    for head, logits in expected.items():
        soft = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(clean if head is None else result[0, 0, head], soft, rtol=1e-5)


def test_what_is_replaced_around_it_is_replaced_here_too(text_loaded):
    """Also behind the ablated layer's attention, whatever the batch is."""
    halved = {"blocks.0.attention.z": lambda z: z / 2, "blocks.0.attention_out": lambda out: out + 1}
    with watch(text_loaded.model, halved):
        result = ablate_heads(text_loaded, [SENTENCE])[0]
        expected = one_by_one(text_loaded, SENTENCE, None)
    np.testing.assert_allclose(result, expected, **CLOSE)
    assert not np.allclose(result, ablate_heads(text_loaded, [SENTENCE])[0], **CLOSE)


def test_the_clean_attention_of_a_layer_runs_once(text_loaded):
    seen: dict[str, list[int]] = {"blocks.0.attention.scores": [], "blocks.1.attention.scores": []}
    with watch(text_loaded.model, {name: lambda x, n=name: seen[n].append(len(x)) for name in seen}):
        ablate_heads(text_loaded, [SENTENCE])
    assert seen == {"blocks.0.attention.scores": [1], "blocks.1.attention.scores": [2, 1]}


# Any set of them


def test_a_set_of_everything_is_done_together(text_loaded):
    chosen = ablated(
        heads=((0, 1), (1, 0), (1, 1), (0, 1)), layers=(1,), feed_forwards=(0,), positions=(2, 1)
    )
    names = ["blocks.0.attention.z", "blocks.1.attention.z", "blocks.1.attention_out"]
    names += ["blocks.0.feed_forward_out", "blocks.0.attention.pattern", "blocks.1.feed_forward_out"]
    seen = activations(text_loaded, [SENTENCE], names, intervention=chosen)
    clean = activations(text_loaded, [SENTENCE], names, intervention=without_keys(1, 2))
    z, z_before = seen["blocks.0.attention.z"][0], clean["blocks.0.attention.z"][0]
    torch.testing.assert_close(z[0], z_before[0])
    assert not z[1].any()
    assert z_before[1].any()
    assert not seen["blocks.1.attention.z"].any()
    b_o = text_loaded.model.blocks[1].attention.w_o.bias.detach()
    assert (seen["blocks.1.attention_out"] == b_o).all()
    assert not seen["blocks.0.feed_forward_out"].any()
    assert seen["blocks.1.feed_forward_out"].any()
    assert not seen["blocks.0.attention.pattern"][..., [1, 2]].any()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("means", [None, means_of(tiny.loaded(TEXT))], ids=["zero", "mean"])
def test_a_whole_layer_is_all_of_its_heads(placement, means):
    """The bias of W_O stays either way."""
    loaded = tiny.loaded(replace(TEXT, norm_placement=placement, final_norm=placement == "pre"))
    assert loaded.model.blocks[0].attention.w_o.bias.any()
    for layer in range(2):
        heads = ablated(heads=[(layer, 0), (layer, 1)], means=means)
        for whole in (ablated(layers=[layer], means=means), ablated([(layer, 1)], [layer], means=means)):
            result, expected = (capture(loaded, SENTENCE, changed).logits for changed in (whole, heads))
            np.testing.assert_array_equal(result, expected)


def test_heads_and_layers_at_their_means(text_loaded):
    means = means_of(text_loaded)
    names = ["blocks.0.attention.z", "blocks.1.attention.z", "blocks.1.attention_out"]
    chosen = ablated(heads=((0, 1),), layers=(1,), means=means)
    first, second, out = activations(text_loaded, [SENTENCE], names, intervention=chosen).values()
    clean = activations(text_loaded, [SENTENCE], names)["blocks.0.attention.z"]
    torch.testing.assert_close(first[:, 0], clean[:, 0])
    expected = torch.tensor(means)
    assert (first[0, 1] == expected[0, 1]).all()
    assert (second[0] == expected[1][:, None]).all()
    w_o = text_loaded.model.blocks[1].attention.w_o
    torch.testing.assert_close(out[0], w_o(expected[1].flatten()).detach().expand(7, -1))


def test_an_intervention_can_stand_in_a_key_and_says_where_it_begins(text_loaded):
    one = ablated(heads=((1, 0),), means=means_of(text_loaded))
    assert hash(one) == hash(ablated(heads=((1, 0),), means=means_of(text_loaded)))
    assert one.first_layer(text_loaded.config) == 1
    assert ablated(feed_forwards=(1,)).first_layer(text_loaded.config) == 1


def test_means_of_another_shape_are_refused(text_loaded):
    with pytest.raises(ValueError, match=r"\(2, 2, 4\)"):
        ablate_heads(text_loaded, [SENTENCE], np.zeros((2, 2, 5), np.float32))


def test_log_odds_do_not_end_where_a_probability_is_1_in_single_precision():
    """The encoder that comes with the project, its logits 60 times as large, as checked in double precision elsewhere."""
    loaded = load(Path("checkpoints/imdb-pre-ln"))
    with torch.no_grad():
        for parameter in loaded.model.classifier.parameters():
            parameter.mul_(60)
    record = capture(loaded, "A gripping film.")
    assert record.probabilities.max() == 1
    assert log_odds(record.logits, 1) == pytest.approx(203.18, abs=0.01)
    answers = ablate_heads(loaded, ["A gripping film."], answer="logits")[0]
    by_head = class_changes(record, answers, record.predicted_class)
    assert (by_head.min(), by_head[2, 1], by_head.max()) == pytest.approx((-56.3, -40.1, 24.9), abs=0.05)


@pytest.mark.parametrize("word", ["mean", "", "zeros"])
def test_another_word_than_zero_is_refused(text_loaded, word, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # types are checked in tests alone
    with pytest.raises(ValueError, match=f"'zero' or an array of means .* got '{word}'"):
        ablate_heads(text_loaded, [SENTENCE], word)
    with pytest.raises(ValueError, match=f"'zero' or an array of means .* got '{word}'"):
        next(greedy(text_loaded, [SENTENCE], [0], word))


def by_differences(loaded: Loaded, given_input, label: int | None) -> np.ndarray:
    """|dL/ds| at s = 1 of each head's z times s, from the loss a little above and below, in float64.

    z times 1 + ε is z + ε z, so the slope in ε is zᵀ ∂L/∂z.
    """
    config, step = loaded.config, 1e-4
    double = in_double(loaded)
    result = np.zeros((config.n_layers, config.n_heads))

    def loss(layer: int, head: int, scale: float) -> float:
        scaled = changed_at((0, head), lambda z: z * scale)
        with watch(double.model, {f"blocks.{layer}.attention.z": scaled}), torch.inference_mode():
            inputs = inputs_of(double, given_input)
            if not config.chooses_class:
                states = double.model.encode(inputs)
                return double.model.pool(states, inputs).norm().log().item()
            logits = double.model(inputs)[0]
            index = int(capture(loaded, given_input).logits.argmax()) if label is None else label
            return -logits.log_softmax(dim=-1)[index].item()

    for layer in range(config.n_layers):
        for head in range(config.n_heads):
            above, below = loss(layer, head, 1 + step), loss(layer, head, 1 - step)
            result[layer, head] = abs(above - below) / (2 * step)
    return result


def inputs_of(loaded: Loaded, given_input) -> torch.Tensor:
    inputs = prepare(loaded, given_input)[0]
    return inputs.double() if inputs.is_floating_point() else inputs


def in_double(loaded: Loaded) -> Loaded:
    return replace(loaded, model=deepcopy(loaded.model).double())


@pytest.mark.rest_is_slow
@encoders
@pytest.mark.parametrize("label", [None, 0, 1])
def test_it_is_the_slope_of_the_loss(loaded, given_input, label):
    result = importance(loaded, [given_input], None if label is None else [label])
    np.testing.assert_allclose(result[0], by_differences(loaded, given_input, label), rtol=1e-3, atol=1e-5)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["BertModel", "MPNetModel", "AlbertForSequenceClassification"])
def test_importance_in_imported_encoders(tmp_path, architecture):
    loaded = encoder(tmp_path, architecture)
    result = importance(loaded, [SENTENCE])
    np.testing.assert_allclose(result[0], by_differences(loaded, SENTENCE, None), rtol=1e-3, atol=1e-5)


def test_inputs_in_one_batch_do_not_mix(text_loaded, monkeypatch):
    labels = [0, 1, 1, 0, 1]
    alone = [importance(text_loaded, [text], [label])[0] for text, label in zip(TEXTS, labels, strict=True)]
    for numbers in (batching.NUMBERS_AT_ONCE, 1000, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        np.testing.assert_allclose(importance(text_loaded, TEXTS, labels), alone, rtol=1e-4, atol=1e-7)


def test_importance_by_hand_with_two_tokens():
    """p = mean of the stream = x̄ + z_0 + z_1, logits p; L = −ln softmax(p)_0, whose slope in p is softmax(p) − (1, 0)."""
    loaded = uniform_encoder(n_heads=2)
    with watch(loaded.model, GIVEN_STREAM):
        result = importance(loaded, ["a b"], [0])[0, 0]
    # uniform attention: z_0 = 0.5 and z_1 = 1 at both tokens; p = (0.5, 1) + (0.5, 1) = (1, 2)
    second = 1 / (1 + np.exp(-1))  # softmax(1, 2)_1
    # ∂L/∂z at each of the two tokens is half the slope in p, so the sum over both is the whole of it
    np.testing.assert_allclose(result, [0.5 * second, 1.0 * second], rtol=1e-5)


def test_no_gradient_is_left_on_the_encoder(text_loaded):
    with torch.inference_mode():  # as inside a page that measures more
        importance(text_loaded, [SENTENCE])
    assert all(parameter.grad is None for parameter in text_loaded.model.parameters())


def test_labels_must_be_classes_one_an_input(text_loaded):
    with pytest.raises(ValueError, match=r"0 to 1, got \[2\]"):
        importance(text_loaded, [SENTENCE], [2])
    with pytest.raises(ValueError, match="2 inputs need as many labels, got 1"):
        importance(text_loaded, [SENTENCE, SENTENCE], [1])
    without = tiny.loaded(replace(TEXT, class_names=()))
    with pytest.raises(ValueError, match="does not choose"):
        importance(without, [SENTENCE], [0])
