"""Where the maps of the chosen pair of heads differ, and how far the measures of every pair do."""

import numpy as np
import streamlit as st

from app_pages.compare.pairing import map_name, why_cells_differ
from app_pages.controls.head_choice import HeadChoice
from app_pages.show.all_heads import clickable_heads
from app_pages.show.drawn_part import drawn_part, say_part
from app_pages.show.show import show
from app_pages.subject import two_sides
from app_pages.subject.subject import LensChoice
from app_pages.subject.two_sides import Side
from model.measures.head_matching import Pairing
from viz.builders.head_grids import head_grid
from viz.builders.number_format import head_name

Measures = dict[str, np.ndarray]  # [layer, head], by name


def draw_difference(
    chosen: HeadChoice, first: Side, second: Side, pairing: Pairing, through: LensChoice
) -> None:
    """Draws the difference of the chosen pair's maps, and the changes of the measures of every pair, through one lens."""
    head, lens = (chosen.layer, chosen.head), chosen.lens
    measures = [side.viewed(through).measures for side in (first, second)]
    if lens.has_heads:
        _draw_tables(head, first, second, pairing, *measures)
    partner = pairing.partner(head)
    if (reason := why_cells_differ(first, second)) is not None:
        st.info(f"{reason} Their weights cannot be subtracted.")
    elif partner is not None:
        title = f"{second.title} {map_name(partner, lens)} minus {first.title} {map_name(head, lens)}"
        n = len(two_sides.common_tokens(first, second))
        part = drawn_part(n, 0)
        figure = two_sides.difference(
            first, second, head, partner, lens=through, title=title, notes=through.notes, window=part
        )
        show(figure, key="difference")
        say_part(part, n, around="")


def _draw_tables(
    head: tuple[int, int], first: Side, second: Side, pairing: Pairing, before: Measures, after: Measures
) -> None:
    """Draws a small table for each measure, laid out as the heads of the first side."""
    shape = pairing.shapes[0]
    notes = [
        f"{head_name(*index)} ↔ {head_name(*partner)}"
        if (partner := pairing.partner(index))
        else "no partner"
        for index in np.ndindex(shape)
    ]
    with st.container(horizontal=True, gap="medium"):
        for key, (values, signed, digits, title) in _table_contents(
            first, second, pairing, before, after
        ).items():
            grid = head_grid(values, selected=head, title=title, signed=signed, notes=notes, digits=digits)
            with st.container(width="content"):
                clickable_heads(grid, key=f"grid_{key}", chosen=head)
    st.caption(
        f"Rows and columns are the layers and heads of {first.title}, each against its partner. Gold: "
        f"{second.title} has more; purple: it has less. A click chooses the pair. Entropies are divided by "
        "that of equal weights, so they lie between 0 and 1 and their changes between −1 and 1."
    )


def _table_contents(
    first: Side, second: Side, pairing: Pairing, before: Measures, after: Measures
) -> dict[str, tuple[np.ndarray, bool, int, list[str]]]:
    """For each table its values [layer, head], whether they are signed, their number of digits, and the lines of its title."""
    tables = {}
    if pairing.matrix is not None:
        tables["distance"] = pairing.distances, False, 3, ["head distance", "nats: 0 alike, 0.69 most apart"]
    for measure, values in before.items():
        same_grid = first.record.patch_grid == second.record.patch_grid
        if measure in after and (measure == "entropy" or same_grid):
            change = pairing.change(values.ravel(), after[measure].ravel())
            title = [f"change of {measure}", f"{second.title} minus {first.title}"]
            tables[measure.partition(" (")[0].replace(" ", "_")] = change, True, 2, title
    return tables
