from dataclasses import replace
from typing import Any

import pytest
import torch

from model import checkpoint
from model.checkpoint.purpose import purpose
from model.config import ModelConfig
from model.family_options import Family
from model.loaded import Loaded
from tests.model import tiny


def encoder(config: ModelConfig, **history: Any) -> Loaded:
    return Loaded(
        name="tiny", model=tiny.build(config), tokenizer=None, history=history, device=torch.device("cpu")
    )


def with_classes(*names: str, **family: Any) -> Loaded:
    return encoder(replace(tiny.TEXT, class_names=names, family=Family(**family)))


def test_the_shipped_encoders_say_what_they_were_trained_for():
    purposes = {name: purpose(without_weights(name)) for name in checkpoint.available()}
    assert {
        name: text for name, text in purposes.items() if not name.startswith(("mnist", "looker"))
    } == dict.fromkeys(
        (name for name in purposes if name.startswith(("imdb", "sentences"))), "judges film reviews"
    )
    assert purposes["looker"] == purposes["mnist-pre-ln"] == "recognises handwritten digits"


def without_weights(name: str) -> Loaded:
    """The encoder's history and classes, without its weights."""
    base = tiny.TEXT if checkpoint.read_config(name).is_text else tiny.DIGIT
    names = checkpoint.read_config(name).class_names
    return encoder(
        replace(base, class_names=names), **checkpoint._read_history(checkpoint.CHECKPOINTS / name)
    )


@pytest.mark.parametrize("data", [{}, {"data": "IMDB"}, {"data": {"name": 3}}, {"data": {"name": "MNIST"}}])
def test_of_other_data_the_classes_alone_are_told(data):
    assert purpose(encoder(tiny.TEXT, **data)) == "judges whether a text is positive or negative"
    assert purpose(encoder(tiny.DIGIT)) == "recognises digits"


def test_an_encoder_with_classes_says_what_they_decide():
    assert purpose(with_classes("not_equivalent", "equivalent")) == "decides whether two texts say the same"
    assert purpose(with_classes("NEGATIVE", "POSITIVE")) == "judges whether a text is positive or negative"
    assert purpose(with_classes("joy", "anger")) == "puts a text into one of 2 classes (joy, anger)"
    assert purpose(with_classes(*"abcdef")) == "puts a text into one of 6 classes (a, b, c, d, …)"
    assert purpose(with_classes("LABEL_0", "LABEL_1")) == "puts a text into one of 2 classes"
    assert purpose(with_classes("class 0", answers="numbers")) == "gives a text 1 number"
    assert (
        purpose(with_classes("toxic", "rude", answers="each"))
        == "says for each of 2 labels whether it fits a text (toxic, rude)"
    )
    assert purpose(with_classes("toxic", answers="each")) == "says whether a text is “toxic”"


def test_an_encoder_without_classes_says_what_it_makes():
    bare = replace(tiny.TEXT, class_names=())
    assert purpose(encoder(bare)) == "turns a text into a vector of 8 numbers, its embedding"
    assert purpose(encoder(replace(bare, masked_token_output=True))) == "guesses masked words"
    tokens = Family(token_class_names=("O", "PER", "LOC"))
    assert purpose(encoder(replace(bare, family=tokens))) == "gives each token one of 3 classes (O, PER, LOC)"
    replaced = Family(token_class_names=("replaced",), token_answers="each")
    assert purpose(encoder(replace(bare, family=replaced))) == "says of each token whether it is “replaced”"
