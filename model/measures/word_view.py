"""Attention records with word pieces merged into words, or with special tokens hidden.

Attention to a word is the sum over its pieces, attention from a word the mean over its pieces (Clark et al. 2019, section
4.1). If tokens are hidden, rows are not renormalised, so they sum to less than 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from ..record import AttentionRecord, Positions, Role
from ..record.from_arrays import positions
from ..record.pieces import joined

# [MASK] and [UNK] stand for a word of the text, and stay.
SPECIAL: tuple[Role, ...] = ("class", "register", "separator", "padding", "special")
_OF_A_WORD = ("word", "continuation", "unknown")


def view(record: AttentionRecord, *, merged: bool = False, hidden: bool = False) -> AttentionRecord:
    """Attention of `record` with the pieces of each word merged (`merged`), or without special tokens (`hidden`).

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


def merge_from(record: AttentionRecord, starts: Sequence[int]) -> AttentionRecord:
    """Attention of `record`, which is not cross-attention, by words that begin at the positions `starts`, the first at 0.

    As in `view`, attention to a word is a sum and attention from it a mean; its `numbers` are `starts`.
    """
    words = _Words(read=record, starts=np.array(starts), shown=np.arange(len(starts)), merged=True)
    return _merged(record, words, words)


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
    special = positions.positions_with_role(*SPECIAL)
    return special if len(special) < len(positions) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """Positions of an input grouped into words, with the indices of those groups that are shown."""

    read: Positions
    starts: Int[np.ndarray, " group"]
    shown: Int[np.ndarray, " word"]  # indices of groups
    merged: bool

    @classmethod
    def group(cls, read: Positions, *, merged: bool, hidden: bool) -> "_Words":
        is_continuation = [
            merged and role == "continuation" and index > 0 and read.roles[index - 1] in _OF_A_WORD
            for index, role in enumerate(read.roles)
        ]
        starts = np.flatnonzero(~np.array(is_continuation, bool))
        hidden_indices = hidden_positions(read) if hidden else ()
        shown = np.flatnonzero(~np.isin(starts, hidden_indices))
        return cls(read=read, starts=starts, shown=shown, merged=merged or read.merged)

    @property
    def sizes(self) -> Int[np.ndarray, " word"]:
        """Number of positions in each shown word."""
        return np.diff(self.starts, append=len(self.read))[self.shown]

    def combine(self, function: np.ufunc, values: np.ndarray, axis: int) -> np.ndarray:
        """The `values` combined by a numpy ufunc over the positions of each word, along `axis`; only shown words are kept."""
        if len(self.starts) < len(self.read):
            values = function.reduceat(values, self.starts, axis=axis)
        return np.take(values, self.shown, axis=axis)

    def positions(self) -> Positions:
        read = self.read
        texts, pieces = read.without_prefix(read.tokens), read.without_prefix(read.pieces)
        firsts = self.starts[self.shown].tolist()
        words = [
            (first, slice(first, first + size))
            for first, size in zip(firsts, self.sizes.tolist(), strict=True)
        ]
        merged = [word.stop - first > 1 for first, word in words]
        return Positions(
            tokens=tuple(
                joined(texts[word], pieces[word]) if is_merged else read.tokens[first]
                for (first, word), is_merged in zip(words, merged, strict=True)
            ),
            pieces=tuple(
                "".join(pieces[word]) if is_merged else read.pieces[first]
                for (first, word), is_merged in zip(words, merged, strict=True)
            ),
            roles=tuple(
                "word" if is_merged and read.roles[first] in _OF_A_WORD else read.roles[first]
                for first, is_merged in zip(firsts, merged, strict=True)
            ),
            patch_grid=read.patch_grid,
            continuing_prefix=read.continuing_prefix,
            numbers=tuple(map(read.number, firsts)),
            merged=self.merged,
        )
