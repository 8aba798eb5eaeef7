"""How many heads may go: the greedy pruning curve over a data set, pre-LN beside post-LN."""

import numpy as np
import pandas as pd
import streamlit as st

from app_pages import address, state
from app_pages.atlas import over, pruning_of
from app_pages.heads.numbers import how_to_measure
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_head
from app_pages.widgets.show import clickable
from model.atlas.stored import Table
from model.pruning import Step, may_go
from viz.heads.pruning_curve import Curve, pruning_curve

MEASURE = "pruning"
NAMES = {"zero": "zeros", "mean": "means"}


def prune(chosen: HeadSelection) -> None:
    if not chosen.record.has_classes:
        st.info(
            f"{chosen.checkpoint} does not choose one of several classes, so there is no accuracy that heads could cost.",
            icon=":material/info:",
        )
        return
    names = state.pair(chosen.checkpoint) or (chosen.checkpoint,)
    stored = {name: found for name in names if (found := pruning_of(name)) is not None}
    missing = [name for name in names if name not in stored]
    if not stored:
        st.info(how_to_measure(chosen.checkpoint, f"--with {MEASURE}"), icon=":material/database:")
        return
    ways = [how for how in NAMES if any((each.rows["how"] == how).any() for each in stored.values())]
    with chosen.controls:
        how = address.row(
            "Replaced by",
            [NAMES[each] for each in ways],
            key="prune_how",
            help="What stands in the place of a removed head's output z: zeros, or its mean over the data set.",
        )
    steps = {name: _steps(table, how) for name, table in stored.items()}
    drawn = {name: each for name, each in steps.items() if each}
    for name, each in drawn.items():
        st.markdown(_in_words(name, each))
    figure = pruning_curve({name: _curve(name, each) for name, each in drawn.items()})

    def take(step: dict) -> None:
        if step["encoder"] == chosen.checkpoint and step["went"]:
            layer, head = step["went"].split()
            take_head(int(layer[1:]), int(head[1:]))

    clickable(figure, key="prune_curve", chosen=(chosen.layer, chosen.head), selection="step", take=take)
    st.caption(
        "At each step every remaining head is removed on trial, and the one whose removal raises the mean loss least goes for "
        "good. Two heads that are each dispensable may not be so together. Dashed: how many may go. "
        f"Measured on {', '.join(dict.fromkeys(over(each.source, MEASURE) for each in stored.values()))}: half of them "
        "choose the head, accuracy is of the other half. "
        f"A click on a point of {chosen.checkpoint} chooses the head."
    )
    for name in missing:
        st.caption(f"{name}: {how_to_measure(name, f'--with {MEASURE}')}")


def _steps(table: Table, how: str) -> list[Step]:
    rows = table.rows[table.rows["how"] == next(name for name, said in NAMES.items() if said == how)]
    return [
        Step(int(row.step), _whole(row.layer), _whole(row.head), float(row.accuracy), float(row.loss))
        for row in rows.sort_values("step").itertuples()
    ]


def _whole(value: float | None) -> int | None:
    return None if pd.isna(value) else int(value)


def _in_words(name: str, steps: list[Step]) -> str:
    n, last = len(steps) - 1, may_go(steps)
    first, end = steps[0].accuracy, steps[last].accuracy
    which = " ".join(f"L{each.layer} H{each.head}," for each in steps[1 : last + 1]).rstrip(",")
    said = (
        f"**{name}**: {last} of {n} heads may go before a point of accuracy is lost ({first:.1%} → {end:.1%})"
    )
    return f"{said}: {which}." if which else f"{said}."


def _curve(name: str, steps: list[Step]) -> Curve:
    return Curve(
        state.config_of(name).norm_placement,
        ["" if each.layer is None else f"L{each.layer} H{each.head}" for each in steps],
        np.array([each.accuracy for each in steps]),
        np.array([each.loss for each in steps]),
        may_go(steps),
    )
