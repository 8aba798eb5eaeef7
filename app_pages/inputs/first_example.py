"""The input and the encoder with which the app opens, read before anybody asks: at the server's start."""

from contextlib import suppress

# Imported here is what a page needs up to its prediction, and nothing that draws figures.
from app_pages.inputs.row import answer
from app_pages.inputs.text_input import first_text
from app_pages.subject import encoders
from app_pages.subject.subject import LiveSubject, encoded_text, n_parameters
from model.inputs import Text


def read_first_example() -> LiveSubject | None:
    """Reads the first example with the first encoder into the cache; returns both, None if that encoder is damaged.

    The page that opens with them finds the encoder, the tokens and the record there, and says what is wrong with an encoder.
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
