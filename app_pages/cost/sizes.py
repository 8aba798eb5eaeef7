"""Sizes of an encoder: a known one to start from, and a box for each number."""

import streamlit as st

from app_pages.controls import address
from app_pages.controls.control_bar import bar
from model.config import LARGEST, ModelConfig, preset, presets
from model.theory.published_variations import variations

# The published rows called "base" and "big" are presets as well.
STARTS = {
    **{row.name: row.config for row in variations() if row.name in ("base", "big")},
    **{name: preset(name) for name in presets() if name not in ("base", "big")},
    **{row.name: row.config for row in variations() if row.name not in ("base", "big")},
}
_SIZES = {"d_model": 64, "n_layers": 1, "n_heads": 1, "d_k": 8, "d_v": 8, "d_ff": 128}  # and their steps
_OF_TEXT = _SIZES | {"vocab_size": 1000, "n_positions": 64}
_OF_IMAGES = _SIZES | {"image_size": 4, "patch_size": 1}  # these two make the positions
_LABELS = {"n_positions": "positions n"}
# Pixels of boxes, by the room that label and number need: 2¹⁸, the largest number, has six digits.
_WIDTHS = {
    "d_model": 125,
    "d_k": 105,
    "d_v": 105,
    **dict.fromkeys(("vocab_size", "n_positions", "image_size", "patch_size"), 140),
}


def choose_config() -> ModelConfig | None:
    """The encoder with the sizes in the boxes; None, and a sentence, where they contradict each other."""
    with bar("sizes")[0]:
        name = address.box(
            "Start from",
            STARTS,
            key="cost_from",
            on_change=lambda: load(address.held("cost_from")),
            width=190,
            help="A preset, or a row of table 3 of the paper. Then change what you like.",
        )
        start = STARTS[name]
        sizes = {
            size: address.number(
                *(_LABELS.get(size, size), 1, LARGEST, getattr(start, size)),
                step=step,
                key=f"cost_{size}",
                width=_WIDTHS.get(size, 112),
            )
            for size, step in boxes(start).items()
        }
    try:
        config = start.resized(**sizes)
    except ValueError as error:
        st.error(f"There is no such encoder: {error}.", icon=":material/error:")
        return None
    return config


def boxes(start: ModelConfig) -> dict[str, int]:
    """The sizes that can be changed, with the step of their buttons."""
    return _OF_TEXT if start.is_text else _OF_IMAGES


def load(name: str) -> None:
    """For callbacks: this start and its sizes from now on."""
    address.take("cost_from", name)
    for size in boxes(STARTS[name]):
        address.take(f"cost_{size}", getattr(STARTS[name], size))


def described(config: ModelConfig) -> str:
    """What no box holds."""
    said = [
        f"{config.norm_placement.capitalize()}-LN",
        "a norm at the end" if config.final_norm else "no norm at the end",
        *(["a norm after the embedding"] if config.embedding_norm else []),
        f"{config.positions} positions",
        *(["q, k and v by one shared map"] if config.shared_qkv else []),
        "biases in every linear map",
        f"a classifier of {config.n_classes} classes" if config.n_classes else "no classifier",
    ]
    if not config.is_text:
        class_token = " and the class token" if config.pooling == "class" else ""
        said.append(f"n = {config.n_positions}: {config.n_patches} patches{class_token}")
    return f"{'; '.join(said)}."
