"""The first steps of training: how far they move what the encoder puts out."""

import numpy as np
import streamlit as st

from app_pages import address
from app_pages.theory import words
from app_pages.theory.over_seeds import over_seeds
from app_pages.theory.rows import row
from app_pages.widgets.show import show
from model.theory.early_update import model_update
from model.theory.fresh import Setting
from viz.theory.placements import model_updates

RATES, STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3), (5, 10, 20, 40)
NONE, TEN_STEPS = "none", "10 steps"
LINEAR, LOG = "linear", "log"


@st.cache_data(max_entries=512, show_spinner=False)
def moved(
    setting: Setting, variant: str, n_layers: int, rate: float, warmup: int, n_steps: int, seed: int
) -> np.ndarray:
    return model_update(
        setting, variant, n_layers, learning_rate=rate, warmup=warmup, n_steps=n_steps, seed=seed
    )


def first_steps(setting: Setting, variants: list[str], n_layers: int, n_seeds: int) -> None:
    st.subheader("The update of the model over its first steps")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        rate = _one_of("Learning rate", RATES, 1e-4, "rate", width=240)
        n_steps = _one_of("Steps", STEPS, 10, "steps", width=150)
        warmup = address.row("Warm-up", (NONE, TEN_STEPS), key="theory_warmup")
        scale = address.row("Axis", (LINEAR, LOG), key="theory_update_axis")
    n_warmup = 10 if warmup == TEN_STEPS else 0
    progress = st.empty()
    place = row("updates")

    def draw(found: dict[str, list[np.ndarray]]) -> None:
        updates = {variant: np.array(by_seed) for variant, by_seed in found.items()}
        with place.figure:
            show(model_updates(updates, scale=scale))
        place.words.markdown(words.first_steps(updates, setting.d_model))

    over_seeds(
        variants,
        n_seeds,
        measure=lambda variant, seed: moved(setting, variant, n_layers, rate, n_warmup, n_steps, seed),
        draw=draw,
        what=f"Fresh encoders trained for {n_steps} steps",
        bar=progress,
    )


def _one_of(label: str, options: tuple, default: float, key: str, *, width: int) -> float:
    return address.select_slider(
        label,
        options,
        default,
        format_func=lambda value: f"{value:g}",
        key=f"theory_{key}",
        width=width,
    )
