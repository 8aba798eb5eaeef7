import numpy as np
import pytest

from model.bare import from_arrays
from model.capture import capture
from model.measures.rows import odd_rows
from tests.model import tiny


@tiny.encoders
def test_the_rows_of_a_capture_sum_to_one(loaded, given_input) -> None:
    assert odd_rows(capture(loaded, given_input)) is None


def test_rows_that_do_not_are_counted_and_measured() -> None:
    pattern = np.array([[[[0.5, 0.5], [0.5, 0.25]], [[1.0, 1.0], [0.0, 1.0]]]])
    assert odd_rows(from_arrays(pattern, ("a", "b"))) == (2, 4, 0.75, 2.0)


def test_a_row_that_may_attend_to_nothing_is_no_odd_one() -> None:
    pattern = np.array([[[[0.0, 0.0], [0.5, 0.5]]]])
    mask = np.array([[[[False, False], [True, True]]]])
    assert odd_rows(from_arrays(pattern, ("a", "b"), mask=mask)) is None
    assert odd_rows(from_arrays(pattern, ("a", "b"))) == (1, 2, 0.0, 0.0)


def test_half_precision_is_rounding() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(512), (1, 1, 512)).astype(np.float16)
    assert odd_rows(from_arrays(pattern, [str(at) for at in range(512)])) is None
    assert odd_rows(
        from_arrays(pattern * np.float16(0.97), [str(at) for at in range(512)])
    ).most == pytest.approx(0.97, abs=0.01)
