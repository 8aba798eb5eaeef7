"""Controls of the page Many inputs."""

from app_pages.controls.address import INDEX, Code, Row, TextLine, Toggle

WRONG, HARDEST, AS_GIVEN = "wrong first", "hardest first", "as given"

ORDER = Row("many_order", "Order", (WRONG, HARDEST, AS_GIVEN))
WRONG_ONLY = Toggle("many_wrong", "wrong ones only")
CONTAINED = TextLine(
    "many_text",
    "Filter by text",
    label_visibility="collapsed",
    placeholder="Filter by text",
    icon=":material/search:",
    max_chars=200,
    width=200,
)
# The class of the label and that of the answer, by number; empty: all.
CELL = Code("many_cell", pattern=f"{INDEX}-{INDEX}")
