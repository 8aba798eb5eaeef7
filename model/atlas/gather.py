"""One encoder over a data set: what its heads and its layers do, as mean and standard deviation over the examples."""

import numpy as np
from jaxtyping import Float

from ..capture import capture
from ..checkpoint import Loaded, weights_hash
from ..inputs import Input
from ..measures import heads, looks, stream
from ..record import ForwardRecord
from .examples import Examples
from .moments import Moments
from .stored import Atlas, Source, Spread


def gather(loaded: Loaded, examples: Examples, command: str) -> Atlas:
    """One example after the other; what is kept does not grow with them.

    Raises ValueError where there are fewer than two examples, or an example cannot be read.
    """
    by_head, by_layer, n = {}, {}, 0
    for n, (number, given) in enumerate(examples, 1):  # noqa: B007
        record = captured(loaded, given, number)
        for moments, found in ((by_head, of_heads(record)), (by_layer, of_layers(loaded, record, given))):
            for name, values in found.items():
                moments.setdefault(name, Moments()).add(values)
    if n < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {n}")
    return Atlas(
        source=source(examples, n, command, loaded), heads=_spreads(by_head, n), curves=_spreads(by_layer, n)
    )


def of_heads(record: ForwardRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """`heads.summary` and `looks.shares` of one example: entropy from 0 to 1, mean distance, shares from 0 to 1."""
    return heads.summary(record) | looks.shares(record)


def of_layers(loaded: Loaded, record: ForwardRecord, given: Input) -> dict[str, Float[np.ndarray, " place"]]:
    """Of one example, by name: `norm` and `uniformity` [stage], `share` of the sublayers [place], `entropy` [layer].

    `answer` is `stream.answers` [stage]; without classes there is none.
    """
    past = stream.gone_past(loaded.model, record.residual)
    found = {
        "norm": stream.mean_norms(record.residual),
        "share": stream.shares(past, stream.sublayer_outputs(loaded, given)),
        "uniformity": stream.uniformity(record.residual),
        "entropy": heads.mean_entropy(record.pattern, record.mask).mean(axis=-1),
    }
    return found | ({"answer": stream.answers(record)} if record.has_classes else {})


def source(examples: Examples, n: int, command: str, *encoders: Loaded) -> Source:
    hashes = tuple(weights_hash(each.folder or each.name) for each in encoders)
    return Source(command=command, data=examples.name, sha256=examples.sha256, n=n, weights=hashes)


def captured(loaded: Loaded, given: Input, number: int) -> ForwardRecord:
    """As `capture`, whose ValueError says in which example of the data."""
    try:
        return capture(loaded, given)
    except ValueError as error:
        raise ValueError(f"example {number}: {error}") from error


def _spreads(moments: dict[str, Moments], n: int) -> dict[str, Spread]:
    """Of what all examples have: a separator may stand in some texts alone."""
    return {name: each.spread for name, each in moments.items() if each.n == n}
