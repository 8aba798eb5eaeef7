"""A small button at the upper right of every figure, which opens a menu to download it as a file.

The menu is drawn only while it is open, a choice in it does not run the page again, and the file is made when it is
downloaded. A closed one costs 0.2 ms of a run; as a fragment of its own, which would open without a run, it costs 0.8 ms.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from app_pages.controls import compare_controls
from app_pages.controls.input_controls import CHECKPOINT
from app_pages.controls.map_controls import HEAD, LAYER, LENS
from model.lenses import ATTENTION, LENSES
from viz.builders.figure import Figure
from viz.export.export_style import FONTS_PT, PAPER, WIDTHS_CM, ExportStyle
from viz.export.file_formats import MIME, PICTURES, TABLES, figure_bytes
from viz.export.safe_text import file_name

NAMES = {"png": "PNG", "svg": "SVG", "csv": "CSV", "parquet": "Parquet"}
SCREEN, LIGHT, DARK = "as on screen", "light", "dark"
NATURAL, COLUMN, OWN = "original", f"{PAPER.width_cm:g} cm column, {PAPER.font_pt:g} pt", "custom"
# Pages that are about one encoder, and those of them that are about one head: their files are named after them.
_ENCODER = {"attention", "inside_a_head", "heads", "masks", "positions"}
_WITHOUT_LENS = {
    compare_controls.KNOCK_OUT,
    compare_controls.STREAM,
    compare_controls.REPRESENTATIONS,
    compare_controls.CROSS,
}
_HEAD = {"attention", "inside_a_head", "masks"}
_MEMORY = "exported"  # in the session: what was chosen last, by the kind of choice


def download(figure: Figure | Callable[[], Figure], key: str) -> None:
    """The button, in the container where it stands; `key` is that of the figure, which can be made when it is asked for."""
    label = f"Download the figure: {key.replace('_', ' ')}"
    with st.popover(
        label, key=f"file_of_{key}", icon=":material/download:", type="tertiary", on_change="rerun"
    ) as behind:
        if behind.open:
            _choose(figure() if callable(figure) else figure, key)


@st.fragment
def _choose(figure: Figure, key: str) -> None:
    kind = _row("Format", tuple(NAMES), "kind", key, format_func=NAMES.__getitem__)
    look = _look(key) if kind in PICTURES else ExportStyle()
    if kind in TABLES:
        rows, columns = figure.frame.shape
        st.caption(f"The data of the figure: {rows:,} rows × {columns:,} columns.")
    name = file_name(*name_parts(key), suffix=kind)
    st.download_button(
        "Download",
        lambda: figure_bytes(figure, kind, look),
        file_name=name,
        mime=MIME[kind],
        key=f"file_of_{key}_file",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )
    st.caption(name)


def _look(key: str) -> ExportStyle:
    on_screen = st.context.theme.type or LIGHT
    theme = _row(
        "Colours",
        (SCREEN, LIGHT, DARK),
        "theme",
        key,
        format_func=lambda each: f"{each} ({on_screen})" if each == SCREEN else each,
    )
    theme = on_screen if theme == SCREEN else theme
    size = _row("Size", (NATURAL, COLUMN, OWN), "size", key)
    if size == NATURAL:
        return ExportStyle(theme=theme)
    width, letters, clear = PAPER.width_cm, PAPER.font_pt, PAPER.transparent
    if size == OWN:
        with st.container(horizontal=True, gap="small"):
            width = _number("Width, cm", WIDTHS_CM, PAPER.width_cm, "width_cm", key)
            letters = _number("Font size, pt", FONTS_PT, PAPER.font_pt, "font_pt", key)
        clear = st.toggle("No background", _held("transparent", True), key=f"file_of_{key}_transparent")
        _hold("transparent", clear)
    return ExportStyle(theme=theme, dpi=PAPER.dpi, width_cm=width, font_pt=letters, transparent=clear)


def _row(label: str, options: tuple[str, ...], what: str, key: str, **look: Any) -> str:
    """What was chosen for one figure is what the next one begins with."""
    first = _held(what, options[0])
    widget = f"file_of_{key}_{what}"
    chosen = st.segmented_control(label, options, default=first, required=True, key=widget, **look) or first
    return _hold(what, chosen)


def _number(label: str, ends: tuple[float, float], first: float, what: str, key: str) -> float:
    held = float(_held(what, first))
    given = st.number_input(label, *ends, held, 0.5, key=f"file_of_{key}_{what}", width=130, format="%g")
    return _hold(what, held if given is None else given)


def _held(what: str, first: Any) -> Any:
    return st.session_state.setdefault(_MEMORY, {}).get(what, first)


def _hold(what: str, value: Any) -> Any:
    st.session_state.setdefault(_MEMORY, {})[what] = value
    return value


def name_parts(key: str) -> list[str]:
    """What is in the file: page, figure, and of pages that are about them the head and the encoder."""
    page = st.session_state.get("page", "")
    about = key.removeprefix(page.split("_")[0]).strip("_")
    parts = [page, "" if about == "matrix" else about]
    with_lens = page == "attention" or (
        page == "compare" and compare_controls.PART.held() not in _WITHOUT_LENS
    )
    lens = LENSES.get(LENS.held()) if with_lens else None
    if lens is not None and lens.name != ATTENTION:
        parts.append(lens.name)
    if page in _HEAD and about != "overview" and LAYER.held() is not None:
        of_head = f"-H{HEAD.held(0)}" if lens is None or lens.has_heads else ""
        parts.append(f"L{LAYER.held()}{of_head}")
    if page in _ENCODER:
        parts.append(CHECKPOINT.held() or "")
    return parts
