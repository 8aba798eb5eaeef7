"""The input and the encoder with which the app opens, read into the cache when the server starts."""

from contextlib import suppress

# Imported here is what a page needs up to its prediction, and nothing that draws figures.
from app_pages.inputs.row import answer
from app_pages.inputs.text_input import first_text
from app_pages.subject import encoders
from app_pages.subject.subject import LiveSubject, encoded_text, n_parameters
from model.inputs import Text


def read_first_example() -> LiveSubject | None:
    """Computes the record of the first example in the first encoder, so that the first page finds it in the cache; returns both,
    None if that encoder is damaged (the page then says so).
    """
    for name in encoders.shipped(encoders.TEXT)[:1]:
        with suppress(ValueError, OSError):
            text = Text(first_text())
            subject = LiveSubject(name, text)
            n_parameters(name)
            encoded_text(name, text)
            answer(subject.record)
            return subject
    return None
