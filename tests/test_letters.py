"""Letters have three sizes, on a page and in its figures, and tokens have one face."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.test_boundaries import ROOT
from tests.viz.test_forms import FORMS
from viz.builders.theme import LARGE, MIDDLE, SMALL
from viz.builders.token_label import FONT

IN_FIGURES = {LARGE, MIDDLE, SMALL}
# The page's heading, text, what is small; 0 hides letters. Pixels stand where a component is laid out in pixels.
ON_PAGES = {"1.6rem", "1rem", "0.875rem", "24px", "15px", "13px", "11px", "inherit", "1em", "0"}
# For an audience: the root's, with which all grows that is said in rem; and that of formulas, whose indices, 0.7 of it, are then
# as large as the smallest letters.
ON_PAGES |= {"calc(15px", "1.06rem"}
STYLES = sorted(path for folder in ("app_pages", "viz") for path in (ROOT / folder).rglob("*.css"))
STORED: dict[str, Any] = json.loads(FORMS.read_text(encoding="utf-8"))
PLOTLY = [name for name, form in STORED.items() if "layout" in form]


def sizes(part: Any, name: str = "") -> Iterator[Any]:
    """Every size of letters in a figure's form, as it stands there: a number, or an expression."""
    if isinstance(part, list):
        for item in part:
            yield from sizes(item, name)
    elif isinstance(part, dict):
        for key, item in part.items():
            if key.lower().endswith("fontsize") or (key == "size" and name.lower().endswith("font")):
                yield item
            else:
                yield from sizes(item, key)


def parts(part: Any, key: str) -> Iterator[Any]:
    """Every value of `key` within a figure's form."""
    if isinstance(part, list):
        for item in part:
            yield from parts(item, key)
    elif isinstance(part, dict):
        for name, item in part.items():
            if name == key:
                yield item
            yield from parts(item, key)


@pytest.mark.parametrize("name", STORED)
def test_letters_of_a_figure_have_three_sizes(name):
    parameters = {parameter["name"]: parameter.get("value") for parameter in STORED[name].get("params", [])}
    for size in sizes(STORED[name]):
        if isinstance(size, dict):
            expression = size["expr"]
            numbers = [parameters[expression]] if expression in parameters else chosen(expression)
        else:
            numbers = [size]
        assert numbers
        assert set(numbers) <= IN_FIGURES, size


def chosen(expression: str) -> list[int]:
    """The two numbers that a condition chooses from."""
    return [int(number) for number in re.findall(r"[?:] (\d+)(?= |$)", expression)]


@pytest.mark.parametrize("name", [name for name in STORED if name not in PLOTLY])
def test_every_text_has_a_size_of_its_own(name):
    texts = [
        mark for mark in parts(STORED[name], "mark") if isinstance(mark, dict) and mark["type"] == "text"
    ]
    assert [mark for mark in texts if "fontSize" not in mark] == []


@pytest.mark.parametrize("name", PLOTLY)
def test_every_axis_has_a_size_of_its_own(name):
    layout = STORED[name]["layout"]
    axes = [layout[key] for key in layout if re.fullmatch(r"[xy]axis\d*", key)]
    assert axes
    assert all(axis["tickfont"]["size"] for axis in axes)
    titles = [axis["title"] for axis in axes if axis.get("title", {}).get("text")]
    bars = [bar for bar in parts(STORED[name], "colorbar") if "title" in bar]
    assert all(title["font"]["size"] for title in titles + [bar["title"] for bar in bars])


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_letters_of_a_page_have_three_sizes(path):
    style = path.read_text(encoding="utf-8")
    sizes = re.findall(r"font-size:\s*([^;!\s]+)", style) + re.findall(
        r"[^-]font:\s*(?:\d+ )?([^\s/;]+)", style
    )
    assert set(sizes) <= ON_PAGES


@pytest.mark.parametrize(
    "name",
    [
        "weights",
        "weights between two inputs",
        "scores",
        "difference of weights",
        "lengths of states",
        "permutation",
        "sum of maps",
        "row sums",
        "knocked-out tokens",
        "shift of attention",
        "cells",
        "stages and positions",
        "neighbours",
        "embeddings",
        "steps of attention",
        "weights on a text",
        "lines between tokens",
        "linked heads",
    ],
)
def test_tokens_have_one_face(name):
    keys = ("family", "font", "labelFont")
    assert FONT in [face for key in keys for face in parts(STORED[name], key) if isinstance(face, str)]
