"""Inputs that come with the project: example sentences and test digits, and their correct classes."""

import json

import numpy as np
from PIL import Image

from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from model.inputs import Text, digits


@cached
def test_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [digit, row, column] and labels uint8 [digit] of the MNIST test digits."""
    return digits.examples()


@cached
def example_picture(name: str) -> np.ndarray:
    """An example picture in colour, uint8 [height, width, 3]. Raises ValueError if its file is missing or damaged."""
    path = digits.EXAMPLES / f"{name}.jpg"
    try:
        return np.asarray(Image.open(path).convert("RGB"))
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error


def sentences() -> dict[str, str]:
    """Example texts by title; empty if their file is missing or damaged."""
    try:
        return {str(example["title"]): str(example["text"]) for example in _examples()}
    except (OSError, ValueError, TypeError, LookupError):
        return {}


@cached
def _examples() -> list[dict]:
    return json.loads((digits.EXAMPLES / "sentences.json").read_text(encoding="utf-8"))


def right_answers() -> dict[str, str]:
    """Names of the right classes of the example texts, by text; texts without a right class are left out."""
    return {example["text"]: example["answer"] for example in _examples() if "answer" in example}


def correct_class(subject: LiveSubject) -> int | None:
    """Index of the correct class of an example sentence; None for other inputs, or if the encoder lacks that class."""
    config, model_input = subject.loaded.config, subject.model_input
    if (
        not config.chooses_class
        or not isinstance(model_input, Text)
        or model_input.text not in sentences().values()
    ):
        return None
    answer = right_answers().get(model_input.text)
    return config.class_names.index(answer) if answer in config.class_names else None
