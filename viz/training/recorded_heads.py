"""All heads at each recorded moment of training, and the accuracy over these moments, in one chart that the browser
plays.

For each moment the chart has one picture of all heads of an encoder. All pictures are in the chart from the start,
and only the shown one has a width above 0: a picture that is added later must be loaded first, and the heads would
flicker. `app_pages/training/player.js` tells the chart which moment to show, by events at the page's `<head>`
element; without this script, the chart shows the moment for which it was made.
"""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from ..builders.chart import Layer, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure
from ..builders.heatmap import position_labels
from ..builders.number_format import format_number
from ..builders.palette import LETTERS, NEUTRAL, SHAPES, ColourScale, colour_bar_pictures
from ..builders.picture_marks import box_between, image_at, pixel_x, pixel_y, text_at, weight_table
from ..builders.theme import INK, LARGE, MIDDLE, ON_DARK, SMALL
from .recording import Run, head_sheets, phases_of, shared_png

EVENT = "loupe-recording"
FAINT = (
    32  # keys; weights that are spread over more are coloured by their square root, or nothing would be seen
)
TRACK_LEFT, TRACK_RIGHT, TRACK_HEIGHT = 44, 10, 119  # pixels
_LEFT, _ABOVE, _GAP, _READINGS = (
    24,
    20,
    24,
    176,
)  # names of layers, of heads; between encoders; what stands beside
_LEGEND, _NAMES, _LINE = (
    40,
    49,
    17,
)  # pixels of the legend's line, of the names of phases on the track, of a line of text
_BUTTONS, _BUTTONS_BESIDE = (
    430,
    1060,
)  # pixels of the player's buttons, and from where on the legend is to their right
_WIDE = 600  # pixels from which two encoders stand beside each other
_READINGS_HEIGHT = 84
_NUMBERED_FROM = 520  # pixels of height that have room for the names of numbered phases, above the legend


def recorded_heads(
    runs: Sequence[Run],
    *,
    stamp: str = "",
    colours: ColourScale = "fixed",
    moment: int = 0,
    alone: bool = False,
) -> VegaFigure:
    """The heads of one or two recorded training runs side by side, and below them their accuracy over all moments.

    `moment` is an index into the longest recording; a shorter recording shows its moment at the same share of its
    length. `stamp` identifies the recordings and the input: events of the browser with another stamp are ignored. The
    `colours` end at weight 1 ("fixed"), or at each head's largest weight in the whole recording ("own"). With `alone`
    the chart contains only the pictures of this `moment`. The chart takes its width and height from its container, at
    least 680 × 480 pixels.
    """
    n = max(map(len, runs))
    n_keys = runs[0].pattern.shape[-1]
    is_rooted = n_keys > FAINT
    spans = [run.spans(n) for run in runs]
    moments: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    sides: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for side, (run, span) in enumerate(zip(runs, spans, strict=True)):
        rows_of_run = zip(run.task, run.step, run.accuracy, run.lines, run.errors, span, strict=True)
        moments += [
            {
                "side": side,
                "encoder": run.name,
                "moment": index,
                "training step": int(step),
                "phase": task,
                "accuracy": None if math.isnan(accuracy) else float(accuracy),
                "first": first,
                "last": last,
                "share": (first + last) / 2 / max(n - 1, 1),
                "line": f"{side} {line}",
                "colour": run.colour,
                "steps": f"step {step:,} of {run.n_steps:,}" if step else "untrained",
                "reading": format_number(accuracy, ".1%", otherwise="not measured"),
                "error": error,
                "lines": "\n".join(textwrap.wrap(f"phase: {task}", 24)),
            }
            for index, (task, step, accuracy, line, error, (first, last)) in enumerate(rows_of_run)
        ]
        n_layers, n_heads = run.pattern.shape[1:3]
        is_across = n_heads == 1  # layers of one head each stand beside each other, or they would be tiny
        pattern = run.pattern.swapaxes(1, 2) if is_across else run.pattern
        sheets = head_sheets(pattern, own=colours == "own", is_rooted=is_rooted)
        shown = [index for index, (first, last) in enumerate(span) if not alone or first <= moment <= last]
        (on_light, on_dark), bodies = shared_png(sheets[shown])
        pictures += [
            {"side": side, "first": span[index][0], "last": span[index][1], "body": body}
            for index, body in zip(shown, bodies, strict=True)
        ]
        rows, columns = sheets.shape[1:]
        sides.append(
            {
                "side": side,
                "name": run.name,
                "letters": LETTERS[run.colour][0],
                "letters_on_dark": LETTERS[run.colour][1],
                "colour": run.colour,
                "on_light": on_light,
                "on_dark": on_dark,
                "rows": rows,
                "columns": columns,
            }
        )
        names += [
            {"side": side, "is_above": is_across, "text": f"L{layer}", "share": (layer + 0.5) / n_layers}
            for layer in range(n_layers)
        ]
        names += [
            {"side": side, "is_above": not is_across, "text": f"H{head}", "share": (head + 0.5) / n_heads}
            for head in range(n_heads)
        ]
    longest = next(run for run in runs if len(run) == n)
    phases = phases_of(longest.task)
    has_even = colours == "fixed" and n_keys > 1
    top = "1" if colours == "fixed" else "the head's largest weight in its whole recording"
    state = {
        "stamp": [stamp],
        "names_width": [max((phase["needed"] + 7) / (phase["to"] - phase["from"]) for phase in phases)],
        "moment": [moment],
        "n": [n],
        "n_sides": [len(runs)],
        "reach": [f"{top}   attention weight{', colour by its square root' * is_rooted}"],
        "even_text": [f"▲ same weight for all: 1/{n_keys} = {1 / n_keys:.2g}" if has_even else ""],
        "even": [math.sqrt(1 / n_keys) if is_rooted else 1 / n_keys],
        "has_even": [has_even],
        **colour_bar_pictures(),
    }
    return chart(
        [],
        *_map_layers(),
        *_reading_layers(),
        *_timeline_layers(),
        drawing=dict(pd.DataFrame(moments)),
        params=_parameters(),
        frames={
            "pictures": pictures,
            "sides": sides,
            "names": names,
            "state": state,
            "phases": phases,
        },
        width=1200,
        height=560,
        autosize="none",
        padding=dict.fromkeys(("left", "right", "top", "bottom"), 0),
        description=f"All heads of {' and '.join(run.name for run in runs)} at a moment of training, and accuracy over training.",
        usermeta={"embedOptions": {"renderer": "canvas"}, "stretches": True},
        table=lambda: pd.concat(
            [
                _weight_table(run, next(index for index, (_, last) in enumerate(span) if moment <= last))
                for run, span in zip(runs, spans, strict=True)
            ],
            ignore_index=True,
        ),
    )


