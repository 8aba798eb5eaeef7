"""Whether a map is said to be an explanation: sentences against numbers."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.words import OverData
from app_pages.subject.answer import whole_answer
from model.capture import capture
from model.experiments.faithfulness import (
    DeletionAreas,
    OtherAttention,
    Undecidable,
    Verdict,
    undecidable_reason,
)
from tests.app_pages.sentences.turns import Row, row, table
from tests.model import tiny

TEXT = whole_answer(capture(tiny.loaded(tiny.TEXT), "not great film"))  # [CLS] not great film [SEP]


HEADLESS = whole_answer(capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "not great film"))


def judged(**changed: Any) -> Verdict:
    random = np.array([0.4, 0.5, 0.6])  # 0.5 ± 0.1: an area has to be above 0.7
    values: dict[str, Any] = {
        "spearman": 0.8,
        "p": 0.001,
        "low": 0.5,
        "high": 0.9,
        "n": 12,
        "correlates": True,
        "area": 0.9,
        "deletion_areas": DeletionAreas(0.95, random),
        "undecidable": None,
    }
    return Verdict(**values | changed)


TABLE: dict[str, list[Row]] = {
    "whether a map is an explanation": [
        row("it passes", lambda: words.conclusion_sentence(judged(), TEXT), "**Yes**"),
        row("one position", lambda: words.conclusion_sentence(judged(n=1), TEXT), "nothing to rank"),
        row(
            "it correlates, deletion fails",
            lambda: words.conclusion_sentence(judged(area=0.6), TEXT),
            "no faster than hiding in random order",
        ),
        row(
            "deletion at the bound",
            lambda: words.conclusion_sentence(judged(area=0.5), TEXT),
            "**No**",
        ),
        row(
            "too small a correlation",
            lambda: words.conclusion_sentence(judged(spearman=0.4996, correlates=False), TEXT),
            "Spearman 0.4996",
            "below 0.5",
            never=("Spearman 0.50 ",),
        ),
        row(
            "p too large",
            lambda: words.conclusion_sentence(judged(spearman=0.7, p=0.06, correlates=False), TEXT),
            "but p = 0.06",
        ),
        row(
            "another sign",
            lambda: words.conclusion_sentence(judged(spearman=-0.9, correlates=False), TEXT),
            "Spearman −0.90",
            "below 0.5",
        ),
        row(
            "all scores equal",
            lambda: words.conclusion_sentence(judged(spearman=math.nan, correlates=False), TEXT),
            "the same score",
        ),
        row(
            "too few",
            lambda: words.conclusion_sentence(judged(n=4, undecidable=Undecidable.TOO_FEW), TEXT),
            "cannot be told** from this input",
            "too few",
            never=("**No**",),
        ),
        row(
            "nothing moves the answer",
            lambda: words.conclusion_sentence(judged(undecidable=Undecidable.UNMOVED), HEADLESS),
            "hardly moves the pooled state",
        ),
        row(
            "curves are missing",
            lambda: words.conclusion_sentence(judged(area=None, deletion_areas=None), TEXT),
            "Not decided yet: hiding more and more of the input",
        ),
        row(
            "no correlation",
            lambda: words.agreement_sentence(judged(spearman=math.nan, n=1), "keys", TEXT),
            "cannot be computed over 1 token.",
        ),
        row("the smallest p", lambda: words.uncertainty_text(judged(p=1 / 10_000)), "p ≤"),
        row("no interval", lambda: words.uncertainty_text(judged(low=math.nan)), "too few for an interval"),
        row(
            "an area just above",
            lambda: words.areas_sentence(judged(area=0.70004)),
            "curve 0.70004",
            ": above 0.70000",
        ),
        row(
            "an area just below",
            lambda: words.areas_sentence(judged(area=0.69996)),
            "curve 0.69996",
            ": not above 0.70000",
        ),
        row(
            "the perfect map fails too",
            lambda: words.areas_sentence(
                judged(deletion_areas=DeletionAreas(0.6, np.array([0.4, 0.5, 0.6])))
            ),
            "0.600, is not above it either",
        ),
        row("no curves", lambda: f"[{words.areas_sentence(judged(area=None))}]", "[]"),
        row(
            "told on none",
            lambda: words.over_data_sentence(OverData(None, 0, 256, "reviews")),
            "cannot be told on any of 256",
        ),
        row(
            "on few",
            lambda: words.over_data_sentence(OverData(0.001, 250, 256, "reviews")),
            "under 1 % of those",
        ),
        row(
            "on nearly all",
            lambda: words.over_data_sentence(OverData(0.998, 250, 256, "reviews")),
            "over 99 % of those",
            never=("100 %",),
        ),
        row("on all", lambda: words.over_data_sentence(OverData(1.0, 250, 256, "reviews")), "100 % of those"),
        row(
            "even attention, no classes",
            lambda: words.other_attention_sentence(OtherAttention(0.25, np.array([0.1, 0.3])), HEADLESS),
            "cosine distance of 0.25",
        ),
        row(
            "even attention, nothing shifts",
            lambda: words.other_attention_sentence(OtherAttention(0.0, np.array([0.0, 0.0])), TEXT),
            "the prediction shifts by 0.0",
        ),
        row(
            "even attention, hardly anything",
            lambda: words.other_attention_sentence(OtherAttention(0.0001, np.array([0.0, 0.1])), TEXT),
            "under 0.1",
        ),
    ],
    "when nothing can be told": [
        row(
            "too many equal effects",
            lambda: words.conclusion_sentence(judged(undecidable=Undecidable.TOO_EQUAL), TEXT),
            "cannot be told** from this input",
            "have the same effect",
            never=("**No**",),
        ),
        row(
            "no order is better than chance",
            lambda: words.conclusion_sentence(judged(undecidable=Undecidable.NO_SOONER), TEXT),
            "cannot be told",
            "random order",
        ),
        row(
            "the perfect map passes",
            lambda: str(
                undecidable_reason(np.arange(1.0, 13.0), DeletionAreas(0.95, np.array([0.4, 0.5, 0.6])))
            ),
            "None",
        ),
        row(
            "the perfect map has no small p",
            lambda: str(
                undecidable_reason(
                    np.array([0.0, 0, 0, 0, 3, 3]), DeletionAreas(0.95, np.array([0.4, 0.5, 0.6]))
                )
            ),
            "TOO_EQUAL",
        ),
        row(
            "it is no sooner",
            lambda: str(
                undecidable_reason(np.arange(1.0, 13.0), DeletionAreas(0.5, np.array([0.4, 0.5, 0.6])))
            ),
            "NO_SOONER",
        ),
        row("nothing moves", lambda: str(undecidable_reason(np.zeros(12), None)), "UNMOVED"),
        row("four positions", lambda: str(undecidable_reason(np.arange(4.0), None)), "TOO_FEW"),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
