"""Two linear classifiers on words, whose probabilities are the training labels of the encoders.

Such soft labels for 72,000 reviews and their pieces teach a small encoder more than 22,000 true ones (knowledge
distillation, Hinton et al. 2015).
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
ROUNDS = 3  # from the second on, unlabelled reviews count with the probability from the round before
BATCH_SIZE = 50_000  # texts that are in memory together


@dataclass(frozen=True, slots=True)
class Teacher:
    """A linear classifier of texts by the words, pairs and triples of words in them, each with a weight."""

    words: CountVectorizer
    weights: Float[np.ndarray, " feature"]
    classifier: LogisticRegression | Pipeline

    def log_odds(self, texts: list[str]) -> Float[np.ndarray, " text"]:
        """log(p / (1 - p)) of the probability p that each text is positive."""
        batches = (texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE))
        return np.concatenate(
            [
                self.classifier.decision_function(_weighted(self.words.transform(batch), self.weights))
                for batch in batches
            ]
        )


def word_teacher(texts: list[str], labels: Int[np.ndarray, " review"]) -> Teacher:
    """Fits a classifier whose weights are log-count ratios (Wang and Manning 2012).

    Labels are 0, 1, or -1 where unknown; unlabelled reviews contribute to the ratios only.
    """
    words = _counter(min_reviews=5)
    counts = words.fit_transform(texts)
    is_labelled = labels >= 0
    positive, counted = labels.astype(np.float32), is_labelled
    for _ in range(ROUNDS):
        ratio = log_count_ratio(counts[counted], positive[counted])
        classifier = LogisticRegression(C=0.1, solver="liblinear", dual=True, random_state=0)
        classifier.fit(_weighted(counts[is_labelled], ratio), labels[is_labelled])
        if is_labelled.all():
            break
        positive[~is_labelled] = classifier.predict_proba(_weighted(counts[~is_labelled], ratio))[:, 1]
        counted = np.ones_like(is_labelled)
    return Teacher(words, ratio, classifier)


def document_teacher(texts: list[str], labels: Int[np.ndarray, " review"]) -> Teacher:
    """Fits a classifier of document vectors (latent semantic analysis, Deerwester et al. 1990).

    Labels are 0, 1, or -1 where unknown. The vectors are fitted to all reviews, so that its errors differ from those
    of a classifier that weighs every word by itself.
    """
    words = _counter(min_reviews=10)
    counts = words.fit_transform(texts)
    # Squared, unlike the usual weight: more of the labelled reviews not fitted to are then classified correctly.
    rarity = np.log(len(texts) / counts.getnnz(axis=0)) ** 2
    vectors = make_pipeline(
        Normalizer(),
        TruncatedSVD(min(N_DIMENSIONS, len(rarity)), n_iter=3, random_state=0),
        Normalizer(),
        StandardScaler(),
    )
    is_labelled = labels >= 0
    documents = vectors.fit_transform(_weighted(counts, rarity))
    linear = LogisticRegression(C=0.01, max_iter=1000).fit(documents[is_labelled], labels[is_labelled])
    return Teacher(words, rarity, make_pipeline(vectors, linear))


def log_count_ratio(
    counts: csr_matrix, positive: Float[np.ndarray, " review"]
) -> Float[np.ndarray, " feature"]:
    """log of (share of a feature in positive reviews / share in negative ones), one added to each count.

    A review with a probability between 0 and 1 counts partly on both sides.
    """
    in_positive, in_negative = counts.T @ positive + 1, counts.T @ (1 - positive) + 1
    return np.log((in_positive / in_positive.sum()) / (in_negative / in_negative.sum())).astype(np.float32)


def _counter(min_reviews: int) -> CountVectorizer:
    return CountVectorizer(
        ngram_range=(1, 3), min_df=min_reviews, binary=True, token_pattern=r"[\w']+|[!?]", dtype=np.float32
    )


def _weighted(counts: csr_matrix, weights: Float[np.ndarray, " feature"]) -> csr_matrix:
    return counts @ diags_array(weights)
