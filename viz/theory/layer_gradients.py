"""Gradient norms layer by layer."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from viz.theory.seed_spread import seed_spread


def layer_gradients(norms: Mapping[str, np.ndarray]) -> alt.LayerChart:
    """Norms [seed, layer] by variant, on a log axis; layers count from 0, as everywhere here."""
    n_layers = next(iter(norms.values())).shape[1] if norms else 0
    return seed_spread(
        norms,
        range(n_layers),
        x="layer",
        y="‖∂ℒ/∂W²‖ of the layer",
        y_scale="log",
        description="Norm of the gradient in each layer, a line a placement of the norm.",
    )
