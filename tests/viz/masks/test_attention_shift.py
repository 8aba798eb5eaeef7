import numpy as np
import pytest

from viz.masks.attention_shift import attention_shift

TOKENS = ("[CLS]", "not", "film", "[SEP]")
BEFORE, AFTER = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.25, 0.0, 0.55, 0.2])
ALLOWED = np.array([True, False, True, True])


def rows(chart) -> list[dict]:
    return chart.frame.to_dict("records")


def test_keys_go_from_the_largest_loss_to_the_largest_gain():
    result = rows(attention_shift(BEFORE, AFTER, TOKENS, allowed=ALLOWED))
    assert [row["key"] for row in result] == ["1 not", "3 [SEP]", "0 [CLS]", "2 film"]
    assert result[0]["change"] == pytest.approx(-0.4)
    assert [row["end"] for row in result] == ["masked", "after", "after", "after"]


def test_of_many_keys_those_that_changed_most_are_shown():
    result = rows(attention_shift(BEFORE, AFTER, TOKENS, allowed=ALLOWED, at_most=2))
    assert [row["key"] for row in result] == ["1 not", "2 film"]


def test_lengths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(4,\), got after of \(3,\)"):
        attention_shift(BEFORE, AFTER[:3], TOKENS, allowed=ALLOWED)
