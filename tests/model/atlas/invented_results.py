"""Stored figures of encoders that do not exist."""

import numpy as np

from model.atlas.parquet import DataSource
from model.atlas.results import EncoderComparison, HeadResults, LayerResults
from model.atlas.running_moments import Spread


def spread(*shape: int, seed: int = 0) -> Spread:
    mean, sd = np.random.default_rng(seed).random((2, *shape)).round(4)
    return Spread(mean=mean, sd=sd)


def source(n: int, *weights: str) -> DataSource:
    return DataSource(command="python -m …", data="films", sha256="ab12", n=n, weights=weights)


def heads(n_layers: int = 2, n_heads: int = 2, weights: str = "w", n: int = 30) -> HeadResults:
    names = ("entropy", "confidence", "distance", "previous", "next", "same", "first", "separator", "sink")
    spreads = {name: spread(n_layers, n_heads, seed=seed) for seed, name in enumerate(names)}
    z = np.random.default_rng(1).normal(size=(n_layers, n_heads, 4)).astype(np.float32)
    return HeadResults(source=source(n, weights), spreads=spreads, z=z)


def layers(n_layers: int = 2, weights: str = "w", n: int = 30) -> LayerResults:
    stages = 1 + 2 * n_layers
    lengths = {
        "norm": stages,
        "share": 2 * n_layers,
        "uniformity": stages,
        "entropy": n_layers,
        "answer": stages,
    }
    curves = {name: spread(length, seed=seed) for seed, (name, length) in enumerate(lengths.items())}
    return LayerResults(source=source(n, weights), curves=curves)


def against(
    shapes: tuple[tuple[int, int], tuple[int, int]] = ((2, 2), (2, 2)),
    weights: tuple[str, str] = ("w", "v"),
    n: int = 30,
    distances: Spread | None = None,
) -> EncoderComparison:
    ones, others = (layers * heads for layers, heads in shapes)
    n_stages = 1 + 2 * min(shapes[0][0], shapes[1][0])
    comparison = EncoderComparison(
        source=source(n, *weights),
        shapes=shapes,
        distances=distances or spread(ones, others),
        alike=np.zeros(ones, int),
        halves=min(ones, others),
        n_states=300,
        cka=np.array([np.nan, *np.linspace(1, 0.4, n_stages - 1).round(3)]),
        cka_by_chance=np.array([np.nan, *[0.01] * (n_stages - 1)]),
    )
    comparison.alike[comparison.pairing.partners >= 0] = np.arange(min(ones, others)) % n
    return comparison
