"""Two forward passes compared: answers under interventions, and where a head's weights differ.

The second differs from the first by an intervention, by its input or by its checkpoint.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from app_pages.subject import as_python, cache
from app_pages.subject.as_python import maps
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.subject import WEIGHTS, LensChoice, LiveSubject, Measured, encoded_text
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.stoppable import in_steps
from model.capture.intervention import Intervention
from model.experiments.batching import batch_size
from model.experiments.masked_word import AnswerRead
from model.experiments.probabilities import probabilities
from model.inputs import Input, Text
from model.inputs.text import character_spans
from model.measures import head_matching
from model.measures.changes import ROUNDING_DISTANCE, cosine_distance
from model.measures.head_measures import head_summary
from model.measures.word_view import AlignedWords, align_words, distributions
from model.record import AttentionRecord, ForwardRecord, Span
from model.theory.permutation_equivariance import restore_order
from viz.attention.token_heatmaps import difference_heatmap
from viz.builders.number_format import format_distinct
from viz.builders.palette import largest_absolute


@dataclass(frozen=True)
class Side:
    """One of two compared forward passes, with its title in figures.

    If the intervention reorders the input, `order[i]` is the input position whose token is read at position i; None if nothing is
    reordered. `words` are the words of this side if two tokenizers differ and the sides are compared by words; None if they are
    compared by tokens or patches.
    """

    subject: LiveSubject
    title: str
    order: tuple[int, ...] | None = None
    words: AlignedWords | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        return self.subject.checkpoint

    @property
    def model_input(self) -> Input:
        return self.subject.model_input

    @property
    def record(self) -> ForwardRecord:
        return self.subject.record

    @property
    def compared_record(self) -> AttentionRecord:
        """The record that is compared: one whose positions are words if the sides are compared by words, else the
        side's own.
        """
        return self.record if self.words is None else self.viewed().record

    @property
    def states(self) -> np.ndarray:
        """The residual stream [stage, position, d_model]; by words, the mean state of each word that has a counterpart."""
        residual = self.record.residual
        return residual if self.words is None else self.words.matched_states(residual)

    @property
    def states_expression(self) -> Expression:
        """What `states` returns, as an expression."""
        residual = as_python.record(self.subject).residual
        return residual if self.words is None else call(self.words.matched_states, residual)

    @property
    def state_tokens(self) -> tuple[str, ...]:
        """The tokens at the positions of `states`; by words, the words."""
        tokens = self.compared_record.tokens
        return tokens if self.words is None else tuple(tokens[word] for word in self.words.matched)

    def viewed(self, choice: LensChoice = WEIGHTS) -> Measured:
        """The compared maps through the lens, and the measures of their heads."""
        if self.words is None:
            return self.subject.viewed(choice)
        self.subject.through(choice)  # here, where a bar can be drawn
        return _viewed_by_words(self.subject, choice, self.words)

    def maps(self, choice: LensChoice = WEIGHTS) -> Expression:
        """The record that `viewed` returns with its measures, as an expression."""
        result = maps(self.subject, choice)
        if self.words is None:
            return result
        return named("words", call(self.words.merge, result), lambda: self.viewed(choice).record)

    @property
    def is_text(self) -> bool:
        return self.record.unit == "token"

    @property
    def predicted_class_name(self) -> str | None:
        """Name of the most probable class; None where there are no classes."""
        class_index = self.record.predicted_class
        return None if class_index is None else self.record.class_names[class_index]


def answers_under(
    subject: LiveSubject, interventions: Iterable[Intervention], text: str, answer: AnswerRead = None
) -> np.ndarray:
    """Answers under each of the `interventions`: logits [intervention, class] or log P [intervention, 1] of a masked
    word, as `answer` says; without `answer`, probabilities [intervention, class] or, without classes, pooled states
    [intervention, d_model].

    Computed in batches, with `text` above the progress bar.
    """
    interventions = tuple(interventions)
    n_at_once = batch_size(subject.loaded.config, len(subject.record))
    batches = [interventions[start : start + n_at_once] for start in range(0, len(interventions), n_at_once)]
    batch_answers = partial(cache.of, probabilities, subject.checkpoint, (subject.model_input,))
    # before the first one is done, there is no bar
    first_step = partial(batch_answers, batches[0], answer, spinner=text)
    steps = [first_step, *(partial(batch_answers, batch, answer) for batch in batches[1:])]
    work_key = ("answers", subject.checkpoint, subject.model_input, interventions, answer)
    return np.concatenate(in_steps(steps, text, work_key), axis=1)[0]


def answers_expression(subject: LiveSubject, interventions: Iterable[Any], text: str) -> Expression:
    """The result of `answers_under`, as an expression; `interventions` may be expressions too."""
    interventions = tuple(interventions)
    values = [
        intervention() if isinstance(intervention, Expression) else intervention
        for intervention in interventions
    ]
    inputs = [as_python.model_input(subject)]
    answers = call(probabilities, as_python.encoder(subject.checkpoint), inputs, [*interventions])[0]
    return named("answers", answers, lambda: answers_under(subject, values, text))


def similarity_sentence(first: ForwardRecord, second: ForwardRecord) -> str:
    """Sentence with the cosine similarity of two inputs' embeddings, as plain text."""
    distance = float(cosine_distance(first.pooled, second.pooled))
    if np.isnan(distance):
        return "An embedding of zeros has no direction: there is no cosine similarity."
    cosine, _ = format_distinct(1 - distance, 1.0, ".3f") if distance > ROUNDING_DISTANCE else ("1.000", "")
    return f"Cosine similarity of the two embeddings: {cosine} (1: the same direction, 0: orthogonal)."


