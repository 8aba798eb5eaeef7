"""Controls of the page Many inputs."""

from app_pages.controls.address import Row, Toggle

AS_GIVEN, HARDEST = "as given", "hardest first"

ORDER = Row("many_order", "Order", (AS_GIVEN, HARDEST), former={"surprising first": HARDEST}.get)
WRONG_ONLY = Toggle("many_wrong", "wrong ones only")
