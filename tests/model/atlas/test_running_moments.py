import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.atlas.running_moments import CrossMoments, Moments, from_arrays, merge, to_arrays
from model.experiments.residual_stream import linear_cka

RNG = np.random.default_rng(0)


def test_mean_and_deviation_by_hand():
    moments = Moments()
    for values in ([1.0, 5.0], [2.0, 5.0], [6.0, 5.0]):
        moments.add(np.array(values))
    assert moments.spread.mean == pytest.approx([3, 5])
    assert moments.spread.sd == pytest.approx([np.sqrt((4 + 1 + 9) / 2), 0])


def test_what_is_missing_is_left_out_number_by_number():
    moments = Moments.from_examples(np.array([[1.0, np.nan], [2.0, 4.0], [6.0, 8.0]]))
    assert moments.n.tolist() == [3, 2]
    assert moments.spread.mean == pytest.approx([3, 6])
    assert moments.spread.sd[1] == pytest.approx(np.sqrt(8))
    alone = Moments.from_examples(np.array([[1.0, np.nan], [2.0, 4.0]])).spread
    np.testing.assert_equal(alone.mean, [1.5, 4])
    np.testing.assert_equal(np.isnan(alone.sd), [False, True])


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=0, max_size=6), min_size=1, max_size=8).filter(
        lambda parts: sum(map(len, parts)) > 1
    ),
    st.randoms(),
)
def test_parts_in_any_order_come_to_the_whole(parts, random):
    whole = Moments.from_examples(np.array([value for part in parts for value in part])[:, None])
    random.shuffle(parts)
    merged = Moments()
    for part in parts:
        merged.merge(Moments.from_examples(np.array(part).reshape(-1, 1)))
    assert merged.n == whole.n
    assert merged.mean == pytest.approx(whole.mean, rel=1e-9, abs=1e-6)
    assert merged.spread.sd == pytest.approx(whole.spread.sd, rel=1e-6, abs=1e-6)


def test_far_from_zero_no_digit_is_lost():
    values = 1e8 + RNG.normal(size=1000)
    merged = Moments()
    for part in np.split(values, 10):
        merged.merge(Moments.from_examples(part[:, None]))
    assert merged.spread.sd == pytest.approx(values.std(ddof=1), rel=1e-6)


def test_by_name_they_survive_as_arrays():
    one, other = ({name: Moments.from_examples(RNG.normal(size=(4, 2, 3)))} for name in ("a/b", "c"))
    merge(one, other)
    result = from_arrays(to_arrays(one))
    assert list(result) == ["a/b", "c"]
    np.testing.assert_equal(result["c"].squares, other["c"].squares)


@pytest.mark.parametrize("far_off", [0.0, 1e4])
def test_cka_of_a_stream_is_that_of_all_states_together(far_off):
    first = RNG.normal(size=(3, 40, 6)) + far_off
    second = RNG.normal(size=(3, 40, 4)) + first[:, :, :4]
    moments = CrossMoments()
    for part in np.split(np.arange(40), [7, 8, 30]):
        moments.add(first[:, part], second[:, part])
    assert moments.n == 40
    assert moments.cka() == pytest.approx(np.diagonal(linear_cka(first, second)), rel=1e-9)


def test_cka_by_chance_is_the_mean_over_random_orders():
    first, second = RNG.normal(size=(1, 20, 5)), RNG.normal(size=(1, 20, 3)) ** 2
    moments = CrossMoments()
    moments.add(first, second)
    shuffled = [linear_cka(first, second[:, RNG.permutation(20)])[0, 0] for _ in range(3000)]
    of_the_mean = 5 * np.std(shuffled) / np.sqrt(3000)
    assert moments.by_chance()[0] == pytest.approx(np.mean(shuffled), abs=of_the_mean)


def test_where_all_states_are_one_there_is_no_cka():
    moments, one = CrossMoments(), np.full((1, 5, 3), 0.1, np.float32)
    for _ in range(3):
        moments.add(one, RNG.normal(size=(1, 5, 2)))
    assert np.isnan(moments.cka()).all()
    assert np.isnan(moments.by_chance()).all()
