from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.experiments import attribution as module
from model.experiments.attribution import (
    Explained,
    PathPoints,
    Similarity,
    explained_answer,
    gradient_times_input,
    integrate_along_path,
    integrated_gradients,
    similarity_falls,
)
from model.experiments.knock_out import removable_positions
from model.experiments.masked_word import MaskedWord
from model.experiments.probabilities import probabilities
from model.hooks import watch
from model.inputs import digits, prepare
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface.folders import encoder
from tests.model.tiny import encoders

SENTENCE = "A warm, funny and beautifully acted film."
SMOOTH, KINKED = 48, 500  # points of the path; the maximum over positions makes kinks


def by_loop(loaded: Loaded, given_input: object, number: int | None = None) -> np.ndarray:
    """Integrated gradients by one Gauss-Legendre rule, point by point in double precision, with probabilities for the log-odds."""
    n = KINKED if loaded.config.pooling == "max" else SMOOTH
    points, weights = np.polynomial.legendre.leggauss(n)
    model = loaded.model.double()
    try:
        inputs, positions = prepare(loaded, given_input)
        inputs = inputs.double() if inputs.is_floating_point() else inputs
        content = model.embedding.look_up(inputs).detach()
        number = int(model(inputs).argmax()) if number is None else number
        baseline = content.clone()
        for position in removable_positions(positions):
            baseline[0, position] = 0
        total = torch.zeros_like(content)
        for abscissa, weight in zip(points.tolist(), weights.tolist(), strict=True):
            point = (baseline + (abscissa + 1) / 2 * (content - baseline)).requires_grad_()
            with watch(model, {"embedding.content": lambda _, point=point: point}):
                probability = model(inputs).softmax(dim=-1)[0, number]
            (probability / (1 - probability)).log().backward()
            total += weight / 2 * point.grad
        return ((content - baseline) * total).sum(dim=-1)[0].numpy()
    finally:
        model.float()


@pytest.mark.rest_is_slow
@encoders
def test_against_a_loop_over_interpolated_content(loaded, given_input):
    attributed = integrated_gradients(loaded, given_input, 1)
    # at kinks the errors of positions may cancel in their sum, by which the path is refined
    atol = 1e-3 if loaded.config.pooling == "max" else 1e-4
    np.testing.assert_allclose(attributed.values, by_loop(loaded, given_input, 1), atol=atol)
    assert attributed.is_complete


def linear(alphas: np.ndarray) -> PathPoints:
    """F(x) = 3 x_0 - 2 x_1 + 5 from the baseline (1, 1) to the input (2, 5): 6 at first, 1 at the end."""
    return PathPoints(6 - 5 * alphas, np.tile([3.0, -8.0], (len(alphas), 1)))


def test_of_a_linear_function_it_is_the_gradient_times_input_minus_baseline():
    attributed = integrate_along_path(linear)
    np.testing.assert_allclose(attributed.values, [3, -8], rtol=1e-12)
    assert (attributed.output, attributed.baseline_output) == (1, 6)
    assert attributed.gap < 1e-12
    assert attributed.is_complete


def test_of_a_product_each_factor_has_half():
    """F = x y at (2, 3) from zeros: ∂F/∂x · x = α 3 · 2, with the integral 3, and so for y."""
    attributed = integrate_along_path(
        lambda alphas: PathPoints(6 * alphas**2, 6 * alphas[:, None] * np.ones(2))
    )
    np.testing.assert_allclose(attributed.values, [3, 3], rtol=1e-12)


def test_a_steep_place_is_refined():
    """F = tanh(200 (α - 0.3)): all of its change is in a hundredth of the path."""

    def steep(alphas: np.ndarray) -> PathPoints:
        inner = 200 * (alphas - 0.3)
        return PathPoints(np.tanh(inner), 200 / np.cosh(inner)[:, None] ** 2)

    attributed = integrate_along_path(steep)
    assert attributed.is_complete
    assert attributed.total == pytest.approx(2, abs=1e-3)
    assert 32 < attributed.n_gradients < module.MOST_GRADIENTS


