"""Controls of the page Cost."""

from app_pages.controls.address import Number, SelectBox
from model.config import LARGEST, preset, presets
from model.theory.cost import variations

# The published rows called "base" and "big" are presets as well.
STARTS = {
    **{row.name: row.config for row in variations() if row.name in ("base", "big")},
    **{name: preset(name) for name in presets() if name not in ("base", "big")},
    **{row.name: row.config for row in variations() if row.name not in ("base", "big")},
}
RARE = ("d_v", "vocab_size")  # behind View
# Of each size: label, step of its box, and the box's width in pixels, by the room that label and number need: 2¹⁸, the largest
# number, has six digits.
_BOXES = {
    "d_model": ("token vector d_model", 64, 200),
    "n_layers": ("layers", 1, 100),
    "n_heads": ("heads", 1, 100),
    "d_k": ("query, key d_k", 8, 140),
    "d_v": ("value d_v", 8, 100),
    "d_ff": ("feed-forward d_ff", 128, 175),
    "vocab_size": ("vocabulary", 1000, 140),
    "n_positions": ("positions n", 64, 140),
    "image_size": ("image size", 4, 140),
    "patch_size": ("patch size", 1, 140),
}

START = SelectBox(
    "cost_from",
    "Start from",
    STARTS,
    width=170,
    help="A preset, or a row of table 3 of the paper. Then change what you like.",
)
SIZES = {
    size: Number(f"cost_{size}", label, 1, LARGEST, step=step, width=width)
    for size, (label, step, width) in _BOXES.items()
}
