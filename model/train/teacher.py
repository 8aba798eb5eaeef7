"""Two linear classifiers of texts by their words, whose probabilities are training labels of the encoders.

Such soft labels for 72,000 reviews and their pieces teach a small encoder more than 22,000 true labels do (knowledge
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
    """A linear classifier of texts by the weighted words, pairs and triples of words that occur in them."""

    words: CountVectorizer
    weights: Float[np.ndarray, " feature"]
    classifier: LogisticRegression | Pipeline

    def log_odds(self, texts: list[str]) -> Float[np.ndarray, " text"]:
        """Log-odds ln(p / (1 - p)) of the probability p that each text is positive."""
        batches = (texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE))
        return np.concatenate(
            [
                self.classifier.decision_function(_weighted_counts(self.words.transform(batch), self.weights))
                for batch in batches
            ]
        )


def word_teacher(texts: list[str], labels: Int[np.ndarray, " review"]) -> Teacher:
    """Fits a classifier of words that are weighted by log-count ratios (Wang and Manning 2012).

    Labels are 0, 1, or -1 if unknown; unlabelled reviews are used for the ratios only.
    """
    counter = _counter(min_reviews=5)
    counts = counter.fit_transform(texts)
    is_labelled = labels >= 0
    positive, is_counted = labels.astype(np.float32), is_labelled
    for _ in range(ROUNDS):
        log_ratios = log_count_ratio(counts[is_counted], positive[is_counted])
        classifier = LogisticRegression(C=0.1, solver="liblinear", dual=True, random_state=0)
        classifier.fit(_weighted_counts(counts[is_labelled], log_ratios), labels[is_labelled])
        if is_labelled.all():
            break
        positive[~is_labelled] = classifier.predict_proba(_weighted_counts(counts[~is_labelled], log_ratios))[
            :, 1
        ]
        is_counted = np.ones_like(is_labelled)
    return Teacher(counter, log_ratios, classifier)


def document_teacher(texts: list[str], labels: Int[np.ndarray, " review"]) -> Teacher:
    """Fits a classifier of document vectors (latent semantic analysis, Deerwester et al. 1990).

    Labels are 0, 1, or -1 if unknown. The vectors are fitted to all reviews, so that the errors of this classifier differ
    from those of one that weights every word separately.
    """
    counter = _counter(min_reviews=10)
    counts = counter.fit_transform(texts)
    # Squared, unlike the usual weight: more of the labelled reviews not fitted to are then classified correctly.
    rarity = np.log(len(texts) / counts.getnnz(axis=0)) ** 2
    vectors = make_pipeline(
        Normalizer(),
        TruncatedSVD(min(N_DIMENSIONS, len(rarity)), n_iter=3, random_state=0),
        Normalizer(),
        StandardScaler(),
    )
    is_labelled = labels >= 0
    documents = vectors.fit_transform(_weighted_counts(counts, rarity))
    linear_classifier = LogisticRegression(C=0.01, max_iter=1000).fit(
        documents[is_labelled], labels[is_labelled]
    )
    return Teacher(counter, rarity, make_pipeline(vectors, linear_classifier))


def log_count_ratio(
    counts: csr_matrix, positive: Float[np.ndarray, " review"]
) -> Float[np.ndarray, " feature"]:
    """Logarithm of each feature's share in the positive reviews divided by its share in the negative ones; 1 is added to
    each count.

    `positive` is the probability that a review is positive; a review counts with that probability as positive, else as
    negative.
    """
    positive_counts, negative_counts = counts.T @ positive + 1, counts.T @ (1 - positive) + 1
    return np.log(
        (positive_counts / positive_counts.sum()) / (negative_counts / negative_counts.sum())
    ).astype(np.float32)


def _counter(min_reviews: int) -> CountVectorizer:
    return CountVectorizer(
        ngram_range=(1, 3), min_df=min_reviews, binary=True, token_pattern=r"[\w']+|[!?]", dtype=np.float32
    )


def _weighted_counts(counts: csr_matrix, weights: Float[np.ndarray, " feature"]) -> csr_matrix:
    return counts @ diags_array(weights)
