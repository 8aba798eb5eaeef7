"""What is said inside a head, and of masks: sentences against numbers."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from app_pages.inside_a_head import attention_steps, temperature
from app_pages.inside_a_head.layer_norm import deviation_sentence
from app_pages.masks import mask_sentences, page
from app_pages.positions import reordered_head
from model.capture import capture
from model.capture.intervention import MaskChoice
from model.config import ModelConfig
from model.family_options import Disentangled, Family, Parts
from model.measures.changes import LostWeight
from tests.app_pages.sentences.turns import Row, answer, row, table
from tests.model import tiny

TEXT = capture(tiny.loaded(tiny.TEXT), "not great film")  # [CLS] not great film [SEP]


def order(new_row: int, **options: Any) -> str:
    arguments: dict[str, Any] = {
        "is_masked": False,
        "is_equal": True,
        "is_reordered": True,
        "by_position": "",
    }
    return reordered_head.order_sentence(2, new_row, **arguments | options)


def masked_order(new_row: int) -> str:
    return order(new_row, is_masked=True, is_equal=False)


def masks(**choice: Any) -> str:
    return mask_sentences.without_or_with(MaskChoice(**choice), TEXT)


def explained(record: Any = TEXT, **choice: Any) -> str:
    return mask_sentences.explained(MaskChoice(**choice), record)


def mask_step(mask: list[bool], *, window: int | None = None, causal: bool = False) -> str:
    view = SimpleNamespace(
        steps=SimpleNamespace(attention=SimpleNamespace(mask=np.array(mask))),
        record=SimpleNamespace(config=config(windows=() if window is None else (window,), causal=causal)),
        chosen=SimpleNamespace(layer=0),
        n=len(mask),
    )
    return attention_steps.mask_formula(view).explanation


def config(**parts: Any) -> ModelConfig:
    return replace(tiny.TEXT, family=Family(parts=Parts(**parts)))


def undivided(**parts: Any) -> str:
    return temperature._undivided_sentence(config(**parts))


def deviation(*vector: float) -> str:
    return deviation_sentence(np.array(vector))


def lost(*weights: float) -> str:
    loss = LostWeight(sum(weights), (1, 2), weights)
    return page._lost_sentence("query 1", loss, TEXT)


def side(record: Any) -> Any:
    predicted = record.class_names[record.predicted_class] if record.has_classes else None
    return SimpleNamespace(record=record, is_text=True, predicted=predicted)


TABLE: dict[str, list[Row]] = {
    "the order of the vectors": [
        row(
            "equal",
            lambda: order(4),
            "moves from row 2 to row 4 and takes its output along unchanged",
            "whichever order",
        ),
        row("this order is that of the input", lambda: order(2), "keeps its row 2 and takes"),
        row(
            "nothing is reordered",
            lambda: order(2, is_reordered=False, by_position="rotates"),
            "nothing can change",
            never=("whichever order",),
        ),
        row(
            "equal in spite of positions",
            lambda: order(4, by_position="adds a bias"),
            "in this order it makes no difference that this encoder adds a bias",
            never=("whichever",),
        ),
        row(
            "by position",
            lambda: order(4, is_equal=False, by_position="adds a bias"),
            "its output changes: this encoder adds a bias",
        ),
        row("more than rounding", lambda: order(4, is_equal=False), "by more than rounding"),
        row("a mask that changes nothing", lambda: order(4, is_masked=True), "the same, even with the mask"),
        row("a mask, more keys", lambda: masked_order(4), "before it, 3 keys; now it sees 5 keys,"),
        row("a mask, one key", lambda: masked_order(0), "before it, 3 keys; now it sees one key,"),
        row("a mask, the same row", lambda: masked_order(2), "keeps its row 2. It saw"),
    ],
    "the steps of a head": [
        row("all keys", lambda: mask_step([True, True]), "Nothing is masked here", "bidirectional"),
        row("one key", lambda: mask_step([True, False]), "may attend to 1 of 2 positions"),
        row(
            "a window that hides nothing",
            lambda: mask_step([True, True], window=4),
            "at most 4 positions",
            "within reach",
        ),
        row(
            "the last of a causal encoder", lambda: mask_step([True, True], causal=True), "It is the last one"
        ),
        row("temperature", lambda: undivided(), "T = 1/\\sqrt{d_k} = 0.5", "as if nothing had been divided"),
        row("temperature without a scale", lambda: undivided(scaled=False), "does not divide"),
        row(
            "temperature of three terms",
            lambda: undivided(disentangled=Disentangled(furthest=4)),
            "0.289",
            "sum of their maps",
        ),
    ],
    "the deviation of a typed vector": [
        row("equal numbers", lambda: deviation(0.1, 0.1, 0.1), "so the deviation is 0", never=("d − 1",)),
        row(
            "other numbers",
            lambda: deviation(0.5, -3.0, 8.5),
            "divided by d = 3",
            "d − 1 = 2 the deviation would be 5.89",
        ),
        row("two numbers", lambda: deviation(1.0, 2.0), "d − 1 = 1"),
    ],
    "what a mask hides": [
        row("a window of none", lambda: masks(kind="window", radius=0), "a window of 0 tokens"),
        row("in one layer", lambda: masks(kind="causal", layers=(1,)), "in layer 1", never=("layers",)),
        row(
            "a window in one head",
            lambda: explained(kind="window", radius=2, heads=(0,)),
            "at most 2 away",
            never=("up to 4",),
        ),
        row(
            "lost weight",
            lambda: lost(0.5, 0.25),
            "75.0 % of its attention went: “not” 50.0 %, “great” 25.0 %",
        ),
        row("nearly none", lambda: lost(0.0001, 0.0), "where under 0.1 % of its attention went"),
        row("all of it", lambda: lost(1.0, 0.0), "where 100.0 % of its attention went"),
        row(
            "only the class token reaches the answer",
            lambda: page._independent_sentence("Masked", side(answer(0.2, 0.8))),
            "so the encoder says good (80.0 %) for every text",
        ),
        row(
            "and there are no classes",
            lambda: page._independent_sentence("Masked", side(answer(pooled=(1,)))),
            "class token.",
            never=("for every",),
        ),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
