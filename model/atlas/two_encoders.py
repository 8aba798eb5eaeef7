"""Two encoders over a data set: how far their heads are from each other, and how alike their states are by stage."""

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


def compare_encoders(one: Loaded, other: Loaded, examples: Examples, command: str) -> EncoderComparison:
    """One example after the other; what is kept does not grow with them.

    Raises ValueError where the two cut an example into different tokens or patches, which leaves nothing to
    compare, or where there are fewer than two examples.
    """
    distances, halves, states = Moments(), (Moments(), Moments()), CrossMoments()
    shapes = tuple((each.config.n_layers, each.config.n_heads) for each in (one, other))
    together = np.zeros([layers * heads for layers, heads in shapes], int)
    for n, (number, given) in enumerate(examples):
        first, second = (_captured(loaded, given, number) for loaded in (one, other))
        if first.tokens != second.tokens:
            raise ValueError(
                f"{one.name} and {other.name} cut example {number} into different {first.units}: their heads "
                "look at different keys, and no distance compares them"
            )
        matrix = distance_matrix(first.pattern, second.pattern)
        distances.add(matrix)
        halves[n % 2].add(matrix)
        _count(together, match_heads(matrix))
        n_stages = min(len(first.residual), len(second.residual))
        states.add(states_for_cka(first)[:n_stages], states_for_cka(second)[:n_stages])
    count = int(distances.n.max())
    if count < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {count}")
    partners = match_heads(distances.mean)
    return EncoderComparison(
        source=_source(examples, count, command, one, other),
        shapes=shapes,
        distances=distances.spread,
        alike=np.where(partners < 0, 0, together[np.arange(len(partners)), partners]),
        halves=_same(*(match_heads(half.mean) for half in halves)),
        n_states=states.n,
        cka=states.cka(),
        cka_by_chance=states.by_chance(),
    )


def states_for_cka(record: ForwardRecord) -> Float[np.ndarray, "stage row d_model"]:
    """The states that CKA takes of one example: of every token, or of a picture its class token, or else the mean."""
    if record.unit == "token":
        return record.residual
    return record.residual[:, :1] if record.has_class_token else record.residual.mean(axis=1, keepdims=True)


def _count(together: np.ndarray, partners: np.ndarray) -> None:
    ones = np.flatnonzero(partners >= 0)
    together[ones, partners[ones]] += 1


def _same(first: np.ndarray, second: np.ndarray) -> int:
    return int(((first == second) & (first >= 0)).sum())


def _source(examples: Examples, n: int, command: str, *encoders: Loaded) -> DataSource:
    hashes = tuple(weights_hash(each.folder or each.name) for each in encoders)
    return DataSource(command=command, data=examples.name, sha256=examples.sha256, n=n, weights=hashes)


def _captured(loaded: Loaded, given: Input, number: int) -> ForwardRecord:
    """As `capture`, whose ValueError says in which example of the data."""
    try:
        return capture(loaded, given)
    except ValueError as error:
        raise ValueError(f"example {number}: {error}") from error
