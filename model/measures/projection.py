"""Projects vectors to two dimensions with scikit-learn: PCA preserves variance, t-SNE preserves neighbourhoods."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

FEWEST_FOR_TSNE = 4
_STEPS = 500  # twice as many move a few hundred vectors hardly further, and take twice as long


class Projection(NamedTuple):
    """Result of PCA: two coordinates of each vector, and the share of the variance along each axis."""

    places: Float[np.ndarray, "vector 2"]
    explained: tuple[float, float]  # share of the variance along each axis; NaN where there is none to share


class Neighbourhoods(NamedTuple):
    """Result of t-SNE: two coordinates of each vector, and the perplexity that was used."""

    places: Float[np.ndarray, "vector 2"]
    perplexity: int  # the one used


def pca(vectors: Float[np.ndarray, "vector d_model"]) -> Projection:
    """Projects the vectors on the two directions with the largest variance.

    For fewer than three vectors, the second coordinates are zero.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    places, explained = np.zeros((len(vectors), 2)), np.zeros(2)
    if not _are_different(vectors):
        return Projection(places, (np.nan, np.nan))
    fitted = PCA(n_components=min(2, *vectors.shape), svd_solver="full").fit(vectors)
    n_components = fitted.n_components_
    places[:, :n_components] = fitted.transform(vectors)
    explained[:n_components] = fitted.explained_variance_ratio_
    return Projection(places, (float(explained[0]), float(explained[1])))


def t_sne(
    vectors: Float[np.ndarray, "vector d_model"], *, perplexity: int, seed: int
) -> Neighbourhoods | None:
    """Two-dimensional t-SNE embedding (van der Maaten & Hinton 2008), initialised by PCA.

    `perplexity`, roughly the number of neighbours taken into account, is at most the number of vectors minus one. The
    result is None for fewer than four vectors, or if all are equal.
    """
    n = len(vectors)
    if n < FEWEST_FOR_TSNE or not _are_different(vectors):
        return None
    perplexity = min(perplexity, n - 1)
    # Exact: Barnes-Hut pays beyond some thousand vectors, and its threads quarrel with those of other sessions.
    options = {"max_iter": _STEPS, "method": "exact", "init": "pca" if vectors.shape[1] > 1 else "random"}
    tsne = TSNE(n_components=2, perplexity=perplexity, random_state=seed, **options)
    coordinates = tsne.fit_transform(np.asarray(vectors, dtype=np.float32))
    return Neighbourhoods(np.asarray(coordinates, dtype=np.float64), perplexity)


def _are_different(vectors: np.ndarray) -> bool:
    return len(vectors) > 1 and bool((vectors != vectors[0]).any())
