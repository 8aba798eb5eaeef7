"""What taking a head away changes in an answer, beside what the head adds to it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor

from model.capture import capture
from model.decompositions.answer_effects import AnswerEffects, answer_effects
from model.decompositions.answer_parts import answer_parts
from model.experiments.ablation import ablate_heads
from model.experiments.attribution import Similarity
from model.experiments.masked_word import MaskedWord
from model.inputs import prepare
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface import folders

SENTENCE, OTHER, MASKED = "great film not a x y", "not a film", "great [MASK] not"
Number = Callable[
    [Loaded, Tensor, Tensor], Tensor
]  # of an encoder, the states behind its final norm and its inputs


def without_head(loaded: Loaded, text: str, layer: int, head: int, number: Number) -> float:
    """The number with a plain forward hook that sets what W_O reads from the head to zero."""
    inputs, _ = prepare(loaded, text)
    w_o, n_heads = loaded.model.blocks[layer].attention.w_o, loaded.config.n_heads

    def zero(_module: torch.nn.Module, arguments: tuple[Tensor]) -> Tensor:
        z = arguments[0].clone()
        z.unflatten(-1, (n_heads, -1))[..., head, :] = 0
        return z

    hook = w_o.register_forward_pre_hook(zero)
    try:
        with torch.inference_mode():
            return float(number(loaded, loaded.model.encode(inputs), inputs))
    finally:
        hook.remove()


def logit_difference(loaded: Loaded, states: Tensor, inputs: Tensor) -> Tensor:
    (logits,) = loaded.model.classify(states, inputs)
    return logits[0] - logits[1]


def last_logit(loaded: Loaded, states: Tensor, inputs: Tensor) -> Tensor:
    return loaded.model.classify(states, inputs)[0, -1]


def masked_logit(loaded: Loaded, states: Tensor, _inputs: Tensor) -> Tensor:
    logits = loaded.model.predict_tokens(states[0, 2][None])[0]
    return logits[5] - logits.mean()


def cosine(loaded: Loaded, states: Tensor, inputs: Tensor, other: str = OTHER) -> Tensor:
    (pooled,) = loaded.model.pool(states, inputs)
    fixed = torch.tensor(capture(tiny.loaded(loaded.config), other).pooled)  # of an encoder without a hook
    return pooled @ fixed / (pooled.norm() * fixed.norm())


def cosine_with_itself(loaded: Loaded, states: Tensor, inputs: Tensor) -> Tensor:
    return cosine(loaded, states, inputs, SENTENCE)


def length(loaded: Loaded, states: Tensor, inputs: Tensor) -> Tensor:
    return loaded.model.pool(states, inputs)[0].norm()


WITHOUT_CLASSES = replace(tiny.TEXT, class_names=(), pooling="mean")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("config", "text", "answer", "number"),
    [
        (tiny.TEXT, SENTENCE, 0, logit_difference),
        (replace(tiny.TEXT, norm_placement="post", final_norm=False), SENTENCE, 0, logit_difference),
        (replace(tiny.TEXT, norm_placement="b2t", pooling="max"), SENTENCE, 0, logit_difference),
        (replace(tiny.TEXT, masked_token_output=True), MASKED, MaskedWord(2, token_id=5), masked_logit),
        (tiny.TEXT, SENTENCE, Similarity(OTHER), cosine),
        (WITHOUT_CLASSES, SENTENCE, Similarity(), cosine_with_itself),
        (WITHOUT_CLASSES, SENTENCE, None, length),
    ],
)
def test_of_each_kind_of_answer_as_a_forward_hook_measures(config, text, answer, number):
    check(tiny.loaded(config), text, answer, number)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "changed", [{"num_labels": 1}, {"num_labels": 3, "problem_type": "multi_label_classification"}]
)
def test_of_a_number_and_of_a_yes_or_no(changed, tmp_path):
    loaded = folders.encoder(tmp_path, "RobertaForSequenceClassification", **changed)
    check(loaded, folders.SENTENCE, changed["num_labels"] - 1, last_logit)


def check(loaded: Loaded, text: str, answer: object, number: Number) -> None:
    inputs, _ = prepare(loaded, text)
    with torch.inference_mode():
        before = float(number(loaded, loaded.model.encode(inputs), inputs))
    effects, parts = answer_effects(loaded, text, answer), answer_parts(loaded, text, answer)
    assert (effects.quantity, effects.recorded) == (parts.quantity, parts.recorded)
    assert effects.recorded == pytest.approx(before, abs=1e-5)
    heads = list(np.ndindex(loaded.config.n_layers, loaded.config.n_heads))
    assert list(zip(effects.frame["layer"], effects.frame["head"], strict=True)) == heads
    expected = [before - without_head(loaded, text, *name, number) for name in heads]
    np.testing.assert_allclose(effects.frame["effect"], expected, atol=2e-6)
    assert np.abs(expected).max() > 1e-5
    of_heads = parts.frame.query("kind == 'head'")
    assert effects.frame["part"].tolist() == of_heads["part"].tolist()
    assert effects.frame["value"].tolist() == of_heads["value"].tolist()


def test_of_a_picture_the_logit_less_the_mean_of_the_others(image):
    loaded = tiny.loaded(tiny.DIGIT)
    before = capture(loaded, image).logits
    after = ablate_heads(loaded, [image], answer="logits")[0]
    index = before.argmax()
    expected = [
        (one[index] - np.delete(one, index).mean()) for one in (before, *after.reshape(-1, len(before)))
    ]
    effects = answer_effects(loaded, image)
    np.testing.assert_allclose(effects.frame["effect"], expected[0] - np.array(expected[1:]), atol=2e-6)


def test_one_layer_by_hand():
    """A feed-forward of zeros adds nothing: what is left to change is the last norm, whose divisor is another one."""
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=1, pooling="mean"))
    block, model = loaded.model.blocks[0], loaded.model
    for parameter in block.feed_forward.contract.parameters():
        parameter.data.zero_()
    record = capture(loaded, SENTENCE)
    weight = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    direction = weight["classifier.weight"][1] - weight["classifier.weight"][0]

    def answer(x: np.ndarray) -> float:
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
        normed = (x - x.mean(axis=1, keepdims=True)) / deviation * weight["final_norm.weight"]
        return (normed + weight["final_norm.bias"]).mean(axis=0) @ direction

    x, d_v = record.residual[-1].astype(float), record.z.shape[-1]
    expected = []
    for head in range(2):
        columns = slice(d_v * head, d_v * (head + 1))
        written = record.z[0, head] @ weight["blocks.0.attention.w_o.weight"][:, columns].T
        expected.append(answer(x) - answer(x - written))
    effects = answer_effects(loaded, SENTENCE, 1)
    np.testing.assert_allclose(effects.frame["effect"], expected, atol=1e-6)
    assert (effects.spearman, effects.not_compared) == (None, "fewer than 3 heads")


def test_agreement_is_spearmans():
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=3))
    effects = answer_effects(loaded, SENTENCE)
    expected = spearmanr(effects.frame["value"], effects.frame["effect"]).statistic
    assert effects.n == 6
    assert effects.spearman == pytest.approx(expected, abs=1e-12)
    assert effects.not_compared is None


def invented(values: list[float], effects: list[float]) -> AnswerEffects:
    frame = pd.DataFrame({"value": values, "effect": effects})
    return AnswerEffects("a number", frame, 1.0)


def test_what_differs_by_rounding_is_tied():
    values, effects = [0.3, -2.0, 0.1, 0.5, 1.0], [0.2, 0.2 + 1e-9, -0.5, 0.1, 3.0]
    tied = spearmanr(values, np.round(effects, 6)).statistic
    assert invented(values, effects).spearman == pytest.approx(tied, abs=1e-12)
    assert tied != spearmanr(values, effects).statistic


@pytest.mark.parametrize(
    ("values", "effects", "reason"),
    [
        ([1.0, 2.0], [1.0, 2.0], "fewer than 3 heads"),
        ([1.0] * 3, [1.0, 2.0, 3.0], "all parts are equal"),
        ([1.0, 2.0, 3.0], [1.0, 1.0 + 1e-9, 1.0], "all effects are equal"),
        ([0.0] * 3, [0.0] * 3, "all parts are equal"),
    ],
)
def test_without_ranks_there_is_no_agreement(values, effects, reason):
    result = invented(values, effects)
    assert (result.spearman, result.not_compared) == (None, reason)


def test_the_share_that_is_done_rises_to_all_of_it():
    shares: list[float] = []
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=3))
    effects = answer_effects(loaded, SENTENCE, progress=shares.append)
    assert shares == sorted(set(shares))
    assert len(shares) > 1
    assert shares[-1] == 1
    pd.testing.assert_frame_equal(effects.frame, answer_effects(loaded, SENTENCE).frame)
