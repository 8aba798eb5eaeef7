import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from tests.viz.export.test_drawing import HREF, SVG, bars, curves, heads
from tests.viz.pixels import pixels
from tests.viz.records import heads_record
from tests.viz.test_forms import figures
from viz.attention.head_overview import head_overview
from viz.attention.token_heatmaps import score_heatmap, weight_heatmap
from viz.builders.palette import CATEGORIES, NEUTRAL, PLACEMENTS, WEIGHTS
from viz.export.drawing import png, svg
from viz.export.export_style import ExportStyle
from viz.export.greys import in_greys, shows_signs

LIGHT, DARK = ExportStyle(greys=True), ExportStyle(greys=True, theme="dark")
COLOUR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")


def colours(drawn: str) -> list[tuple[str, ...]]:
    """The hexadecimal colours of fills, strokes and stops."""
    values = [
        value
        for element in ET.fromstring(drawn).iter()
        for name, value in element.attrib.items()
        if name in ("fill", "stroke", "stop-color")
    ]
    assert not [value for value in values if value.startswith("rgb(")]
    return [match.groups() for value in values if (match := COLOUR.fullmatch(value))]


def grey(colour: str, theme: str = "light") -> int:
    drawn = in_greys(f'<svg><rect fill="{colour}"/></svg>', theme)
    red, green, blue = COLOUR.search(drawn).groups()
    assert red == green == blue
    return int(red, 16)


@pytest.mark.parametrize("style", [LIGHT, DARK])
@pytest.mark.parametrize("name", ["overview", "map", "curves"])
def test_nothing_has_a_colour(style: ExportStyle, name: str) -> None:
    made = {
        "overview": lambda: head_overview(heads_record(heads()), selected=(0, 1)),
        "map": lambda: weight_heatmap(heads()[0, 0], list("abcdefgh"), query=2),
        "curves": curves,
    }
    drawn = svg(made[name](), style)
    assert colours(drawn)
    assert all(red == green == blue for red, green, blue in colours(drawn))
    picture = np.asarray(Image.open(io.BytesIO(png(made[name](), style))).convert("RGB"), int)
    assert (picture.max(-1) - picture.min(-1)).max() <= 1


def test_a_larger_weight_is_darker_step_by_step() -> None:
    steps = -np.diff([grey(colour) for colour in WEIGHTS])
    assert grey(WEIGHTS[0]) == 255
    assert (steps > 10).all()


def test_a_map_and_its_colour_bar_have_the_same_greys() -> None:
    weights = np.array([[0.0, 1.0], [0.5, 0.5]], np.float32)
    root = ET.fromstring(svg(weight_heatmap(weights, ["a", "b"]), LIGHT))
    stops = [element.get("stop-color") for element in root.iter(f"{SVG}stop")]
    cells = pixels(next(root.iter(f"{SVG}image")).get(HREF))
    assert [f"#{cells[0, column, 0]:02x}" for column in (0, -1)] == [
        stop[:3] for stop in (stops[0], stops[-1])
    ]


@pytest.mark.parametrize(("style", "ink"), [(LIGHT, "#000000"), (DARK, "#ffffff")])
def test_what_is_chosen_has_a_frame_of_ink(style: ExportStyle, ink: str) -> None:
    root = ET.fromstring(svg(weight_heatmap(heads()[0, 0], list("abcdefgh"), query=2), style))
    assert [
        element.get("stroke") for element in root.iter(f"{SVG}path") if element.get("stroke-width") == "2"
    ] == [ink]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kinds", [(NEUTRAL, CATEGORIES[0]), tuple(PLACEMENTS.values()), CATEGORIES[:3]])
def test_kinds_are_told_apart(theme: str, kinds: tuple[str, ...]) -> None:
    greys = sorted(grey(colour, theme) for colour in kinds)
    assert (np.diff(greys) >= 0x20).all()


def test_a_name_that_reads_like_a_colour_stays() -> None:
    names = ['fill="#ff0000"', "#123456", "<rect fill='#00ff00'/>"]
    written = ["".join(text.itertext()) for text in ET.fromstring(svg(bars(names), LIGHT)).iter(f"{SVG}text")]
    assert set(names) <= set(written)


def test_opacity_stays() -> None:
    drawn = in_greys('<rect fill="rgba(180, 83, 9, 0.25)" aria-label=\'a fill="#ff0000"\'/>', "light")
    assert 'fill="rgba(176,176,176,0.25)"' in drawn


def test_a_figure_that_tells_signs_by_colours_keeps_them() -> None:
    scores = score_heatmap(np.array([[1.0, -1.0], [0.5, 0.0]]), ["a", "b"])
    in_colours, in_greys_too = (
        re.sub("gradient_[0-9]+", "gradient", svg(scores, style)) for style in (ExportStyle(), LIGHT)
    )
    assert in_greys_too == in_colours


def test_figures_with_signs() -> None:
    signed = {name for name, figure in figures().items() if shows_signs(figure)}
    assert {
        "scores",
        "difference of weights",
        "grid of heads",
        "ablation",
        "values before and after",
    } <= signed
    assert signed.isdisjoint(
        {
            "weights",
            "head overview",
            "grid of heads, not signed",
            "ablation, not signed",
            "curves over stages",
        }
    )
