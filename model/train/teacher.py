"""A linear classifier on words, pairs and triples of words, of which the encoders learn what a text says.

Each counts by how much more often it stands in positive than in negative reviews (Wang and Manning 2012).
A small encoder learns more from 72,000 reviews and their pieces with such soft labels than from 22,000 true
ones (knowledge distillation, Hinton et al. 2015).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

ROUNDS = 3  # from the second on, the unlabelled reviews count as the round before judged them


@dataclass(frozen=True, slots=True)
class Teacher:
    """Fitted by `fit`; what it says of a text is its weights' sum over the words that stand in it."""

    words: CountVectorizer
    ratio: Float[np.ndarray, " feature"]
    linear: LogisticRegression

    @classmethod
    def fit(cls, texts: list[str], labels: Int[np.ndarray, " review"]) -> "Teacher":
        """From labels 0 and 1; where a label is -1, from how often the words stand beside others."""
        words = CountVectorizer(
            ngram_range=(1, 3), min_df=5, binary=True, token_pattern=r"[\w']+|[!?]", dtype=np.float32
        )
        stands_in = words.fit_transform(texts)
        known = labels >= 0
        positive, counted = labels.astype(np.float32), known
        for _ in range(ROUNDS):
            ratio = log_count_ratio(stands_in[counted], positive[counted])
            linear = LogisticRegression(C=0.1, solver="liblinear", dual=True, random_state=0)
            linear.fit(stands_in[known].multiply(ratio).tocsr(), labels[known])
            if known.all():
                break
            positive[~known] = linear.predict_proba(stands_in[~known].multiply(ratio).tocsr())[:, 1]
            counted = np.ones_like(known)
        return cls(words, ratio, linear)

    def positive(self, texts: list[str]) -> Float[np.ndarray, " text"]:
        """The probability that each is positive."""
        parts = []
        for start in range(0, len(texts), 50_000):  # some at a time, for the memory's sake
            stands_in = self.words.transform(texts[start : start + 50_000])
            parts.append(self.linear.predict_proba(stands_in.multiply(self.ratio).tocsr())[:, 1])
        return np.concatenate(parts).astype(np.float32)


def log_count_ratio(
    stands_in: csr_matrix, positive: Float[np.ndarray, " review"]
) -> Float[np.ndarray, " feature"]:
    """log of (share of a feature in positive reviews / share in negative ones), one added to each count.

    A review of which only a probability is known counts on both sides, in parts.
    """
    in_positive, in_negative = stands_in.T @ positive + 1, stands_in.T @ (1 - positive) + 1
    return np.log((in_positive / in_positive.sum()) / (in_negative / in_negative.sum())).astype(np.float32)
