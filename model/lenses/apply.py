"""Computes the map of a lens, given by its name."""

from ..capture import capture
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord, ForwardRecord
from . import descriptions as names
from .norms import norm_weighted, with_residual_and_norm
from .relevance import relevance, weighted
from .rollout import rollout
from .value_zeroing import changes_of_layers, rolled_out, zeroed


def through(
    lens: str,
    loaded: Loaded,
    given: InputLike,
    class_number: int | None = None,
    *,
    record: ForwardRecord | None = None,
) -> AttentionRecord:
    """Record of an input in which `pattern` is the map of one of `LENSES` instead of the attention weights.

    A lens without heads has one map a layer, in a head axis of length 1. `class_number` is used by the gradient lens, by
    default the predicted class. `record` is the result of `capture` for this input, if it was computed before.
    Raises as `capture` does, KeyError for an unknown lens, and IndexError for a class that does not exist.

    >>> from loupe import load, through
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> through("rollout", encoder, "A gripping film.").pattern.shape
    (4, 1, 6, 6)
    """
    if lens not in names.LENSES:
        raise KeyError(f"no lens {lens!r}; there are {', '.join(names.LENSES)}")
    record = capture(loaded, given) if record is None else record
    if lens == names.NORM_WEIGHTED:
        return norm_weighted(loaded.model, record)
    if lens == names.WITH_RESIDUAL:
        return with_residual_and_norm(loaded.model, record)
    if lens in (names.VALUE_ZEROING, names.ROLLED_OUT):
        map_by_layer = zeroed(record, changes_of_layers(loaded.model, record))
        return rolled_out(map_by_layer) if lens == names.ROLLED_OUT else map_by_layer
    if lens == names.ROLLOUT:
        return rollout(record)
    if lens == names.RELEVANCE:
        return relevance(record, weighted(loaded, given, class_number))
    return record
