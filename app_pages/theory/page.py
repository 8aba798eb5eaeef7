"""Theory: pre-LN against post-LN in untrained encoders, measured on demand."""

import streamlit as st

from app_pages.controls import theory_controls
from app_pages.controls.control_bar import bar
from app_pages.theory.at_start import draw_at_start
from app_pages.theory.first_steps import draw_first_steps, draw_warm_up

FORMULAS = {
    "pre-LN": r"norms what the sublayer reads: $x + F(\mathrm{LN}(x))$, with one norm at the end",
    "post-LN": r"norms the sum: $\mathrm{LN}(x + F(x))$ (Vaswani et al. 2017)",
    "DeepNorm": r"norms the sum with a heavier $x$: $\mathrm{LN}(\alpha x + F(x))$, $\alpha = (2L)^{1/4}$, feed-forward, $V$ and $O$ times $(8L)^{-1/4}$ "
    "at the start (Wang et al. 2022)",
    "B2T": r"$h = \mathrm{LN}(x + F(x))$, then $\mathrm{LN}(x + h + F(h))$: the input $x$ goes past the first norm, “bottom "
    "to top” (Takase et al. 2022)",
    "pre-LN without residual": r"does not add $x$: $F(\mathrm{LN}(x))$",
    "post-LN without residual": r"does not add $x$: $\mathrm{LN}(F(x))$",
}


def draw() -> None:
    part = theory_controls.PART.choose()
    controls, more = bar("controls")
    with controls:
        variants = theory_controls.PLACEMENTS.choose()
        depth, seeds = theory_controls.DEPTH.choose(), theory_controls.SEEDS.choose()
    with more.popover("View", key="more"):
        variants += theory_controls.MORE.choose()
        setting = theory_controls.choose_setting()
        averaged = theory_controls.AVERAGED.choose() if part == theory_controls.AT_START else ""

    if not variants:
        st.info("Choose at least one placement of the norm.")
    elif part == theory_controls.AT_START:
        draw_at_start(setting, variants, depth, seeds, averaged)
    else:
        draw_first_steps(setting, variants, depth, seeds)
    if part == theory_controls.FIRST_STEPS:
        draw_warm_up()
    if variants:
        st.markdown(
            "What a sublayer $F$, attention or feed-forward, makes of the vector $x$ of a token, and where the norm LN stands:\n\n"
            + "\n".join(f"- **{variant}** {FORMULAS[variant]}" for variant in variants)
        )
