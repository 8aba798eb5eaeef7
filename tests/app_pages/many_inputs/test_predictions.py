"""What encoders of every kind of answer make of a list."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app_pages.inputs import read_list as module
from app_pages.inputs.input_list import Item
from app_pages.many_inputs.predictions import predict
from app_pages.subject import cache
from model.capture import capture
from model.inputs import Text
from tests.model.huggingface.folders import build
from tests.model.huggingface.sentence_folders import build_sentence_encoder
from tests.tolerance import encoder_rounding

PHRASES = ("great film", "not", "not great film", "great film", "x y z")
LABELS = ("positive", "0", "", "happy", "POSITIVE")
ITEMS = tuple(Item(text=Text(text), label=label) for text, label in zip(PHRASES, LABELS, strict=True))
FILM = tuple(
    Item(text=Text(text)) for text in ("the film is bad", "a slow story", "not at all", "the film is bad")
)


@pytest.mark.usefixtures("checkpoints")
def test_of_each_text_the_share_of_unknown_tokens_is_known():
    items = tuple(Item(text=Text(text)) for text in ("great film", "☃ film ☃ ☃", "☃"))
    assert [line.unknown for line in predict("imdb-pre-ln", items).lines] == [0, 0.75, 1]


@pytest.mark.usefixtures("checkpoints")
def test_each_line_is_what_a_forward_of_its_own_gives(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)  # several parts, and not in the order of the list
    loaded = cache.loaded("imdb-pre-ln")
    result = predict("imdb-pre-ln", ITEMS)
    near = {"abs": encoder_rounding(loaded.config)}
    for line, item in zip(result.lines, ITEMS, strict=True):
        alone = capture(loaded, item.text).probabilities
        assert line.predicted == alone.argmax()
        assert line.answer == loaded.config.class_names[line.predicted]
        assert line.probability == pytest.approx(alone.max(), **near)
    assert [line.label for line in result.lines] == [1, 0, None, None, 1]
    assert result.n_labelled == 3
    assert result.n_right == sum(line.is_right is True for line in result.lines)
    p = result.lines[1].probability if result.lines[1].predicted == 0 else 1 - result.lines[1].probability
    assert result.lines[1].surprise == pytest.approx(-math.log(p), rel=1e-5)
    q = result.lines[2].probability
    assert result.lines[2].surprise == pytest.approx(-q * math.log(q) - (1 - q) * math.log(1 - q), rel=1e-4)
    assert result.surprise == "loss or entropy"
    assert result.notes == (
        "1 label not a class of this encoder (“happy”); use negative, positive, or a number below 2.",
    )
    order = result.order(surprising_first=True)
    assert {line.number for line in order[:3]} == {0, 1, 4}  # those with a label
    for group in (order[:3], order[3:]):
        values = [line.surprise for line in group]
        assert values == sorted(values, reverse=True)
    assert [line.number for line in result.order(surprising_first=False)] == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize(("a_second", "sizes"), [(1, [1] * 5), (1e15, [5])])
def test_inputs_that_take_long_are_read_one_at_a_time(monkeypatch, a_second, sizes):
    monkeypatch.setattr(module, "A_SECOND", a_second)
    read, of = [], cache.of

    def counting(make: Callable, name: str, inputs: tuple, *values: Any, **options: Any) -> Any:
        read.append(len(inputs))
        return of(make, name, inputs, *values, **options)

    monkeypatch.setattr(cache, "of", counting)
    predict("imdb-pre-ln", ITEMS)
    assert read == sizes


@pytest.mark.usefixtures("checkpoints")
def test_what_the_encoder_cannot_read_is_counted():
    items = (Item(text=Text("\u200b")), Item(text=Text("great " * 30)), Item(text=Text("not", "film")))
    result = predict("imdb-pre-ln", items)
    assert [line.number for line in result.lines] == [1, 2]
    assert result.lines[0].left_out == 20  # of 12 positions two are [CLS] and [SEP]
    assert result.surprise == "entropy"
    assert result.notes == (
        "1 text left out, in which the encoder finds no token: number 1.",
        "This encoder reads one text at a time: 1 second part left out.",
        "1 text too long for this encoder: 20 tokens left out.",
    )
    nothing = predict("imdb-pre-ln", items[:1])
    assert nothing.lines == ()


@pytest.mark.usefixtures("checkpoints")
def test_test_digits_and_pictures_without_ink():
    result = predict("mnist-pre-ln", (Item(digit=3, label="0"), Item(name="blank.png"), Item(digit=4)))
    assert [line.number for line in result.lines] == [0, 2]
    assert result.notes[0] == "1 picture left out, in which no digit was found: blank.png."
    assert result.n_labelled == 1


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "changed", "surprise"),
    [
        ("BertForSequenceClassification", {"num_labels": 3}, "entropy"),
        ("BertForSequenceClassification", {"num_labels": 1}, ""),
        ("BertForSequenceClassification", {"problem_type": "multi_label_classification"}, "entropy"),
        ("BertForTokenClassification", {"num_labels": 3}, "entropy"),
        ("ElectraForPreTraining", {}, "entropy"),
        ("BertModel", {}, "distance"),
    ],
)
def test_every_kind_of_answer(checkpoints, architecture, changed, surprise):
    build(checkpoints / "own", architecture, **changed)
    labelled = (*FILM[:3], Item(text=FILM[3].text, label="0"))
    result = predict("own", labelled if not surprise else FILM)
    assert [line.number for line in result.lines] == [0, 1, 2, 3]
    assert all(line.answer for line in result.lines)
    assert result.surprise == surprise
    assert result.explanation
    values = np.array([line.surprise for line in result.lines])
    assert np.isfinite(values).all() == bool(surprise)
    if surprise:
        assert values[0] == pytest.approx(values[3], abs=1e-5)  # one text twice
    else:
        assert result.notes == ("1 label not compared: this encoder does not choose one of several classes.",)
    if surprise == "distance":
        assert [result.lines[index].nearest for index in (0, 3)] == [3, 0]
        assert values[0] == pytest.approx(0, abs=1e-5)
        assert predict("own", FILM[:1]).surprise == ""


def test_an_encoder_of_pairs_reads_both_parts(checkpoints):
    build(checkpoints / "own", "BertForSequenceClassification")
    items = (Item(text=Text("the film", "is bad")), Item(text=Text("the film")))
    result = predict("own", items)
    assert not result.notes
    expected = [capture(cache.loaded("own"), item.text).probabilities.max() for item in items]
    assert [line.probability for line in result.lines] == pytest.approx(expected, abs=1e-5)


def test_where_answers_are_not_those_of_the_library_is_noted(checkpoints):
    build_sentence_encoder(checkpoints / "own", {"similarity_fn_name": "manhattan"})
    (note,) = predict("own", FILM).notes
    assert "compares texts by 'manhattan'" in note