def test_what_stays_incomplete_says_so():
    """The products leave out a half: no number of points makes their integral the difference."""
    attributed = integrate_along_path(lambda alphas: PathPoints(alphas, np.full((len(alphas), 1), 0.5)))
    assert (attributed.total, attributed.difference) == pytest.approx((0.5, 1))
    assert not attributed.is_complete
    assert attributed.n_gradients <= module.MOST_GRADIENTS


def test_positions_that_cannot_be_knocked_out_have_no_share():
    text = integrated_gradients(tiny.loaded(tiny.TEXT), "not great [PAD]")
    assert np.flatnonzero(text.values == 0).tolist() == [0, 3]  # class token and padding
    assert integrated_gradients(tiny.loaded(tiny.DIGIT), np.full((8, 8), 99, np.uint8)).values[0] == 0


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["imdb-pre-ln", "mnist-post-ln"])
def test_shipped_encoders_are_complete(name):
    loaded = load(Path("checkpoints") / name)
    attributed = integrated_gradients(loaded, SENTENCE if loaded.config.is_text else digits.examples()[0][0])
    assert attributed.gap <= 1e-3 * max(1, abs(attributed.difference))
    assert attributed.is_complete


def test_an_encoder_of_another_family(tmp_path):
    loaded, text = encoder(tmp_path, "BertForSequenceClassification"), "the film is not bad at all ."
    attributed = integrated_gradients(loaded, text)
    assert attributed.is_complete
    np.testing.assert_allclose(attributed.values, by_loop(loaded, text), atol=1e-4)


def test_without_a_class_there_is_no_log_odds_to_explain():
    headless = tiny.loaded(replace(tiny.TEXT, class_names=()))
    for method in (gradient_times_input, integrated_gradients):
        with pytest.raises(ValueError, match="tiny does not choose one of several classes"):
            method(headless, "not great", 0)
        with pytest.raises(ValueError, match="classes 0 to 1, got 2"):
            method(tiny.loaded(tiny.TEXT), "not great", 2)


# Of a masked word, and of a similarity

MASKED, OTHER = "great film [MASK] a b", "not a film"
POST = {"norm_placement": "post", "final_norm": False}
FILLING = {
    placement: tiny.loaded(replace(tiny.TEXT, masked_token_output=True, class_names=(), **options))
    for placement, options in (("pre", {}), ("post", POST))
}
ANSWERS = {"word": MaskedWord(3, 7), "other": Similarity(OTHER), "own": Similarity()}


def output_in_double(loaded: Loaded, text: str, answer: MaskedWord | Similarity):
    """F as a function of the content [position, d_model], in float64, written anew; and the content and the baseline."""
    model = deepcopy(loaded.model).double()
    inputs, positions = prepare(loaded, text)
    content = model.embedding.look_up(inputs)[0].detach()
    baseline = content.clone()
    for position, role in enumerate(positions.roles):
        is_answer = isinstance(answer, MaskedWord) and position == answer.position
        if role not in ("class", "padding") and not is_answer:
            baseline[position] = 0
    other = text if isinstance(answer, MaskedWord) or answer.other is None else answer.other
    other_ids = prepare(loaded, other)[0]
    with torch.no_grad():
        target = model.pool(model.encode(other_ids), other_ids)[0]

    def output(content: torch.Tensor) -> torch.Tensor:
        with watch(model, {"embedding.content": lambda _: content[None]}):
            states = model.encode(inputs)
        if isinstance(answer, MaskedWord):
            logits = model.predict_tokens(states[:, answer.position])[0]
            return logits[answer.token_id] - logits.exp().sum().log()
        pooled = model.pool(states, inputs)[0]
        return pooled @ target / (pooled @ pooled).sqrt() / (target @ target).sqrt()

    return output, content, baseline


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("loaded", FILLING.values(), ids=FILLING)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_against_a_loop_of_automatic_differentiation_in_double_precision(loaded, answer):
    output, content, baseline = output_in_double(loaded, MASKED, answer)
    total = torch.zeros_like(content)
    points, weights = np.polynomial.legendre.leggauss(200)
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        total += weight * torch.autograd.functional.jacobian(output, baseline + point * (content - baseline))
    expected = ((content - baseline) * total).sum(dim=-1).numpy()
    attributed = integrated_gradients(loaded, MASKED, answer)
    np.testing.assert_allclose(attributed.values, expected, atol=2e-4)
    assert attributed.output == pytest.approx(float(output(content).detach()), abs=1e-5)
    assert attributed.baseline_output == pytest.approx(float(output(baseline).detach()), abs=1e-5)
    assert attributed.gap <= 1e-3
    assert attributed.is_complete


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("loaded", FILLING.values(), ids=FILLING)
@pytest.mark.parametrize("answer", [ANSWERS["word"], ANSWERS["other"]], ids=["word", "other"])
def test_gradient_times_input_against_finite_differences(loaded, answer):
    output, content, baseline = output_in_double(loaded, MASKED, answer)
    values = gradient_times_input(loaded, MASKED, answer).values
    step = 1e-5
    for position in range(len(values)):
        ways = torch.zeros_like(content)
        ways[position] = step * (content - baseline)[position]
        slope = float((output(content + ways) - output(content - ways)).detach()) / (2 * step)
        assert values[position] == pytest.approx(slope, abs=1e-4)


