"""Comparison of two encoders over a data set: distances of their heads, and similarity of their states by stage."""

import numpy as np
from jaxtyping import Float

from ..capture import capture
from ..checkpoint import weights_hash
from ..inputs import Input
from ..loaded import Loaded
from ..measures.head_matching import distance_matrix, match_heads
from ..record import ForwardRecord
from .data_source import DataSource
from .dataset_examples import Examples
from .results import EncoderComparison
from .running_moments import CrossMoments, Moments


def compare_encoders(
    first_encoder: Loaded, second_encoder: Loaded, examples: Examples, command: str
) -> EncoderComparison:
    """Compares the encoders on one example after the other, so that memory does not grow with the number of examples.

    Raises ValueError if the encoders divide an example into different tokens or patches, or if there are fewer than two
    examples.
    """
    distances, half_distances, cross_moments = Moments(), (Moments(), Moments()), CrossMoments()
    shapes = (
        (first_encoder.config.n_layers, first_encoder.config.n_heads),
        (second_encoder.config.n_layers, second_encoder.config.n_heads),
    )
    pair_counts = np.zeros([layers * heads for layers, heads in shapes], int)
    for n, (number, text_or_image) in enumerate(examples):
        first, second = (
            _capture_example(loaded, text_or_image, number) for loaded in (first_encoder, second_encoder)
        )
        if first.tokens != second.tokens:
            raise ValueError(
                f"{first_encoder.name} and {second_encoder.name} cut example {number} into different {first.units}: their heads "
                "look at different keys, and no distance compares them"
            )
        matrix = distance_matrix(first.pattern, second.pattern)
        distances.add(matrix)
        half_distances[n % 2].add(matrix)
        partners = match_heads(matrix)
        heads = np.flatnonzero(partners >= 0)
        pair_counts[heads, partners[heads]] += 1
        n_stages = min(len(first.residual), len(second.residual))
        cross_moments.add(states_for_cka(first)[:n_stages], states_for_cka(second)[:n_stages])
    n_examples = int(distances.n.max())
    if n_examples < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {n_examples}")
    partners = match_heads(distances.mean)
    first_half, second_half = (match_heads(half.mean) for half in half_distances)
    weight_hashes = tuple(
        weights_hash(encoder.folder or encoder.name) for encoder in (first_encoder, second_encoder)
    )
    return EncoderComparison(
        source=DataSource(
            command=command, data=examples.name, sha256=examples.sha256, n=n_examples, weights=weight_hashes
        ),
        shapes=shapes,
        distances=distances.spread,
        alike=np.where(partners < 0, 0, pair_counts[np.arange(len(partners)), partners]),
        halves=int(((first_half == second_half) & (first_half >= 0)).sum()),
        n_states=cross_moments.n,
        cka=cross_moments.cka(),
        cka_by_chance=cross_moments.by_chance(),
    )


def states_for_cka(record: ForwardRecord) -> Float[np.ndarray, "stage row d_model"]:
    """The states of one example from which CKA is computed: all tokens of a text; the class token of a picture, or the mean over
    its patches if the encoder reads those.
    """
    if record.unit == "token":
        return record.residual
    if record.has_class_token:
        return record.residual[:, :1]
    return record.residual[:, record.first_patch :].mean(axis=1, keepdims=True)


def _capture_example(loaded: Loaded, text_or_image: Input, number: int) -> ForwardRecord:
    """The record of a forward pass on one example. Raises ValueError with the example's `number` if it cannot be read."""
    try:
        return capture(loaded, text_or_image)
    except ValueError as error:
        raise ValueError(f"example {number}: {error}") from error
