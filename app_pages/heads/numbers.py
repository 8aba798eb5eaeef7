"""What is known of every head: on this input, and over a data set where that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages import address
from app_pages.atlas import heads_of, over
from app_pages.cache import Checkpoint, cached
from app_pages.heads.columns import COLUMNS
from app_pages.state import Selection, record
from model.atlas.source import Spread
from model.checkpoint import available, read_config
from model.inputs import Input
from model.measures.roles import Role, roles, roles_for
from model.measures.statistics import statistics
from model.record import AttentionRecord

HERE, OVER = "this input", "data set"


@dataclass(frozen=True, kw_only=True)
class Numbers:
    record: AttentionRecord
    here: Mapping[str, np.ndarray]  # [layer, head], by the names of `COLUMNS`
    spreads: Mapping[str, Spread]  # the same over a data set; empty where nothing is stored
    data: str  # such as "256 MNIST test digits"
    first: str  # which of the two is compared and gives names, `HERE` or `OVER`

    @property
    def values(self) -> dict[str, np.ndarray]:
        """By the names of `COLUMNS`, in their order."""
        found = self.here if self.first == HERE else {name: each.mean for name, each in self.spreads.items()}
        return {name: found[name] for name in COLUMNS if name in found}

    @property
    def shape(self) -> tuple[int, int]:
        return self.record.pattern.shape[:2]

    def roles(self, layer: int, head: int) -> tuple[Role, ...]:
        return roles(self.record, self.values, layer, head)


def choose_numbers(chosen: Selection) -> Numbers:
    """With the control by which one chooses between this input and the data set, where there is something to choose."""
    stored = heads_of(chosen.checkpoint) if chosen.opened is None else None
    shape = chosen.record.pattern.shape[:2]
    spreads = (
        {} if stored is None else {k: each for k, each in stored.spreads.items() if each.mean.shape == shape}
    )
    first, data = HERE, ""
    if spreads:
        data = over(stored.source)
        with chosen.controls:
            first = address.row(
                "Numbers of",
                (HERE, OVER),
                key="heads_of",
                label_visibility="collapsed",
                help=f"The data set is {data}.",
            )
    return Numbers(record=chosen.record, here=of_input(chosen), spreads=spreads, data=data, first=first)


def say_source(chosen: Selection, numbers: Numbers) -> None:
    """Why there are no numbers over a data set, where there are none."""
    if chosen.opened is not None:
        st.caption("A record holds one input, so these are the numbers of that input alone.")
    elif not numbers.spreads:
        st.caption(f"These are the numbers of this input alone. {how_to_measure(chosen.checkpoint)}")


def explained(numbers: Numbers) -> None:
    """The formula of each column, and the rule of each role."""
    with st.expander("What the numbers mean", icon=":material/function:"):
        st.markdown("$A_{ij}$ is the attention weight of query $i$ on key $j$.")
        unit = {"distance": f", in {numbers.record.units}"}
        st.markdown(
            "\n".join(
                f"- **{COLUMNS[name].title}**: {COLUMNS[name].formula}{unit.get(name, '')}."
                for name in numbers.values
            )
        )
        st.markdown(
            "Roles are names for what these numbers say, each by a rule of this app's own thresholds:"
        )
        st.markdown("\n".join(f"- **{role.name}**: {role.rule}." for role in roles_for(numbers.record)))


def how_to_measure(name: str, *options: str) -> str:
    """What stores the missing numbers; an encoder from elsewhere is named by its folder, which is the reader's to know."""
    words = ["python -m model.atlas", name if name in available() else "FOLDER"]
    words += ["--data FILE.csv"] if read_config(name).is_text else []
    missing = "this was not measured" if options else "nothing is stored"
    return f"Over a data set {missing} for this encoder: `{' '.join([*words, *options])}` measures it."


def of_input(chosen: Selection) -> dict[str, np.ndarray]:
    """`statistics` of what is shown."""
    if chosen.opened is not None:
        return statistics(chosen.record)
    return _statistics(chosen.checkpoint, chosen.given)


@cached
def _statistics(name: Checkpoint, given: Input) -> dict[str, np.ndarray]:
    return statistics(record(name, given))
