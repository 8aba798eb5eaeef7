"""An HTML table whose rows can be clicked and reached with the keyboard.

`st.dataframe` draws on a canvas, which a screen reader cannot read; it does not announce how it is sorted and reports no click on
a row. The cells of this table hold plain text: markup in them is not interpreted.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import streamlit as st

_CSS, _JS = (Path(__file__).with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))


class TableHeading(TypedDict):
    """The heading of a column."""

    name: str  # class of the heading in the style sheet
    title: str
    small: NotRequired[str]  # below it, in smaller letters
    help: NotRequired[str]  # under the pointer, at the focus and after a touch
    sorted: NotRequired[str]  # "ascending", "descending" or "none"; without it a click does nothing
    ends: NotRequired[tuple[str, str]]  # numbers at both ends of the colours of the column's strips
    active: NotRequired[bool]  # marked


class Strip(TypedDict):
    """Numbers as a row of coloured cells, on a scale symmetric about 0."""

    values: list[float]
    largest: float  # the end of the scale
    # What each value is the product of, numbers or lists of the length of `values`: written under the pointer.
    factors: NotRequired[list[float | list[float]]]


class TableCell(TypedDict):
    """A cell: its text, and optional help, picture, bar, strip and role."""

    name: str  # class of the cell in the style sheet
    text: str
    small: NotRequired[str]  # in smaller letters
    help: NotRequired[str]  # as a heading's
    picture: NotRequired[str]  # data URI, before the text
    bar: NotRequired[float]  # length of the bar below the number, from 0 to 1
    span: NotRequired[tuple[float, float]]  # start and end of the bar beside the number, from 0 to 1
    strip: NotRequired[Strip]
    terms: NotRequired[list[dict[str, str]]]  # words, each with its own help
    is_button: NotRequired[bool]  # by which the keyboard chooses the row
    is_header: NotRequired[bool]  # names the row


class TableRow(TypedDict):
    """A row of the table; a click on it reports its `key`, unless the row belongs to the table's head or foot."""

    key: int | list[int]
    current: bool  # marked
    cells: list[TableCell]
    part: NotRequired[Literal["head", "foot"]]  # which stay in sight while the rows scroll


class HtmlTable:
    """An HTML table as a Streamlit component called `name`, styled by the shared style sheet and by `css`."""

    def __init__(self, name: str, css: Path) -> None:
        self._component = st.components.v2.component(
            name,
            html='<div class="scroll"><table><thead></thead><tbody></tbody><tfoot></tfoot></table></div>'
            '<div class="tip" role="tooltip" popover></div>',
            css=_CSS + css.read_text(encoding="utf-8"),
            js=_JS,
        )

    def draw(
        self,
        headings: Sequence[TableHeading],
        rows: Sequence[TableRow],
        *,
        key: str,
        take_row: Callable[[Any], None],
        take_column: Callable[[str], None] | None = None,
        reveal: bool = False,
    ) -> None:
        """Draws the table; a click on a row calls `take_row` with its key, one on a sortable heading `take_column` with its name.

        `reveal` scrolls to the current row.
        """

        def row_clicked() -> None:
            clicked = st.session_state[key].row
            for row in rows:  # the browser may send anything
                if row["key"] == clicked and "part" not in row:
                    take_row(row["key"])

        def column_clicked() -> None:
            clicked = st.session_state[key].column
            if take_column and clicked in [heading["name"] for heading in headings if "sorted" in heading]:
                take_column(clicked)

        data = {"headings": headings, "rows": rows, "reveal": reveal}
        self._component(key=key, data=data, on_row_change=row_clicked, on_column_change=column_clicked)