def _weight_table(run: Run, moment: int) -> pd.DataFrame:
    """A table of the weights of all heads of a run at one moment: a row for each query, a column for each key."""
    names = position_labels(run.tokens)
    weights = weight_table(run.pattern[moment] / 255, {"layer": None, "head": None, "query": names}, names)
    of_moment = {
        "encoder": run.name,
        "training step": int(run.step[moment]),
        "phase": run.task[moment],
        "accuracy": float(run.accuracy[moment]),
    }
    return pd.concat([pd.DataFrame(of_moment, index=weights.index), weights], axis=1)


def _parameters() -> list[dict[str, Any]]:
    """The chart's parameters as Vega expressions, in order: an expression may use the parameters above it."""
    names = {
        "state": "data('state')[0]",
        "heard": "played && played.stamp == state.stamp ? played : null",
        "moment": "heard ? heard.moment : state.moment",
        "is_beside": f"state.n_sides > 1 && width >= {_WIDE}",
        "track_top": f"height - {TRACK_HEIGHT}",
        "curve_top": f"track_top + {_NAMES} + 4",
        "curve_height": f"{TRACK_HEIGHT} - {_NAMES} - 14",
        "track_width": f"width - {TRACK_LEFT + TRACK_RIGHT}",
        "is_numbered": f"track_width < state.names_width && width >= {_WIDE} && height >= {_NUMBERED_FROM}",
        "phase_rows": "ceil(length(data('phases')) / 2)",
        "all_height": f"track_top - {_LEGEND} - (is_numbered ? {_LINE} * phase_rows : 0)",
        "area_width": f"is_beside ? (width - {_GAP}) / 2 : width",
        "area_height": "is_beside || state.n_sides < 2 ? all_height : all_height / 2",
        "is_below": f"is_beside && {_fit('0', '1')} > {_fit('0', '0')}",
    }
    played = {"name": "played", "value": None, "bind": {"element": "head", "event": EVENT}}
    return [played, *({"name": name, "expr": expression} for name, expression in names.items())]


