"""The residual stream of both sides: how long, how much each sublayer adds, what could be read off it."""

import numpy as np
import streamlit as st

from app_pages import address, state
from app_pages.compare.sides import Side, beside
from app_pages.widgets.show import show
from model.measures import similarity
from model.measures import stream as measures
from viz.compare.norm_heatmap import norm_heatmap
from viz.compare.stage_curves import logit_curves, stage_curves
from viz.compare.stage_similarity import stage_similarity
from viz.numbers import written
from viz.palette import FIRST, SECOND

NORMS, SHARES, LOGITS, UNIFORMITY, COSINES = (
    "norms",
    "shares",
    "logits by layer",
    "token uniformity",
    "cosines",
)


def stream(first: Side, second: Side) -> None:
    sides = (first, second)
    parts = {NORMS: _norms, SHARES: _shares, LOGITS: _logits, UNIFORMITY: _uniformity, COSINES: _cosines}
    parts[address.row("Of the stream", parts, key="compare_stream")](sides)


def _norms(sides: tuple[Side, Side]) -> None:
    st.markdown(
        r"$\lVert x_i \rVert$ at each position $i$: after the embedding, after each attention (mid) and each feed-forward "
        "(post). In post-LN that is after the norm, which sets the length; in pre-LN nothing does until the norm at the end."
    )
    lengths = {side.title: measures.norms(side.record.residual) for side in sides}
    means = {title: values.mean(axis=1) for title, values in lengths.items()}
    show(stage_curves(means, _stages(sides), y_title="mean length of the states"), key="stream_mean")
    for number, side, place in zip(("first", "second"), sides, beside("norms"), strict=True):
        figure = norm_heatmap(
            lengths[side.title],
            side.record.stages,
            side.record.tokens,
            unit="token" if side.is_text else "patch",
            title=side.title,
        )
        with place:
            show(figure, key=f"norms_{number}")


def _shares(sides: tuple[Side, Side]) -> None:
    st.markdown(
        r"$\frac{1}{n} \sum_i \lVert F_i \rVert / (\lVert x_i \rVert + \lVert F_i \rVert)$: $F$ is what the sublayer hands "
        "over, $x$ what that is added to. 0.5: it is as long as all that was there. Lengths alone: where $F$ points "
        "against $x$, the sum becomes shorter."
    )
    shares = {side.title: _shares_of(side.checkpoint, side.given) for side in sides}
    deepest = max(side.record.config.n_layers for side in sides)
    names = [f"L{layer} {sublayer}" for layer in range(deepest) for sublayer in ("attention", "feed-forward")]
    chart = stage_curves(shares, names, y_title="share of the sublayer", x_title="sublayer", from_zero_to=1)
    show(chart, key="stream_shares")


@st.cache_data(max_entries=32, show_spinner=False)
def _shares_of(name: str, given: state.Input) -> np.ndarray:
    loaded = state.loaded(name)
    outputs = measures.sublayer_outputs(loaded, given)
    return measures.shares(measures.gone_past(loaded.model, state.record(name, given).residual), outputs)


def _logits(sides: tuple[Side, Side]) -> None:
    st.markdown(
        "What the classifier would answer if it read the stream at each stage: $W\\,\\mathrm{pool}(\\mathrm{LN}(x)) + b$ "
        "where the encoder ends in a norm, as pre-LN mostly does, $W\\,\\mathrm{pool}(x) + b$ where it does not; the pool "
        "is the class token, the mean or the maximum. The classifier was trained on the last stage alone."
    )
    marked = {sides[1].said: SECOND} | {sides[0].said: FIRST}
    every = np.concatenate([side.record.logits_by_layer.ravel() for side in sides])
    domain = (float(every.min()), float(every.max()))
    for number, side, place in zip(("first", "second"), sides, beside("logits"), strict=True):
        record = side.record
        chart = logit_curves(
            record.logits_by_layer,
            record.stages,
            record.class_names,
            marked=marked,
            title=side.title,
            domain=domain,
        )
        with place:
            show(chart, key=f"logits_{number}")
        place.caption(_checked(side))
    if sides[0].said == sides[1].said:
        said = f"Both say **{sides[0].said}**"
    else:
        said = " and ".join(f"**{side.said}** is what {side.title} says" for side in sides)
    st.caption(f"{said}; any other class is grey.")


def _checked(side: Side) -> str:
    gap = measures.logits_gap(side.record)
    norm = "through the final norm" if side.record.config.final_norm else "no final norm"
    if gap <= 1e-4:
        return f"Checked: {norm}, the last stage gives the true logits (largest deviation {written(gap, '.1g')})."
    return f"The last stage does not give the true logits: they are up to {written(gap, '.2e')} apart."


def _uniformity(sides: tuple[Side, Side]) -> None:
    st.markdown(
        r"$\lVert X - \mathbf{1} \bar{x}^\top \rVert_F / \lVert X \rVert_F$ with $\bar{x}$ the mean state: 0 if all tokens "
        "were alike. Dong et al. 2021 prove that attention alone drives the tokens together, and that skip connections and "
        "feed-forward layers hold them apart (they measure in another norm)."
    )
    curves = {side.title: measures.uniformity(side.record.residual) for side in sides}
    chart = stage_curves(
        curves, _stages(sides), y_title="relative distance from the mean state", from_zero_to=1
    )
    show(chart, key="stream_uniformity")


def _cosines(sides: tuple[Side, Side]) -> None:
    st.markdown(
        r"$\frac{1}{n} \sum_i \cos(x_i^s, x_i^t)$ between the stages $s$ and $t$ of one side: how far a token's state has "
        "turned on its way."
    )
    for number, side, place in zip(("first", "second"), sides, beside("cosines"), strict=True):
        stages = side.record.stages
        chart = stage_similarity(
            similarity.cosine_by_stage(side.record.residual),
            stages,
            stages,
            names=("stage", "other stage"),
            what="mean cosine",
            signed=True,
            side=320,
            title=side.title,
        )
        with place:
            show(chart, key=f"cosines_{number}", width="content")


def _stages(sides: tuple[Side, Side]) -> tuple[str, ...]:
    """Those of the deeper side: the other's are the first of them."""
    return max((side.record.stages for side in sides), key=len)
