"""Attention records with word pieces merged into words, or with special tokens hidden.

Attention to a word is the sum over its pieces, attention from a word the mean over its pieces (Clark et al. 2019, section
4.1). If tokens are hidden, rows are not renormalised, so they sum to less than 1.

Where two tokenizers split one text into different tokens, the words of both are matched by their characters in the text, and
special tokens by their role. If a word of one tokenizer ends inside a word of the other ("is" and "n't" in "isn't"), words are
joined until both end at the same character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from ..record import AttentionRecord, Positions, Span
from ..record.from_arrays import positions
from ..record.pieces import join_pieces
from .head_statistics import NOT_WORDS

_OF_A_WORD = ("word", "continuation", "unknown")
_Key = tuple[str, int, int]  # equal for words that correspond: role, text, and first character


def view(record: AttentionRecord, *, merged: bool = False, hidden: bool = False) -> AttentionRecord:
    """Attention of `record` with the pieces of each word merged (`merged`), without special tokens (`hidden`), or both.

    The field `numbers` of the result holds the positions in the original input. A word may attend to another if one of its
    pieces may. Special tokens are kept if there are no others, and patches are never merged. If nothing changes, `record`
    itself is returned.

    >>> from loupe import from_arrays, word_view
    >>> record = from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["film", "##s"])
    >>> word_view(record, merged=True).tokens
    ('films',)
    """
    queries = _Words.group(record, merged=merged, hidden=hidden)
    keys = queries if record.keys is None else _Words.group(record.keys, merged=merged, hidden=hidden)
    if (len(queries.shown), len(keys.shown)) == record.pattern.shape[-2:]:
        return record
    return _merged(record, queries, keys)


def merge_into_words(positions: Positions, *, hidden: bool = False) -> Positions:
    """The positions with the pieces of each word merged; with `hidden` those of words alone, without special tokens."""
    words = _Words.group(positions, merged=True, hidden=hidden)
    return positions if len(words.shown) == len(positions) else words.positions()


def _merged(record: AttentionRecord, queries: "_Words", keys: "_Words") -> AttentionRecord:
    sums = keys.combine(np.add, record.pattern, -1)
    means = queries.combine(np.add, sums, -2) / queries.sizes[:, None]
    mask = np.broadcast_to(np.True_, means.shape)
    if not record.mask.all():
        mask = queries.combine(np.logical_or, keys.combine(np.logical_or, record.mask, -1), -2)
    return AttentionRecord(
        pattern=means.astype(np.float32, copy=False),
        mask=mask,
        keys=None if record.keys is None else keys.positions(),
        **positions(queries.positions()),
    )


def hidden_positions(positions: Positions) -> tuple[int, ...]:
    """Positions of the special tokens, which can be hidden; none if all tokens are special."""
    special = positions.positions_with_role(*NOT_WORDS)
    return special if len(special) < len(positions) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """Positions of an input (`unmerged`) grouped into words that begin at `starts`, and the indices of the groups that are shown."""

    unmerged: Positions
    starts: Int[np.ndarray, " group"]
    shown: Int[np.ndarray, " word"]  # indices of groups
    merged: bool

    @classmethod
    def group(cls, unmerged: Positions, *, merged: bool, hidden: bool) -> "_Words":
        is_continuation = [
            merged and role == "continuation" and index > 0 and unmerged.roles[index - 1] in _OF_A_WORD
            for index, role in enumerate(unmerged.roles)
        ]
        starts = np.flatnonzero(~np.array(is_continuation, bool))
        hidden_indices = hidden_positions(unmerged) if hidden else ()
        shown = np.flatnonzero(~np.isin(starts, hidden_indices))
        return cls(unmerged=unmerged, starts=starts, shown=shown, merged=merged or unmerged.merged)

    @property
    def sizes(self) -> Int[np.ndarray, " word"]:
        """Number of positions in each shown word."""
        return np.diff(self.starts, append=len(self.unmerged))[self.shown]

    def combine(self, function: np.ufunc, values: np.ndarray, axis: int) -> np.ndarray:
        """The `values` combined by a numpy ufunc over the positions of each word, along `axis`; only shown words are kept."""
        if len(self.starts) < len(self.unmerged):
            values = function.reduceat(values, self.starts, axis=axis)
        return np.take(values, self.shown, axis=axis)

    def positions(self) -> Positions:
        unmerged = self.unmerged
        texts, pieces = unmerged.without_prefix(unmerged.tokens), unmerged.without_prefix(unmerged.pieces)
        firsts = self.starts[self.shown].tolist()
        words = [
            (first, slice(first, first + size))
            for first, size in zip(firsts, self.sizes.tolist(), strict=True)
        ]
        merged = [word.stop - first > 1 for first, word in words]
        return Positions(
            tokens=tuple(
                join_pieces(texts[word], pieces[word]) if is_merged else unmerged.tokens[first]
                for (first, word), is_merged in zip(words, merged, strict=True)
            ),
            pieces=tuple(
                "".join(pieces[word]) if is_merged else unmerged.pieces[first]
                for (first, word), is_merged in zip(words, merged, strict=True)
            ),
            roles=tuple(
                "word" if is_merged and unmerged.roles[first] in _OF_A_WORD else unmerged.roles[first]
                for first, is_merged in zip(firsts, merged, strict=True)
            ),
            patch_grid=unmerged.patch_grid,
            continuing_prefix=unmerged.continuing_prefix,
            numbers=tuple(map(unmerged.number, firsts)),
            merged=self.merged,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedWords:
    """The words of an input, by the positions at which they begin, and which have a counterpart in another tokenizer's input.

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
        """The record by words, with or without counterpart: weights to a word's pieces are summed, those from them averaged.

        It must not be cross-attention. The field `numbers` of the result is `starts`.
        """
        words = _Words(
            unmerged=record, starts=np.array(self.starts), shown=np.arange(len(self.starts)), merged=True
        )
        return _merged(record, words, words)

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
        """The cells of a map by words (`merge`) whose query and key both have a counterpart."""
        return merged[..., self.matched, :][..., self.matched]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of one tokenizer: its first position, and its characters or, for a special token, a key to match it; or neither."""

    start: int
    span: Span | None = None
    key: _Key | None = None


def align_words(
    first: Positions,
    second: Positions,
    first_spans: Sequence[Span | None],
    second_spans: Sequence[Span | None],
) -> tuple[AlignedWords, AlignedWords]:
    """The words of one text for two tokenizers, whose positions are `first` and `second`; spans are those of `character_spans`.

    A class token is matched with the other class token, a separator with the one after the same text; adjacent separators
    count as one.
    """
    sides = _words(first, first_spans), _words(second, second_spans)
    clusters = _clusters([[word.span for word in side] for side in sides])
    joined = [_join_words(side, cluster) for side, cluster in zip(sides, clusters, strict=True)]
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
    """The words of an input, as its own tokenizer splits the text."""
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


def _clusters(spans_by_tokenizer: Sequence[Sequence[Span | None]]) -> list[list[_Key | None]]:
    """For each word span of each tokenizer, the key of its cluster: words connected by common characters."""
    keys: list[list[_Key | None]] = [[None] * len(spans) for spans in spans_by_tokenizer]
    ordered_spans = sorted(
        (span, tokenizer_index, index)
        for tokenizer_index, spans in enumerate(spans_by_tokenizer)
        for index, span in enumerate(spans)
        if span is not None and span[1] < span[2]
    )
    key: _Key = ("text", -1, 0)
    last_end = 0
    for (text, start, end), tokenizer_index, index in ordered_spans:
        if text != key[1] or start >= last_end:
            key, last_end = ("text", text, start), end
        last_end = max(last_end, end)
        keys[tokenizer_index][index] = key
    return keys


def _join_words(words: Sequence[_Word], clusters: Sequence[_Key | None]) -> list[tuple[int, _Key | None]]:
    """First position and cluster of each word of one tokenizer, with adjacent words of the same cluster joined."""
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
    """Rows of two maps by words as distributions over the same keys: the words with a counterpart, in order.

    If some words have no counterpart, a last key holds the weight on all of them together. Rows sum to 1.
    """
    maps = [side.matched_weights(merged) for side, merged in zip(words, (first, second), strict=True)]
    if any(side.unmatched for side in words):
        maps = [
            np.concatenate((weights, np.maximum(0, 1 - weights.sum(axis=-1, keepdims=True))), axis=-1)
            for weights in maps
        ]
    return maps[0], maps[1]
