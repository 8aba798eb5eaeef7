"""The residual stream of both sides: its length, what each sublayer adds, and the answer that each stage would give."""

from collections.abc import Sequence

import streamlit as st

from app_pages.compare.representations import draw_representations
from app_pages.compare.sides import ENTROPIES, STATES, say_rule
from app_pages.compare.stored_comparisons import stored_bands
from app_pages.controls import compare_controls as controls
from app_pages.controls.answer_choice import choose_answers
from app_pages.controls.control_bar import Slots
from app_pages.show.parts_of_answer import MEANING, draw_parts_of_answer
from app_pages.show.show import show
from app_pages.show.side_predictions import NUMBERS, beside
from app_pages.subject import as_python
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import plain
from model.experiments import residual_stream as measures
from model.experiments.residual_stream import cosine_by_stage
from model.measures.changes import largest_change, value_range
from model.measures.head_measures import head_summary
from viz.builders.number_format import format_number
from viz.builders.palette import CATEGORIES, side_colours
from viz.compare.stage_curves import logit_curves, norm_heatmap, stage_curves, stage_similarity

_BY_WORDS = ("norm", "uniformity", "entropy")  # curves of words, where the tokenizers differ


_WORDS = {
    controls.SHARES: r"How much of each sum its last part is: $\frac{1}{n} \sum_i \lVert F_i \rVert / (\lVert x_i \rVert + \lVert F_i \rVert)$: $F$ is the "
    "output of the sublayer, $x$ what it is added to. 0.5: both are equally long. Only lengths count: "
    "where $F$ points against $x$, the sum is shorter.",
    controls.SPREAD: r"How different the tokens' vectors still are: $\lVert X - \mathbf{1} \bar{x}^\top \rVert_F / \lVert X \rVert_F$ with $\bar{x}$ the mean state: "
    "0 if all tokens were alike (token uniformity). Dong et al. 2021 prove that attention alone drives the tokens "
    "together, and that skip connections and feed-forward layers hold them apart (they measure in "
    "another norm).",
    controls.ENTROPY: "How evenly the heads of a layer spread their weight: entropy of a row, divided by that of equal weights, as a mean "
    "over queries and heads. 0: all on one key; 1: equal weights.",
}


def draw_stream(slots: Slots, first: Side, second: Side) -> None:
    """Draws the chosen measure of the residual stream for both sides."""
    with slots.controls:
        choice = controls.STREAM_PART.choose()
    if choice == controls.REPRESENTATIONS:
        draw_representations(first, second)
        return
    if choice in (controls.SHARES, controls.ANSWERS, controls.PARTS):
        if first.words is not None:
            st.caption("The tokens differ: each side is read over its own tokens.")
    else:
        say_rule(first, second, ENTROPIES if choice == controls.ENTROPY else STATES)
    if choice == controls.PARTS:
        _draw_parts(slots, first, second)
        return
    sides = first, second
    if choice == controls.NORMS:
        _draw_norms(sides)
    elif choice == controls.ANSWERS:
        _draw_answers_by_stage(sides)
    elif choice == controls.COSINES:
        _draw_cosines(sides)
    else:
        st.markdown(_WORDS[choice])
        _draw_shares_or_spread(sides, choice)


def _draw_parts(slots: Slots, first: Side, second: Side) -> None:
    """Draws how much each part of the encoder adds to each side's answer: a masked word, or of two classes the second, of more
    the predicted ones.
    """
    names, class_name = first.record.class_names, None
    if (
        len(names) > 2
        and set(names) == set(second.record.class_names)
        and first.predicted_class_name != second.predicted_class_name
    ):
        with slots.controls:
            class_name = (
                second if controls.CLASS_OF.choose() == controls.SECOND_SAYS else first
            ).predicted_class_name
    with slots.controls:
        one, other = choose_answers({side.title: side.subject for side in (first, second)})
    words = (one.word, other.word) if one.word and other.word else None
    st.markdown(MEANING)
    draw_parts_of_answer((first, second), class_name, words=words)


def _draw_norms(sides: tuple[Side, Side]) -> None:
    st.markdown(
        r"How long each token's vector is on its way: $\lVert x_i \rVert$ at each position $i$, after the embedding, after each attention and "
        "each feed-forward. In post-LN that is after the norm, which sets the length; in pre-LN "
        "nothing does until the norm at the end."
    )
    means = {side.title: call(measures.mean_norms, side.states_expression) for side in sides}
    _draw_curves(sides, means, "norm", "mean length of the states", key="stream_mean")
    norms = [measures.norms(side.states) for side in sides]
    limit = max(float(lengths.max()) for lengths in norms)
    for ordinal, side, column in zip(NUMBERS, sides, beside("norms"), strict=False):
        record = side.record
        unit = record.unit if side.words is None else "word"
        source = call(measures.norms, side.states_expression)
        figure = call(
            norm_heatmap, source, record.stages, side.state_tokens, limit=limit, unit=unit, title=side.title
        )
        with column:
            show(figure, key=f"norms_{ordinal}")


