import numpy as np
import pytest
from scipy.stats import binomtest

from model.measures.share_interval import wilson_interval


def test_wilson_s_interval():
    hits, n = np.array([0, 3, 15, 20]), np.array([20, 20, 30, 20])
    low, high = wilson_interval(hits, n)
    for index, (k, total) in enumerate(zip(hits.tolist(), n.tolist(), strict=True)):
        interval = binomtest(k, total).proportion_ci(0.95, "wilson")
        assert (low[index], high[index]) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_of_no_case_there_is_no_interval():
    assert np.isnan(wilson_interval(np.array([0]), np.array([0]))).all()
