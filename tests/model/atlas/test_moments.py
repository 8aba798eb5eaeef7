import numpy as np
import pytest

from model.atlas.moments import CrossMoments, Moments
from model.measures.similarity import linear_cka

RNG = np.random.default_rng(0)


def test_mean_and_deviation_by_hand():
    moments = Moments()
    for values in ([1.0, 5.0], [2.0, 5.0], [6.0, 5.0]):
        moments.add(np.array(values))
    assert moments.spread.mean == pytest.approx([3, 5])
    assert moments.spread.sd == pytest.approx([np.sqrt((4 + 1 + 9) / 2), 0])


def test_a_spread_needs_two():
    moments = Moments()
    moments.add(np.ones(2))
    with pytest.raises(ValueError, match="two examples at least, got 1"):
        _ = moments.spread


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
