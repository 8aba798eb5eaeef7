from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from model.capture import capture
from model.record import ForwardRecord
from model.record.from_arrays import from_arrays
from tests.model.tiny import DIGIT, TEXT, loaded
from tests.tolerance import rounding


@pytest.fixture(scope="module")
def record() -> ForwardRecord:
    return capture(loaded(TEXT), "a great film")


def test_probabilities_by_hand(record):
    changed = replace(record, logits=np.log(np.array([1, 3], np.float32)))
    np.testing.assert_allclose(changed.probabilities, [0.25, 0.75], rtol=rounding(16))


def test_probabilities_of_huge_logits_are_finite(record):
    changed = replace(record, logits=np.array([1e30, -1e30], np.float32))
    np.testing.assert_array_equal(changed.probabilities, [1, 0])


def test_stages_name_the_first_axis_of_the_residual(record):
    assert record.stages == ("embed", "L0 mid", "L0 post", "L1 mid", "L1 post")
    assert len(record.residual) == len(record.logits_by_layer) == len(record.stages)


def test_what_the_config_says_can_be_asked_of_the_record(record, image):
    assert (record.patch_grid, record.has_class_token) == (None, True)
    assert record.class_names == ("negative", "positive")
    assert record.has_classes
    digit = capture(loaded(replace(DIGIT, pooling="mean", n_positions=4)), image)
    assert (digit.patch_grid, digit.has_class_token) == ((2, 2), False)


def test_the_roles_of_the_positions_can_be_asked_for(record):
    assert record.roles == ("class", "word", "word", "word", "separator")
    assert record.positions_with_role("class", "separator") == (0, 4)
    assert record.positions_with_role("padding") == ()
    assert len(record) == 5


def test_positions_in_another_order(record):
    turned = record.in_order((0, 3, 2, 1, 4))
    assert turned.tokens == ("[CLS]", "film", "great", "a", "[SEP]")
    swapped = record.in_order((4, 1, 2, 3, 0))
    assert swapped.roles == ("separator", "word", "word", "word", "class")
    assert swapped.logits is record.logits


def test_a_record_cannot_be_changed(record):
    with pytest.raises(FrozenInstanceError):
        record.tokens = ()
    with pytest.raises(ValueError, match="read-only"):
        record.pattern[0] = 0


def test_it_says_on_one_line_what_it_is_of(record):
    certain = replace(record, logits=np.array([1e30, -1e30], np.float32))
    assert repr(certain) == (
        "ForwardRecord(5 tokens '[CLS] a great film [SEP]', 2 layers × 2 heads, 'negative' 100.0%)"
    )
    long = from_arrays(np.full((1, 2, 900, 3), 1 / 3), ["line\nbreak"] * 900, keys=["x", "y", "z"])
    assert repr(long).startswith("AttentionRecord(900 tokens 'line\\nbreak line\\nbreak ")
    assert repr(long).endswith("…', keys of 3 tokens 'x y z', 1 layer × 2 heads)")
    assert len(repr(long)) < 200
    assert "\n" not in repr(long)


def test_a_notebook_shows_it_as_a_table_in_which_tokens_are_text(record):
    html = replace(record, tokens=("<b>", *record.tokens[1:]))._repr_html_()
    assert "&lt;b&gt; a great film" in html
    assert "<b>" not in html
    assert "residual [5, 5, 8]" in html
