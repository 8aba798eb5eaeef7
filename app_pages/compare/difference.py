"""Where a pair of heads differs, and how far every pair does."""

import numpy as np
import streamlit as st

from app_pages import state
from app_pages.compare.pairing import (
    Pairing,
    common_tokens,
    name,
    take_head,
    why_cells_differ,
)
from app_pages.compare.sides import Side
from app_pages.widgets.show import clickable, show
from viz.attention.token_heatmaps import difference_heatmap
from viz.head_grids import head_grid


def difference(chosen: state.HeadSelection, first: Side, second: Side, pairing: Pairing) -> None:
    _by_head(chosen, first, second, pairing)
    head = (chosen.layer, chosen.head)
    partner = pairing.partners.get(head)
    if (reason := why_cells_differ(first, second)) is not None:
        st.info(f"{reason} Their weights cannot be subtracted.")
    elif partner is not None:
        title = f"{second.title} {name(partner)} minus {first.title} {name(head)}"
        figure = difference_heatmap(
            first.record.pattern[head],
            second.record.pattern[partner],
            common_tokens(first, second),
            names=(first.title, second.title),
            title=title,
        )
        show(figure, key="difference")


def _by_head(chosen: state.HeadSelection, first: Side, second: Side, pairing: Pairing) -> None:
    """A small table for each measure, laid out as the heads of the first side are."""
    shape = first.record.pattern.shape[:2]
    tables = {}
    if pairing.matrix is not None:
        distance = np.full(shape, np.nan)
        for head, value in pairing.distances.items():
            distance[head] = value
        tables["distance"] = (distance, False, 3, ["head distance", "nats, 0 to 0.693"])
    change = _changes(first, second, pairing)
    minus = f"{second.title} minus {first.title}"
    tables["entropy"] = (change["entropy"], True, 2, ["change of entropy", minus])
    unit = "tokens" if first.is_text else "patches"
    if first.record.patch_grid == second.record.patch_grid:
        column = f"mean distance ({unit})"
        tables["mean_distance"] = (change[column], True, 2, [f"change of {column}", minus])
    partners = [pairing.partners.get(head) for head in np.ndindex(shape)]
    notes = [
        f"{name(head)} ↔ {name(partner)}" if partner else "no partner"
        for head, partner in zip(np.ndindex(shape), partners, strict=True)
    ]
    with st.container(horizontal=True, gap="medium"):
        for key, (values, signed, digits, title) in tables.items():
            grid = head_grid(
                values,
                selected=(chosen.layer, chosen.head),
                title=title,
                signed=signed,
                notes=notes,
                digits=digits,
            )
            with st.container(width="content"):
                clickable(
                    grid,
                    key=f"grid_{key}",
                    chosen=(chosen.layer, chosen.head),
                    selection="head",
                    take=lambda point: take_head((int(point["layer"]), int(point["head"]))),
                    width="content",
                )
    st.caption(
        f"Rows and columns are the layers and heads of {first.title}, each against its partner. In the changes orange "
        f"says that {second.title} has more, blue that it has less. A click chooses the pair. Entropies are divided by "
        "that of equal weights, so they lie between 0 and 1 and their changes between −1 and 1."
    )


def _changes(first: Side, second: Side, pairing: Pairing) -> dict[str, np.ndarray]:
    """Each measure of the partner less that of the head, [layer, head]; NaN where there is no partner."""
    before, after = (
        state.head_measures(side.checkpoint, side.given).set_index(["layer", "head"])
        for side in (first, second)
    )
    changes = {}
    shape = first.record.pattern.shape[:2]
    for measure in before.columns:
        values = np.full(shape, np.nan)
        for head, partner in pairing.partners.items():
            values[head] = after.at[partner, measure] - before.at[head, measure]
        changes[measure] = values
    return changes
