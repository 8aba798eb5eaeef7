"""What is compared, and at which size."""

from app_pages.controls import address
from model.theory.untrained_encoder import VARIANTS, FreshSetting

WIDTHS, HEADS, MOST_SEEDS = (32, 64, 128), (1, 2, 4, 8), 10
THEORY, XAVIER = "theory", "Xavier"
NARROW, WIDE = "d", "4 d"
FORMULAS = {
    "pre-LN": r"$x + F(\mathrm{LN}(x))$, one norm at the end",
    "post-LN": r"$\mathrm{LN}(x + F(x))$ (Vaswani et al. 2017)",
    "DeepNorm": r"$\mathrm{LN}(\alpha x + F(x))$, $\alpha = (2L)^{1/4}$, feed-forward, $V$ and $O$ times $(8L)^{-1/4}$ "
    "at the start (Wang et al. 2022)",
    "B2T": r"$h = \mathrm{LN}(x + F(x))$, then $\mathrm{LN}(x + h + F(h))$: the input $x$ goes past the first norm, “bottom "
    "to top” (Takase et al. 2022)",
    "pre-LN without residual": r"$F(\mathrm{LN}(x))$",
    "post-LN without residual": r"$\mathrm{LN}(F(x))$",
}


def choose_variants() -> list[str]:
    """Where the norm stands: any number of the variants, in their own order."""
    return address.pills(
        "Placement of the norm",
        VARIANTS,
        list(VARIANTS)[:2],
        key="theory_variants",
        label_visibility="collapsed",
    )


def formulas(variants: list[str]) -> str:
    """What a sublayer F and its norm do to the stream x in each of the variants: two on one line, more on one each."""
    between = " · " if len(variants) < 3 else "  \n"
    return between.join(f"**{variant}** {FORMULAS[variant]}" for variant in variants)


def choose_depth() -> int:
    return address.slider(
        "Layers L",
        2,
        24,
        12,
        key="theory_depth",
        width=200,
        help="The deepest encoder; the sweep over depths ends here.",
    )


def choose_seeds() -> int:
    return address.slider(
        "Seeds",
        1,
        MOST_SEEDS,
        5,
        key="theory_seeds",
        width=180,
        help="Each seed draws its own weights and data. The line is the mean, the band reaches from the least to the largest.",
    )


def choose_setting() -> FreshSetting:
    """Width, heads and start of the encoders."""
    d_model = address.box("Width d", WIDTHS, 64, key="theory_width")
    n_heads = address.box("Heads", HEADS, 4, key="theory_heads")
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
        help="A factor on every matrix of the layers at the start.",
    )
    return FreshSetting(
        d_model=d_model,
        n_heads=n_heads,
        expansion=4 if width == WIDE else 1,
        initialisation="theory" if start == THEORY else "Xavier",
        gain=gain,
    )
