"""Choice of how a token is hidden (a knock-out), and the encoder's answers when it is."""

from collections.abc import Sequence

import numpy as np

from app_pages.controls.map_controls import KNOCK_OUT, KNOCK_OUTS
from app_pages.subject import as_python
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import answers_under
from app_pages.toolkit.expression import Expression, call, named
from model.experiments.knock_out import KnockOutKind, knock_out_interventions, knock_out_kinds
from model.experiments.masked_word import LOGITS, AnswerRead
from model.experiments.probabilities import probabilities

NAMES = {kind: name for name, kind in KNOCK_OUTS.items()}


def choose_kind(*subjects: LiveSubject) -> KnockOutKind:
    """Draws the kinds of knock-out that all `subjects` support; returns the chosen kind."""
    common = set.intersection(*(set(knock_out_kinds(subject.loaded)) for subject in subjects))
    return KNOCK_OUTS[KNOCK_OUT.choose([name for name, kind in KNOCK_OUTS.items() if kind in common])]


def knock_out_answers(
    subject: LiveSubject,
    sets: Sequence[Sequence[int]],
    kind: KnockOutKind,
    title: str = "",
    answer: AnswerRead = LOGITS,
) -> np.ndarray:
    """Answers [set, answer] of the encoder when each of the `sets` of positions is knocked out; shows a progress bar if that
    takes long.

    For a masked word as the `answer` they are log P [set, 1] in nats. `title` is what the bar calls the encoder, by default its name.
    """
    interventions = knock_out_interventions(subject.loaded, subject.model_input, sets, kind)
    text = f"Knocking out one {subject.record.unit} after the other in {title or subject.name} …"
    return answers_under(subject, interventions, text, answer)


def knock_outs_expression(
    subject: LiveSubject, sets: Sequence[Sequence[int]], kind: KnockOutKind, answer: AnswerRead = LOGITS
) -> Expression:
    """The result of `knock_out_answers`, as an expression."""
    loaded, model_input = as_python.encoder(subject.checkpoint), as_python.model_input(subject)
    interventions = call(knock_out_interventions, loaded, model_input, [*map(tuple, sets)], kind)
    answers = call(probabilities, loaded, [model_input], interventions, answer)[0]
    return named("answers", answers, lambda: knock_out_answers(subject, sets, kind, answer=answer))
