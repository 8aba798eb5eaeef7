"""`hidden_words`: how the cosine similarity of two texts changes when a word of one, a word of the other, or both are hidden.

For a word i of text a and a word j of text b the cell is

    s(a, b) − s(a∖i, b) − s(a, b∖j) + s(a∖i, b∖j),

where s is the cosine similarity of the pooled states, and a∖i is a with the word i hidden. It is the fall of s without i, minus the
fall of s without i if j is hidden as well. A hidden word is masked as key in all layers and heads, and left out of the pooling; all
other tokens keep their positions.

A pooled state is computed once for each hidden word, n + m + 2 in all. With the unit vectors u of these states, the cell is
(u(a) − u(a∖i)) · (u(b) − u(b∖j)).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from ..capture import evaluation_mode
from ..experiments.batching import batch_size, repeated
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.word_view import merge_into_words
from ..record import Positions
from .pooled_state import pooled_length, word_positions
from .similarity_parts import SimilarityParts


@dataclass(frozen=True, slots=True, eq=False)
class HiddenWords:
    """How much the cosine similarity of two texts changes only through a word of each together, measured by hiding words.

    `values[i, j]` is the cosine of the whole texts, minus that without word i of `a`, minus that without word j of `b`, plus
    that without both. Special tokens are never hidden.
    """

    a: Positions  # the words of the first text that were hidden, one after the other
    b: Positions  # those of the second
    values: Float64[np.ndarray, "word_of_a word_of_b"]
    recorded: float  # the cosine of both whole texts
    falls: tuple[
        Float64[np.ndarray, " word_of_a"], Float64[np.ndarray, " word_of_b"]
    ]  # of the cosine where one word alone is hidden; below 0 where it rises

    @property
    def rows(self) -> tuple[str, ...]:
        """Labels of the words of the first text."""
        return self.a.labels

    @property
    def columns(self) -> tuple[str, ...]:
        """Labels of the words of the second text."""
        return self.b.labels

    def spearman(self, parts: SimilarityParts) -> float:
        """Spearman's rank correlation, -1 to 1, of all cells with the cells of `parts`, of the same two texts and by words.

        NaN if all cells of one of the two are equal.
        """
        by_word = parts.by_word()
        rows, columns = (
            [whole.position_of(side.number(index)) for index in range(len(side))]
            for side, whole in ((self.a, by_word.a), (self.b, by_word.b))
        )
        cells = {"hidden": self.values.ravel(), "parts": by_word.values[np.ix_(rows, columns)].ravel()}
        return float(pd.DataFrame(cells).rank().corr().loc["hidden", "parts"])


def hidden_words(
    loaded: Loaded, a: InputLike, b: InputLike, *, progress: Callable[[float], None] | None = None
) -> HiddenWords:
    """What each pair of a word of `a` and a word of `b` adds to the cosine similarity only together, measured by hiding them.

    For the formula see `model.similarity.hidden_words`. `progress` is called with the share of the work that is done, 0 to 1. Raises
    ValueError as `model.inputs.prepare` does, for pictures, for a text without words, for a pooled state whose length is 0 or not
    finite, and if a text has no token left without one of its words.

    >>> from loupe import hidden_words, load
    >>> effects = hidden_words(load("checkpoints/imdb-pre-ln"), "A gripping film.", "A dull film.")
    >>> effects.values.shape, effects.rows[1]
    ((4, 4), '2 gripping')
    """
    sides = [_Variants.of(loaded, model_input) for model_input in (a, b)]
    n_forwards, done = sum(len(side.hidden) for side in sides), 0
    vectors = []
    for side in sides:
        pooled = []
        for hidden in side.hidden.split(batch_size(loaded.config, side.hidden.shape[1])):
            pooled.append(_unit_pooled_states(loaded, side.inputs, hidden))
            done += len(hidden)
            if progress is not None:
                progress(done / n_forwards)
        vectors.append(np.concatenate(pooled))
    u, v = vectors
    cosines = u @ v.T
    return HiddenWords(
        a=sides[0].words,
        b=sides[1].words,
        values=(u[0] - u[1:]) @ (v[0] - v[1:]).T,
        recorded=float(cosines[0, 0]),
        falls=(cosines[0, 0] - cosines[1:, 0], cosines[0, 0] - cosines[0, 1:]),
    )


class _Variants(NamedTuple):
    """Variants of one text: which of its positions are hidden, none in variant 0, then those of one word in each variant."""

    inputs: Tensor
    words: Positions
    hidden: Bool[Tensor, "variant position"]

    @classmethod
    def of(cls, loaded: Loaded, model_input: InputLike) -> "_Variants":
        inputs, positions = prepare(loaded, model_input)
        in_word = word_positions(loaded, positions)
        words = merge_into_words(positions, hidden=True)
        hidden = torch.zeros(1 + len(words), len(positions), dtype=torch.bool, device=inputs.device)
        hidden[[1 + words.position_of(position) for position in in_word], in_word] = True
        if hidden.all(dim=1).any():
            raise ValueError(
                f"nothing is left of a text of the one word “{words.tokens[0]}” when it is hidden"
            )
        return cls(inputs, words, hidden)


def _unit_pooled_states(
    loaded: Loaded, inputs: Tensor, hidden: Bool[Tensor, "variant position"]
) -> Float64[np.ndarray, "variant d_pooled"]:
    """The pooled states of the variants, each divided by its length."""
    model, padding_id = loaded.model, loaded.config.padding_id
    batch = repeated(inputs, len(hidden))
    with torch.inference_mode(), evaluation_mode(model):
        states = model.encode(batch, ~hidden[:, None, None, None])
        if padding_id is not None:
            pooled = model.pool(states, batch.masked_fill(hidden, padding_id))
        else:  # pooling cannot be told to leave a position out, so it is not handed on
            pooled = torch.cat(
                [
                    model.pool(variant[None, kept], ids[None, kept])
                    for variant, ids, kept in zip(states, batch, ~hidden, strict=True)
                ]
            )
        lengths = torch.stack([pooled_length(loaded, vector) for vector in pooled])
    return (pooled / lengths[:, None]).double().cpu().numpy()
