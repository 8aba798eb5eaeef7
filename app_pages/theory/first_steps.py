"""The first training steps: how far they move the encoder's output."""

from collections.abc import Mapping

import numpy as np

from app_pages.controls.control_bar import bar
from app_pages.controls.theory_controls import N_STEPS, RATE, TEN_STEPS, UPDATE_AXIS, WARM_UP_STEPS
from app_pages.show.show import heading
from app_pages.subject.cache import cached
from app_pages.theory.over_seeds import FigureWithText, create_progress_container, measure_over_seeds
from model.theory.early_update import mean_first_and_last, model_update
from model.theory.untrained_encoder import UntrainedConfig
from viz.theory.placements import model_updates

UPDATE = r"""
How far the first training steps move what the encoder puts out; far at once means that training may fail:

$\|F(x, \theta_t) - F(x, \theta_0)\|$, where $F$ is the output of the last layer and $\theta_t$ the
weights after $t$ steps of Adam on digits: mean over the positions of 16 held-out digits.

Wang et al. 2022 (DeepNet, section 3): post-LN is unstable in training not because its gradients explode, but because
the very first steps change the output too much. Warm-up, and smaller weights at the start, make this change smaller;
DeepNorm is built to keep it below a bound.
"""

measured = cached(model_update)


def draw_first_steps(setting: UntrainedConfig, variants: list[str], n_layers: int, n_seeds: int) -> None:
    """Draws how far the first steps move the output of each variant, and redraws it as seeds are measured."""
    with bar("steps")[0]:
        rate = RATE.choose()
        n_steps = N_STEPS.choose()
        warmup = WARM_UP_STEPS.choose()
        scale = UPDATE_AXIS.choose()
    n_warmup = 10 if warmup == TEN_STEPS else 0
    progress = create_progress_container()
    heading("The update of the model over its first steps", key="theory_updates")
    figure = FigureWithText("updates")

    def draw(results: dict[str, list[np.ndarray]], done: bool) -> None:
        updates = {variant: np.array(by_seed) for variant, by_seed in results.items()}
        figure.draw(
            model_updates(updates, scale=scale), _update_text(updates, n_steps, setting.d_model), done=done
        )

    measure_over_seeds(
        variants,
        n_seeds,
        measure=lambda variant, seed: measured(
            setting, variant, n_layers, seed=seed, learning_rate=rate, warmup=n_warmup, n_steps=n_steps
        ),
        draw=draw,
        text=f"Encoders trained for {n_steps} steps",
        what=("first steps", setting, tuple(variants), n_layers, n_seeds, rate, n_warmup, n_steps),
        bar=progress,
    )


def _update_text(updates: Mapping[str, np.ndarray], n_steps: int, d_model: int) -> str:
    """Text beside the figure: how far one step and all steps move the output, from `updates` [seed, step]."""
    lines = [
        f"| measured here | after 1 step | over the seeds | after {n_steps} | over the seeds |",
        "|---|---|---|---|---|",
    ]
    for variant, by_seed in updates.items():
        cells = [
            f"{emphasis}{mean:.2f}{emphasis} | {ends.min():.2f} to {ends.max():.2f}"
            for emphasis, mean, ends in zip(
                ("**", ""), mean_first_and_last(by_seed), (by_seed[:, 1], by_seed[:, -1]), strict=True
            )
        ]
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    scale = (
        rf"At the start $F$ comes out of a norm, so $\|F\| = \sqrt{{d}} = {d_model**0.5:.1f}$; two unrelated "
        rf"vectors of that length are $\sqrt{{2d}} = {(2 * d_model) ** 0.5:.1f}$ apart."
    )
    return "\n".join([UPDATE, *lines, "", scale])
