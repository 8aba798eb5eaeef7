"""Sizes of an encoder: a known one to start from, and a number box for each size."""

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.cost_controls import SIZES, START, STARTS
from model.config import ModelConfig

_SIZES = (
    "How many numbers there are in the vector of a token (d_model), in the query and key (d_k) and the value (d_v) of one head, "
    "and between the two matrices of the feed-forward (d_ff)."
)


def choose_config() -> ModelConfig | None:
    """Draws the boxes; returns the encoder's configuration, or writes a sentence and returns None if the sizes conflict."""
    with bar("sizes")[0]:
        start = STARTS[START.choose(on_change=fill_in_sizes)]
        sizes = {size: SIZES[size].choose(default=getattr(start, size)) for size in sizes_of(start)}
    st.caption(_SIZES)
    try:
        config = start.resized(**sizes)
    except ValueError as error:
        st.error(f"There is no such encoder: {error}.", icon=":material/error:")
        return None
    return config


def sizes_of(start: ModelConfig) -> tuple[str, ...]:
    """Names of the sizes that can be changed: vocabulary and positions for text, image and patch size for pictures."""
    input_sizes = ("vocab_size", "n_positions") if start.is_text else ("image_size", "patch_size")
    return ("d_model", "n_layers", "n_heads", "d_k", "d_v", "d_ff", *input_sizes)


def fill_in_sizes() -> None:
    """Callback: fills the number boxes with the sizes of the chosen preset."""
    start = STARTS[START.held()]
    for size in sizes_of(start):
        SIZES[size].take(getattr(start, size))


def fixed_properties_sentence(config: ModelConfig) -> str:
    """A sentence on the properties of `config` that cannot be set in the number boxes."""
    properties = [
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
        properties.append(f"n = {config.n_positions}: {config.n_patches} patches{class_token}")
    return f"{'; '.join(properties)}."
