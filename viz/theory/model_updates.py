"""How far the output of an encoder has moved since its first step of training."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from viz.theory.seed_spread import Scale, seed_spread


def model_updates(moved: Mapping[str, np.ndarray], *, scale: Scale = "linear") -> alt.LayerChart:
    """Norms of the update [seed, step] by variant; step 0 is before the first, and 0 has no place on a log axis."""
    n_steps = next(iter(moved.values())).shape[1] if moved else 0
    return seed_spread(
        moved,
        range(n_steps),
        x="step t",
        y="‖F(x, θₜ) − F(x, θ₀)‖",
        y_scale=scale,
        description="Norm of the update of the output over the steps, a line a placement of the norm.",
    )
