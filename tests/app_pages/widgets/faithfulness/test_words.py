import math
from dataclasses import replace

import numpy as np
import pytest

from app_pages.widgets.faithfulness import words
from model.capture import capture
from model.measures.faithfulness import OtherAttention, Verdict
from tests.model import tiny

RECORD = capture(tiny.loaded(tiny.TEXT), "not great film")
HEADLESS = capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "not great film")
DIGIT = capture(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8))


def found(
    spearman: float = 0.31, correlates: bool = False, deletes: bool | None = None, n: int = 24
) -> Verdict:
    areas = (None, None, None) if deletes is None else (0.25, 0.5, 0.05)
    return Verdict(spearman, 0.2, -0.11, 0.64, n, correlates, *areas, deletes)


def test_how_far_it_agrees_and_with_what():
    said = words.agreement(found(), "keys", RECORD)
    assert said == "Agreement with token knock-out: Spearman **0.31** (24 tokens, masked out of the keys)."
    assert words.agreement(found(-0.5), "grey", DIGIT).endswith("Spearman **−0.50** (24 patches, greyed).")
    assert "cannot be computed (1 token, read as [MASK])" in words.agreement(
        found(math.nan, n=1), "mask", RECORD
    )


def test_what_is_below_the_rule_is_not_rounded_up_to_it():
    assert "**0.4983**" in words.agreement(found(0.4983), "keys", RECORD)
    assert "**0.50**" in words.agreement(found(0.5), "keys", RECORD)
    assert "**0.50**" in words.agreement(found(0.5033), "keys", RECORD)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (found(), "This map is **not a reliable explanation** of this prediction."),
        (
            found(0.8, True, True),
            "By the rule, this map **may be read as an explanation** of this prediction.",
        ),
        (found(0.8, True, None), "The deletion curve, which has to decide, is not computed yet."),
        (found(math.nan), "All scores, or all effects, are the same, so there is no order to compare."),
        (found(math.nan, n=1), "There is nothing to rank."),
    ],
)
def test_what_follows(verdict, expected):
    assert words.conclusion(verdict, RECORD) == expected


def test_a_map_that_correlates_and_is_not_missed_sooner_is_not_reliable():
    said = words.conclusion(found(0.8, True, False), DIGIT)
    assert said.startswith(
        "But removing the patches that it scores highest does not change the answer sooner than removing random ones."
    )
    assert said.endswith("**not a reliable explanation** of this prediction.")


def test_without_classes_it_is_about_the_pooled_state():
    assert words.conclusion(found(), HEADLESS).endswith("of this pooled state.")
    said = words.attention(OtherAttention(0.5, (0.1, 0.3)), HEADLESS)
    assert said.startswith("Cosine distance of the pooled state under uniform attention 0.5, permuted 0.2")
    assert "cosine similarity" in words.rule(HEADLESS)


def test_other_attention_by_hand():
    said = words.attention(OtherAttention(0.123, (0.1, 0.3)), RECORD)
    plain = said.replace("\u00a0", " ").replace("\u202f", "\u2009")
    assert plain == (
        "Total variation of the prediction under uniform attention 12.3\u2009%, permuted 20.0 ± 14.1\u2009%."
    )


def test_how_sure_it_is():
    assert words.uncertainty(found()) == "Spearman 0.310, p = 0.2, 95\u2009% interval −0.11 to 0.64, n = 24."
    sure = found()._replace(p=1 / 5000)
    assert "p < 0.0002," in words.uncertainty(sure)
    assert words.uncertainty(found()._replace(low=math.nan)).endswith("; too few for an interval.")
    assert words.uncertainty(found(math.nan)) == ""


def test_the_areas():
    assert words.areas(found()) == ""
    said = words.areas(found(0.8, True, True))
    assert said == "Area under the deletion curve 0.250; 10 random orders 0.500 ± 0.050: below 0.400."
    assert words.areas(found(0.8, True, False)).endswith(": not below 0.400.")


def test_the_rule_says_what_is_scored():
    assert "the weight that the class token" in words.rule(RECORD)
    mean = capture(tiny.loaded(replace(tiny.TEXT, pooling="mean")), "film")
    assert "mean weight that all queries give it" in words.rule(mean)
