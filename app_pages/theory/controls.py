"""What is compared, and at which size."""

from collections.abc import Sequence

from app_pages import address
from model.theory.fresh import VARIANTS, Setting

WIDTHS, HEADS, MOST_SEEDS = (32, 64, 128), (1, 2, 4, 8), 10
THEORY, XAVIER = "theory", "Xavier"
NARROW, WIDE = "d", "4 d"


def choose_variants() -> list[str]:
    """Where the norm stands: any number of the variants, in their own order."""
    return address.pills(
        "Placement of the norm",
        VARIANTS,
        list(VARIANTS)[:2],
        key="theory_variants",
        help="Shows or hides a curve.",
    )


def choose_depth() -> int:
    return address.slider(
        "Layers L",
        2,
        24,
        12,
        key="theory_depth",
        width=150,
        help="The deepest encoder; the sweep over depths ends here.",
    )


def choose_seeds() -> int:
    return address.slider(
        "Seeds",
        1,
        MOST_SEEDS,
        5,
        key="theory_seeds",
        width=120,
        help="Each seed draws its own weights and data. The line is the mean, the band reaches from the least to the largest.",
    )


def choose_setting() -> Setting:
    """Width, heads and start of the encoders."""
    d_model = _one_of("Width d", WIDTHS, 64, "width")
    n_heads = _one_of("Heads", HEADS, 4, "heads")
    start = address.row(
        "Start",
        (THEORY, XAVIER),
        key="theory_start",
        help="The start that Xiong et al. analyse: uniform attention (W_Q = W_K = 0), no W_O, Gaussian matrices. "
        "Or the start of every encoder here: all matrices uniform with Xavier's variance.",
    )
    width = address.row(
        "Feed-forward",
        (NARROW, WIDE),
        key="theory_ff",
        help="Width of the feed-forward's hidden layer: d in the theory, 4 d in the usual encoder.",
    )
    gain = address.slider(
        "Gain",
        0.25,
        2.0,
        1.0,
        key="theory_gain",
        step=0.25,
        width=120,
        help="A factor on every matrix of the layers at the start.",
    )
    return Setting(
        d_model=d_model,
        n_heads=n_heads,
        expansion=4 if width == WIDE else 1,
        initialisation="theory" if start == THEORY else "Xavier",
        gain=gain,
    )


def _one_of(label: str, options: Sequence[int], default: int, key: str) -> int:
    return address.box(
        label,
        options,
        default,
        key=f"theory_{key}",
        width=84,
    )
