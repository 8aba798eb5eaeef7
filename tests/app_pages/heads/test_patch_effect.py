from dataclasses import replace

import numpy as np
import pytest

from app_pages.heads import patch_effect
from app_pages.heads.patch_effect import Columns, Quantity, quantity
from app_pages.subject.answer import whole_answer
from model.capture import capture
from model.family_options import Family, Parts
from tests.model import tiny
from tests.model.tiny import TEXT

GROUPED = replace(TEXT, n_heads=4, family=Family(name="eurobert", parts=Parts(n_key_heads=2)))


def test_keys_that_heads_share_have_one_column():
    assert Columns.of(GROUPED, "q").names == ("H0", "H1", "H2", "H3", "FF")
    keys = Columns.of(GROUPED, "k")
    assert keys.names == ("H0–1", "H2–3", "FF")
    assert [keys.of_head(head) for head in range(4)] == [0, 0, 1, 1]
    assert keys.name(1, 2) == "L1 FF"
    assert "H0–1: heads that share their keys and values" in keys.sentence("keys k", "the second text")


def test_a_click_chooses_the_first_head_of_a_part_and_none_of_a_feed_forward(monkeypatch):
    taken: list[tuple[int, int]] = []
    monkeypatch.setattr(patch_effect, "take_head", lambda layer, head: taken.append((layer, head)))
    take = Columns.of(GROUPED, "v").take
    take({"layer": 1, "column": 1})
    take({"layer": 1, "column": 2})
    assert taken == [(1, 2)]


def test_the_largest_effect_is_named_with_its_digits_and_of_many_equal_ones_three():
    columns, signed = Columns(("H0", "H1", "FF"), 1), Quantity("a", True, ("falls", "rises"))
    small = np.array([[0.001, 0.0, -0.0000234]])
    assert signed.largest_sentence(small, columns).endswith(": L0 H0 (+0.00100).")
    equal = np.full((2, 3), 0.25)
    assert signed.largest_sentence(equal, columns).endswith(": L0 H0, L0 H1, L0 FF, … (+0.250).")
    distances = Quantity("a", False, ("as before", "furthest"))
    near = np.array([[0.0, 0.0, 9e-6]])
    assert distances.largest_sentence(near, columns).endswith(": L0 FF (9.00 × 10⁻⁶).")


@pytest.mark.parametrize("n_classes", [2, 0])
def test_what_is_measured_is_named_with_its_unit(n_classes):
    record = capture(tiny.loaded(replace(TEXT, class_names=TEXT.class_names[:n_classes])), "not great film")
    answer = whole_answer(record)
    change, share = quantity(answer, normalised=False), quantity(answer, normalised=True)
    assert (share.name, share.signed) == ("share of the way to the second answer", True)
    if n_classes:
        name = record.class_names[record.predicted_class]
        assert (change.name, change.signed) == (f"change of the log-odds of {name}, in nats", True)
    else:
        assert (change.name, change.signed) == ("pooled state (cosine distance)", False)
        assert share.end_names == ("away", "towards")
        assert "(cos(patched, other) − cos(clean, other)) / (1 − cos(clean, other))" in share.formula
