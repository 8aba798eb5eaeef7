"""Attention sharpened or flattened by a temperature: the pattern of the chosen query, and the resulting prediction."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.controls.inside_a_head_controls import APPLIED_TO, HEAD, LAYER, TEMPERATURE, temperature_label
from app_pages.controls.lens import divisor_tex, score_formula
from app_pages.inside_a_head.view import division_text
from app_pages.show.changed_head import draw_changed_input
from app_pages.show.show import clickable, show
from app_pages.show.side_predictions import predictions, tell
from app_pages.subject import as_python
from app_pages.subject.answer import DISTANCE_HEADING, whole_answer
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, answers_expression
from app_pages.toolkit.expression import call
from model.capture.intervention import at_temperature
from model.config import ModelConfig
from model.measures.changes import cosine_distance
from model.measures.head_measures import entropy
from model.record import ForwardRecord
from viz.builders.number_format import head_name
from viz.compare.stage_curves import stage_curves
from viz.inside.temperature_curve import temperature_curve

TEMPERATURES = TEMPERATURE.options or []


def draw_temperature(subject: LiveSubject, slots: Slots, chosen: HeadChoice) -> None:
    """Draws the tab: weights and prediction when the scores are divided by a temperature."""
    record = subject.record
    with slots.controls:
        query = choose_query(record)
    with slots.view:
        scope = APPLIED_TO.choose()
    with slots.controls:
        t = TEMPERATURE.choose()
    heads = {LAYER: {"layer": chosen.layer}, HEAD: {"layer": chosen.layer, "head": chosen.head}}.get(
        scope, {}
    )
    before = Side(subject, "As trained")
    after = Side(subject.under(at_temperature(t, **heads)), f"At T = {temperature_label(t)}")
    with st.container(horizontal=True, gap="medium", key="beside_answer"):
        with st.container(key="side_answer"):
            predictions(after, key="inside_answer")
            answer = whole_answer(record)
            tell(answer.change_sentence(after.title, after.subject))
            if t != 1:
                st.markdown(answer.change_details(after.subject))
            hint = "A click on a point of the curve sets the temperature. " if record.has_classes else ""
            st.caption(
                f"{hint}{_undivided_sentence(record.config)} The encoder was trained at $T = 1$ alone. "
                "Changed attention changes what later layers receive, and so their scores too."
            )
            st.button(
                "Back to 1", key="inside_as_trained", on_click=TEMPERATURE.take, args=(1.0,), disabled=t == 1
            )
        with st.container(key="side_curve"):
            _draw_curve(subject, record, t, heads)
    _draw_patterns(chosen, query, (before,) if t == 1 else (before, after))
    st.latex(
        rf"A_{{ij}} = \mathrm{{softmax}}_j\left(\frac1T \left({score_formula(record.config).tex}\right)\right)"
    )


def _undivided_temperature(config: ModelConfig) -> float:
    """The temperature that undoes the division of the dot products; 1 if the encoder does not divide them."""
    return (config.n_score_maps * config.d_k) ** -0.5 if config.family.parts.scaled else 1.0


def _undivided_sentence(config: ModelConfig) -> str:
    if not (divisor := divisor_tex(config)):
        return "This encoder does not divide by $\\sqrt{d_k}$: at $T = 1$ its scores are the plain $q \\cdot k$ and the bias."
    scores = "the plain $q \\cdot k$"
    if config.family.parts.disentangled is not None:
        scores = "the plain sum of their maps"
    elif config.has_distance_bias:
        scores += " and a bias $\\sqrt{d_k}$ times as large"
    temperature = f"{_undivided_temperature(config):.3g}"
    return f"At $T = 1/{divisor} = {temperature}$ the scores are {scores}, as if nothing had been divided."


def _draw_curve(subject: LiveSubject, record: ForwardRecord, t: float, heads: dict[str, int]) -> None:
    """Draws the answer's probabilities over the temperature, with `t` marked; without classes, the cosine distance of the pooled
    state from that at temperature 1 (`record`).

    `heads` gives the layer, or layer and head, whose temperature changes; empty for all heads.
    """
    changes = (call(at_temperature, value, **heads) for value in TEMPERATURES)
    answers = answers_expression(subject, changes, "Asking the classifier at every temperature …")
    if not record.has_classes:
        distances = {"pooled state": call(cosine_distance, as_python.record(subject).pooled, answers)}
        show(
            call(
                stage_curves,
                distances,
                list(map(temperature_label, TEMPERATURES)),
                y_title=DISTANCE_HEADING,
                x_title="temperature T",
            ),
            key="inside_temperatures",
        )
        return
    undivided = _undivided_temperature(record.config)
    root = division_text(record.config).removeprefix("÷ ")
    marks = {f"T = 1/{root}: no scale": undivided} if undivided < 1 else {}
    clickable(
        call(temperature_curve, [*TEMPERATURES], answers, record.class_names, chosen=t, marks=marks),
        key="inside_curve",
        chosen=t,
        selection="temperature",
        take=lambda point: TEMPERATURE.take(TEMPERATURES[int(point["index"])]),
    )


def _draw_patterns(chosen: HeadChoice, query: int, sides: tuple[Side, ...]) -> None:
    """Draws the weights of `query` on each side."""
    head = chosen.layer, chosen.head
    scale = chosen.of_head(*(side.record for side in sides))
    row = "beside_patterns" if sides[0].is_text else None
    with st.container(horizontal=True, gap="medium", key=row):
        for key, side in zip(("trained", "changed"), sides, strict=False):
            pattern = side.record.pattern[head]
            evenness = entropy(pattern, side.record.mask[head])[query]
            with st.container(key=f"side_{key}") if side.is_text else st.container(width=425):
                st.markdown(
                    f"**{side.title}**: weights of query {query} in {head_name(chosen.layer, chosen.head)}, "
                    f"entropy {evenness:.2f} of 1"
                )
                draw_changed_input(
                    sides[0], side, head, query=query, scale=scale, key=f"inside_row_{key}", legend=True
                )
