"""`rank_texts`: which of several texts are most similar to a query; `similarity_difference`: which words of the query make it more
similar to one of two texts than to the other.

The cosine with a text is a sum over pairs of a word of the query and a word of the text (`similarity_parts`), so each word of the query
adds the sum of its row. What the words add to the cosine with one text minus what they add to that with the other sums to the difference
of the two cosines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64

from ..inputs import InputLike
from ..loaded import Loaded
from ..record import Positions
from .pooled_state import pooled_length, pooled_states
from .similarity_parts import SimilarityParts

MOST_TEXTS = 20


@dataclass(frozen=True, slots=True, eq=False)
class RankedTexts:
    """Cosine similarities, -1 to 1, of the pooled state of a query with those of several texts."""

    cosines: Float64[np.ndarray, " text"]  # in the order in which the texts were given

    @property
    def order(self) -> tuple[int, ...]:
        """Indices of the texts, the most similar one first; equally similar texts keep their order."""
        return tuple(np.argsort(-self.cosines, kind="stable").tolist())


def rank_texts(loaded: Loaded, query: InputLike, texts: Sequence[InputLike]) -> RankedTexts:
    """Cosine similarities of the query with 1 to 20 texts, in batches.

    Raises ValueError for another number of texts, for a pooled state without a finite length above 0, and as `model.inputs.prepare` does.

    >>> from loupe import load, rank_texts
    >>> ranked = rank_texts(load("checkpoints/imdb-pre-ln"), "A gripping film.", ["A dull film.", "A gripping story."])
    >>> ranked.order
    (1, 0)
    """
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise ValueError(f"1 to {MOST_TEXTS} texts are ranked, got {len(texts)}")
    return ranking_from_states(loaded, pooled_states(loaded, (query, *texts)))


def ranking_from_states(loaded: Loaded, states: Float[np.ndarray, "query_and_text d_pooled"]) -> RankedTexts:
    """The result of `rank_texts`, from the pooled state of the query (row 0) and those of the texts."""
    directions = np.stack(
        [
            state.astype(float) / float(pooled_length(loaded, torch.from_numpy(state.astype(float))))
            for state in states
        ]
    )
    return RankedTexts(directions[1:] @ directions[0])


@dataclass(frozen=True, slots=True, eq=False)
class SimilarityDifference:
    """By how much a query is more similar to one text than to another, divided among the query's words (or tokens)."""

    query: Positions
    values: Float64[
        np.ndarray, " position"
    ]  # what each word adds to the first cosine minus what it adds to the second
    others: tuple[str, ...]  # what belongs to no token, such as "its own state" and "biases"
    elsewhere: float  # the same of these together
    recorded: float  # the difference of the cosines of the pooled states that the forward passes computed

    @property
    def total(self) -> float:
        """The sum of all `values` and of `elsewhere`."""
        return float(self.values.sum()) + self.elsewhere

    @property
    def gap(self) -> float:
        """|`total` - `recorded`|: how far the sum is from the difference that the forward passes computed."""
        return abs(self.total - self.recorded)


def similarity_difference(first: SimilarityParts, second: SimilarityParts) -> SimilarityDifference:
    """What each word of a query adds to its cosine with one text, minus what the word adds to the cosine with another text.

    `first` and `second` are `similarity_parts` of the same query as `a`, both by words or both by tokens. Raises ValueError
    otherwise.

    >>> from loupe import load, similarity_difference, similarity_parts
    >>> encoder, query = load("checkpoints/imdb-pre-ln"), "A gripping film."
    >>> parts = [similarity_parts(encoder, query, text).by_word() for text in ("A gripping story.", "A dull film.")]
    >>> difference = similarity_difference(*parts)
    >>> difference.query.tokens[2], difference.values.shape, difference.gap < 1e-5
    ('gripping', (6,), True)
    """
    if first.a.tokens != second.a.tokens:
        raise ValueError(
            f"the queries differ: {' '.join(first.a.tokens)!r} and {' '.join(second.a.tokens)!r}"
        )
    n = len(first.a)
    of_words, of_others = zip(
        *(np.split(parts.values.sum(axis=1), [n]) for parts in (first, second)), strict=True
    )
    return SimilarityDifference(
        query=first.a,
        values=of_words[0] - of_words[1],
        others=tuple(dict.fromkeys(first.rows[n:] + second.rows[n:])),
        elsewhere=float(of_others[0].sum() - of_others[1].sum()),
        recorded=first.recorded - second.recorded,
    )