def _draw_shares_or_spread(sides: tuple[Side, Side], choice: str) -> None:
    """Draws the chosen curve on an axis from 0 to 1: each sublayer's share of the stream, the spread of the tokens' states, or
    the entropy of the heads.
    """
    if choice == controls.SPREAD:
        curves = {side.title: call(measures.uniformity, side.states_expression) for side in sides}
        title = "relative distance from the mean state"
        _draw_curves(sides, curves, "uniformity", title, top=1, key="stream_uniformity")
        return
    layers = [f"L{layer}" for layer in range(max(side.record.config.n_layers for side in sides))]
    if choice == controls.SHARES:
        curves = {side.title: as_python.computed(side.subject, measures.sublayer_shares) for side in sides}
        names = [f"{layer} {sublayer}" for layer in layers for sublayer in ("attention", "feed-forward")]
        title, stored, x_title, key = "share of the sublayer", "share", "sublayer", "stream_shares"
    else:
        summaries = {side.title: call(head_summary, side.maps()) for side in sides}
        curves = {title: call(summary["entropy"].mean, axis=-1) for title, summary in summaries.items()}
        title, stored, x_title, key = "mean entropy of the heads", "entropy", "layer", "stream_entropy"
        names = layers
    _draw_curves(sides, curves, stored, title, names, x_title=x_title, top=1, key=key)


def _draw_answers_by_stage(sides: tuple[Side, Side]) -> None:
    st.markdown(
        "What the classifier would answer if it read the stream at each stage: "
        "$W\\,\\mathrm{pool}(\\mathrm{LN}(x)) + b$ where the encoder ends in a norm, as pre-LN mostly does, "
        "$W\\,\\mathrm{pool}(x) + b$ where it does not; the pool is the class token, the mean or the "
        "maximum. The classifier was trained on the last stage alone."
    )
    answers = [(side, side.predicted_class_name) for side in sides if side.predicted_class_name is not None]
    domain = value_range(*(side.record.logits_by_layer for side, _ in answers))
    # The same colours and the same axis on both sides; a class that both predict has the colour of the first.
    coloured = (sides[1], CATEGORIES[1]), (sides[0], CATEGORIES[0])
    marked = {
        side.predicted_class_name: colour
        for side, colour in coloured
        if side.predicted_class_name is not None
    }
    for ordinal, side, column in zip(NUMBERS, sides, beside("logits"), strict=False):
        record = side.record
        with column:
            if not record.has_classes:
                st.info(f"{side.title} has no classes, and so no logits.")
                continue
            source = as_python.record(side.subject)
            chart = call(
                logit_curves,
                source.logits_by_layer,
                source.stages,
                source.class_names,
                marked=marked,
                title=side.title,
                domain=domain,
            )
            show(chart, key=f"logits_{ordinal}")
            st.caption(_last_stage_sentence(side))
    if not answers:
        return
    if len(marked) < len(answers):
        sentence = f"Both predict **{plain(answers[0][1])}**"
    else:
        sentence = " and ".join(f"{side.title} predicts **{plain(answer)}**" for side, answer in answers)
    st.caption(f"{sentence}; any other class is grey.")
    st.markdown(
        "**When is the answer there?** The probability, at each stage, of the class that a side ends with"
    )
    curves = {
        side.title: call(measures.predicted_probability, as_python.record(side.subject))
        for side, _ in answers
    }
    _draw_curves(sides, curves, "answer", "probability of the answer", top=1, key="stream_answer")


def _last_stage_sentence(side: Side) -> str:
    """Sentence on whether the classifier, applied to the last stage of the stream, gives the encoder's logits."""
    gap = largest_change(side.record.logits_by_layer[-1], side.record.logits)
    norm_phrase = "through the final norm" if side.record.config.final_norm else "no final norm"
    if gap <= 1e-4:
        return f"Checked: {norm_phrase}, the last stage gives the true logits (largest deviation {format_number(gap, '.1g')})."
    return f"The last stage does not give the true logits: they are up to {format_number(gap, '.2e')} apart."


def _draw_cosines(sides: tuple[Side, Side]) -> None:
    st.markdown(
        "How much a token's vector keeps its direction from one stage to another, 1 where all of it: "
        r"$\frac{1}{n} \sum_i \cos(x_i^s, x_i^t)$ between the stages $s$ and $t$ of one side."
    )
    for ordinal, side, column in zip(NUMBERS, sides, beside("cosines"), strict=False):
        stages = side.record.stages
        chart = call(
            stage_similarity,
            call(cosine_by_stage, side.states_expression),
            stages,
            stages,
            names=("stage", "other stage"),
            what="mean cosine",
            signed=True,
            side=320,
            title=side.title,
        )
        with column:
            show(chart, key=f"cosines_{ordinal}", width="content")


def _draw_curves(
    sides: tuple[Side, Side],
    curves: dict[str, Expression],
    stored: str,
    y_title: str,
    positions: Sequence[str] | None = None,
    *,
    key: str,
    top: float | None = None,
    x_title: str = "stage of the stream",
) -> None:
    """Draws the `curves` of this input by title, and behind them the mean and standard deviation of the curve `stored` over a
    data set.

    Stored curves are over tokens; for a curve over words (`_BY_WORDS`) none is drawn. `positions` name the x axis, by default the
    stages of the side with more layers, whose first stages the other side shares.
    """
    is_by_words = stored in _BY_WORDS and sides[0].words is not None
    shaded, caption = ({}, "") if is_by_words else stored_bands(sides, stored)
    figure = call(
        stage_curves,
        curves,
        positions or max((side.record.stages for side in sides), key=len),
        y_title=y_title,
        from_zero_to=top,
        x_title=x_title,
        colours=side_colours([side.record.config.norm_placement for side in sides]),
        bands=shaded,
    )
    show(figure, key=key)
    if caption:
        st.caption(caption)