def _with_map_position(shown: Rows) -> Rows:
    """The rows with further columns: where the maps of their encoder start, and how large a cell of them is, in
    pixels.
    """
    rows, columns = "data('sides')[datum.side].rows", "data('sides')[datum.side].columns"
    return shown.calculate(
        left=f"{_LEFT} + (is_beside ? datum.side * (area_width + {_GAP}) : 0)",
        top=f"{_ABOVE} + (is_beside ? 0 : datum.side * area_height)",
        fit=_fit("datum.side", "is_below"),
        # Whole pixels where there are enough of them: then all cells are of one size.
        cell="datum.fit >= 2 ? floor(datum.fit) : datum.fit",
        map_width=f"datum.cell * {columns}",
        map_height=f"datum.cell * {rows}",
    )


def _fit(side: str, is_below: str) -> str:
    """How large a cell may be in pixels, if what is read off stands below the maps, or beside them."""
    across = f"(area_width - {_LEFT} - ({is_below} ? 0 : {_READINGS})) / data('sides')[{side}].columns"
    down = (
        f"(area_height - {_ABOVE + 8} - ({is_below} ? {_READINGS_HEIGHT} : 0)) / data('sides')[{side}].rows"
    )
    return f"min({across}, {down})"


def _map_layers() -> list[Layer]:
    """The layers of the pictures of all heads, with the names of layers and heads."""
    shown = "datum.first <= moment && moment <= datum.last"
    start = f"data('sides')[datum.side][{ON_DARK} ? 'on_dark' : 'on_light']"
    pictures = layer(
        "image",
        {"x": pixel_x("left"), "y": pixel_y("top"), "url": "url:N"},
        _with_map_position(Rows("pictures")).calculate(url=f"{start} + datum.body"),
        width=alt.expr(f"{shown} ? datum.map_width : 0"),
        height=alt.expr("datum.map_height"),
        align="left",
        baseline="top",
        aspect=False,
        smooth=alt.expr("datum.cell != floor(datum.cell)"),
        tooltip=None,
        aria=False,
    )
    names = _with_map_position(Rows("names"))
    return [
        pictures,
        text_at(
            names.where("datum.is_above"),
            "datum.left + datum.share * datum.map_width",
            "datum.top - 10",
            "datum.text",
            align="center",
        ),
        text_at(
            names.where("!datum.is_above"),
            f"datum.left - {_LEFT}",
            "datum.top + datum.share * datum.map_height",
            "datum.text",
        ),
    ]


def _reading_layers() -> list[Layer]:
    """The layers beside or below the maps: encoder, training step, accuracy and phase at the shown moment, and the
    colour bar.
    """
    sides = _with_map_position(Rows("sides"))
    shown = _with_map_position(_shown_rows())
    x = "(is_below ? datum.left : datum.left + datum.map_width + 18)"
    y = "(is_below ? datum.top + datum.map_height + 14 : datum.top + 8)"
    # Below the maps the accuracy stands to the right of the rest.
    aside = f"min(area_width - {_LEFT + 126}, max(175, datum.map_width - 130))"
    x_accuracy = f"({x} + (is_below ? {aside} : 0))"
    y_accuracy = f"({y} + (is_below ? 4 : 64))"
    room = f"(is_below ? {aside} - 6 : {_READINGS - 20})"
    state = Rows("state")
    y_legend = f"track_top - {_LEGEND} / 2"
    url = f"{ON_DARK} ? datum.legend_on_dark : datum.legend_on_light"
    title: Kwargs = {
        "fontSize": LARGE,
        "fontWeight": "bold",
        "color": alt.expr(f"{ON_DARK} ? datum.letters_on_dark : datum.letters"),
    }
    has_number = "isValid(datum.accuracy)"
    number: Kwargs = {"fontSize": alt.expr(f"{has_number} ? {LARGE} : {MIDDLE}"), "fontWeight": "bold"}
    lines: Kwargs = {"lineBreak": "\n", "lineHeight": 17, "baseline": "top"}
    bar = f"(width < {_WIDE} ? 100 : 180)"
    left = f"({_LEFT} + (width >= {_BUTTONS_BESIDE} ? {_BUTTONS} : 0))"
    return [
        _accuracy_points(sides, f"{x} + 5", y, 70),
        text_at(sides, f"{x} + 14", y, "datum.name", limit=alt.expr(f"{room} - 14"), **title),
        text_at(shown, x, f"{y} + (is_below ? 22 : 28)", "datum.steps", limit=alt.expr(room)),
        text_at(shown, x_accuracy, y_accuracy, "datum.reading", **number),
        text_at(
            shown,
            x_accuracy,
            f"{y_accuracy} + 18",
            f"'accuracy' + ({has_number} ? '  ' + datum.error : '')",
            **lines,
        ),
        text_at(
            shown,
            x,
            f"{y} + (is_below ? 34 : 128)",
            "datum.lines",
            limit=alt.expr(room),
            **lines,
        ),
        text_at(state, left, y_legend, "'0'"),
        image_at(state, f"{left} + 14", f"{y_legend} - 5", bar, "10", url, smooth=True),
        text_at(
            state,
            f"{left} + 14 + {bar} * datum.even",
            f"{y_legend} + 11",
            "datum.has_even ? '▲' : ''",
            fontSize=SMALL,
            align="center",
        ),
        text_at(
            state,
            f"{left} + 22 + {bar}",
            f"{y_legend} - (width < {_WIDE} && datum.even_text ? 8 : 0)",
            f"datum.reach + (width < {_WIDE} ? '\\n' : '   ') + datum.even_text",
            limit=alt.expr(f"width - {left} - 24 - {bar}"),
            lineBreak="\n",
            lineHeight=17,
        ),
    ]


