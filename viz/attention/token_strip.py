"""The input as running text, each token on a background in the colour of its attention weight or of a signed number;
and bars over tokens: the sum of each query's weights, or the change of a probability when each token is hidden.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from ..builders.cells import (
    FULL_INK,
    INK_ON_SIGNED,
    OTHER_FULL_INK,
    STRONG,
    casing_layer,
    frame_channels,
    is_strong,
)
from ..builders.chart import Channels, Column, Layer, Rows, chart, layer
from ..builders.figure import Columns, Kwargs, VegaFigure, conditional_value, value
from ..builders.label_placement import name_axis
from ..builders.palette import ACCENT, EMPHASIS, FALLS, NEUTRAL, RISES, TO_ONE, WeightScale
from ..builders.picture_marks import pixel_x
from ..builders.theme import INK, LARGE, lines_above
from ..builders.token_label import FONT, label, visible
from ..builders.token_label import width as label_width
from ..builders.vega_colours import (
    SIGNED_ENDS,
    attention_colour,
    colour,
    colour_legend,
    number_at_end,
    weight_legend,
)

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord, Positions


_LINE = 36  # pixels, as all lengths here
_PADDING = 6  # left and right of a token, in its box
_SPACE = 6  # between words
_ROUNDING = 6
_LONGEST_TOKEN = 24  # cells
_LONGEST_WORD = 240  # a longer one may break between its pieces
_HEIGHT = 200
_SEPARATE = 60  # tokens; between the bars of more there is no gap
_BREAKS_LINES: Kwargs = {
    "width": 1000,  # where Streamlit gives none
    "height": {"step": _LINE},
    "autosize": "pad",  # the number of lines makes the height, and Vega fits nothing to a size of such a kind
    "usermeta": {"stretches": True},  # for whoever lays it out elsewhere
}


def token_strip(
    record: "AttentionRecord",
    layer: int,
    head: int,
    query: int,
    *,
    scale: WeightScale = TO_ONE,
    notes: Sequence[str] = (),
) -> VegaFigure:
    """The tokens of the input, coloured by one head's attention weights from the position `query`, whose token is
    outlined; `notes` are lines of text above.

    >>> from loupe import from_arrays, token_strip
    >>> record = from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"])
    >>> figure = token_strip(record, layer=0, head=0, query=1)
    """
    return weight_strip(
        record.attended,
        record.pattern[layer, head, query],
        query=query if record.keys is None else None,
        scale=scale,
        notes=notes,
    )


def weight_strip(
    positions: "Positions",
    weights: np.ndarray,
    *,
    query: int | None,
    scale: WeightScale = TO_ONE,
    allowed: np.ndarray | None = None,
    legend: bool = True,
    notes: Sequence[str] = (),
) -> VegaFigure:
    """The tokens at `positions` as lines of text, coloured by `weights` [position].

    The token `query` is outlined; None if the query is not one of these tokens. The pieces of a word touch each
    other. The browser breaks the lines, so they fit any width. A click on a token sets the point selection `token`,
    field `position`.

    With `allowed` [position], forbidden tokens (False) are struck through, and a click sets the point selection `key`
    instead, fields `position` and `blocked`: Streamlit reports a click only if it changes the selection, and
    `blocked` makes a second click on a token differ from the first. Without `legend` no colour bar is drawn. `notes`
    are lines of text above.
    """
    n_tokens = len(positions)
    blocked = np.zeros(n_tokens, bool) if allowed is None else ~allowed
    boxes = _token_boxes(positions)
    longest_word = _longest_word(boxes)
    descriptions = [
        f"{token}, masked" if masked else token for token, masked in zip(boxes["token"], blocked, strict=True)
    ]
    columns = [
        Column("position", boxes.pop("position")),
        Column("token", boxes.pop("token"), "" if allowed is None else None),
        Column("word", boxes.pop("word"), None),
        Column("weight", np.asarray(weights, float), scale.what, ".4f"),
        Column("blocked", blocked, None),
        Column("description", descriptions, "key" if allowed is not None else None, in_file=None),
    ]
    query_name = (
        "the query" if query is None else f"{positions.units.removesuffix('s')} {positions.number(query)}"
    )
    bar = weight_legend(scale, int((~blocked).sum()))
    rows, box, corners = _wrapped_boxes()
    colours = box | {"color": attention_colour(bar.title if legend else ())}
    # On top and clear: a click on a letter counts as one on its box.
    cover = box | frame_channels((2.5, 0.5)) | {"description": "description:N"}
    cover |= {"tooltip": [columns[5], columns[1], columns[0], columns[3]]}
    click = ("token", "position") if allowed is None else ("key", "position", "blocked")
    strike: Kwargs = {"color": INK, "strokeWidth": 2.5, "aria": False}
    return chart(
        columns,
        layer("rect", colours, rows, aria=False, **corners),
        _letters(
            rows,
            box,
            fontWeight=alt.expr("datum.selected ? 'bold' : 'normal'"),
            color=alt.expr(f"datum.weight > {STRONG} * largest ? ({OTHER_FULL_INK}) : ({FULL_INK})"),
        ),
        None if allowed is None else layer("rule", box, rows.where("datum.blocked"), **strike),
        casing_layer(box, 2.5, frame=rows, **corners),
        layer("rect", cover, rows, click=click, fill="transparent", cursor="pointer", **corners),
        drawing=boxes | {"selected": np.arange(n_tokens) == query},
        values={"longest": longest_word, **bar.values},
        **_BREAKS_LINES,
        description=f"The {n_tokens} {positions.units} of the text, coloured by the attention of {query_name} to them",
        **lines_above(notes),
    )


def signed_strip(positions: "Positions", values: np.ndarray, *, limit: float, what: str) -> VegaFigure:
    """The tokens at `positions` as lines of text, coloured by signed `values` [position]: gold above 0, purple below.

    The colours end at ±`limit`; `what` says what a value is.

    >>> from loupe import load, similarity_parts
    >>> from viz.attention.token_strip import signed_strip
    >>> parts = similarity_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.", "A dull film.").by_word()
    >>> sums = parts.values.sum(axis=1)[: len(parts.a)]
    >>> len(signed_strip(parts.a, sums, limit=1, what="adds to the cosine similarity").frame)
    6
    """
    boxes = _token_boxes(positions)
    longest_word = _longest_word(boxes)
    columns = [
        Column("position", boxes.pop("position")),
        Column("token", boxes.pop("token"), ""),
        Column("word", boxes.pop("word"), None),
        Column("value", np.asarray(values, float), what, "+.4f"),
    ]
    rows, box, corners = _wrapped_boxes()
    legend = colour_legend(what, SIGNED_ENDS, labelExpr=number_at_end("+"))
    colours = box | {"color": colour("value", signed=True, legend=legend)}
    cover = box | {"description": "token:N", "tooltip": [columns[1], columns[0], columns[3]]}
    return chart(
        columns,
        layer("rect", colours, rows, aria=False, **corners),
        _letters(rows, box, color=INK_ON_SIGNED),
        layer("rect", cover, rows, fill="transparent", **corners),
        drawing=boxes | {"strong": is_strong(values, limit, signed=True)},
        values={"longest": longest_word, "largest": limit},
        **_BREAKS_LINES,
        description=f"The {len(positions)} {positions.units} of the text, coloured by what each {what}",
    )


def _letters(rows: Rows, box: Channels, **options: Any) -> Layer:
    """The layer of the tokens' letters in their boxes, with further `options` of the marks."""
    channels = {"x": pixel_x("middle"), "y": box["y"], "text": "label:N"}
    limit = alt.expr("datum.end - datum.start")
    return layer("text", channels, rows, aria=False, font=FONT, fontSize=LARGE, **options, limit=limit)


