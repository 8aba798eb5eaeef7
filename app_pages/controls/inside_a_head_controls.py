"""Controls of the page Inside a head."""

import math

from app_pages.controls.address import (
    Code,
    PositionBox,
    Row,
    SelectBox,
    SelectSlider,
    Slider,
    Tabs,
    TextBox,
    Toggle,
)
from model.config import ModelConfig

STEP_BY_STEP, SCALE, LAYER_NORM = "Step by step", "Why √d_k", "LayerNorm"
STRONGEST = "strongest"
RANDOM, ENCODER, TEMPERATURES = "random vectors", "this encoder", "temperature"
SCALES = {"1/√d_k": 0.5, "1": 0.0, "1/d_k": 1.0, "another power": None}  # powers p of d_k^-p
LARGEST_WIDTH = 512
EVERYWHERE, LAYER, HEAD = "all heads", "this layer", "this head"
ATTENTION, FEED_FORWARD = "LayerNorm of the attention", "LayerNorm of the feed-forward layer"
RMS = {title: title.replace("LayerNorm", "RMSNorm") for title in (ATTENTION, FEED_FORWARD)}


def temperature_label(t: float) -> str:
    """The temperature as the slider and the address show it."""
    # No parentheses: in the page's address they end the url(...) by which a legend refers to its gradient.
    return {0.0: "0: argmax", math.inf: "∞: uniform"}.get(t, f"{t:g}")


PART = Tabs("inside", (STEP_BY_STEP, SCALE, LAYER_NORM))

# Step by step
KEY = PositionBox[int | str](
    "inside_key",
    "Key",
    width=160,
    help="The key whose numbers stand in the formula. Click a row of the table to choose it.",
)
ALL_KEYS = Toggle("inside_every_key", "All keys")
BY_WEIGHT = "weight"
SORT = Code("inside_sort", pattern=BY_WEIGHT)  # how the rows are ordered; empty: by position
WHY = Code("inside_why", pattern="true")  # "Why this weight?" is open
# Every step of a block, by the names of `model.experiments.head_steps.ORDER`; `step_titles` has those of an encoder.
STEP_TITLES = {
    "input": "Residual stream x",
    "norm_attention": ATTENTION,
    "project": "Query, key and value",
    "rotate": "Rotation by position",
    "products": "Dot product q · k",
    "scale": "Division by √d_k",
    "bias": "Bias by distance",
    "relative_positions": "Scores of relative positions",
    "mask": "Mask",
    "softmax": "Softmax",
    "values": "Weighted sum of the values",
    "concatenate": "Concatenation of the heads",
    "output": "Output projection",
    "add_attention": "Residual addition after attention",
    "norm_feed_forward": FEED_FORWARD,
    "expand": "Feed-forward: hidden units",
    "contract": "Feed-forward: back to the stream",
    "add_feed_forward": "Residual addition after feed-forward",
}
NOT_DIVIDED = "Scores, not divided"


def step_titles(config: ModelConfig) -> dict[str, str]:
    """Title of each step of a block, by step, in the words that fit this encoder's configuration."""
    parts = config.family.parts
    titles = dict(STEP_TITLES)
    if parts.norm == "rms":
        titles = {name: RMS.get(title, title) for name, title in titles.items()}
    if not parts.scaled:
        titles["scale"] = NOT_DIVIDED
    elif config.n_score_maps > 1:
        titles["scale"] = f"Division by √({config.n_score_maps} d_k)"
    return titles


STEP = SelectBox[str](
    "inside_step",
    "Step",
    STEP_TITLES,
    "products",
    format_func=STEP_TITLES.__getitem__,
    gone=lambda _value, _options: "products",
    label_visibility="collapsed",
    width=285,
)

# Why √d_k
TRY_WITH = Row("inside_scale", "Try it with", (RANDOM, ENCODER, TEMPERATURES))
D_K = Slider(
    "inside_d_k",
    "d_k",
    1,
    LARGEST_WIDTH,
    256,  # of less, the gradient is hardly smaller without the scale
    width=240,
    help="How many components a query and a key have.",
)
FACTOR = Row(
    "inside_factor",
    "Scale",
    SCALES,
    help="What q·k is multiplied by before the softmax.",
)
POWER = Slider(
    "inside_power", "p, for the scale d_k to the power of −p", 0.0, 1.5, 0.25, step=0.05, width=340
)
APPLIED_TO = Row("inside_where", "Applied to", (EVERYWHERE, LAYER, HEAD))
TEMPERATURE = SelectSlider(
    "inside_temperature",
    "Temperature T",
    (
        *(0.0, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7),
        *(1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, math.inf),
    ),
    1.0,
    format_func=temperature_label,
    width=330,
    help="1: as trained. Towards 0 only the best key keeps weight; towards ∞ all keys get the same.",
)

# LayerNorm
NORM = Row(
    "inside_norm",
    "Norm",
    (ATTENTION, FEED_FORWARD),
    label_visibility="collapsed",
)
VECTORS = TextBox(
    "inside_vectors",
    "Vectors, one a line",
    "0.5, -3, 8.5\n-1, 2, 5\n4, 4, 1",
    max_characters=400,
    enter_breaks_line=True,
)
