import math
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from model.masks import local_window
from model.theory import layer_types
from model.theory.layer_types import CONVOLUTIONAL, LAYER_TYPES, RECURRENT, RESTRICTED, SELF_ATTENTION
from model.transformer import masked_softmax

NAMES = [kind.name for kind in LAYER_TYPES]


def test_self_attention_of_two_positions_by_hand() -> None:
    """d = 1, x = (0, 2): the scores are (0, 0) and (0, 4)."""
    second = 2 * math.exp(4) / (1 + math.exp(4))
    found = layer_types.self_attention(torch.tensor([[0.0], [2.0]]))
    torch.testing.assert_close(found, torch.tensor([[1.0], [second]]))


def test_restricted_self_attention_of_three_positions_by_hand() -> None:
    """d = 1, x = (0, 0, ln 3), radius 1: the first query does not see the third."""
    ln3 = math.log(3)
    third = ln3 * math.exp(ln3 * ln3) / (1 + math.exp(ln3 * ln3))
    found = layer_types.restricted_self_attention(torch.tensor([[0.0], [0.0], [ln3]]), 1)
    torch.testing.assert_close(found, torch.tensor([[0.0], [ln3 / 3], [third]]))


@given(n=st.integers(1, 20), d=st.integers(1, 8), radius=st.integers(0, 25), seed=st.integers(0, 99))
def test_restricted_is_masked_self_attention(n: int, d: int, radius: int, seed: int) -> None:
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(seed))
    expected = masked_softmax(x @ x.T / math.sqrt(d), local_window(n, radius)) @ x
    torch.testing.assert_close(
        layer_types.restricted_self_attention(x, radius), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_keeps_the_shape(name: str) -> None:
    assert layer_types.layer_functions(6, radius=2, kernel=3)[name](torch.randn(10, 6)).shape == (10, 6)


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="kernel must be odd, got 4"):
        layer_types.layer_functions(6, radius=2, kernel=4)


def test_multiply_adds_by_hand() -> None:
    # n = 10, d = 6, r = 2 × 2 + 1 = 5, k = 3
    found = [layer_types.multiply_adds(name, 10, 6, radius=2, kernel=3) for name in NAMES]
    assert found == [10 * 10 * 6 + 10 * 10 * 6, 10 * 5 * 6 + 10 * 5 * 6, 10 * (36 + 36), 10 * 3 * 36]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [7, 40])
def test_multiply_adds_are_those_that_pytorch_counts(name: str, n: int) -> None:
    """Which also shows that restricted self-attention never multiplies n × n."""
    function = layer_types.layer_functions(6, radius=2, kernel=3)[name]
    with FlopCounterMode(display=False) as counter:
        function(torch.randn(n, 6))
    assert counter.get_total_flops() == 2 * layer_types.multiply_adds(name, n, 6, radius=2, kernel=3)


@pytest.mark.parametrize("kind", LAYER_TYPES, ids=NAMES)
def test_the_counted_exponent_is_the_stated_one(kind: layer_types.LayerType) -> None:
    lengths = (64, 128, 256, 512)
    counted = [layer_types.multiply_adds(kind.name, n, 32, radius=4, kernel=3) for n in lengths]
    assert layer_types.fit_power_law(lengths, counted).exponent == pytest.approx(kind.exponent)


def test_restricted_self_attention_keeps_no_n_by_n_weights() -> None:
    """At this length they would be 40 GB; the neighbourhoods are a view, and the weights 100,000 × 3."""
    x = torch.ones(100_000, 2)
    torch.testing.assert_close(layer_types.restricted_self_attention(x, 1), x)


def test_times_are_of_every_kind_and_length() -> None:
    shares = []
    times = layer_types.milliseconds((4, 8, 16), 6, radius=1, kernel=3, rounds=3, progress=shares.append)
    assert list(times) == NAMES == [SELF_ATTENTION, RESTRICTED, RECURRENT, CONVOLUTIONAL]
    assert all(values.shape == (3,) and (values > 0).all() for values in times.values())
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_a_time_is_the_median_of_the_runs_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock says in turn what seconds each run took: 100 to warm up, then 1, 9 and 2."""
    ticks = iter(np.cumsum([tick for took in (100, 1, 9, 2) for tick in 4 * [0.0, float(took)]]))
    monkeypatch.setattr(layer_types.time, "thread_time", lambda: float(next(ticks)))
    times = layer_types.milliseconds((4,), 6, radius=1, kernel=3, rounds=3, progress=lambda _: None)
    assert {name: values.tolist() for name, values in times.items()} == {name: [2000.0] for name in NAMES}


def test_all_work_is_on_the_thread_whose_time_is_taken() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert found == [1]


@given(
    exponent=st.floats(0.3, 3), factor=st.floats(1e-6, 1e3), first=st.integers(1, 100), n=st.integers(4, 12)
)
def test_a_power_law_is_found(exponent: float, factor: float, first: int, n: int) -> None:
    lengths = [first * 2**i for i in range(n)]
    values = factor * np.array(lengths, dtype=float) ** exponent
    fit = layer_types.fit_power_law(lengths, values)
    assert fit.exponent == pytest.approx(exponent)
    assert fit.lengths.tolist() == lengths[n // 2 :]
    np.testing.assert_allclose(fit.values, values[n // 2 :], rtol=1e-6)


def test_only_the_longer_half_is_fitted() -> None:
    """Fixed costs hold the shorter lengths up."""
    lengths = (1, 2, 4, 8, 16, 32)
    assert layer_types.fit_power_law(lengths, (50, 50, 50, 64, 256, 1024)).exponent == pytest.approx(2)


def test_least_squares_by_hand() -> None:
    """ln n = 0, 1, 2 and ln t = 0, 2, 3: the slope is sum(dx dy) / sum(dx²) = (5/3 + 4/3) / 2."""
    lengths = np.exp([-3, -2, -1, 0, 1, 2])
    fit = layer_types.fit_power_law(lengths, np.exp([9, 9, 9, 0, 2, 3]))
    assert fit.exponent == pytest.approx(1.5)
    # The line leaves -1/6, 1/3 and -1/6: sqrt((1/36 + 1/9 + 1/36) / (3 - 2) / 2), and sum(dx²) = 2.
    assert fit.error == pytest.approx(np.sqrt(1 / 12))
    assert np.isnan(layer_types.fit_power_law((1, 2, 4, 8), (1, 2, 4, 8)).error)


@pytest.mark.parametrize(
    ("values", "first"),
    [((1, 3, 5, 7), 2), ((3, 3, 3, 3), 1), ((3, 1, 3, 3), 4), ((3, 3, 3, 2), None), ((1, 1, 1, 3), 8)],
)
def test_from_where_on_one_is_above_the_other(values: tuple[int, ...], first: int | None) -> None:
    assert layer_types.crossing_length((1, 2, 4, 8), values, (2, 2, 2, 2)) == first
