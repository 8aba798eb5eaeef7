"""Two numbers of the heads plotted against each other."""

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.heads_controls import ACROSS, HERE, UP
from app_pages.heads.columns import COLUMNS
from app_pages.heads.head_line import say_head
from app_pages.heads.numbers import choose_numbers, explained, say_source
from app_pages.show.all_heads import clickable_heads
from app_pages.subject.subject import Subject
from viz.heads.head_scatter import head_scatter


def scatter(subject: Subject, slots: Slots, chosen: HeadChoice) -> None:
    numbers = choose_numbers(subject, slots)
    names, values = {COLUMNS[name].title: name for name in numbers.values}, numbers.values
    if len(names) < 2:
        st.info("Rows that do not sum to 1 leave these heads fewer than two numbers.", icon=":material/info:")
        return
    first, second = ("entropy", "distance") if "distance" in values else list(values)[:2]
    with slots.controls:
        x_title = ACROSS.choose(names, COLUMNS[first].title)
        y_title = UP.choose(names, COLUMNS[second].title)
    say_head(subject, chosen)
    chart = head_scatter(
        values[names[x_title]],
        values[names[y_title]],
        titles=(_titled(x_title, numbers.record.units), _titled(y_title, numbers.record.units)),
        selected=(chosen.layer, chosen.head),
        roles=[", ".join(role.name for role in numbers.roles(*index)) for index in np.ndindex(numbers.shape)],
        source="this input" if numbers.first == HERE else f"means over {numbers.data}",
    )
    clickable_heads(chart, key="heads_scatter", chosen=(chosen.layer, chosen.head), width="stretch")
    say_source(subject, numbers)
    explained(numbers)


def _titled(name: str, units: str) -> str:
    return f"{name} ({units})" if name == COLUMNS["distance"].title else name
