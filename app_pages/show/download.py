"""The small button at the upper right of every figure, which opens its menu: full screen, its numbers, and a file of it.

The menu is drawn only while it is open, a choice in it does not rerun the page, and the file is made only when it is downloaded.
A closed menu takes 0.2 ms of a run; as a separate fragment, which would open without a rerun, 0.8 ms.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

import streamlit as st

from app_pages.controls import compare_controls
from app_pages.controls.attention_controls import HEAD as THIS_HEAD
from app_pages.controls.attention_controls import OVER_HEADS
from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import HEAD, LAYER, LENS
from app_pages.subject.encoders import RECORD
from app_pages.toolkit.expression import Expression
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION, LENSES
from viz.builders.figure import Figure
from viz.builders.number_format import head_name
from viz.export.drawing import number_choices, title_of
from viz.export.export_style import FONTS_PT, PAPER, WIDTHS_CM, ExportStyle, NumberChoice
from viz.export.safe_text import file_name, missing_letters_sentence
from viz.export.save import MIME, PICTURES, TABLES, figure_bytes, numbers_table

NAMES = {"png": "PNG", "svg": "SVG", "pdf": "PDF", "csv": "CSV", "parquet": "Parquet"}
SCREEN, LIGHT, DARK = "as on screen", "light", "dark"
NATURAL, COLUMN, OWN = "original", f"{PAPER.width_cm:g} cm column, {PAPER.font_pt:g} pt", "custom"
NUMBERS: dict[NumberChoice, str] = {"drawn": "as on screen", "all": "all", "none": "none"}
# Pages that are about one encoder, and those of them that are about one head: their files are named after them.
_ENCODER = {"attention", "inside_a_head", "heads", "masks", "positions"}
_ENCODER_ALONE = {"attention", "heads", "masks"}  # every figure is of the encoder
_WITHOUT_LENS = {compare_controls.KNOCK_OUT, compare_controls.STREAM, compare_controls.CROSS}
_HEAD = {"attention", "inside_a_head", "masks"}
Option = TypeVar("Option", bound=str)
FigureOrMaker: TypeAlias = Figure | Callable[[], Figure]
_MEMORY = "exported"  # in the session: what was chosen last, by the kind of choice


def download(
    figure: FigureOrMaker,
    key: str,
    *,
    other_figures: Mapping[str, FigureOrMaker] = MappingProxyType({}),
    full_screen: bool = False,
) -> None:
    """Draws the menu of the figure with this `key`; a callable makes the figure only when it is selected in the open menu.

    For an expression the menu also shows its Python code. `other_figures` are more figures by key that the same chart shows. With
    `full_screen` the menu starts with that choice, for the chart in the current container.
    """
    label = f"Download the figure: {key.replace('_', ' ')}"
    with st.popover(
        label, key=f"file_of_{key}", icon=":material/download:", type="tertiary", on_change="rerun"
    ) as menu:
        if menu.open:
            if full_screen:
                st.button(
                    "Full screen", key=f"full_screen_of_{key}", icon=":material/fullscreen:", type="tertiary"
                )
            figures = {key: figure, **other_figures}
            once = {
                name: cache(made) if callable(made) and not isinstance(made, Expression) else made
                for name, made in figures.items()
            }
            _draw_menu(once, key)


@st.fragment
def _draw_menu(figures: Mapping[str, FigureOrMaker], key: str) -> None:
    with st.container(gap="xsmall"):  # here, since a fragment has a wider gap of its own
        _draw_choices(figures, key)


def _draw_choices(figures: Mapping[str, FigureOrMaker], key: str) -> None:
    figure_key = key
    if len(figures) > 1:
        figure_key = _choose_option(
            "Figure", tuple(figures), "figure", key, format_func=lambda option: option.partition("_")[0]
        )
    chosen = figures[figure_key]
    figure = chosen() if callable(chosen) else chosen
    file_format = _choose_option("Format", tuple(NAMES), "kind", key, format_func=NAMES.__getitem__)
    style = ExportStyle()
    if file_format in PICTURES:
        style = _choose_details(_choose_style(key), figure, key)
        style = replace(style, above=line_above(figure_key, title_of(figure)))
    if file_format in TABLES:
        numbers = numbers_table(figure)
        rows, columns = numbers.shape
        st.caption(f"The numbers of the figure: {rows:,} rows × {columns:,} columns.")
        st.dataframe(numbers, height=180, hide_index=True)
    if warning := missing_letters_sentence(figure, file_format):
        st.caption(f":material/info: {plain(warning)}")
    name = file_name(*name_parts(figure_key), suffix=file_format)
    content: bytes | Callable[[], bytes] = partial(figure_bytes, figure, file_format, style)
    if style.numbers == "all":  # whether they fit shows when they are drawn
        try:
            content = figure_bytes(figure, file_format, style)
        except ValueError as error:
            reason = str(error)
            st.caption(f":material/info: {reason[:1].upper()}{reason[1:]}.")
            return
    st.download_button(
        "Download",
        content,
        file_name=name,
        mime=MIME[file_format],
        key=f"file_of_{key}_file",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )
    st.caption(name)
    if isinstance(chosen, Expression):
        with st.expander("As Python", key=f"python_of_{key}"):
            try:
                st.code(chosen.python())
            except ValueError as error:
                st.caption(f":material/info: {plain(str(error))}.")


def _choose_style(key: str) -> ExportStyle:
    on_screen: Literal["light", "dark"] = "dark" if st.context.theme.type == DARK else "light"
    colours = _choose_option(
        "Colours",
        (SCREEN, LIGHT, DARK),
        "theme",
        key,
        format_func=lambda option: f"{option} ({on_screen})" if option == SCREEN else option,
    )
    theme: Literal["light", "dark"] = (
        on_screen if colours == SCREEN else "dark" if colours == DARK else "light"
    )
    size = _choose_option("Size", (NATURAL, COLUMN, OWN), "size", key)
    if size == NATURAL:
        return ExportStyle(theme=theme)
    # Light letters without a ground would be lost on the white page of a paper.
    width, font, is_clear = PAPER.width_cm, PAPER.font_pt, PAPER.transparent and theme == LIGHT
    if size == OWN:
        with st.container(horizontal=True, gap="small"):
            width = _choose_number("Width, cm", WIDTHS_CM, width, "width_cm", key)
            font = _choose_number("Font size, pt", FONTS_PT, font, "font_pt", key)
        ground = f"transparent_{theme}"
        begin = _last_choices().get(ground, is_clear)
        is_clear = st.toggle("No background", begin, key=f"file_of_{key}_{ground}")
        _last_choices()[ground] = is_clear
    return ExportStyle(theme=theme, width_cm=width, font_pt=font, transparent=is_clear)


def _choose_details(style: ExportStyle, figure: Figure, key: str) -> ExportStyle:
    """Draws, folded, the choices that are rarely made (numbers in cells, and the title); returns `style` with them."""
    with st.expander("Numbers and title", key=f"details_of_{key}"):
        choices = number_choices(figure)
        numbers = choices[0]
        if len(choices) > 1:
            numbers = _choose_option(
                "Numbers in cells", choices, "numbers", key, format_func=NUMBERS.__getitem__
            )
        title = st.toggle("Title", _last_choices().get("title", True), key=f"file_of_{key}_title")
        _last_choices()["title"] = title
    return replace(style, numbers=numbers, title=title)


def _choose_option(label: str, options: tuple[Option, ...], what: str, key: str, **widget: Any) -> Option:
    """Draws one row of options and returns the chosen one.

    The default is the option last chosen for `what` in any figure's menu, else the first of the row.
    """
    begin = _last_choices().get(what)
    begin = begin if begin in options else options[0]
    key = f"file_of_{key}_{what}"
    option = st.segmented_control(label, options, default=begin, required=True, key=key, **widget) or begin
    _last_choices()[what] = option
    return option


def _choose_number(label: str, ends: tuple[float, float], first: float | None, what: str, key: str) -> float:
    """Draws a box for a number within `ends` and returns the number.

    The default is the number last chosen for `what` in any figure's menu, else `first`, or `ends[0]` if that is None. For an
    empty box it returns the previous number.
    """
    last = float(_last_choices().get(what, first or ends[0]))
    value = st.number_input(label, *ends, last, 0.5, key=f"file_of_{key}_{what}", width=130, format="%g")
    _last_choices()[what] = last if value is None else value
    return _last_choices()[what]


def _last_choices() -> dict[str, Any]:
    """Last choices of this session, by the kind of choice."""
    return st.session_state.setdefault(_MEMORY, {})


def name_parts(key: str) -> list[str]:
    """Parts of the file's name: page, figure and, on pages about them, lens, head and encoder."""
    page = st.session_state.get("page", "")
    figure_name = key.removeprefix(page.split("_")[0]).strip("_")
    parts = [page, "" if figure_name == "matrix" else figure_name]
    with_lens = page == "attention" or (
        page == "compare" and compare_controls.PART.held() not in _WITHOUT_LENS
    )
    if with_lens and LENS.held() in LENSES.keys() - {ATTENTION}:
        parts.append(LENS.held() or "")
    if page in _HEAD:
        parts.append(_head_of(figure_name))
    if page in _ENCODER:
        parts.append(_encoder())
    return parts


def line_above(key: str, title: str) -> str:
    """Line above the figure in its file, with head and encoder, such as "L0 H2 of imdb-pre-ln".

    The head is left out if `title` names it; "" on pages whose figures belong to no encoder.
    """
    page = st.session_state.get("page", "")
    if page not in _ENCODER_ALONE:
        return ""
    head = _head_of(key) if page in _HEAD else ""
    return " of ".join(filter(None, ("" if head in title else head, _encoder())))


def _head_of(key: str) -> str:
    """Name of the head, or of the mean or maximum over a layer's heads, that the figure with this `key` shows; "" if it shows
    several heads.
    """
    layer, lens = LAYER.held(), LENSES.get(LENS.held())
    if layer is None or "overview" in key or "by_layer" in key:
        return ""
    if st.session_state.get("page") == "attention" and (part := OVER_HEADS.held(THIS_HEAD)) != THIS_HEAD:
        return f"L{layer} {part}"
    return head_name(layer, HEAD.held(0)) if lens is None or lens.has_heads else f"L{layer}"


def _encoder() -> str:
    return "" if KIND.held() == RECORD else CHECKPOINT.held() or ""
