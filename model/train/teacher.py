"""Two linear classifiers on words, pairs and triples of words, of which the encoders learn what a text says.

A small encoder learns more from 72,000 reviews and their pieces with such soft labels than from 22,000 true
ones (knowledge distillation, Hinton et al. 2015).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix, diags_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

N_DIMENSIONS = 300  # of a document vector
ROUNDS = 3  # from the second on, the unlabelled reviews count as the round before judged them


@dataclass(frozen=True, slots=True)
class WordTeacher:
    """What it says of a text is its weights' sum over the words that stand in it.

    Each counts by how much more often it stands in positive than in negative reviews (Wang and Manning 2012).
    """

    words: CountVectorizer
    ratio: Float[np.ndarray, " feature"]
    linear: LogisticRegression

    @classmethod
    def fit(cls, texts: list[str], labels: Int[np.ndarray, " review"]) -> "WordTeacher":
        """From labels 0 and 1; where a label is -1, from how often the words stand beside others."""
        words = _counter(in_at_least=5)
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

    def log_odds(self, texts: list[str]) -> Float[np.ndarray, " text"]:
        """log(p / (1 - p)) of each being positive."""
        parts = (self.words.transform(part).multiply(self.ratio).tocsr() for part in _in_parts(texts))
        return np.concatenate([self.linear.decision_function(part) for part in parts])


@dataclass(frozen=True, slots=True)
class DocumentTeacher:
    """What it says of a text is a weighting of its document vector (Deerwester et al. 1990).

    All reviews, labelled or not, say which words stand for the same; so it errs on other reviews than one
    that knows every word by itself.
    """

    words: CountVectorizer
    rarity: Float[np.ndarray, " feature"]
    linear: Pipeline

    @classmethod
    def fit(cls, texts: list[str], labels: Int[np.ndarray, " review"]) -> "DocumentTeacher":
        """From labels 0 and 1; where a label is -1, from the words alone."""
        words = _counter(in_at_least=10)
        stands_in = words.fit_transform(texts)
        # With the square of what is usual, more of the labelled reviews not fitted to are judged rightly.
        rarity = np.log(len(texts) / stands_in.getnnz(axis=0)) ** 2
        vectors = make_pipeline(
            Normalizer(),
            TruncatedSVD(min(N_DIMENSIONS, len(rarity)), n_iter=3, random_state=0),
            Normalizer(),
            StandardScaler(),
        )
        known = labels >= 0
        of_texts = vectors.fit_transform(stands_in @ diags_array(rarity))
        linear = LogisticRegression(C=0.01, max_iter=1000).fit(of_texts[known], labels[known])
        return cls(words, rarity, make_pipeline(vectors, linear))

    def log_odds(self, texts: list[str]) -> Float[np.ndarray, " text"]:
        """log(p / (1 - p)) of each being positive."""
        parts = (self.words.transform(part) @ diags_array(self.rarity) for part in _in_parts(texts))
        return np.concatenate([self.linear.decision_function(part) for part in parts])


def log_count_ratio(
    stands_in: csr_matrix, positive: Float[np.ndarray, " review"]
) -> Float[np.ndarray, " feature"]:
    """log of (share of a feature in positive reviews / share in negative ones), one added to each count.

    A review of which only a probability is known counts on both sides, in parts.
    """
    in_positive, in_negative = stands_in.T @ positive + 1, stands_in.T @ (1 - positive) + 1
    return np.log((in_positive / in_positive.sum()) / (in_negative / in_negative.sum())).astype(np.float32)


def _counter(in_at_least: int) -> CountVectorizer:
    return CountVectorizer(
        ngram_range=(1, 3),
        min_df=in_at_least,
        binary=True,
        token_pattern=r"[\w']+|[!?]",
        dtype=np.float32,
    )


def _in_parts(texts: list[str]) -> list[list[str]]:
    """Some at a time, for the memory's sake."""
    return [texts[start : start + 50_000] for start in range(0, len(texts), 50_000)]
