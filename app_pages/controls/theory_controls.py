"""Controls of the page Theory."""

from typing import Literal

from app_pages.controls.address import Pills, Row, SelectBox, SelectSlider, Slider, Tabs
from model.theory.gradients_at_start import VARIANTS, UntrainedConfig

AT_START, FIRST_STEPS = "Before training", "First steps"
MEAN_OF_NORMS, NORM_OF_MEAN = "of each sequence, then averaged", "of all sequences together"
THEORY, XAVIER = "theory", "Xavier"
NARROW, WIDE = "d", "4 d"
NONE, TEN_STEPS = "none", "10 steps"
AXES: tuple[Literal["linear", "log"], ...] = ("linear", "log")

_PLAIN = ["pre-LN", "post-LN"]
PART = Tabs("theory_part", (AT_START, FIRST_STEPS), "Untrained encoders")
PLACEMENTS = Pills(
    "theory_variants",
    "Placement of the norm",
    _PLAIN,
    _PLAIN,
    label_visibility="collapsed",
)
MORE = Pills("theory_more", "More encoders", [name for name in VARIANTS if name not in _PLAIN])
DEPTH = Slider(
    "theory_depth",
    "Layers L",
    2,
    24,
    12,
    width=200,
    help="The deepest encoder; the sweep over depths ends here.",
)
SEEDS = Slider(
    "theory_seeds",
    "Seeds",
    1,
    10,
    5,
    width=180,
    help="Each seed draws its own weights and data. The line is the mean, the band reaches from the least to the largest.",
)
WIDTH = SelectBox("theory_width", "Width d", (32, 64, 128), 64)
HEADS = SelectBox("theory_heads", "Heads", (1, 2, 4, 8), 4)
START = Row(
    "theory_start",
    "Start",
    (THEORY, XAVIER),
    help="The start that Xiong et al. analyse: uniform attention (W_Q = W_K = 0), no W_O, Gaussian matrices. "
    "Or the start of every encoder here: all matrices uniform with Xavier's variance.",
)
FEED_FORWARD = Row(
    "theory_ff",
    "Feed-forward",
    (NARROW, WIDE),
    help="Width of the feed-forward's hidden layer: d in the theory, 4 d in the usual encoder.",
)
GAIN = Slider(
    "theory_gain",
    "Gain",
    0.25,
    2.0,
    1.0,
    step=0.25,
    help="A factor on every matrix of the layers at the start.",
)
AVERAGED = Row(
    "theory_over",
    "Size of the gradient",
    (MEAN_OF_NORMS, NORM_OF_MEAN),
    help="In each layer. Each sequence has a loss, and so a gradient. Either the lengths of these are averaged, or the gradients "
    "themselves before their length is taken, as in figure 3 of Xiong et al.",
)
RATE = SelectSlider(
    "theory_rate",
    "Learning rate",
    (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
    1e-4,
    format_func="{:g}".format,
    width=260,
)
N_STEPS = SelectSlider("theory_steps", "Steps", (5, 10, 20, 40), 10, width=200)
WARM_UP_STEPS = Row("theory_warmup", "Warm-up", (NONE, TEN_STEPS))
UPDATE_AXIS = Row("theory_update_axis", "Axis", AXES)


def choose_setting() -> UntrainedConfig:
    """Draws the controls of the untrained encoders (width, heads, initialisation, feed-forward width, gain); returns the
    configuration.
    """
    return UntrainedConfig(
        d_model=WIDTH.choose(),
        n_heads=HEADS.choose(),
        initialisation="theory" if START.choose() == THEORY else "Xavier",
        expansion=4 if FEED_FORWARD.choose() == WIDE else 1,
        gain=GAIN.choose(),
    )
