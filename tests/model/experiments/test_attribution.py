from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.experiments import attribution as module
from model.experiments.attribution import OnPath, gradient_times_input, integrate, integrated_gradients
from model.experiments.knock_out import removable_positions
from model.hooks import watch
from model.inputs import digits, prepare
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface.folders import build
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
        for place, weight in zip(points.tolist(), weights.tolist(), strict=True):
            point = (baseline + (place + 1) / 2 * (content - baseline)).requires_grad_()
            with watch(model, {"embedding.content": lambda _, point=point: point}):
                probability = model(inputs).softmax(dim=-1)[0, number]
            (probability / (1 - probability)).log().backward()
            total += weight / 2 * point.grad
        return ((content - baseline) * total).sum(dim=-1)[0].numpy()
    finally:
        model.float()


@encoders
def test_against_a_loop_over_interpolated_content(loaded: Loaded, given_input: object) -> None:
    attributed = integrated_gradients(loaded, given_input, 1)
    # at kinks the errors of positions may cancel in their sum, by which the path is refined
    atol = 1e-3 if loaded.config.pooling == "max" else 1e-4
    np.testing.assert_allclose(attributed.values, by_loop(loaded, given_input, 1), atol=atol)
    assert attributed.is_complete


@encoders
def test_the_output_is_the_log_odds_of_the_prediction(loaded: Loaded, given_input: object) -> None:
    p = capture(loaded, given_input).probabilities.astype(float)
    expected = np.log(p.max() / (1 - p.max()))
    for attributed in (
        gradient_times_input(loaded, given_input),
        integrated_gradients(loaded, given_input),
    ):
        assert attributed.output == pytest.approx(expected, abs=1e-5)


def linear(alphas: np.ndarray) -> OnPath:
    """F(x) = 3 x_0 - 2 x_1 + 5 from the baseline (1, 1) to the input (2, 5): 6 at first, 1 at the end."""
    return OnPath(6 - 5 * alphas, np.tile([3.0, -8.0], (len(alphas), 1)))


def test_of_a_linear_function_it_is_the_gradient_times_input_minus_baseline() -> None:
    attributed = integrate(linear)
    np.testing.assert_allclose(attributed.values, [3, -8], rtol=1e-12)
    assert (attributed.output, attributed.baseline_output) == (1, 6)
    assert attributed.gap < 1e-12
    assert attributed.is_complete


def test_of_a_product_each_factor_has_half() -> None:
    """F = x y at (2, 3) from zeros: ∂F/∂x · x = α 3 · 2, with the integral 3, and so for y."""
    attributed = integrate(lambda alphas: OnPath(6 * alphas**2, 6 * alphas[:, None] * np.ones(2)))
    np.testing.assert_allclose(attributed.values, [3, 3], rtol=1e-12)


def test_a_steep_place_is_refined() -> None:
    """F = tanh(200 (α - 0.3)): all of its change is in a hundredth of the path."""

    def steep(alphas: np.ndarray) -> OnPath:
        inner = 200 * (alphas - 0.3)
        return OnPath(np.tanh(inner), 200 / np.cosh(inner)[:, None] ** 2)

    attributed = integrate(steep)
    assert attributed.is_complete
    assert attributed.total == pytest.approx(2, abs=1e-3)
    assert 32 < attributed.n_gradients < module.MOST_GRADIENTS


def test_what_stays_incomplete_says_so() -> None:
    """The products leave out a half: no number of points makes their integral the difference."""
    attributed = integrate(lambda alphas: OnPath(alphas, np.full((len(alphas), 1), 0.5)))
    assert (attributed.total, attributed.difference) == pytest.approx((0.5, 1))
    assert not attributed.is_complete
    assert attributed.n_gradients <= module.MOST_GRADIENTS


def test_gradient_times_input_is_the_slope_at_the_input() -> None:
    """Content of one token a little longer and shorter: half the difference of the outputs."""
    loaded, text, step = tiny.ENCODERS["text pre"][0], tiny.ENCODERS["text pre"][1], 1e-2
    inputs = prepare(loaded, text)[0]
    number = int(loaded.model(inputs).argmax())
    attributed = gradient_times_input(loaded, text)

    def output(position: int, share: float) -> float:
        def scaled(content: torch.Tensor) -> torch.Tensor:
            content = content.clone()
            content[:, position] *= share
            return content

        with watch(loaded.model, {"embedding.content": scaled}), torch.no_grad():
            p = loaded.model(inputs).double().softmax(dim=-1)[0, number]
        return float((p / (1 - p)).log())

    for position in range(1, len(attributed.values)):
        slope = (output(position, 1 + step) - output(position, 1 - step)) / (2 * step)
        assert attributed.values[position] == pytest.approx(slope, abs=2e-3)


def test_positions_that_cannot_be_knocked_out_have_no_share() -> None:
    text = integrated_gradients(tiny.loaded(tiny.TEXT), "not great [PAD]")
    assert np.flatnonzero(text.values == 0).tolist() == [0, 3]  # class token and padding
    assert integrated_gradients(tiny.loaded(tiny.DIGIT), np.full((8, 8), 99, np.uint8)).values[0] == 0


@pytest.mark.parametrize("name", ["imdb-pre-ln", "mnist-post-ln"])
def test_shipped_encoders_are_complete(name: str) -> None:
    loaded = load(Path("checkpoints") / name)
    attributed = integrated_gradients(loaded, SENTENCE if loaded.config.is_text else digits.examples()[0][0])
    assert attributed.gap <= 1e-3 * max(1, abs(attributed.difference))
    assert attributed.is_complete


def test_an_encoder_of_another_family(tmp_path: Path) -> None:
    build(tmp_path, "BertForSequenceClassification")
    loaded, text = load(tmp_path), "the film is not bad at all ."
    attributed = integrated_gradients(loaded, text)
    assert attributed.is_complete
    np.testing.assert_allclose(attributed.values, by_loop(loaded, text), atol=1e-4)


def test_without_a_class_there_is_nothing_to_explain() -> None:
    headless = tiny.loaded(replace(tiny.TEXT, class_names=()))
    for method in (gradient_times_input, integrated_gradients):
        with pytest.raises(ValueError, match="tiny does not choose one of several classes"):
            method(headless, "not great")
        with pytest.raises(ValueError, match="classes 0 to 1, got 2"):
            method(tiny.loaded(tiny.TEXT), "not great", 2)
