"""Controls of the page Heads."""

from app_pages.controls.address import (
    INDEX,
    Code,
    MultiSelect,
    Row,
    SelectBox,
    Tabs,
    TextBox,
    TextLine,
    Toggle,
    drop_option,
)
from app_pages.controls.input_controls import DigitNumber, second_example

TABLE, EXAMPLES, RELATIONS, ABLATE, PATCH = "Table", "Examples", "Relations", "Ablate", "Patch"
HERE, OVER = "this input", "data set"
ANY, NONE = "any role", "no role"
ANY_RELATION = "any relation"
EITHER = "either way"
ZERO, MEAN = "zero", "its mean"
PRUNED_BY = {"zero": "zeros", "mean": "means"}

PART = Tabs("heads_part", (TABLE, EXAMPLES, RELATIONS, ABLATE, PATCH))
NUMBERS_OF = Row("heads_of", "Numbers of", (HERE, OVER), label_visibility="collapsed")
SCATTER = Toggle("heads_scatter", "Scatter")
MEASURES = MultiSelect[str]("heads_columns", "Columns", placeholder="none")
SEARCH = TextLine(
    "heads_search",
    "Search",
    label_visibility="collapsed",
    placeholder="L2 H3, or a role",
    icon=":material/search:",
)
LAYERS = MultiSelect[int]("heads_layers", "Layers", gone=drop_option, pattern=INDEX, placeholder="all")
ROLE = SelectBox[str]("heads_role", "Role")
FOLLOWED = SelectBox[str]("heads_followed", "Relation")
DIRECTION = Row("heads_direction", "Direction", (EITHER, "to head", "to dependent"))
RELATION = SelectBox[str]("heads_relation", "Relation", width=170)
# The name of a column, after a minus sign where the largest comes first.
SORT = Code("heads_sort", pattern="-?[a-z0-9_]+")
ACROSS = SelectBox[str]("heads_across", "Across", width=190)
UP = SelectBox[str]("heads_up", "Up", width=170)
ABLATED_OVER = Row("ablate_over", "Ablate", (HERE, OVER), label_visibility="collapsed")
ABLATED = Code("ablated", pattern=r"[hafp][0-9-]+(\.[hafp][0-9-]+)*")  # see `app_pages.heads.ablate`
REPLACED_BY = Row("ablate_how", "Replaced by", (ZERO, MEAN))
PRUNED = Row(
    "prune_how",
    "Replaced by",
    PRUNED_BY.values(),
    help="What stands in the place of a removed head's output z: zeros, or its mean over the data set.",
)
OUTPUT, QUERIES, KEYS, VALUES = "output z", "queries q", "keys k", "values v"
PATCHED = Row(
    "patch_part", "Taken from the second", (OUTPUT, QUERIES, KEYS, VALUES), label_visibility="collapsed"
)
CHANGE, SHARE = "change", "share of the way"
EFFECT = Row("patch_effect", "Effect", (CHANGE, SHARE), label_visibility="collapsed")
ONE_PAIR, PAIRS_OF_FILE = "this pair", "pairs of a file"
PATCHED_PAIRS = Row("patch_pairs", "Over", (ONE_PAIR, PAIRS_OF_FILE), label_visibility="collapsed")
SECOND_TEXT = TextBox("patch_text", "Second text")
SECOND_DIGIT = DigitNumber("patch_digit", "Second digit, test digit number", 1, width=160)
SECOND_PICTURE = second_example("patch_picture")