def by_hand(answer: Similarity, method) -> list[float]:
    """Of an encoder that only takes the mean of two contents: (1, 0, …) of [CLS], which stays, and (0, 1, 0, …) of a letter."""
    config = replace(tiny.TEXT, class_names=(), pooling="mean", final_norm=False, positions="learned")
    loaded = tiny.loaded(config)
    with torch.no_grad():
        for block in loaded.model.blocks:
            for layer in (block.attention.w_o, block.feed_forward.contract):
                layer.weight.zero_()
                layer.bias.zero_()
        loaded.model.embedding.position_table.zero_()
        loaded.model.embedding.tokens.weight.zero_()
        for token, component in (("[CLS]", 0), ("a", 1), ("[SEP]", 0)):
            loaded.model.embedding.tokens.weight[loaded.tokenizer.token_to_id(token), component] = 1
        loaded.model.embedding.tokens.weight[loaded.tokenizer.token_to_id("[SEP]")] = 0
    return method(loaded, "a", answer).values.tolist()


def test_the_similarity_of_a_mean_of_two_vectors_by_hand():
    """With the letter's content times α the pooled state points along (1, α): its cosine with (1, 1) is (1 + α) / sqrt(2 + 2 α²).

    From α = 0 to 1 it rises from 1 / sqrt(2) to 1, all of it by the letter.
    """
    own = by_hand(Similarity(), integrated_gradients)
    np.testing.assert_allclose(own, [0, 1 - 0.5**0.5, 0], atol=1e-5)


def test_the_gradient_of_a_similarity_by_hand():
    """The other text "a a" is pooled to (1, 2): the cosine (1 + 2 α) / sqrt(5 (1 + α²)) has the slope 1 / sqrt(40) at 1."""
    slope = by_hand(Similarity("a a"), gradient_times_input)
    np.testing.assert_allclose(slope, [0, 40**-0.5, 0], atol=1e-6)


def test_the_masked_position_keeps_its_content():
    values = integrated_gradients(FILLING["pre"], MASKED, ANSWERS["word"]).values
    assert np.flatnonzero(values == 0).tolist() == [0, 3]  # class token and [MASK]


def test_the_gradient_of_the_own_similarity_is_refused():
    for answer in (None, Similarity()):
        with pytest.raises(ValueError, match="its gradient is 0: compare with another input"):
            gradient_times_input(FILLING["pre"], MASKED, answer)


def test_what_is_allowed_is_a_thousandth_of_the_difference_or_of_the_least_one():
    of_nats, of_cosines = (
        integrate_along_path(lambda alphas: PathPoints(alphas / 50, np.full((len(alphas), 1), 0.02)), least)
        for least in (1.0, 0.1)
    )
    assert (of_nats.allowed, of_cosines.allowed) == pytest.approx((1e-3, 1e-4))
    assert integrate_along_path(linear).allowed == pytest.approx(5e-3)
    assert integrated_gradients(FILLING["pre"], MASKED).least == 0.1
    assert integrated_gradients(FILLING["pre"], MASKED, ANSWERS["word"]).least == 1


