"""Vectors in two dimensions, and lines from one of them to its true neighbours."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from PIL import ImageColor

from viz.attention.token_label import label, visible
from viz.colour_legend import colour_legend
from viz.digit_ink import CHOOSE, digit_ink
from viz.palette import ACCENT, NEUTRAL
from viz.theme import INK

# Of middling lightness all along, so that the first and the last position read on white and on black.
_ALONG = ("#149a9a", "#2f8ac8", "#8d5cf0", "#d8456f", "#d96408")
_LOWEST, _HIGHEST = 420, 600  # pixels, as all lengths here
_TYPICAL_WIDTH = 700
_MARGIN = 40  # on each side, for labels
_MOST_LABELS = 60
_THUMBNAIL = 24


def embedding_scatter(
    places: np.ndarray,
    tokens: Sequence[str],
    *,
    selected: int,
    neighbours: Sequence[int] = (),
    axes: tuple[str, str] = ("first axis", "second axis"),
    background: Sequence[str] = (),
    thumbnails: np.ndarray | None = None,
) -> alt.LayerChart:
    """Places [vector, 2] of `tokens`, in the colours of their positions, and of `background` words behind them.

    Lines join `selected` to its `neighbours`, which may be background words; they are counted among all.
    `thumbnails`, uint8 [patch, height, width], stand for the last tokens, one each. Both axes have one unit.
    A click on a token sets the point selection `token`, field `position`.
    Raises ValueError where places and names differ in number.
    """
    names = [*tokens, *background]
    if places.shape != (len(names), 2):
        raise ValueError(f"{len(names)} names need as many places in two dimensions, got {places.shape}")
    n_pictures = 0 if thumbnails is None else len(thumbnails)
    points = _points(names, places, selected)
    own, behind = points[: len(tokens)], points[len(tokens) :]
    plain, pictured = own[: len(own) - n_pictures], own[len(own) - n_pictures :]
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(2), np.ones(2))
    wide, tall = np.maximum(high - low, 1e-9)
    height = int(np.clip(tall / wide * (_TYPICAL_WIDTH - 2 * _MARGIN) + 2 * _MARGIN, _LOWEST, _HIGHEST))
    x, y = _equal_axes((low + high) / 2, (wide, tall), height, axes)
    words = alt.Chart(behind).mark_text(fontSize=10, color=NEUTRAL, opacity=0.85, aria=False)
    lines = alt.Chart(_lines(points, selected, neighbours)).mark_rule(color=ACCENT, opacity=0.7, aria=False)
    layers = [
        words.encode(x=x, y=y, text="label:N", tooltip=alt.Tooltip("token:N", title="word")),
        lines.encode(x=x, y=y, x2="to_x:Q", y2="to_y:Q"),
    ]
    if n_pictures:
        layers.append(_pictures(pictured, thumbnails).encode(x=x, y=y, url="url:N"))
    layers.append(_marks(own, n_pictures, axes).encode(x=x, y=y))
    named = plain if len(plain) <= _MOST_LABELS else plain[plain["position"].isin([selected, *neighbours])]
    # Tokens that share a place share a label, or it would look bold.
    named = named.sort_values("chosen", ascending=False).round({"x": 6, "y": 6})
    labels = alt.Chart(named.drop_duplicates(["x", "y", "label"])).mark_text(
        dy=-12, fontSize=12, color=INK, fontWeight=alt.expr("datum.chosen ? 'bold' : 'normal'"), aria=False
    )
    layers.append(labels.encode(x=x, y=y, text="label:N"))
    return alt.layer(*layers).properties(
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"{len(names)} vectors in two dimensions; {visible(names[selected])} is chosen.",
    )


def _points(names: Sequence[str], places: np.ndarray, selected: int) -> pd.DataFrame:
    """A row a vector, the tokens first."""
    return pd.DataFrame(
        {
            "position": np.arange(len(names)),
            "token": [visible(name) for name in names],
            "label": [label(name, 14) for name in names],
            "x": places[:, 0],
            "y": places[:, 1],
            "chosen": np.arange(len(names)) == selected,
        }
    )


def _equal_axes(
    middle: np.ndarray, extent: tuple[float, float], height: int, titles: tuple[str, str]
) -> tuple[alt.X, alt.Y]:
    """Domains about the middle of all places, with one unit as long across as down, whatever the width."""
    across, down = extent
    unit = f"max({across} / (width - {2 * _MARGIN}), {down / (height - 2 * _MARGIN)})"  # per pixel

    def scale(centre: float, half: str) -> alt.Scale:
        return alt.Scale(
            domainMin=alt.expr(f"{centre} - {unit} * {half}"),
            domainMax=alt.expr(f"{centre} + {unit} * {half}"),
            zero=False,
            nice=False,
        )

    axis = alt.Axis(tickCount=6, grid=True)
    return (
        alt.X("x:Q", title=titles[0], scale=scale(middle[0], "width / 2"), axis=axis),
        alt.Y("y:Q", title=titles[1], scale=scale(middle[1], str(height / 2)), axis=axis),
    )


def _lines(points: pd.DataFrame, selected: int, neighbours: Sequence[int]) -> pd.DataFrame:
    """From the selected vector to each of its neighbours."""
    ends = points.iloc[list(neighbours)][["x", "y"]].rename(columns={"x": "to_x", "y": "to_y"})
    return ends.assign(x=points["x"].iloc[selected], y=points["y"].iloc[selected])


def _pictures(pictured: pd.DataFrame, thumbnails: np.ndarray) -> alt.Chart:
    """What each patch looks like; an empty one is its frame alone."""
    inks = pd.DataFrame(
        [digit_ink(thumbnail, side=_THUMBNAIL) for thumbnail in thumbnails], index=pictured.index
    )
    return (
        alt.Chart(pictured.join(inks))
        .transform_calculate(url=CHOOSE)
        .mark_image(width=_THUMBNAIL, height=_THUMBNAIL, tooltip=None, aria=False)
    )


def _marks(own: pd.DataFrame, n_pictures: int, axes: tuple[str, str]) -> alt.Chart:
    """Dots, and frames about pictures: what shows the position by its colour, and takes the clicks."""
    pictured = own["position"] >= len(own) - n_pictures
    looks = own.assign(
        shape=np.where(pictured, "square", "circle"),
        size=np.where(pictured, _THUMBNAIL**2, np.where(own["chosen"], 180, 80)),
        fill_opacity=np.where(pictured, 0, 1),
        outline=np.where(own["chosen"], ACCENT, _along(len(own))),
    )
    last = max(len(own) - 1, 1)
    along = alt.Scale(domain=[0, last], range=list(_ALONG))
    legend = colour_legend("position", [0, last], type="gradient", format="d")
    return (
        # The chosen one comes last, and so on top.
        alt.Chart(looks.sort_values("chosen", kind="stable"))
        .mark_point(cursor="pointer")
        .encode(
            fill=alt.Fill("position:Q", scale=along, legend=legend),
            fillOpacity=alt.FillOpacity("fill_opacity:Q", scale=None),
            stroke=alt.Stroke("outline:N", scale=None),  # a second scale would make the legend one of dots
            strokeWidth=alt.when("datum.chosen").then(alt.value(4)).otherwise(alt.value(1.5)),
            shape=alt.Shape("shape:N", scale=None),
            size=alt.Size("size:Q", scale=None),
            description="token:N",
            tooltip=[
                alt.Tooltip("token:N"),
                alt.Tooltip("position:Q"),
                alt.Tooltip("x:Q", format=".4f", title=axes[0]),
                alt.Tooltip("y:Q", format=".4f", title=axes[1]),
            ],
        )
        .add_params(alt.selection_point(name="token", fields=["position"], toggle=False, clear=False))
    )


def _along(n: int) -> list[str]:
    """The colours of `n` positions, as the browser finds them between those of `_ALONG`."""
    at, stops = np.linspace(0, 1, max(n, 1)), np.linspace(0, 1, len(_ALONG))
    channels = np.transpose([ImageColor.getrgb(colour) for colour in _ALONG])
    mixed = np.stack([np.interp(at, stops, channel) for channel in channels], axis=1).round().astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in mixed][:n]
