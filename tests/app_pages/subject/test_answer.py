from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from app_pages.subject.answer import ClassAnswer, StateAnswer, whole_answer
from model.capture import capture
from model.family_options import Family
from model.measures.changes import log_odds
from model.record import ForwardRecord
from tests.model import tiny

RECORD = capture(tiny.loaded(tiny.TEXT), "film")
HEADLESS = capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "film")


def answering(*probabilities: float) -> ForwardRecord:
    return replace(RECORD, logits=np.log(np.array(probabilities, np.float32)))


def test_the_kind_of_answer_is_that_of_the_encoder():
    several = capture(tiny.loaded(replace(tiny.TEXT, family=Family(answers="each"))), "film")
    kinds = [type(whole_answer(record)) for record in (RECORD, HEADLESS, several)]
    assert kinds == [ClassAnswer, StateAnswer, StateAnswer]
    assert whole_answer(several).reason == "the encoder chooses no single class"


def test_the_log_odds_of_a_class_rise_where_its_logit_does():
    before = answering(0.25, 0.75)
    answers = np.log([[[0.5, 0.5], [0.1, 0.9]]])
    expected = np.log([[1.0, 9.0]]) - np.log(3)
    answer = whole_answer(before)
    np.testing.assert_allclose(answer.changes(answers), expected, rtol=1e-5)
    np.testing.assert_allclose(answer.falls(answers), -expected, rtol=1e-5)
    other = ClassAnswer.of(before, 0)
    np.testing.assert_allclose(other.changes(answers), -expected, rtol=1e-5)
    assert (answer.class_name, other.class_name) == before.class_names[::-1]


def test_the_distance_of_a_pooled_state_is_its_fall():
    answer = whole_answer(replace(HEADLESS, pooled=np.eye(8, dtype=np.float32)[0]))
    turned = np.array([[1, 0, 0, 0, 0, 0, 0, 0], [3, 4, 0, 0, 0, 0, 0, 0]], np.float32)
    np.testing.assert_allclose(answer.changes(turned), [0, 0.4], atol=1e-6)
    np.testing.assert_array_equal(answer.falls(turned), answer.changes(turned))


def test_what_is_left_out_of_the_sentence_is_in_numbers():
    before, after = answering(0.25, 0.75), answering(0.5, 0.5)
    old = float(log_odds(before.logits, 1))
    more = whole_answer(before).change_details(SimpleNamespace(record=after))
    assert f"+{old:.2f} before, 0.00 after: falls by {old:.2f}." in more
    assert "Total variation of the prediction: 0.25." in more
    assert whole_answer(HEADLESS).change_details(SimpleNamespace(record=HEADLESS)) == ""


def test_in_a_table_a_prediction_of_nothing_is_none():
    answer = whole_answer(RECORD)
    assert answer.table_texts(np.full(2, np.nan)) == ("prediction", "none: every probability is NaN")
    heading, text = answer.table_texts(np.log([0.25, 0.75]))
    assert (heading, text.replace("\u2009", " ")) == ("prediction", f"{RECORD.class_names[1]}, 75.0000 %")
