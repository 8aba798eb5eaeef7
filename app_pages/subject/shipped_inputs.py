"""Inputs that come with the project: example sentences and test digits, and what is known of them."""

import json

import numpy as np

from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from model.inputs import Text, digits


@cached
def test_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [digit, row, column] and labels uint8 [digit]."""
    return digits.examples()


def sentences() -> dict[str, str]:
    """Texts to begin with, by title; none where the file is missing or damaged."""
    try:
        return _sentences()
    except (OSError, ValueError, TypeError, LookupError):
        return {}


@cached
def _sentences() -> dict[str, str]:
    return {str(sentence["title"]): str(sentence["text"]) for sentence in _examples()}


@cached
def _examples() -> list[dict]:
    return json.loads((digits.EXAMPLES / "sentences.json").read_text(encoding="utf-8"))


def correct_class(subject: LiveSubject) -> int | None:
    """Of one of `sentences` the class that a person would choose; None for other inputs, and where it is none of the encoder's."""
    config, given = subject.loaded.config, subject.given
    if not config.chooses or not isinstance(given, Text) or given.text not in sentences().values():
        return None
    answer = next((example.get("answer") for example in _examples() if example["text"] == given.text), None)
    return config.class_names.index(answer) if answer in config.class_names else None
