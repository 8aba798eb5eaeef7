"""The words of a text that two encoders have in common, and the maps and states of an encoder by these words."""

import numpy as np

from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.subject import LensChoice, LiveSubject, Measured, encoded_text
from model.inputs import Text
from model.inputs.text import character_spans
from model.lenses import LENSES
from model.measures import head_matching
from model.measures.head_measures import head_summary
from model.measures.word_view import AlignedWords, align_words, distributions
from model.record import Span


@cached
def shared_words(one: Checkpoint, other: Checkpoint, text: Text) -> tuple[AlignedWords, AlignedWords]:
    """The words of the text in the tokens of both encoders. Raises ValueError if a tokenizer cannot read it."""
    return align_words(
        encoded_text(one, text), encoded_text(other, text), _spans(one, text), _spans(other, text)
    )


def _spans(name: Checkpoint, text: Text) -> tuple[Span | None, ...]:
    tokenizer = loaded(name).tokenizer
    assert tokenizer is not None, name
    return character_spans(tokenizer, text.text, text.second)


def viewed_by_words(subject: LiveSubject, choice: LensChoice, words: AlignedWords) -> Measured:
    """The subject's maps through the lens, by words, and the measures of these maps."""
    subject.through(choice)  # here, where a bar can be drawn
    return _viewed_by_words(subject, choice.lens.name, choice.class_name, words)


@cached
def _viewed_by_words(
    subject: LiveSubject, lens: str, class_name: str | None, words: AlignedWords
) -> Measured:
    merged = words.merge(subject.through(LensChoice(lens=LENSES[lens], class_name=class_name)))
    return Measured(merged, head_summary(merged))


@cached(spinner="Measuring head distances …")
def distances_by_words(
    one: LiveSubject, other: LiveSubject, words: tuple[AlignedWords, AlignedWords]
) -> np.ndarray:
    """Distance of every head of one encoder from every head of the other, in nats, over the words of both."""
    one_maps, other_maps = (
        side.merge(subject.record).pattern for side, subject in zip(words, (one, other), strict=True)
    )
    return head_matching.distance_matrix(*distributions(one_maps, other_maps, words))