def _longest_word(boxes: Columns) -> float:
    """The width in pixels of the longest word, from the columns of `_token_boxes`."""
    return max((end - start for end, start in zip(boxes["end"], boxes["word"], strict=True)), default=0)


def _wrapped_boxes() -> tuple[Rows, Kwargs, Kwargs]:
    """The rows of the token boxes, broken into lines that fit the chart's width; the position channels of a box; and
    the options that round the corners at both ends of a word.
    """
    # The one endless line is cut into pieces, and a word goes where it starts. The pieces are shorter
    # than the width by the longest word: whichever comes last in its line, it fits.
    first = {"joinaggregate": [{"op": "min", "field": "word", "as": "line_start"}], "groupby": ["line"]}
    rows = Rows().calculate(line="floor(datum.word / max(width - longest, 1))").then(first)
    rows = rows.calculate(
        left="datum.start - datum.line_start",
        right="datum.end - datum.line_start",
        middle="(datum.left + datum.right) / 2",
    )
    y = alt.Y("line:O", axis=None, scale=alt.Scale(paddingInner=0.22, paddingOuter=0.11))
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": y}
    corners: Kwargs = {
        f"cornerRadius{height}{side}": alt.expr(f"datum.{end_column} ? {_ROUNDING} : 0")
        for height in ("Top", "Bottom")
        for side, end_column in (("Left", "starts_word"), ("Right", "ends_word"))
    }
    return rows, box, corners


