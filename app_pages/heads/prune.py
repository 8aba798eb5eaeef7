"""The greedy pruning curve over a data set: accuracy as heads are removed one by one, pre-LN beside post-LN."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.head_choice import take_head
from app_pages.controls.heads_controls import PRUNED, PRUNED_BY
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.heads.numbers import link_head, measuring_sentence
from app_pages.inputs.row import choose_usable_encoder
from app_pages.show.show import clickable
from app_pages.subject import encoders
from app_pages.subject.cache import loaded
from app_pages.subject.stored_results import examples_phrase, table_of
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import plain
from model.atlas.results import CHOOSING, JUDGING, PRUNING, ResultTable
from model.checkpoint import read_config
from model.experiments.pruning import PruningStep, n_removable_heads
from viz.builders.number_format import format_distinct, head_name
from viz.heads.part_grids import PruningRun, pruning_curve

MEASURE = "pruning"


def draw_pruning(controls: DeltaGenerator) -> None:
    """Draws the curves of a chosen encoder and of the other encoder of its pre-LN/post-LN pair; the tab needs no input."""
    chosen = choose_usable_encoder(controls)
    if not loaded(chosen).config.chooses_class:
        st.info(
            f"{chosen} does not choose one of several classes, so there is no accuracy that heads could cost.",
            icon=":material/info:",
        )
        return
    names = encoders.pair(chosen) or (chosen,)
    stored = {name: table for name in names if (table := table_of(name, PRUNING)) is not None}
    missing = [name for name in names if name not in stored]
    if not stored:
        st.info(measuring_sentence(chosen, f"--with {MEASURE}"), icon=":material/database:")
        return
    measured = {how for table in stored.values() for how in table.rows["how"]}
    options = {label: how for how, label in PRUNED_BY.items() if how in measured}
    with controls:
        how = options[PRUNED.choose(options)]
    by_encoder = {name: curve for name, table in stored.items() if (curve := _pruning_steps(table, how))}
    for name, curve in by_encoder.items():
        st.markdown(_removal_sentences(name, stored[name], curve))
    curves = {
        name: PruningRun(
            read_config(name).norm_placement,
            [_removed_head_name(step) for step in curve],
            np.array([step.accuracy for step in curve]),
            np.array([step.loss for step in curve]),
            [_change_text(step) for step in curve],
            n_removable_heads(curve),
        )
        for name, curve in by_encoder.items()
    }
    figure = call(pruning_curve, curves)

    def take(step: dict) -> None:
        if step["encoder"] == chosen and step["went"]:
            layer, head = step["went"].split()
            take_head(int(layer[1:]), int(head[1:]))

    index = LAYER.held(0), HEAD.held(0)
    clickable(figure, key="prune_curve", chosen=index, selection="step", take=take)
    link_head(f"**{head_name(*index)}**")
    st.caption(
        "At each step every remaining head is tried, and the one without which the mean loss is least is removed. Two heads that "
        f"are each dispensable may not be so together. {_examples_sentence(stored.values())} ± is the standard error of the change, "
        "which compares the answers to the same examples; accuracy counts as lower where it fell by more than two of them; "
        "less, up or down, may be chance. Dashed: the last step before it is lower. "
        f"A point says which head was removed there; a click on one of {chosen} chooses it."
    )
    for name in missing:
        st.caption(f"{name}: {measuring_sentence(name, f'--with {MEASURE}')}")


def _examples_sentence(tables: Iterable[ResultTable]) -> str:
    """Sentence on how many examples were used to choose which heads to remove, and how many to measure accuracy."""
    sentences = [
        f"{source.samples[CHOOSING]:,} of {plain(examples_phrase(source))} choose the head; accuracy is of "
        f"{source.samples[JUDGING]:,} others."
        for source in (table.source for table in tables)
    ]
    return " ".join(dict.fromkeys(sentences))


def _pruning_steps(table: ResultTable, how: str) -> list[PruningStep]:
    """The steps of the removal of heads whose output is replaced as `how`, a key of `PRUNED_BY`, says; [] if it was not measured."""
    rows = table.rows[table.rows["how"] == how].sort_values("step")
    return [
        PruningStep(
            step=int(row.step),
            layer=None if pd.isna(row.layer) else int(row.layer),
            head=None if pd.isna(row.head) else int(row.head),
            accuracy=float(row.accuracy),
            loss=float(row.loss),
            n=table.source.samples[JUDGING],
            turned_wrong=int(row.turned_wrong),
            turned_right=int(row.turned_right),
        )
        for row in rows.itertuples()
    ]


def _removal_sentences(name: str, table: ResultTable, steps: list[PruningStep]) -> str:
    """Sentences on how many heads can be removed before accuracy is clearly lower, and on the accuracy with one head more, and
    with half of all heads, removed.
    """
    n_gone, half = n_removable_heads(steps), len(steps) // 2
    half_clause = "" if half == n_gone else f" With {half} gone: {_accuracy_text(steps, half)}."
    beginning = f"**{name}**, judged on {examples_phrase(table.source, JUDGING)}"
    if n_gone == steps[-1].step:
        return f"{beginning}: accuracy is not clearly lower even with all {n_gone} heads gone, {_accuracy_text(steps, n_gone)}."
    next_step_text = f"{_accuracy_text(steps, n_gone + 1)} ({_removed_head_name(steps[n_gone + 1])})"
    if not n_gone:
        return f"{beginning}: accuracy is lower as soon as the first head is gone, {next_step_text}.{half_clause}"
    return (
        f"{beginning}: with {n_gone} of {steps[-1].step} heads gone accuracy is not clearly lower, {_accuracy_text(steps, n_gone)}. With one "
        f"more gone it is, {next_step_text}.{half_clause}"
    )


def _removed_head_name(step: PruningStep) -> str:
    return "" if step.layer is None or step.head is None else head_name(step.layer, step.head)


def _accuracy_text(steps: list[PruningStep], index: int) -> str:
    first, last = format_distinct(steps[0].accuracy, steps[index].accuracy, ".1%")
    return f"accuracy {first} → {last}, a change of {_change_text(steps[index])}"


def _change_text(step: PruningStep) -> str:
    change, _ = format_distinct(100 * step.change, 0.0, "+.1f")
    error, _ = format_distinct(100 * step.standard_error, 0.0, ".1f")
    return f"{change} ± {error} points"
