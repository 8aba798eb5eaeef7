"""Cost: what an encoder of any size costs, part by part, and the tables of the paper."""

import numpy as np
import pandas as pd
import streamlit as st

from app_pages.controls.control_bar import bar, beside
from app_pages.controls.cost_controls import RARE, SIZES, START, STARTS
from app_pages.show.show import heading, show
from app_pages.subject.cache import cached
from app_pages.toolkit.expression import call, named
from model.config import ModelConfig
from model.theory import cost
from model.theory.cost import COLUMNS, Variation, n_parameters, variations
from viz.builders.number_format import format_count, percent
from viz.cost.length_scaling import length_scaling, part_bars

_SYMBOLS = (
    "$d$ is d_model, $L$ the layers, $h$ the heads, $n$ the positions, $V$ the vocabulary, $p$ the patch size, $c$ the "
    "number of classes."
)
_COUNTING = (
    "A multiply-add is a product and the addition of it. Counted are those of all matrix products, and three "
    "for each number that goes through a norm (its square added to the variance; centring and scaling; gain "
    "and shift). Not counted is what only adds or only multiplies: biases, residual additions, the division "
    "by $\\sqrt{d_k}$, softmax, activations."
)

_HEADINGS = {"steps": "steps", "PPL": "PPL dev", "BLEU": "BLEU dev", "params": "params ×10⁶"}
_VARIED = {"(A)": "heads", "(B)": "d_k", "(C)": "size", "(D)": "dropout", "(E)": "positions"}
_OWN = "encoder alone"
_LOADED = "rgba(22, 163, 74, 0.16)"  # ACCENT, seen through on light and dark
_LENGTHS = [2**power for power in range(6, 16)]
_WIDTHS = dict(zip(COLUMNS, (36, 68, 52, 36, 46, 46, 62, 48, 56, 70, 76, 92), strict=True))


_KINDS_OF_LAYER = r"""
| Layer | Complexity | Sequential operations | Longest path between tokens | Multiply-adds |
| :-- | :-- | :-- | :-- | :-- |
| self-attention | $O(n^2 \cdot d)$ | $O(1)$ | $O(1)$ | $2\,n^2 d$ |
| restricted self-attention | $O(r \cdot n \cdot d)$ | $O(1)$ | $O(n/r)$ | $2\,r\,n\,d$ |
| recurrent | $O(n \cdot d^2)$ | $O(n)$ | $O(n)$ | $2\,n\,d^2$ |
| convolutional | $O(k \cdot n \cdot d^2)$ | $O(1)$ | $O(\log_k n)$ | $k\,n\,d^2$ |

By the count, self-attention costs more than recurrence where $n > d$; but recurrence makes its $n$ steps one after the other.
"""
_ABOUT_KINDS = (
    "In table 1, $n$ vectors have $d$ numbers; $r$ is the size of the neighbourhood in restricted self-attention, $k$ the kernel "
    "of the convolution. Sequential operations have to wait for each other; the longest path is how many operations lie between two "
    "distant tokens. As in the paper, attention is without its four linear maps and has one head."
)


def draw() -> None:
    config = choose_config()
    if config is None:
        draw_kinds_of_layer()
    else:
        draw_parts(config)
        st.caption(fixed_properties_sentence(config))
    draw_variations()


def draw_kinds_of_layer() -> None:
    """Draws table 1 of Vaswani et al. 2017: four kinds of layer, and how their cost grows with the length of the sequence."""
    heading("Four kinds of layer, table 1 of the paper", key="cost_layers")
    st.markdown(_KINDS_OF_LAYER)


def draw_variations() -> None:
    """Draws table 3 of Vaswani et al. 2017; a click on a row loads its sizes into the boxes above."""
    heading("Variations on the Transformer, table 3 of the paper", key="cost_published")
    st.markdown(
        "Click a row to load it into the boxes above; an empty cell is as in “base”. P_drop: the share of numbers that dropout sets to 0. "
        "ε_ls: the share that the smoothing of labels gives to the other tokens. PPL: perplexity, less is better. BLEU: how good the "
        "translations are, more is better."
    )
    loaded = START.held()
    key = f"cost_table_{loaded}"  # a table for each start, or a cell that was clicked long ago would stay chosen
    widths = {_HEADINGS.get(column, column): width for column, width in _WIDTHS.items()}
    colours = [f"background-color: {_LOADED}" if row.name == loaded else "" for row in variations()]
    st.dataframe(
        _published_table().style.apply(lambda _: colours).format({_OWN: "{:,}"}),
        key=key,
        hide_index=True,
        height="content",
        column_config={
            "": st.column_config.TextColumn(width=96),
            **{heading: st.column_config.TextColumn(width=width) for heading, width in widths.items()},
        },
        on_select=lambda: _take_published_sizes(key),
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
                "": _variation_label(row),
                **{_HEADINGS.get(column, column): cell for column, cell in row.printed.items()},
                _OWN: n_parameters(row.config),
            }
            for row in variations()
        ]
    )


def _variation_label(row: Variation) -> str:
    """Group of a row as in the paper and what that group varies, such as "(A) heads"; "base" and "big" unchanged."""
    word = "smoothing" if row.printed["ε_ls"] else _VARIED.get(row.group, "")
    return f"{row.group} {word}" if row.group in _VARIED else row.group


def _take_published_sizes(key: str) -> None:
    if cells := st.session_state[key]["selection"]["cells"]:
        START.take(variations()[cells[0][0]].name)
        fill_in_sizes()


