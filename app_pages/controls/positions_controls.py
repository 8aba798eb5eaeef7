"""Controls of the page Positions."""

from app_pages.controls.address import (
    INDEX,
    MultiSelect,
    Number,
    PositionBox,
    Row,
    SelectSlider,
    Slider,
    Tabs,
    Toggle,
    drop_option,
)
from model.theory.permutation_equivariance import REORDERINGS

SINUSOIDS, BY_DISTANCE = "Sinusoids", "By distance"
ROTATED, ALIBI, T5 = "rotation (RoPE)", "penalty (ALiBi)", "learned table (T5)"
WINDOWED = "window"
ENCODER, EXPERIMENTS, EMBEDDINGS = "This encoder", "Experiments", "Embeddings"
SHUFFLE, LEAVE_OUT, SHIFTED = "shuffle the content", "leave the positions out", "shift the positions"
ONE_HEAD = "reorder the input of one head"
NO_MASK, CAUSAL = "no mask", "causal mask"
WITH, WITHOUT = "with positions", "without positions"
SIDE_BY_SIDE, DIFFERENCE = "side by side", "after minus before"
AS_READ, BACK = "as they are read", "put back in order"
GRID, LENGTHS, PAIRS, TABLE = "patch by patch", "lengths", "all pairs", "the numbers"
OF_INPUT, ALL = "of this input", "all"
OVER_DISTANCE, MOVED = "over the distance", "moved along"
TIED, UNTIED = "the same, W_Q", "another, W_K"
PCA, TSNE = "PCA", "t-SNE"
CONTENT, SUM = "content alone", "content + positions"
N_WORDS = 200  # of the vocabulary, in the map of embeddings
MOST_PERPLEXITY, LARGEST_SEED = 50, 9999
MOST_CURVES = 6
LARGEST_OFFSET = 64

PART = Tabs("positions", (SINUSOIDS, BY_DISTANCE, ENCODER, EXPERIMENTS, EMBEDDINGS))

# Sinusoids
WIDTH = SelectSlider(
    "positions_d_model",
    "Width d_model",
    (4, 8, 16, 32, 64, 128, 256, 512),
    64,
    help="Numbers in a position's vector: a sine and a cosine for each of half as many clocks.",
)
LENGTH = SelectSlider("positions_length", "Length in positions", (5, 32, 64, 128, 256, 512), 128)
POSITION = Slider[int]("positions_t", "Position t")
OFFSET = Slider("positions_offset", "Offset φ", 0, LARGEST_OFFSET, 5)
FREQUENCY = Slider("positions_k", "Clock k", default=1)
DIMENSIONS = MultiSelect[int](
    "positions_dimensions",
    "Columns of the table as waves",
    pattern=INDEX,
    gone=drop_option,
    max_selections=MOST_CURVES,
    help=f"Up to {MOST_CURVES}. Even columns are sines, odd ones cosines; triangles mark them in the table.",
)

# By distance
RELATIVE_KIND = Row("positions_kind", "Way", (ROTATED, ALIBI, T5, WINDOWED))
ROTARY_BASE = SelectSlider(
    "positions_base",
    "Base",
    (100, 1000, 10_000, 160_000, 1_000_000),
    10_000,
    help="Sets how fast the pairs turn: the larger, the more slowly. 10,000 in most encoders; ModernBERT has 160,000 in its global "
    "layers.",
)
ROTATED_POSITION = Slider("positions_rotated_t", "Position t", 0, 160, 10)
BIASED_HEADS = SelectSlider("positions_alibi_heads", "Heads", (2, 4, 8, 16), 8)
BUCKETS = SelectSlider("positions_buckets_n", "Buckets", (8, 16, 32, 64), 32)
RADIUS = Slider("positions_radius", "Window, to each side", 1, 128, 64)
GLOBAL_EVERY = SelectSlider(
    "positions_global",
    "A layer in … sees everything",
    (0, 2, 3, 4),
    0,
    help="0: none; 3: every third, from the first, as in ModernBERT.",
)

SECOND_HALF = Row("positions_w2", "$W_1$ is $W_Q$; $W_2$ is", (TIED, UNTIED))

# This encoder
OWN_TABLE = Row("positions_own", "Show", (GRID, LENGTHS, PAIRS, TABLE))
OWN_RANGE = Row("positions_own_range", "Positions", (OF_INPUT, ALL))
OWN_KIND = Row(
    "positions_own_kind", "Kind", ("added", "rotated", "biased", "windowed", "causal", "disentangled")
)
OWN_ROTATED = Row("positions_own_rotated", "Show", (OVER_DISTANCE, MOVED))
OWN_KEY = PositionBox[int]("positions_own_key", "Key", pattern=INDEX, width=160)

# Experiments
EXPERIMENT = Row(
    "positions_try", "Experiment", (SHUFFLE, LEAVE_OUT, SHIFTED, ONE_HEAD), label_visibility="collapsed"
)
ORDER_SEED = Number(
    "positions_try_seed", "Seed", 0, LARGEST_SEED, width=120, help="Each seed is another order."
)
IN_BOTH_ORDERS = Row("positions_try_with", "In both orders", (WITH, WITHOUT), label_visibility="collapsed")
SHIFT_BY = Slider(
    "positions_try_shift",
    "Shift $k$",
    default=1,
    width=220,
    help="With the slider in focus, the arrow keys step through the shifts.",
)
ORDER = Row("positions_order", "Order of P X", REORDERINGS, label_visibility="collapsed")
MASK = Row("positions_order_mask", "Mask", (NO_MASK, CAUSAL), label_visibility="collapsed")
MAPS = Row("positions_try_maps", "Maps", (SIDE_BY_SIDE, DIFFERENCE))
ROWS = Row("positions_try_rows", "Rows and columns of the second map", (AS_READ, BACK))

# Embeddings
METHOD = Row("positions_map_method", "Method", (PCA, TSNE))
VECTORS = Row("positions_map_vectors", "Vectors", (CONTENT, SUM))
WORDS = Toggle(
    "positions_map_words",
    f"Add {N_WORDS} words of the vocabulary",
    help="The first entries of the vocabulary that begin a word, of three letters or more. Frequent ones were "
    "entered first; where the vocabulary is of pieces, some are only beginnings of words. "
    "They have no position, so they are drawn with the content alone.",
)
PERPLEXITY = Slider(
    "positions_map_perplexity",
    "Perplexity",
    2,
    MOST_PERPLEXITY,
    15,
    width=180,
    help="About how many neighbours count for each vector.",
)
T_SNE_SEED = Number("positions_map_seed", "Seed", 0, LARGEST_SEED, width=130)