def _timeline_layers() -> list[Layer]:
    """The layers below the maps: the accuracies over all moments, on bands for the phases of training, and a mark at
    the shown moment.
    """
    phases = Rows("phases")
    state = Rows("state")
    x = f"{TRACK_LEFT} + track_width * datum.share"
    share = "moment / max(state.n - 1, 1)"
    y = "curve_top + curve_height * (1 - datum.accuracy)"
    bands = box_between(
        phases,
        f"{TRACK_LEFT} + track_width * datum.from",
        "track_top",
        f"{TRACK_LEFT} + track_width * datum.to",
        "height",
        fill=NEUTRAL,
        fillOpacity=alt.expr("datum.is_odd ? 0.22 : 0.1"),
    )
    names = text_at(
        phases,
        f"{TRACK_LEFT} + track_width * datum.from + 5",
        "track_top + 4",
        "is_numbered ? datum.number : track_width * (datum.to - datum.from) - 7 < datum.needed ? datum.number : datum.lines",
        lineBreak="\n",
        lineHeight=15,
        baseline="top",
    )
    numbered = text_at(
        phases,
        f"{_LEFT} + (datum.index < phase_rows ? 0 : width / 2)",
        f"all_height + {_LINE} * (datum.index % phase_rows)",
        "is_numbered ? datum.numbered : ''",
        fontWeight=alt.expr(f"datum.from <= {share} && {share} <= datum.to ? 'bold' : 'normal'"),
    )
    # A moment alone between two gaps is a dot, by its round ends.
    curves = layer(
        "line",
        {"x": pixel_x("_x"), "y": pixel_y("_y"), "detail": "line:N", "color": _COLOUR},
        Rows().where("isValid(datum.accuracy)").calculate(_x=x, _y=y),
        strokeWidth=1.8,
        strokeCap="round",
        aria=False,
        tooltip=None,
    )
    ends = [
        text_at(state, f"{TRACK_LEFT - 6}", y_end, text, align="right")
        for y_end, text in (("curve_top + 3", "'100\u2009%'"), ("curve_top + curve_height - 3", "'0\u2009%'"))
    ]
    head = f"{TRACK_LEFT} + track_width * {share}"
    playhead = box_between(state, f"{head} - 1.5", "track_top", f"{head} + 1.5", "height", fill=INK)
    dots = _accuracy_points(_shown_rows().where("isValid(datum.accuracy)"), x, y, 90)
    return [bands, names, numbered, curves, *ends, playhead, dots]


def _shown_rows() -> Rows:
    """The data row of each encoder at the shown moment."""
    return Rows().where("datum.first <= moment && moment <= datum.last")


def _accuracy_points(rows: Rows, x: str, y: str, size: int) -> Layer:
    """A layer with a point for each encoder, in its colour and with its shape."""
    return layer(
        "point",
        {"x": pixel_x("_x"), "y": pixel_y("_y"), "color": _COLOUR},
        rows.calculate(_x=x, _y=y),
        filled=True,
        opacity=1,
        size=size,
        aria=False,
        shape=alt.expr(f"datum.side ? '{SHAPES[1]}' : '{SHAPES[0]}'"),
        tooltip=None,
    )


_COLOUR = alt.Color("colour:N", scale=None)
