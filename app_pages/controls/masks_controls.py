"""Controls of the page Masks."""

from app_pages.controls.address import INDEX, Box, Boxes, Code, Row, Slider, Tabs, nearest
from model.capture.intervention import MaskKind

STEP_BY_STEP, WHAT_FOLLOWS, WAYS = "Step by step", "What follows", "Ways of masking"
KINDS: dict[str, MaskKind] = {
    "Block tokens": "keys",
    "Block pairs": "cells",
    "Causal": "causal",
    "Local window": "window",
    "Padding": "padding",
    "None": "none",
}
NUMBERS = {"−1e9": -1e9, "−1e4": -1e4, "−10": -10.0}
HEAD, MEAN = "this head", "mean of the layer"

PART = Tabs("masks_part", (STEP_BY_STEP, WHAT_FOLLOWS, WAYS))
MASK = Box[str]("masks_kind", "Mask", KINDS, width=200)
# See `app_pages.masks.blocked`.
BLOCKED_KEYS = Code("masks_keys", pattern=rf"{INDEX}(\.{INDEX})*")
BLOCKED_CELLS = Code("masks_cells", pattern=rf"{INDEX}-{INDEX}(\.{INDEX}-{INDEX})*")
RADIUS = Slider("masks_radius", "Radius", default=1, width=164)
PADDING = Slider[int]("masks_padding", "Padding", width=164)
# Left empty they mean all: a layer that is not there gives way to the nearest.
LAYERS = Boxes[int](
    "masks_layers",
    "In layers",
    pattern=f"L{INDEX}",
    gone=nearest,
    format_func="L{}".format,
    placeholder="all",
    width=260,
)
HEADS = Boxes[int](
    "masks_heads",
    "In heads",
    pattern=f"H{INDEX}",
    gone=nearest,
    format_func="H{}".format,
    placeholder="all",
    width=260,
)
SHOWN = Slider[tuple[int, int]]("masks_shown", "Positions in the maps")
LOST_BY = Row("masks_lost", "In", (HEAD, MEAN))
NUMBER = Row(
    "masks_number",
    "c, a number in place of −∞",
    NUMBERS,
    help="In half precision, which ends at −65,504, −1e9 itself becomes −∞.",
)
