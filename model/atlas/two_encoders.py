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
    """Compares the encoders on one example after the other; memory does not grow with their number.

    Raises ValueError where the two divide an example into different tokens or patches, or where there are fewer
    than two examples.
    """
    distances, halves, states = Moments(), (Moments(), Moments()), CrossMoments()
    shapes = (
        (first_encoder.config.n_layers, first_encoder.config.n_heads),
        (second_encoder.config.n_layers, second_encoder.config.n_heads),
    )
    pair_counts = np.zeros([layers * heads for layers, heads in shapes], int)
    for n, (number, text_or_image) in enumerate(examples):
        first, second = (
            _captured(loaded, text_or_image, number) for loaded in (first_encoder, second_encoder)
        )
        if first.tokens != second.tokens:
            raise ValueError(
                f"{first_encoder.name} and {second_encoder.name} cut example {number} into different {first.units}: their heads "
                "look at different keys, and no distance compares them"
            )
        matrix = distance_matrix(first.pattern, second.pattern)
        distances.add(matrix)
        halves[n % 2].add(matrix)
        partners = match_heads(matrix)
        heads = np.flatnonzero(partners >= 0)
        pair_counts[heads, partners[heads]] += 1
        n_stages = min(len(first.residual), len(second.residual))
        states.add(states_for_cka(first)[:n_stages], states_for_cka(second)[:n_stages])
    count = int(distances.n.max())
    if count < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {count}")
    partners = match_heads(distances.mean)
    first_half, second_half = (match_heads(half.mean) for half in halves)
    hashes = tuple(
        weights_hash(encoder.folder or encoder.name) for encoder in (first_encoder, second_encoder)
    )
    return EncoderComparison(
        source=DataSource(
            command=command, data=examples.name, sha256=examples.sha256, n=count, weights=hashes
        ),
        shapes=shapes,
        distances=distances.spread,
        alike=np.where(partners < 0, 0, pair_counts[np.arange(len(partners)), partners]),
        halves=int(((first_half == second_half) & (first_half >= 0)).sum()),
        n_states=states.n,
        cka=states.cka(),
        cka_by_chance=states.by_chance(),
    )


def states_for_cka(record: ForwardRecord) -> Float[np.ndarray, "stage row d_model"]:
    """States of one example that enter CKA: those of all tokens; for a picture its class token or, without one, the mean."""
    if record.unit == "token":
        return record.residual
    return record.residual[:, :1] if record.has_class_token else record.residual.mean(axis=1, keepdims=True)


def _captured(loaded: Loaded, text_or_image: Input, number: int) -> ForwardRecord:
    """Record of a forward pass; a ValueError names the number of the example."""
    try:
        return capture(loaded, text_or_image)
    except ValueError as error:
        raise ValueError(f"example {number}: {error}") from error