@pytest.mark.parametrize(("baseline", "token"), [("mask", "[MASK]"), ("padding", "[PAD]")])
def test_a_baseline_of_tokens_is_the_answer_to_a_text_of_them(baseline, token):
    loaded = tiny.loaded(replace(tiny.TEXT, padding_id=None) if baseline == "mask" else tiny.TEXT)
    attributed = integrated_gradients(loaded, "great film", 1, baseline=baseline)
    inputs, positions = prepare(loaded, "great film")
    assert loaded.tokenizer is not None
    ids = inputs.clone()
    ids[:, list(removable_positions(positions))] = loaded.tokenizer.token_to_id(token)
    with torch.inference_mode(), watch(loaded.model, {"embedding.content": lambda _: content}):
        content = loaded.model.embedding.look_up(ids)
        logits = loaded.model(inputs)[0]
    assert attributed.baseline_output == pytest.approx(float(logits[1] - logits[0]), abs=1e-5)
    assert attributed.is_complete
    assert attributed.output == pytest.approx(integrated_gradients(loaded, "great film", 1).output, abs=1e-5)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("baseline", ["mask", "padding"])
def test_where_others_change_the_scale_of_content_a_baseline_keeps_special_tokens(baseline, tmp_path):
    """ESM-2 divides content by the share of tokens that are not masked: of nothing but masks, or of padding, there is none."""
    attributed = integrated_gradients(encoder(tmp_path, "EsmModel"), "L A G V", baseline=baseline)
    assert np.isfinite(attributed.values).all()
    assert attributed.is_complete
    assert attributed.values[1:-1].any()


def test_a_baseline_without_its_token_is_refused():
    with pytest.raises(ValueError, match="tiny has no token for the baseline 'mask'"):
        integrated_gradients(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8), baseline="mask")


def value(loaded: Loaded, text: str, answer: Explained) -> float:
    inputs, _ = prepare(loaded, text)
    with torch.no_grad():
        return float(explained_answer(loaded, text, answer)(loaded.model.encode(inputs), inputs))


def test_the_log_odds_are_of_the_class_or_of_the_predicted_one():
    loaded = tiny.loaded(tiny.TEXT)
    p = capture(loaded, "not great").probabilities.astype(float)
    for number in (0, 1):
        assert value(loaded, "not great", number) == pytest.approx(
            np.log(p[number] / p[1 - number]), abs=1e-5
        )
    assert value(loaded, "not great", None) == value(loaded, "not great", int(p.argmax()))


def test_the_masked_word_is_that_of_other_experiments():
    word = MaskedWord(3, 7)
    expected = probabilities(FILLING["pre"], [MASKED], answer=word)[0, 0, 0]
    assert value(FILLING["pre"], MASKED, word) == pytest.approx(float(expected), abs=1e-5)


def test_the_similarity_is_the_cosine_of_the_pooled_states():
    first, second = (capture(FILLING["pre"], text).pooled.astype(float) for text in (MASKED, OTHER))
    cosine = first @ second / np.sqrt((first @ first) * (second @ second))
    assert value(FILLING["pre"], MASKED, Similarity(OTHER)) == pytest.approx(cosine, abs=1e-6)
    assert value(FILLING["pre"], MASKED, Similarity()) == pytest.approx(1, abs=1e-6)
    assert value(FILLING["pre"], MASKED, None) == pytest.approx(1, abs=1e-6)


def test_answers_that_cannot_be_read_are_refused():
    with pytest.raises(ValueError, match=r"position 2 holds no \[MASK\]"):
        explained_answer(FILLING["pre"], MASKED, MaskedWord(2, 7))
    with pytest.raises(ValueError, match="tiny has no masked-token output"):
        explained_answer(tiny.loaded(tiny.TEXT), MASKED, MaskedWord(3, 7))
    with pytest.raises(ValueError, match="tiny takes text, got a picture"):
        explained_answer(FILLING["pre"], MASKED, Similarity(np.zeros((8, 8), np.uint8)))


def test_falls_of_a_similarity_by_hand():
    """With (1, 0): from the cosine 3/5 of (3, 4) to 1, 0 and -1."""
    states = np.array([[2.0, 0], [0, 1], [-1, 0]])
    falls = similarity_falls(np.array([3.0, 4]), states, np.array([1.0, 0]))
    np.testing.assert_allclose(falls, [-0.4, 0.6, 1.6])
