"""Lets the browser fetch the code that draws charts while the server still makes the first one.

Streamlit's page asks for that code, 1 MB in 30 files, only once a chart has arrived. What the files are called is known to
Streamlit alone, so they are looked for; of those that are not found none is fetched ahead.
"""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

PARTS = ("ArrowVegaLiteChart", "embed", "vega-interpreter")
_FILES = Path(st.__file__).parent / "static" / "static" / "js"
_fetching = st.components.v2.component(
    "chart_code", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def chart_files(folder: Path = _FILES, parts: Iterable[str] = PARTS) -> list[str]:
    """Names of the files in the folder that hold these parts, such as `embed.CX5AQgxi.js`."""
    return [path.name for part in parts for path in sorted(folder.glob(f"{part}.*.js"))]


def fetch_chart_code() -> None:
    """Draws an invisible component that makes the browser fetch the files; files that it already has are not fetched again."""
    with st.container(key="gesture_chart_code"):
        _fetching(key="chart_code", data={"files": chart_files()})
