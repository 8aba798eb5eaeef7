"""Figures as HTML for notebooks: each is a page in an iframe of its own, with all scripts that draw it, so it needs
no network.

A page follows the light or dark theme of the notebook, since browsers pass `color-scheme` on to an iframe.
"""

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io
from plotly.offline import get_plotlyjs

from .palette import WEIGHTS
from .theme import FONT, PAGE, PAGE_INK, Theme, file_config, weight_colour_scale

_HERE = Path(__file__)
_HEIGHT = 400  # pixels of a frame, until the page in it knows its height
_TEMPLATES: dict[Theme, str] = {"light": "plotly_white", "dark": "plotly_dark"}
# The interpreter (`ast`) reads expressions where the policy of a page forbids to compile them; tooltips, the menu and the
# default style would write styles into the page.
_SNIPPET = """
window.embedChart = (element, specification, config, options) => vegaEmbed(element, specification, {
  ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: "canvas", config, ...options,
});
"""
# For the seconds that it takes, it holds the lock of all threads: in a process of its own the app goes on.
_PROGRAM = (
    "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1]).encode())"
)


def page_iframe(page: str, title: str, height: int = _HEIGHT) -> str:
    """An iframe for a notebook cell with the whole HTML `page` in it; `height` is in pixels, `title` is for screen
    readers.
    """
    style = f"width: 100%; height: {height}px; border: 0"
    html = f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" style="{style}"></iframe>'
    # In ASCII: a browser that takes the notebook for another encoding would read other scripts than the page allows.
    return html.encode("ascii", "xmlcharrefreplace").decode()


def vega_iframe(
    specification: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, list[Any]]],
    *,
    takes_width: bool,
) -> str:
    """The iframe of a Vega-Lite chart; `columns` holds its data as lists, by data set and column. It is as wide as
    the cell if it `takes_width`.
    """
    configs = {theme: file_config(theme) for theme in PAGE}
    vega = {"specification": specification, "columns": columns, "takesWidth": takes_width, "configs": configs}
    return _iframe_with_script({"vega": vega}, vega_bundle(), specification["description"])


def plotly_iframe(figure: go.Figure, description: str) -> str:
    """The iframe of a Plotly figure; the colour scale of weights begins with the colour of the page, light or dark."""
    for trace in figure.data:
        if "colorscale" in trace and trace.colorscale == weight_colour_scale():
            trace.colorscale = None  # and so that of the template
    templates = {theme: _plotly_template(theme) for theme in PAGE}
    return _iframe_with_script(
        {"plotly": json.loads(figure.to_json()), "templates": templates}, get_plotlyjs(), description
    )


@cache
def _plotly_template(theme: Theme) -> dict[str, Any]:
    """Plotly's template for a theme, with the page colour and the colours of weights that figures have in the app."""
    template = go.layout.Template(plotly.io.templates[_TEMPLATES[theme]])
    template.layout.update(
        paper_bgcolor=PAGE[theme],
        plot_bgcolor=PAGE[theme],
        font={"color": PAGE_INK[theme], "family": FONT},
    )
    template.data.heatmap = [go.Heatmap(colorscale=WEIGHTS if theme == "light" else WEIGHTS[::-1])]
    return template.to_plotly_json()


def _iframe_with_script(data: Mapping[str, Any], library: str, description: str) -> str:
    """The iframe of a page with `data` as JSON and the script `library`, base64 of gzip, that draws it."""
    parts = {
        "data": json_block({**data, "pages": PAGE, "library": _gzipped_base64(library)}),
        "script": _HERE.with_suffix(".js").read_text("utf-8"),
    }
    # In one pass, or a word of the data that looks like a name of another part would become one.
    pieces = _HERE.with_suffix(".html").read_text("utf-8").split("@@")
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return page_iframe("".join(pieces), description)


@cache
def _gzipped_base64(script: str) -> str:
    """Base64 of the gzipped script, a third of its size, since a notebook holds one copy for each figure."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


@cache
def vega_bundle() -> str:
    """JavaScript that defines `embedChart(element, specification, config, options)`; it needs neither a network nor
    `eval`.
    """
    program = [sys.executable, "-c", _PROGRAM, _SNIPPET]
    script = subprocess.run(program, check=True, capture_output=True).stdout.decode()
    # What ends a block of script in HTML must not be in one.
    assert not any(end in script.lower() for end in ("</script", "<!--"))
    return script


def json_block(values: Mapping[str, Any]) -> str:
    """JSON that is safe inside an HTML script element, since no character of it can end the element; arrays become
    lists.
    """
    text = json.dumps(
        values,
        ensure_ascii=True,
        allow_nan=False,
        separators=(",", ":"),
        default=lambda array: array.tolist(),
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
