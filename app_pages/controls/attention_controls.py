"""Controls of the page Attention."""

from app_pages.controls.address import INDEX, Code, MultiSelect, Row, SelectBox, TextLine, Toggle, drop_option

HEAD, MEAN, MAXIMUM = "this head", "mean", "maximum"
MATRIX, LINES, BY_LAYER = "matrix", "lines", "one query by layer"

OVER_HEADS = Row(
    "part",
    "Of the heads of this layer",
    (HEAD, MEAN, MAXIMUM),
    help="The chosen head, or at each cell the mean or the maximum over all heads of its layer.",
)
ON_PICTURE, MATRICES = "on the picture", "matrices"
SMALL_MAPS = Row(
    "small_maps",
    "Small maps",
    (ON_PICTURE, MATRICES),
    help="On the picture: what the chosen query, such as the class token, looks at in each head. Matrices: all queries of "
    "each head at once.",
)
KNOCKED_OUT, GRADIENT, INTEGRATED = "knock-out", "gradient × input", "integrated gradients"
ATTRIBUTION = Row(
    "attribution",
    "What the answer hangs on, by",
    (KNOCKED_OUT, GRADIENT, INTEGRATED),
    help="Colours what the answer hangs on. Knock-out: how the answer changes without one token or patch. Gradient × input: "
    "how it would change if the content shrank a little, extended to all of it. Integrated gradients: the mean of that "
    "slope over the whole way from no content to all of it; class token and registers keep theirs throughout. All three "
    "measure the same answer: the log-odds of a class, log P of a masked word, or the similarity of the pooled state.",
)
# What colours the tokens or patches: what the head looks at, or what the answer hangs on.
BY_ATTENTION, BY_ANSWER = COLOURINGS = "attention", "answer"
COLOURED_BY = Code("coloured_by", pattern="|".join(COLOURINGS))
SIMILAR_TO = TextLine(
    "similar_to",
    "Similarity with",
    placeholder="the text itself, unchanged; or type another",
    width=440,
)
VIEW = Row("view", "Weights as", (MATRIX, LINES, BY_LAYER))
ALSO_HEADS = MultiSelect[int](
    "also_heads",
    "Other heads of this layer",
    pattern=f"H{INDEX}",
    gone=drop_option,
    format_func="H{}".format,
    select_all=True,
    placeholder="each in a colour",
)
WORDS = Toggle(
    "words",
    "Merge pieces into words",
    help="Merges the pieces of each word: attention to a word is the sum over its pieces, attention from it their mean (Clark et al. 2019).",
)
HIDE_SPECIAL = Toggle(
    "hide_special",
    "Hide special tokens",
    help="Leaves out class token, registers, separators and padding. The other weights are not renormalised, so rows sum to less than 1.",
)
LINKS = Toggle(
    "links",
    "Links of this sentence",
    help="Outlines in the large map which word belongs to which, by the treebank from which this sentence is.",
)
ALL_RELATIONS = "all relations"
LINK_RELATION = SelectBox[str]("link_relation", "Relation", width=220)
LINK_DIRECTION = Row("link_direction", "Direction", ("to head", "to dependent"), label_visibility="collapsed")
WINDOW = Code("window", pattern="[0-9]{1,5}-[0-9]{1,5}")  # see `app_pages.attention.window`