def _token_boxes(positions: "Positions") -> dict[str, Any]:
    """Columns of the token boxes before line breaks, one row for each token: start and end of its box, and start of
    its word, in pixels.
    """
    continues = [role == "continuation" and index > 0 for index, role in enumerate(positions.roles)]
    labels = [label(token, _LONGEST_TOKEN) for token in positions.tokens]
    box_starts, box_ends, word_starts = [], [], []
    word_start = box_end = 0.0
    for index, (text, is_continued) in enumerate(zip(labels, continues, strict=True)):
        box_start = box_end if is_continued or index == 0 else box_end + _SPACE
        box_end = box_start + label_width(text, LARGE) + 2 * _PADDING
        if not is_continued or box_end - word_start > _LONGEST_WORD:
            word_start = box_start
        box_starts.append(box_start)
        box_ends.append(box_end)
        word_starts.append(word_start)
    return {
        "position": np.array([positions.number(index) for index in range(len(positions))], int),
        "token": [visible(token) for token in positions.tokens],
        "label": labels,
        "start": box_starts,
        "end": box_ends,
        "word": word_starts,
        "starts_word": [not is_continued for is_continued in continues],
        "ends_word": [not is_continued for is_continued in [*continues[1:], False][: len(positions)]],
    }


def row_sums(pattern: np.ndarray, tokens: Sequence[str], *, query: int) -> VegaFigure:
    """Bars of the row sums of a `pattern` [query, key], with a line at 1; the bar of the chosen `query` is framed."""
    columns = [
        Column("query", [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)]),
        Column("sum", pattern.sum(axis=-1), "", ".4f"),
    ]
    y_options: Kwargs = {"scale": alt.Scale(domain=[0, 1.05]), "axis": alt.Axis(values=[0, 0.5, 1])}
    bars = {
        "x": alt.X("query:N", sort=None, title="query (position and token)", axis=name_axis(grid=False)),
        "y": alt.Y("sum:Q", title="sum of the row", **y_options),
        "stroke": conditional_value("datum.selected", ACCENT, "transparent"),
        "strokeWidth": alt.value(3),
        "tooltip": columns,
    }
    return chart(
        columns,
        layer("bar", bars, color=EMPHASIS),
        layer("rule", {"y": "one:Q"}, "line", color=NEUTRAL, strokeDash=[4, 4]),
        drawing={"selected": np.arange(len(tokens)) == query},
        values={"first": query},
        frames={"line": {"one": [1]}},
        height=_HEIGHT,
        description=f"Sums of the attention weights of {len(tokens)} queries, as bars under a line at 1",
    )


def knock_out_bars(
    tokens: Sequence[str],
    falls: np.ndarray,
    *,
    query: int | None,
    limit: float,
    what: str,
    how: str = "from every query",
) -> VegaFigure:
    """Bars of the `falls` [position] of an answer without each token: gold where it falls, purple where it rises, which
    is below 0. `what` names a fall, such as "fall of the log-odds of positive, nats".

    The axis goes from -`limit` to `limit`; `how` says from which queries a token is hidden. The bar of the token
    `query` is outlined. A click on a bar sets the point selection `token`, field `position`.
    """
    position = np.arange(len(tokens))
    columns = [
        Column("position", position),
        Column("token", [visible(token) for token in tokens]),
        Column("fall", np.asarray(falls, float), what, "+.4f", what),
    ]
    scale = alt.Scale(paddingInner=0.15 if len(tokens) <= _SEPARATE else 0)
    x = {"x": alt.X("name:N", sort=None, title=None, axis=name_axis(grid=False), scale=scale)}
    bars = x | {
        "y": alt.Y(
            "fall:Q",
            title=what,
            scale=alt.Scale(domain=[alt.ExprRef("-limit"), value("limit")], nice=False),
            axis=alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5),
        ),
        "color": conditional_value("datum.fall < 0", FALLS, RISES),
    }
    # The whole height of a token is its target: a bar of nothing could not be clicked.
    cover = x | {
        "y": alt.value(0),
        "y2": alt.value("height"),
        "stroke": conditional_value("datum.selected", ACCENT, "transparent"),
        "strokeWidth": alt.value(2),
        "description": "token:N",
        "tooltip": [columns[1], columns[0], columns[2]],
    }
    one_row = Rows().then({"aggregate": [{"op": "count", "as": "n"}]})
    return chart(
        columns,
        layer("bar", bars, aria=False),
        layer("rule", {"y": alt.datum(0)}, one_row, color=NEUTRAL),
        layer("rect", cover, fill="transparent", cursor="pointer", click=("token", "position")),
        drawing={
            "name": [f"{index} {label(token, 14)}" for index, token in enumerate(tokens)],
            "selected": position == query,
        },
        values={"limit": limit, "first": -1 if query is None else query},
        height=170,
        description=f"The {what}, with each of {len(tokens)} tokens hidden ({how})",
    )
