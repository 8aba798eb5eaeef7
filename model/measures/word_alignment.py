"""Which words of one text correspond, where two tokenizers split it into different tokens.

Words correspond by their characters in the text, and special tokens by their role. If the words of one tokenizer end inside
those of the other ("is" and "n't" in "isn't"), they are joined until the ends are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from ..record import AttentionRecord, Positions, Span
from .word_view import merge_from

_Key = tuple[str, int, int]  # equal for words that correspond: role, text, and first character


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedWords:
    """The positions of an input in words, and which of these have a counterpart in another tokenizer's input.

    A special token is a word of its own.
    """

    starts: tuple[int, ...]  # first position of each word
    n_positions: int
    matched: tuple[int, ...]  # indices of words, ascending; the other input's, in the same order, correspond

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each word."""
        return tuple(tuple(range(*ends)) for ends in pairwise((*self.starts, self.n_positions)))

    @property
    def unmatched(self) -> tuple[int, ...]:
        """Indices of the words without a counterpart."""
        return tuple(sorted(set(range(len(self.starts))) - set(self.matched)))

    def merge(self, record: AttentionRecord) -> AttentionRecord:
        """The record by words, those without a counterpart included: weights to the pieces of a word are summed, those from
        them averaged.
        """
        return merge_from(record, self.starts)

    def matched_states(
        self, states: Float[np.ndarray, "*axes position d_model"]
    ) -> Float[np.ndarray, "*axes word d_model"]:
        """Mean state of the positions of each word that has a counterpart."""
        sums = np.add.reduceat(states, self.starts, axis=-2)[..., self.matched, :]
        sizes = np.array([len(self.groups[word]) for word in self.matched], states.dtype)
        return sums / sizes[:, None]

    def matched_weights(
        self, merged: Float[np.ndarray, "*axes query key"]
    ) -> Float[np.ndarray, "*axes word word"]:
        """The cells of a map by words (`merge`) between words that have a counterpart."""
        return merged[..., self.matched, :][..., self.matched]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of one side: its first position, and its characters or, for a special token, its key; it may have neither."""

    start: int
    span: Span | None = None
    key: _Key | None = None


def align_words(
    first: Positions,
    second: Positions,
    first_spans: Sequence[Span | None],
    second_spans: Sequence[Span | None],
) -> tuple[AlignedWords, AlignedWords]:
    """The words of one text in the positions of two tokenizers, whose spans are those of `character_spans`.

    A class token corresponds to the other's, and a separator to the one behind the same text; adjacent separators count as
    one. Raises ValueError if there is not one span for each position.
    """
    sides = _words(first, first_spans), _words(second, second_spans)
    clusters = _clusters([[word.span for word in side] for side in sides])
    joined = [_joined(side, cluster) for side, cluster in zip(sides, clusters, strict=True)]
    first_index, second_index = (
        {key: index for index, (_, key) in reversed([*enumerate(side)]) if key is not None} for side in joined
    )
    pairs = sorted((index, second_index[key]) for key, index in first_index.items() if key in second_index)
    first_words, second_words = (
        AlignedWords(
            starts=tuple(start for start, _ in side),
            n_positions=len(positions),
            matched=tuple(pair[number] for pair in pairs),
        )
        for number, (side, positions) in enumerate(zip(joined, (first, second), strict=True))
    )
    return first_words, second_words


def _words(positions: Positions, spans: Sequence[Span | None]) -> list[_Word]:
    """The words of one side, as its own tokenizer splits the text."""
    if len(spans) != len(positions):
        raise ValueError(f"there are {len(spans)} spans for {len(positions)} positions")
    words: list[_Word] = []
    text = -1  # of which the last token was
    for position, (role, span) in enumerate(zip(positions.roles, spans, strict=True)):
        last = words[-1] if words else None
        if span is None:
            key = (role, text, 0) if role in ("class", "separator") else None
            if key is None or last is None or last.key != key:
                words.append(_Word(position, key=key))
            continue
        text, _, end = span
        if last is not None and last.span is not None and last.span[0] == text:
            _, last_start, last_end = last.span
            if last_start == last_end:  # a mark of white space alone
                words[-1] = _Word(last.start, span)
                continue
            if role == "continuation":
                words[-1] = _Word(last.start, (text, last_start, max(last_end, end)))
                continue
        words.append(_Word(position, span))
    return words


def _clusters(sides: Sequence[Sequence[Span | None]]) -> list[list[_Key | None]]:
    """For each word of both sides the key of its cluster: words that have characters in common, also by way of others."""
    keys: list[list[_Key | None]] = [[None] * len(spans) for spans in sides]
    placed = sorted(
        (span, side, index)
        for side, spans in enumerate(sides)
        for index, span in enumerate(spans)
        if span is not None and span[1] < span[2]
    )
    key: _Key = ("text", -1, 0)
    last_end = 0
    for (text, start, end), side, index in placed:
        if text != key[1] or start >= last_end:
            key, last_end = ("text", text, start), end
        last_end = max(last_end, end)
        keys[side][index] = key
    return keys


def _joined(words: Sequence[_Word], clusters: Sequence[_Key | None]) -> list[tuple[int, _Key | None]]:
    """First position and key of each word of one side, after adjacent words of one cluster were joined."""
    joined: list[tuple[int, _Key | None]] = []
    for word, cluster in zip(words, clusters, strict=True):
        if cluster is None or not joined or joined[-1][1] != cluster:
            joined.append((word.start, cluster or word.key))
    return joined


def distributions(
    first: Float[np.ndarray, "*axes query key"],
    second: Float[np.ndarray, "*others other_query other_key"],
    words: tuple[AlignedWords, AlignedWords],
) -> tuple[Float[np.ndarray, "*axes word key"], Float[np.ndarray, "*others word key"]]:
    """Rows of two maps by words that sum to 1 over the same keys: the words with a counterpart, in order.

    If there are words without one, a last key holds the weight on all of these together.
    """
    maps = [side.matched_weights(merged) for side, merged in zip(words, (first, second), strict=True)]
    if any(side.unmatched for side in words):
        maps = [
            np.concatenate((weights, np.maximum(0, 1 - weights.sum(axis=-1, keepdims=True))), axis=-1)
            for weights in maps
        ]
    return maps[0], maps[1]
