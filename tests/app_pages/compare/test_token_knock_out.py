from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache, shipped_inputs
from app_pages.subject.subject import LiveSubject
from model.capture.intervention import without_keys
from model.experiments.probabilities import probabilities
from model.inputs import Picture
from model.measures.changes import cosine_distance
from tests.app_pages.compare.test_page import TEXT, descriptions, put
from tests.app_pages.shown_subject import subject_of
from tests.app_pages.shown_text import page_text
from tests.model import tiny
from viz.builders.number_format import format_number

NAMES = ("imdb-pre-ln", "imdb-post-ln")


def answers_without_each_token(name: str, text: str) -> np.ndarray:
    """Probabilities [position, class] with one token hidden at a time."""
    n = len(LiveSubject(name, text).record)
    return probabilities(cache.loaded(name), [text], list(map(without_keys, range(n))))[0]


def log_odds_changes(name: str, text: str, label: int) -> np.ndarray:
    """Changes [position] of the log-odds of a class with one token hidden at a time."""
    before = LiveSubject(name, text).record.probabilities[label]
    after = answers_without_each_token(name, text)[:, label]
    return special.logit(after.astype(float)) - special.logit(float(before))


def predicted(name: str) -> int:
    return int(LiveSubject(name, TEXT).record.logits.argmax())


def assert_says_largest_distance(app: AppTest, subject: LiveSubject) -> str:
    """The largest distance that the pooled state moves by without one token or patch, as it is written."""
    record = subject.record
    apart = [
        float(cosine_distance(record.pooled, subject.under(without_keys(position)).record.pooled))
        for position in range(len(record))
    ]
    assert f"the pooled state moves by {format_number(max(apart), '.2g')}" in page_text(app)
    return format_number(max(apart), ".3g")


@pytest.mark.parametrize("text", [TEXT, "film not great x y z"])
def test_the_knock_out_is_said_in_numbers(open_compare, text):
    app = open_compare(text=text, checkpoint=NAMES[0], compare_part="Knock-out")
    assert "hidden from every query" in page_text(app)
    label = int(LiveSubject(NAMES[0], text).record.logits.argmax())
    for name in NAMES:
        record = LiveSubject(name, text).record
        answers = answers_without_each_token(name, text)
        moved = log_odds_changes(name, text, label)
        strongest = int(np.abs(moved).argmax())
        before, without = (100 * share for share in (record.probabilities[label], answers[strongest, label]))
        flips = sum(answer.argmax() != record.logits.argmax() for answer in answers)
        assert (
            f"**{name}**: P({record.class_names[label]}) is {before:.1f} %; without `{record.tokens[strongest]}` "
            f"(position {strongest}) it is {without:.1f} % ({format_number(moved[strongest], '+.2f')} in log-odds), the largest "
            f"change. Hidden alone, {flips} of {len(record)} tokens change the answer.\n"
        ) in page_text(app)


def test_both_scales_reach_to_the_largest_change_of_either_side(open_compare):
    app = open_compare(text=TEXT, checkpoint=NAMES[0], compare_part="Knock-out")
    largest = max(np.abs(log_odds_changes(name, TEXT, predicted(NAMES[0]))).max() for name in NAMES)
    assert f"Both scales reach to {format_number(largest, '.3g')}." in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", [tiny.TEXT, tiny.DIGIT])
def test_without_classes_the_pooled_state_is_measured(open_compare, checkpoints, config):
    put(checkpoints, "headless", replace(config, class_names=()))
    query = {"kind": "Text" if config.is_text else "Digit", "checkpoint": "headless"}
    app = open_compare(compare_what="two inputs", compare_part="Knock-out", **query)
    assert "cosine distance of the pooled state" in page_text(app)
    figures = [message for message in descriptions(app) if "pooled state (cosine distance), with" in message]
    assert len(figures) == 2
    assert_says_largest_distance(app, subject_of(app))


def test_beside_a_side_with_classes_the_pooled_state_of_one_without_is_shown(open_compare, checkpoints):
    put(checkpoints, "headless", replace(tiny.TEXT, class_names=()))
    app = open_compare(text=TEXT, checkpoint="headless", compare_with=NAMES[0], compare_part="Knock-out")
    assert not app.info
    assert "headless: the cosine distance of the pooled state from what it was." in page_text(app)
    assert "**imdb-pre-ln**: P(" in page_text(app)
    furthest = assert_says_largest_distance(app, LiveSubject("headless", TEXT))
    assert f"from what it was. The scale reaches to {furthest}." in page_text(app)
    largest = np.abs(log_odds_changes(NAMES[0], TEXT, predicted(NAMES[0]))).max()
    assert f"The scale reaches to {format_number(largest, '.3g')}." in page_text(app)


def test_a_token_of_markup_stays_a_token(open_compare):
    assert "```" not in page_text(open_compare(text="` ` `", compare_part="Knock-out"))


def test_of_two_answers_one_is_followed(open_compare):
    images, _ = shipped_inputs.test_digits()
    names = ("mnist-pre-ln", "mnist-post-ln")
    digit = next(
        number
        for number in range(50)
        if len({int(LiveSubject(name, Picture.of(images[number])).record.logits.argmax()) for name in names})
        == 2
    )
    query = {"kind": "Digit", "checkpoint": names[0], "digit": str(digit), "compare_part": "Knock-out"}
    labels = [str(LiveSubject(name, Picture.of(images[digit])).record.logits.argmax()) for name in names]
    assert f"P({labels[0]}) is" in page_text(open_compare(**query))
    assert f"P({labels[1]}) is" in page_text(open_compare(compare_class="what the second says", **query))


def test_a_class_that_one_side_does_not_know(open_compare, checkpoints):
    put(checkpoints, "stars", replace(tiny.TEXT, class_names=("one", "two", "three")))
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="stars", compare_part="Knock-out")
    assert not app.exception
    assert app.info[0].value.startswith("stars has no class ")
