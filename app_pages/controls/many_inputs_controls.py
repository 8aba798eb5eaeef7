"""Controls of the page Many inputs."""

from app_pages.controls.address import INDEX, Code, Row, TextLine, Toggle

AS_GIVEN, HARDEST = "as given", "hardest first"

ORDER = Row("many_order", "Order", (AS_GIVEN, HARDEST))
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