def choose_config() -> ModelConfig | None:
    """Draws the number boxes of an encoder's sizes; returns its configuration, or writes a sentence and returns None if the sizes
    conflict.
    """
    controls, more = bar("sizes")
    with controls:
        start = STARTS[START.choose(on_change=fill_in_sizes)]
    view = more.popover("View", key="more")
    sizes = {}
    for size in sizes_of(start):
        with view if size in RARE else controls:
            sizes[size] = SIZES[size].choose(default=getattr(start, size))
    try:
        config = start.resized(**sizes)
    except ValueError as error:
        st.error(f"There is no such encoder: {error}.", icon=":material/error:")
        return None
    return config


def sizes_of(start: ModelConfig) -> tuple[str, ...]:
    """Names of the sizes that can be changed: vocabulary and positions for text, image and patch size for pictures."""
    input_sizes = ("vocab_size", "n_positions") if start.is_text else ("image_size", "patch_size")
    return ("d_model", "n_layers", "n_heads", "d_k", "d_v", "d_ff", *input_sizes)


def fill_in_sizes() -> None:
    """Callback: fills the number boxes with the sizes of the chosen preset."""
    start = STARTS[START.held()]
    for size in sizes_of(start):
        SIZES[size].take(getattr(start, size))


def fixed_properties_sentence(config: ModelConfig) -> str:
    """A sentence on the properties of `config` that cannot be set in the number boxes."""
    properties = [
        f"{config.norm_placement}-LN",
        "a norm at the end" if config.final_norm else "no norm at the end",
        *(["a norm after the embedding"] if config.embedding_norm else []),
        f"{config.positions} positions",
        *(["q, k and v by one shared map"] if config.shared_qkv else []),
        "biases in every linear map",
        f"a classifier of {config.n_classes} classes" if config.n_classes else "no classifier",
    ]
    if not config.is_text:
        class_token = " and the class token" if config.pooling == "class" else ""
        properties.append(f"n = {config.n_positions}: {config.n_patches} patches{class_token}")
    return f"Of this encoder: {'; '.join(properties)}."


def _draw_total(key: str, label: str, count: int, remark: str = "") -> None:
    """Draws `count` with three significant digits; its tooltip has all digits and the `remark`."""
    with st.container(key=f"totals_{key}"):
        st.metric(label, format_count(count), width="content", help=f"{count:,}. {remark}")


def draw_parts(config: ModelConfig) -> None:
    """Draws the total parameters and multiply-adds of one forward pass on an input that fills all positions, each above a chart
    of the encoder's parts.
    """
    parts = cost.component_costs(config)
    source = named("parts", call(cost.component_costs, config))
    names = [part.name for part in parts]
    totals = {
        "parameters": ("Parameters", cost.n_parameters(config)),
        "multiply_adds": (f"Multiply-adds, n = {config.n_positions:,}", cost.n_multiply_adds(config)),
    }
    for (quantity, total), column in zip(totals.items(), beside(*totals), strict=True):
        with column:
            _draw_total(quantity, *total)
            counts = [getattr(source[index], quantity) for index in range(len(parts))]
            bars = call(
                part_bars, names, counts, quantity=quantity.replace("_", "-"), marked=cost.ATTENTION_ITSELF
            )
            show(bars, key=f"cost_{quantity}")
    crossing, sentence_slot = beside("crossing", "crossing_sentence")
    with crossing:
        by_square, by_length = (
            call(cost.multiply_adds_at, config, call(np.array, _LENGTHS))[index] for index in (0, 1)
        )
        by_part = {"scores and weighted sum": by_square, "products with weight matrices": by_length}
        show(call(length_scaling, _LENGTHS, by_part), key="cost_crossing")
    with sentence_slot:
        megabytes = f"In float32 that is {cost.pattern_megabytes(config):,.1f} MB if every pattern is kept."
        label = "Attention weights: layers × heads × n²"
        _draw_total("attention_weights", label, cost.n_attention_weights(config), megabytes)
        st.markdown(_attention_share_sentence(config))
        draw_kinds_of_layer()
    with st.expander("Every number with its formula", icon=":material/function:"):
        st.table(_formula_table(parts), hide_index=True, border="horizontal")
        st.markdown(
            r"Where the two lines cross: $L\,n^2\,h\,(d_k+d_v) = L\,n\,d\,\big(h\,(2d_k+d_v) + h\,d_v + 2\,d_{ff}\big)$."
        )
        st.markdown(f"{_SYMBOLS} {_COUNTING}\n\n{_ABOUT_KINDS}")


def _attention_share_sentence(config: ModelConfig) -> str:
    """Sentence on the share of scores and weighted sum in the multiply-adds, and the sequence length from which on they need more
    than a layer's weight matrices.
    """
    scores, _ = cost.multiply_adds_at(config, config.n_positions)
    share = percent(scores / cost.n_multiply_adds(config))
    return (
        f"Scores and weighted sum take **{share}** of the multiply-adds. Twice the length, $n$, makes them four times as many, "
        f"and the rest about twice: from $n$ = **{cost.balanced_length(config):,.0f}** on they need more than a layer's weight matrices."
    )


def _formula_table(parts: tuple[cost.ComponentCost, ...]) -> pd.DataFrame:
    """Table with a row for each part of the encoder: its name, parameters, multiply-adds, and the formulas of both numbers."""
    return pd.DataFrame(
        {
            "Part": [part.name for part in parts],
            "Parameters": [f"{part.parameters:,}" for part in parts],
            "as formula": [f"${{{part.parameters_formula}}}$" for part in parts],
            "Multiply-adds": [f"{part.multiply_adds:,}" for part in parts],
            "as formula ": [f"${{{part.multiply_adds_formula}}}$" for part in parts],
        }
    )
