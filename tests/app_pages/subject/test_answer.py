from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from app_pages.subject.answer import ClassAnswer, NumbersAnswer, StateAnswer, whole_answer
from model.capture import capture
from model.family_options import Family
from model.measures.changes import log_odds
from model.record import ForwardRecord
from tests.model import tiny

RECORD = capture(tiny.loaded(tiny.TEXT), "film")
HEADLESS = capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "film")


def answering(*probabilities: float) -> ForwardRecord:
    return replace(RECORD, logits=np.log(np.array(probabilities, np.float32)))


def sentence(what: str, before: ForwardRecord, after: ForwardRecord) -> str:
    return whole_answer(before).change_sentence(what, SimpleNamespace(record=after))


def test_the_kind_of_answer_is_that_of_the_encoder():
    several = capture(tiny.loaded(replace(tiny.TEXT, family=Family(answers="each"))), "film")
    kinds = [type(whole_answer(record)) for record in (RECORD, HEADLESS, several)]
    assert kinds == [ClassAnswer, StateAnswer, NumbersAnswer]


def test_the_log_odds_of_a_class_rise_where_its_logit_does():
    before = answering(0.25, 0.75)
    answers = np.log([[[0.5, 0.5], [0.1, 0.9]]])
    expected = np.log([[1.0, 9.0]]) - np.log(3)
    answer = whole_answer(before)
    np.testing.assert_allclose(answer.changes(answers), expected, rtol=1e-5)
    np.testing.assert_allclose(answer.falls(answers), -expected, rtol=1e-5)
    other = ClassAnswer.of(before, 0)
    np.testing.assert_allclose(other.changes(answers), -expected, rtol=1e-5)
    assert (answer.name, other.name) == before.class_names[::-1]


def test_the_distance_of_a_pooled_state_is_its_fall():
    answer = whole_answer(replace(HEADLESS, pooled=np.eye(8, dtype=np.float32)[0]))
    turned = np.array([[1, 0, 0, 0, 0, 0, 0, 0], [3, 4, 0, 0, 0, 0, 0, 0]], np.float32)
    np.testing.assert_allclose(answer.changes(turned), [0, 0.4], atol=1e-6)
    np.testing.assert_array_equal(answer.falls(turned), answer.changes(turned))


def test_what_is_left_out_of_the_sentence_is_in_numbers():
    before, after = answering(0.25, 0.75), answering(0.5, 0.5)
    old = float(log_odds(before.logits, 1))
    more = whole_answer(before).more_of_change(SimpleNamespace(record=after))
    assert f"+{old:.2f} before, 0.00 after: falls by {old:.2f}." in more
    assert "Total variation of the prediction: 0.25." in more
    assert whole_answer(HEADLESS).more_of_change(SimpleNamespace(record=HEADLESS)) == ""


def test_in_a_table_a_prediction_of_nothing_is_none():
    answer = whole_answer(RECORD)
    assert answer.in_table(np.full(2, np.nan)) == ("prediction", "none: every probability is NaN")
    heading, text = answer.in_table(np.log([0.25, 0.75]))
    assert (heading, text.replace("\u2009", " ")) == ("prediction", f"{RECORD.class_names[1]}, 75.0000 %")


@pytest.mark.parametrize(
    ("after", "end"),
    [
        (
            (0.8, 0.2),
            "changes from positive (75.0\u2009%) to negative (80.0\u2009%); positive now has 20.0\u2009%.",
        ),
        ((0.1, 0.9), "stays positive: 75.0\u2009% before, 90.0\u2009% after."),
        ((0.25, 0.75), "stays positive: 75.0\u2009%, as before."),
    ],
)
def test_what_became_of_the_answer(after, end):
    message = sentence("With a causal mask", answering(0.25, 0.75), answering(*after))
    assert message == f"With a causal mask, the prediction {end}"


def test_a_pooled_state_that_moves_by_rounding_stays_as_it_is():
    before = capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "film")
    after = replace(before, pooled=before.pooled * np.float32(1 + 1e-6))
    message = sentence("With 4 [PAD]", before, after)
    assert message == "With 4 [PAD], the pooled state stays as it is; the encoder has no classes."


def test_without_classes_it_is_the_pooled_state_that_changes():
    before = replace(
        capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "film"),
        pooled=np.eye(8, dtype=np.float32)[0],
    )
    after = replace(before, pooled=np.array([3, 4, 0, 0, 0, 0, 0, 0], np.float32))
    assert (
        sentence("Shifted", before, after)
        == "Shifted, the pooled state changes by a cosine distance of 0.4; the encoder has no classes."
    )
