"""Soft labels for the unlabelled reviews, from a linear classifier on words, pairs and triples of words.

Each counts by how much more often it stands in positive than in negative reviews (Wang and Manning 2012).
The classifier learns from the labelled training reviews alone. A small encoder learns more from 72,000
reviews with such labels than from 22,000 with true ones (knowledge distillation, Hinton et al. 2015).
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression


def soft_labels(texts: list[str], labels: Int[np.ndarray, " review"]) -> Float[np.ndarray, " review"]:
    """The probability that a review is positive: 0 or 1 where `labels` says, the classifier's where it is -1."""
    is_labelled = labels >= 0
    probabilities = labels.astype(np.float32)
    if not is_labelled.all():
        words = CountVectorizer(
            ngram_range=(1, 3), min_df=5, binary=True, token_pattern=r"[\w']+|[!?]", dtype=np.float32
        )
        stands_in = words.fit_transform(texts)
        known, unknown = stands_in[is_labelled], stands_in[~is_labelled]
        ratio = log_count_ratio(known, labels[is_labelled])
        linear = LogisticRegression(C=0.1, solver="liblinear", dual=True, random_state=0)
        linear.fit(known.multiply(ratio).tocsr(), labels[is_labelled])
        probabilities[~is_labelled] = linear.predict_proba(unknown.multiply(ratio).tocsr())[:, 1]
    return probabilities


def log_count_ratio(
    stands_in: csr_matrix, labels: Int[np.ndarray, " review"]
) -> Float[np.ndarray, " feature"]:
    """log of (share of a feature in positive reviews / share in negative ones), one added to each count."""
    positive, negative = (stands_in[labels == label].sum(axis=0).A1 + 1 for label in (1, 0))
    return np.log((positive / positive.sum()) / (negative / negative.sum())).astype(np.float32)
