import math
from dataclasses import replace

import numpy as np
import pytest

from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.words import OverData
from app_pages.subject.answer import whole_answer
from model.capture import capture
from model.experiments.faithfulness import DeletionAreas, OtherAttention, Undecidable, Verdict
from tests.model import tiny

TEXT = whole_answer(capture(tiny.loaded(tiny.TEXT), "not great film"))
HEADLESS = whole_answer(capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "not great film"))
DIGIT = whole_answer(capture(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8)))


RANDOM = np.array([0.4, 0.5, 0.6])  # 0.5 ± 0.1: an area has to be above 0.7


def judged(
    spearman: float = 0.31,
    correlates: bool = False,
    deletes: bool = False,
    n: int = 24,
    untold: Undecidable | None = None,
) -> Verdict:
    deleted = DeletionAreas(0.9 if untold is None else 0.6, RANDOM)
    return Verdict(spearman, 0.2, -0.11, 0.64, n, correlates, 0.8 if deletes else 0.25, deleted, untold)


WITHOUT_CURVES = judged()._replace(area=None, deletion_areas=None)


def test_how_far_it_agrees_and_with_what():
    sentence = words.agreement_sentence(judged(), "keys", TEXT)
    assert sentence == (
        "Rank correlation with the effect of hiding each token (from every query): **0.31** over 24 tokens."
    )
    assert words.agreement_sentence(judged(-0.5), "grey", DIGIT).endswith(
        "(greyed): **−0.50** over 24 patches."
    )
    assert words.agreement_sentence(judged(math.nan, n=1), "mask", TEXT).endswith(
        "(behind [MASK]): cannot be computed over 1 token."
    )


def test_what_is_below_the_rule_is_not_rounded_up_to_it():
    assert "**0.4983**" in words.agreement_sentence(judged(0.4983), "keys", TEXT)
    assert "**0.50**" in words.agreement_sentence(judged(0.5), "keys", TEXT)
    assert "**0.50**" in words.agreement_sentence(judged(0.5033), "keys", TEXT)


@pytest.mark.parametrize(
    ("verdict", "reply"),
    [
        (
            judged(),
            "**No**: it does not clearly rank the tokens by how much the answer needs them (Spearman 0.31 over 24 tokens, below 0.5).",
        ),
        (judged(-0.4983), "(Spearman −0.50 over 24 tokens, below 0.5)."),
        (judged(0.4983), "(Spearman 0.4983 over 24 tokens, below 0.5)."),
        (judged(0.6, n=7), "(Spearman 0.60 over 7 tokens, but p = 0.2)."),
        (
            judged(0.8, True, True),
            "**Yes**: the tokens that it shows as strong are those without which it changes (Spearman 0.80 over 24 tokens; deletion area 0.800, random 0.500 ± 0.100).",
        ),
        (
            WITHOUT_CURVES,
            "Not decided yet: hiding more and more of the input, in the order of this map, takes a while. A button starts it.",
        ),
        (judged(math.nan), "**No**: it gives all tokens the same score."),
        (judged(math.nan, n=1), "There is nothing to rank."),
        (
            judged(0.8, True, False),
            "**No**: hiding first what it shows as strongest changes the answer no faster than hiding in random order "
            "(deletion area 0.250, random 0.500 ± 0.100).",
        ),
    ],
)
def test_what_follows(verdict, reply):
    sentence = words.conclusion_sentence(verdict, TEXT)
    assert sentence.startswith(f"Does this map show what “{TEXT.class_name}” hangs on? ")
    assert sentence.endswith(reply)


@pytest.mark.parametrize(
    ("untold", "reason"),
    [
        (Undecidable.TOO_FEW, "fewer than 5 patches are too few"),
        (Undecidable.TOO_EQUAL, "so many of its patches have the same effect"),
        (Undecidable.UNMOVED, "hiding any of its patches hardly moves the prediction"),
        (Undecidable.NO_SOONER, "no faster than hiding patches in random order"),
    ],
)
def test_where_the_perfect_map_fails_no_map_is_called_unreliable(untold, reason):
    for correlates in (True, False):
        sentence = words.conclusion_sentence(judged(1.0, correlates, True, untold=untold), DIGIT)
        assert "That **cannot be told** from this input: " in sentence
        assert reason in sentence
        assert "**No**" not in sentence


def test_without_classes_it_is_about_the_pooled_state():
    assert words.conclusion_sentence(judged(), HEADLESS).startswith(
        "Does this map show what the answer hangs on? **No**"
    )
    message = words.other_attention_sentence(OtherAttention(0.5, (0.1, 0.3)), HEADLESS)
    assert message.startswith(
        "If all heads attended evenly, the pooled state turns by a cosine distance of 0.5; with"
    )
    assert "cosine distance" in words.rule_markdown(HEADLESS)


def test_other_attention_by_hand():
    message = words.other_attention_sentence(OtherAttention(0.123, (0.1, 0.3)), TEXT)
    plain = message.replace("\u00a0", " ").replace("\u202f", "\u2009")
    assert plain == (
        "If all heads attended evenly, the prediction shifts by 12.3\u2009%; with their weights in a random order, by "
        "20.0 ± 14.1\u2009%."
    )


def test_how_sure_it_is():
    assert (
        words.uncertainty_text(judged())
        == "Spearman 0.310, p = 0.2, 95\u2009% interval −0.11 to 0.64, n = 24."
    )
    sure = judged()._replace(p=1 / 5000)
    assert "p ≤ 0.0002," in words.uncertainty_text(sure)
    assert words.uncertainty_text(judged()._replace(low=math.nan)).endswith("; too few for an interval.")
    assert words.uncertainty_text(judged(math.nan)) == ""


def test_the_areas():
    assert words.areas_sentence(WITHOUT_CURVES) == ""
    assert words.areas_sentence(judged(0.8, True, True)) == (
        "Area under the deletion curve 0.800; 10 random orders 0.500 ± 0.100: above 0.700. "
        "That of the perfect map, 0.900, is above it as well."
    )
    assert ": not above 0.700." in words.areas_sentence(judged(0.8, True, False))
    for area, comparison in ((0.70004, "above"), (0.69996, "not above")):
        sentence = words.areas_sentence(judged(0.8, True, True)._replace(area=area))
        assert f"deletion curve {area}; " in sentence
        assert f": {comparison} 0.70000." in sentence
    assert words.areas_sentence(judged(untold=Undecidable.NO_SOONER)).endswith(
        "0.600, is not above it either."
    )


def test_over_a_data_set_it_is_said_on_how_many_it_can_be_told():
    assert words.over_data_sentence(OverData(0.12, 140, 256, "films")) == (
        "Over a data set: this can be told on 140 of 256 films, and on 12\u2009% of those this map explains the answer."
    )
    assert (
        words.over_data_sentence(OverData(None, 0, 256, "films"))
        == "This cannot be told on any of 256 films."
    )


def test_the_rule_says_what_is_scored():
    assert "the weight that the class token" in words.rule_markdown(TEXT)
    mean = whole_answer(capture(tiny.loaded(replace(tiny.TEXT, pooling="mean")), "film"))
    assert "mean weight that all queries give it" in words.rule_markdown(mean)
