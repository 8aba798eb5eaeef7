"""The input with which the app opens is read before anybody asks."""

import pytest

from app_pages.inputs.first_example import read_first_example
from app_pages.subject import shipped_inputs
from model import checkpoint


def test_the_first_page_opens_with_it_and_reads_no_encoder_again(open_app, monkeypatch):
    subject = read_first_example()
    assert subject is not None
    assert subject.model_input.text == next(iter(shipped_inputs.sentences().values()))

    def load(name: str) -> None:
        raise AssertionError(f"{name} is read again")

    monkeypatch.setattr(checkpoint, "load", load)
    app = open_app()
    assert not app.exception
    assert app.session_state["checkpoint"] == subject.checkpoint
    (predicted,) = app.metric
    assert predicted.value == subject.record.class_names[subject.record.logits.argmax()]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_of_a_damaged_encoder_the_page_says_it(open_app, checkpoints, name):
    for folder in checkpoints.glob("imdb-*"):
        (folder / name).write_text("{")
    assert read_first_example() is None
    assert not open_app().exception


def test_without_encoders_there_is_nothing_to_read(checkpoints, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", checkpoints / "none")
    assert read_first_example() is None
