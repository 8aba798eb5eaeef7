from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special

from app_pages.compare.token_knock_out import Changes, largest_change_sentence
from app_pages.subject import cache, shipped_inputs
from app_pages.subject.answer import whole_answer
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import named
from model.capture import capture
from model.capture.intervention import without_keys
from model.experiments.probabilities import probabilities
from model.inputs import Picture
from model.measures.changes import cosine_distance
from tests.app_pages.compare.test_page import TEXT, captions, descriptions, put, words
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from viz.builders.number_format import format_number


@pytest.mark.parametrize("text", [TEXT, "film not great x y z"])
def test_the_knock_out_is_said_in_numbers(open_compare, text):
    app = open_compare(text=text, checkpoint="imdb-pre-ln", compare_part="Knock-out")
    assert "hidden from every query" in captions(app)
    label = int(LiveSubject("imdb-pre-ln", text).record.logits.argmax())
    for name in ("imdb-pre-ln", "imdb-post-ln"):
        record = LiveSubject(name, text).record
        answers = probabilities(cache.loaded(name), [text], list(map(without_keys, range(len(record)))))[0]
        without, before = answers[:, label], record.probabilities[label]
        moved = special.logit(without.astype(float)) - special.logit(float(before))
        strongest = int(np.abs(moved).argmax())
        flips = sum(answer.argmax() != record.logits.argmax() for answer in answers)
        line = next(block.value for block in app.markdown if block.value.startswith(f"**{name}**: P("))
        assert (
            f"P({record.class_names[label]}) is {100 * before:.1f}\u2009%; without `{record.tokens[strongest]}` "
            f"(position {strongest}) it is {100 * without[strongest]:.1f}\u2009% "
            f"({format_number(moved[strongest], '+.2f')} in log-odds), the largest change. "
        ) in line
        assert line.endswith(f"Hidden alone, {flips} of {len(record)} tokens change the answer.")


def test_both_scales_reach_to_the_largest_change_of_either_side(open_compare):
    names = ("imdb-pre-ln", "imdb-post-ln")
    app = open_compare(text=TEXT, checkpoint=names[0], compare_part="Knock-out")
    followed, every = int(LiveSubject(names[0], TEXT).record.logits.argmax()), []
    for name in names:
        result = probabilities(cache.loaded(name), [TEXT], list(map(without_keys, range(5))))[0]
        answers = result[:, followed], LiveSubject(name, TEXT).record.probabilities[followed]
        after, before = (special.logit(answer.astype(float)) for answer in answers)
        every += (after - before).tolist()
    reach = max(map(abs, every))
    assert f"Both scales reach to {format_number(reach, '.3g')}." in captions(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", [tiny.TEXT, tiny.DIGIT])
def test_without_classes_the_pooled_state_is_measured(open_compare, checkpoints, config):
    put(checkpoints, "headless", replace(config, class_names=()))
    query = {"kind": "Text" if config.is_text else "Digit", "checkpoint": "headless"}
    app = open_compare(compare_what="two inputs", compare_part="Knock-out", **query)
    assert "cosine distance of the pooled state" in captions(app)
    bars = [
        message for message in descriptions(app) if "pooled state (cosine distance), with each" in message
    ]
    assert len(bars) == 2
    selection = subject_of(app)
    record = selection.record
    apart = [
        float(cosine_distance(record.pooled, selection.under(without_keys(position)).record.pooled))
        for position in range(len(record))
    ]
    assert f"the pooled state moves by {format_number(max(apart), '.2g')}" in words(app)


def test_beside_a_side_with_classes_the_pooled_state_of_one_without_is_shown(open_compare, checkpoints):
    put(checkpoints, "headless", replace(tiny.TEXT, class_names=()))
    app = open_compare(text=TEXT, checkpoint="headless", compare_with="imdb-pre-ln", compare_part="Knock-out")
    assert not app.info
    assert "headless: the cosine distance of the pooled state from what it was." in captions(app)
    assert "**imdb-pre-ln**: P(" in words(app)
    subject = LiveSubject("headless", TEXT)
    record = subject.record
    distances = [
        float(cosine_distance(record.pooled, subject.under(without_keys(position)).record.pooled))
        for position in range(len(record))
    ]
    assert f"the pooled state moves by {format_number(max(distances), '.2g')}" in words(app)
    name, log_odds = "imdb-pre-ln", LiveSubject("imdb-pre-ln", TEXT).record
    followed = int(log_odds.logits.argmax())
    answers = probabilities(cache.loaded(name), [TEXT], list(map(without_keys, range(len(log_odds)))))[0]
    moved = special.logit(answers[:, followed].astype(float)) - special.logit(
        float(log_odds.probabilities[followed])
    )
    assert f"from what it was. The scale reaches to {format_number(max(distances), '.3g')}." in captions(app)
    assert f"The scale reaches to {format_number(np.abs(moved).max(), '.3g')}." in captions(app)


def test_a_token_of_markup_stays_a_token(open_compare):
    assert "```" not in words(open_compare(text="` ` `", compare_part="Knock-out"))


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
    assert f"P({labels[0]}) is" in words(open_compare(**query))
    assert f"P({labels[1]}) is" in words(open_compare(compare_class="what the second says", **query))


def test_a_class_that_one_side_does_not_know(open_compare, checkpoints):
    put(checkpoints, "stars", replace(tiny.TEXT, class_names=("one", "two", "three")))
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="stars", compare_part="Knock-out")
    assert not app.exception
    assert app.info[0].value.startswith("stars has no class ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([0.0, 1e-7, 0.0], "**tiny**: hidden alone, none of the 3 tokens changes the answer."),
        ([-0.5, 0.1, 0.5 + 1e-7], "without `[CLS]` (position 0) it is"),
        ([-0.5, 0.1, 0.5 + 1e-7], "(−0.50 in log-odds), the largest change, and as large without 1 more."),
        ([0.0, -0.5, 0.1], "(−0.50 in log-odds), the largest change."),
    ],
)
def test_the_largest_change_is_that_of_all_that_are_equal_and_none_within_rounding(changes, words):
    record = capture(tiny.loaded(tiny.TEXT), "film")
    answer = whole_answer(record)
    answers = np.tile(record.logits.astype(float), (3, 1))
    answers[:, answer.followed] += changes  # of two classes the log-odds change as the logit does
    side = Side(SimpleNamespace(record=record), "tiny")
    changed = answer.changes(answers)
    result = Changes(side, "keys", answer, range(3), answers, changed, named("falls", -changed))
    assert words in largest_change_sentence(result)
