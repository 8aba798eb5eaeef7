"""Formulas of a sublayer and its norm, for each norm placement."""

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


def formulas(variants: list[str]) -> str:
    """Formulas of these variants as Markdown, below a sentence that says what they are; one line for two, else one line each."""
    if not variants:
        return ""
    words = "What a sublayer $F$, attention or feed-forward, makes of the vector $x$ of a token, and where the norm LN stands:"
    separator = " · " if len(variants) < 3 else "  \n"
    return f"{words}  \n" + separator.join(f"**{variant}** {FORMULAS[variant]}" for variant in variants)
