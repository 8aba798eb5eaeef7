"""Controls of the page Norm placement."""

from app_pages.controls.address import Row, Toggle
from app_pages.controls.compare_controls import WITHOUT_HEADS as WITHOUT_HEADS
from model.claims.catalogue import CLAIMS

LENGTH, PARTS = "length of the residual stream", "what an answer is made of"
FIGURE = Row("norm_figure", "Figure", (LENGTH, PARTS), label_visibility="collapsed")
# By the key of a claim: whether its numbers are shown below its row.
VALUES = {claim.key: Toggle(f"norm_{claim.key}", "Numbers") for claim in CLAIMS}
