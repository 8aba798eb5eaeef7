"""Tables 1 and 3 of "Attention Is All You Need", the second with the counted parameters of each row's encoder."""

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from app_pages.controls.cost_controls import START
from app_pages.cost.counted import fill_in_sizes
from app_pages.show.show import heading
from app_pages.subject.cache import cached
from model.theory.cost import COLUMNS, n_parameters, variations

_HEADINGS = {"steps": "steps", "PPL": "PPL dev", "BLEU": "BLEU dev", "params": "params ×10⁶"}
_OWN = "encoder alone"
_LOADED = "rgba(22, 163, 74, 0.16)"  # ACCENT, seen through on light and dark
_WIDTHS = dict(zip(COLUMNS, (36, 68, 52, 36, 46, 46, 62, 48, 56, 70, 76, 92), strict=True))


_KINDS_OF_LAYER = r"""
| Layer | Complexity | Sequential operations | Longest path | Multiply-adds |
| :-- | :-- | :-- | :-- | :-- |
| self-attention | $O(n^2 \cdot d)$ | $O(1)$ | $O(1)$ | $2\,n^2 d$ |
| restricted self-attention | $O(r \cdot n \cdot d)$ | $O(1)$ | $O(n/r)$ | $2\,r\,n\,d$ |
| recurrent | $O(n \cdot d^2)$ | $O(n)$ | $O(n)$ | $2\,n\,d^2$ |
| convolutional | $O(k \cdot n \cdot d^2)$ | $O(1)$ | $O(\log_k n)$ | $k\,n\,d^2$ |

By the count, self-attention costs more than recurrence where $n > d$; but recurrence makes its $n$ steps one after the other.
"""


def draw_kinds_of_layer() -> None:
    """Draws table 1 of the paper: four kinds of layer, and how they grow with the length of the sequence."""
    heading("Four kinds of layer, table 1 of the paper", key="cost_layers")
    st.markdown(_KINDS_OF_LAYER)
    st.caption(
        "$n$ vectors of width $d$; $r$ is the size of the neighbourhood in restricted self-attention, $k$ the kernel of the "
        "convolution. As in the paper, attention is without its four linear maps and has one head."
    )


def draw_variations() -> None:
    """Draws table 3 of Vaswani et al. 2017; a click on a row loads its sizes into the boxes above."""
    heading("Variations on the Transformer, table 3 of the paper", key="cost_published")
    st.markdown("Click a row to load it into the boxes above.")
    loaded = START.held()
    key = f"cost_table_{loaded}"  # a table for each start, or a cell that was clicked long ago would stay chosen
    widths = {_HEADINGS.get(column, column): width for column, width in _WIDTHS.items()}
    st.dataframe(
        _with_highlighted_row(_published_table(), [row.name == loaded for row in variations()]),
        key=key,
        hide_index=True,
        height="content",
        column_config={
            "": st.column_config.TextColumn(width=48),
            **{heading: st.column_config.TextColumn(width=width) for heading, width in widths.items()},
        },
        on_select=lambda: _take_row(key),
        selection_mode="single-cell",
        alt="Table 3 of the paper with the parameters of each row's encoder alone.",
    )
    n = variations()[0].config.n_positions
    st.caption(
        '"Attention Is All You Need" (Vaswani et al. 2017), as printed, where "unlisted values are identical to those of the base model" and "all metrics are on the '
        'English-to-German translation development set, newstest2013"; (E) is "positional embedding instead of '
        'sinusoids". The params of the paper are those of the whole Transformer, encoder and decoder. The encoder '
        "alone has an embedding here of 37,000 tokens (the paper says about as many) and a bias in every linear map; "
        f"for (E) it learns {n} positions, a number that the paper does not print."
    )


@cached
def _published_table() -> pd.DataFrame:
    """The table of the paper with one row for each variation."""
    return pd.DataFrame(
        [
            {
                "": row.group,
                **{_HEADINGS.get(column, column): cell for column, cell in row.printed.items()},
                _OWN: n_parameters(row.config),
            }
            for row in variations()
        ]
    )


def _with_highlighted_row(table: pd.DataFrame, loaded: list[bool]) -> Styler:
    """The table with the loaded row highlighted."""
    colours = [f"background-color: {_LOADED}" if is_loaded else "" for is_loaded in loaded]
    return table.style.apply(lambda _: colours).format({_OWN: "{:,}"})


def _take_row(key: str) -> None:
    if cells := st.session_state[key]["selection"]["cells"]:
        START.take(variations()[cells[0][0]].name)
        fill_in_sizes()
