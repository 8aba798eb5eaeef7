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
_LABELS = {
    "d_model": "token vector d_model",
    "n_layers": "layers",
    "n_heads": "heads",
    "d_k": "query, key d_k",
    "d_v": "value d_v",
    "d_ff": "feed-forward d_ff",
    "vocab_size": "vocabulary",
    "n_positions": "positions n",
    "image_size": "image size",
    "patch_size": "patch size",
}
RARE = ("d_v", "vocab_size")  # behind View
_STEPS = {
    "d_model": 64,
    "n_layers": 1,
    "n_heads": 1,
    "d_k": 8,
    "d_v": 8,
    "d_ff": 128,
    "vocab_size": 1000,
    "n_positions": 64,
    "image_size": 4,
    "patch_size": 1,
}
# Pixels of boxes, by the room that label and number need: 2¹⁸, the largest number, has six digits.
_WIDTHS = {
    "d_model": 200,
    "d_k": 140,
    "d_ff": 175,
    **dict.fromkeys(("vocab_size", "n_positions", "image_size", "patch_size"), 140),
}

START = SelectBox(
    "cost_from",
    "Start from",
    STARTS,
    width=170,
    help="A preset, or a row of table 3 of the paper. Then change what you like.",
)
SIZES = {
    size: Number(
        f"cost_{size}",
        _LABELS[size],
        1,
        LARGEST,
        step=step,
        width=_WIDTHS.get(size, 100),
    )
    for size, step in _STEPS.items()
}
