"""Two views of a record's patterns: pieces merged into words, and special tokens hidden.

Clark et al. 2019, section 4.1: attention to a word is the sum over its pieces, attention from a word the mean over
them. The other weights are not renormalised: rows then sum to less than 1.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from ..record import AttentionRecord, Positions, Role
from ..record.from_arrays import positions

# [MASK] and [UNK] stand for a word of the text, and stay.
SPECIAL: tuple[Role, ...] = ("class", "separator", "padding", "special")
_OF_A_WORD = ("word", "continuation", "unknown")


def view(record: AttentionRecord, *, merged: bool = False, hidden: bool = False) -> AttentionRecord:
    """The `record` with the pieces of each word `merged`, and with special tokens `hidden`: its attention alone.

    `numbers` says where each position stood in the input. A word may attend to another where a piece of it may. Where
    there are special tokens alone none is hidden, and patches are never merged; a record in which this changes nothing
    is returned as it is.
    """
    queries = _Words.of(record, merged=merged, hidden=hidden)
    keys = queries if record.keys is None else _Words.of(record.keys, merged=merged, hidden=hidden)
    if (len(queries.shown), len(keys.shown)) == record.pattern.shape[-2:]:
        return record
    sums = keys.over(np.add, record.pattern, -1)
    means = queries.over(np.add, sums, -2) / queries.sizes[:, None]
    mask = np.broadcast_to(np.True_, means.shape)
    if not record.mask.all():
        mask = queries.over(np.logical_or, keys.over(np.logical_or, record.mask, -1), -2)
    return AttentionRecord(
        pattern=means.astype(np.float32, copy=False),
        mask=mask,
        keys=None if record.keys is None else keys.positions(),
        **positions(queries.positions()),
    )


def hidden_positions(read: Positions) -> tuple[int, ...]:
    """Those that hiding special tokens leaves out: none where there are no others."""
    special = read.at(*SPECIAL)
    return special if len(special) < len(read) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """Positions in groups, each of which becomes one, and which of the groups are shown."""

    read: Positions
    starts: Int[np.ndarray, " group"]
    shown: Int[np.ndarray, " word"]  # numbers of groups
    merged: bool

    @classmethod
    def of(cls, read: Positions, *, merged: bool, hidden: bool) -> "_Words":
        goes_on = [
            merged and role == "continuation" and at > 0 and read.roles[at - 1] in _OF_A_WORD
            for at, role in enumerate(read.roles)
        ]
        starts = np.flatnonzero(~np.array(goes_on, bool))
        left_out = hidden_positions(read) if hidden else ()
        shown = np.flatnonzero(~np.isin(starts, left_out))
        return cls(read=read, starts=starts, shown=shown, merged=merged or read.merged)

    @property
    def sizes(self) -> Int[np.ndarray, " word"]:
        """How many positions each word has."""
        return np.diff(self.starts, append=len(self.read))[self.shown]

    def over(self, combine: np.ufunc, values: np.ndarray, axis: int) -> np.ndarray:
        """`values` with the positions of each word combined, along this axis."""
        if len(self.starts) < len(self.read):
            values = combine.reduceat(values, self.starts, axis=axis)
        return np.take(values, self.shown, axis=axis)

    def positions(self) -> Positions:
        read, pieces = self.read, self.read.pieces
        words = [
            range(self.starts[at], self.starts[at] + size)
            for at, size in zip(self.shown, self.sizes, strict=True)
        ]
        return Positions(
            tokens=tuple(
                "".join(pieces[at] for at in word) if len(word) > 1 else read.tokens[word[0]]
                for word in words
            ),
            roles=tuple("word" if len(word) > 1 else read.roles[word[0]] for word in words),
            patch_grid=read.patch_grid,
            continuing_prefix=read.continuing_prefix,
            numbers=tuple(read.number(int(word[0])) for word in words),
            merged=self.merged,
        )