def shared_limit(values: Iterable[np.ndarray]) -> float:
    """Largest absolute value in the arrays `values`, one array a side: the end of a colour scale for all of them,
    symmetric about 0. 1 if all are 0.
    """
    return max((largest_absolute(array) for array in values if array.any()), default=1.0)


def corresponding_position(first: Side, second: Side, position: int) -> int | None:
    """Position of `second` that corresponds to `position` of `first`; None if there is none.

    In one encoder, two texts correspond position by position. If the sides are compared by words, positions are indices of words.
    For two encoders with different tokens or patch sizes otherwise, only the class tokens correspond.
    """
    if first.words is not None and second.words is not None:
        matched = first.words.matched
        return second.words.matched[matched.index(position)] if position in matched else None
    is_tokenised_differently = (
        first.checkpoint != second.checkpoint and first.record.tokens != second.record.tokens
    )
    if is_tokenised_differently or first.record.patch_grid != second.record.patch_grid:
        have_class_tokens = all(side.record.begins_with_class_token for side in (first, second))
        return 0 if position == 0 and have_class_tokens else None
    input_position = position if first.order is None else first.order[position]
    if input_position >= len(second.record):
        return None
    return input_position if second.order is None else second.order.index(input_position)


def common_tokens(first: Side, second: Side) -> tuple[str, ...]:
    """Labels of the positions that both sides have: the token, or "first|second" where their tokens differ.

    Compared by words, these are the words with a counterpart. Words that differ only in capitals count as equal: the label is
    that of the first side.
    """
    if first.words is not None:
        return tuple(
            token if token.casefold() == partner.casefold() else f"{token}|{partner}"
            for token, partner in zip(first.state_tokens, second.state_tokens, strict=True)
        )
    positions = (corresponding_position(first, second, position) for position in range(len(first.record)))
    partners = (second.record.tokens[position] for position in positions if position is not None)
    return tuple(
        token if token == partner else f"{token}|{partner}"
        for token, partner in zip(first.record.tokens, partners, strict=True)
    )


def in_input_order(side: Side, weights: Expression) -> Expression:
    """Weights or a mask [query, key] of a side, with rows and columns put back into the input's order."""
    return weights if side.order is None else call(restore_order, weights, side.order)


def head_patterns(
    first: Side,
    second: Side,
    head: tuple[int, int],
    partner: tuple[int, int] | None = None,
    lens: LensChoice = WEIGHTS,
) -> tuple[Expression, Expression]:
    """Maps [query, key], as expressions in input order, of `head` on the first side and of `partner` (by default the same head)
    on the second.

    If the sides are compared by words, the maps are over the words with a counterpart.
    """
    first_maps, second_maps = first.maps(lens).pattern[head], second.maps(lens).pattern[partner or head]
    if first.words is not None and second.words is not None:
        return call(first.words.matched_weights, first_maps), call(second.words.matched_weights, second_maps)
    return in_input_order(first, first_maps), in_input_order(second, second_maps)


def difference(
    first: Side,
    second: Side,
    head: tuple[int, int],
    partner: tuple[int, int] | None = None,
    *,
    lens: LensChoice = WEIGHTS,
    **appearance: Any,
) -> Expression:
    """Heatmap of the second side's map minus the first's, of the maps in `head_patterns`. The first side must not be reordered.

    `appearance` goes to `viz.attention.token_heatmaps.difference_heatmap`; by default `names` are the sides' titles.
    """
    appearance = {"names": (first.title, second.title)} | appearance
    patterns = head_patterns(first, second, head, partner, lens)
    return call(difference_heatmap, *patterns, common_tokens(first, second), **appearance)


@cached
def shared_words(name: Checkpoint, other_name: Checkpoint, text: Text) -> tuple[AlignedWords, AlignedWords]:
    """The words of the text as spans of tokens, for each encoder. Raises ValueError if a tokenizer cannot read it."""
    return align_words(
        encoded_text(name, text), encoded_text(other_name, text), _spans(name, text), _spans(other_name, text)
    )


def _spans(name: Checkpoint, text: Text) -> tuple[Span | None, ...]:
    tokenizer = loaded(name).tokenizer
    assert tokenizer is not None, name
    return character_spans(tokenizer, text.text, text.second)


@cached
def _viewed_by_words(subject: LiveSubject, choice: LensChoice, words: AlignedWords) -> Measured:
    """The subject's maps through the lens, by words, and the measures of these maps."""
    merged = words.merge(subject.through(choice))
    return Measured(merged, head_summary(merged))


@cached(spinner="Measuring head distances …")
def distances_by_words(
    first: LiveSubject, second: LiveSubject, words: tuple[AlignedWords, AlignedWords]
) -> np.ndarray:
    """Distances (nats) [head of the first encoder, head of the second], over the words that both have."""
    first_maps, second_maps = (
        side.merge(subject.record).pattern for side, subject in zip(words, (first, second), strict=True)
    )
    return head_matching.distance_matrix(*distributions(first_maps, second_maps, words))
