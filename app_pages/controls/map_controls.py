"""Controls of all pages with attention maps: which head and query, seen through which lens."""

from app_pages.controls.address import INDEX, Code, PositionBox, Row, SelectBox, Toggle, nearest
from model.experiments.knock_out import KnockOutKind
from model.lenses import LENSES
from viz.builders.palette import ColourScale

SCALES: dict[str, ColourScale] = {"to 1": "fixed", "to own maximum": "own"}
PREDICTED = "predicted"
# Kinds of knock-out as the address holds them, and as a caption goes on with them.
KNOCK_OUTS: dict[str, KnockOutKind] = {
    "from every query": "keys",
    "behind [MASK]": "mask",
    "behind [UNK]": "unknown",
    "greyed": "grey",
}
KNOCK_OUT_HELP = (
    "How one token or patch is hidden (a knock-out). From every query: none attends to it, in all layers and heads, while "
    "its own state stays in the residual stream. Behind [MASK] or [UNK]: the encoder reads that token in its place. "
    "Greyed: each pixel of the patch is the mean of the picture. The results differ."
)

LAYER = SelectBox[int](
    "layer",
    "Layer",
    pattern=INDEX,
    gone=nearest,
    width=96,
)
HEAD = SelectBox[int](
    "head",
    "Head",
    pattern=INDEX,
    gone=nearest,
    width=96,
)
QUERY = PositionBox[int]("query", "Query", width=200)
SCALE = Row(
    "scale",
    "Colour scale from weight 0",
    SCALES,
    help="Up to 1, a colour means the same weight in every map; up to its own maximum, a map shows faint "
    "weights. Maps that are compared share one scale.",
)
LENS = SelectBox(
    "lens",
    "Lens",
    LENSES,
    help="What a map shows. Attention: the weights themselves. Norm-weighted: each weight times the length of what it passes on. "
    "Residual and LayerNorm: the same for a whole layer, with what the token keeps of itself. Value zeroing: how much the "
    "state changes when one value is left out. ALTI: how close the new state is to the vector that a token brings. Rollout, and "
    "ALTI or value zeroing rolled out: the layers multiplied, back to the input. Gradient × attention: what raises the score of a class.",
)
LENS_CLASS = SelectBox[str]("lens_class", "Class", width=150)
KNOCK_OUT = Row(
    "knock_out",
    "How a token is hidden",
    KNOCK_OUTS,
    help=KNOCK_OUT_HELP,
)
ALL_QUERIES = Toggle("all_queries", "Lines of all queries", True)
FAITHFULNESS = Code("faithful", pattern="true")  # the menu "explains the answer?" is open
