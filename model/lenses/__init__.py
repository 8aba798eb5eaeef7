"""Lenses: maps that can be shown in place of the attention weights, each returned as an `AttentionRecord`.

`LENSES` describes the lenses in the order in which pages list them, and `through` computes the map of any lens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ..capture import capture
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import AttentionRecord, ForwardRecord
from .norms import alti, norm_weighted, with_residual_and_norm
from .rollout import gradient_weighted_attention, record_of_rolled_out_maps, relevance, rollout
from .value_zeroing import changes_of_layers, zeroing_record

ATTENTION, NORM_WEIGHTED, WITH_RESIDUAL = "attention", "norm-weighted", "residual and LayerNorm"
VALUE_ZEROING, ROLLED_OUT = "value zeroing", "value zeroing, rolled out"
ALTI, ALTI_ROLLED_OUT = "ALTI", "ALTI, rolled out"
ROLLOUT, RELEVANCE = "rollout", "gradient × attention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """Description of a lens for pages: formula, meaning (`says`), source, caution, and what it is computed from (`needs`)."""

    name: str
    formula: str  # LaTeX
    quantity: str  # what colours and numbers are called: of most lenses a share of the row
    says: str  # what a cell is, as half a sentence
    source: str
    caution: str
    has_heads: bool = False  # else there is one map for the whole layer
    # what it is made of: a record of attention, the weights of the encoder as well, forwards, or a backward pass
    needs: Literal["record", "weights", "forwards", "gradients"]
    sums_to_1: bool = True  # whether each row does, unless it is all zeros


_ALL = (
    Lens(
        name=ATTENTION,
        formula=r"A_{ij} = \mathrm{softmax}_j\left(q_i \cdot k_j / \sqrt{d_k}\right)",
        quantity="attention weight",
        says="how strongly token i, the query, looks at token j, the key",
        source="Vaswani et al. 2017",
        caution="A weight does not say what is read there (the value), nor whether the answer depends on it (Jain & Wallace 2019).",
        has_heads=True,
        needs="record",
    ),
    Lens(
        name=NORM_WEIGHTED,
        formula=r"\lVert A_{ij} f(\hat x_j) \rVert, \quad f(x) = (x W_V + b_V) W_O, \quad \hat x\text{: what the attention reads}",
        quantity="share by norm",
        says="how long the vector is that key j hands to query i through this head",
        source="Kobayashi et al. 2020",
        caution="Each row is divided by its sum, so heads that add little look like those that add much. Vectors of several "
        "heads can cancel each other.",
        has_heads=True,
        needs="weights",
    ),
    Lens(
        name=WITH_RESIDUAL,
        formula=r"\Bigl\lVert \tfrac{\gamma}{\sigma_i} \odot \bigl(t_{ij} - \overline{t_{ij}}\bigr) \Bigr\rVert, \quad "
        r"t_{ij} = \sum_h A_{ij} f_h(\hat x_j) + [i = j]\, x_i; \text{ in pre-LN } \lVert t_{ij} \rVert",
        quantity="share by norm",
        says="how much of the state behind the attention comes from key j",
        source="Kobayashi et al. 2021",
        caution="The residual connection and the LayerNorm count. Each row is divided by its sum. The feed-forward is left out, and so are biases, which belong to no key.",
        needs="weights",
    ),
    Lens(
        name=ALTI,
        formula=r"\frac{\max(0, \lVert y_i \rVert_1 - \lVert y_i - t_{ij} \rVert_1)}{\sum_k \max(0, \lVert y_i \rVert_1 - "
        r"\lVert y_i - t_{ik} \rVert_1)}, \quad t_{ij}\text{: of “residual and LayerNorm”}, \; y_i = \sum_j t_{ij} + "
        r"\text{biases}",
        quantity="share of the state",
        says="how close the state of query i after the attention is to the vector that key j brings",
        source="Ferrando et al. 2022",
        caution="The residual connection counts, and the LayerNorm where it follows (in pre-LN none does). What points away from "
        "the state counts for nothing, and so does the feed-forward.",
        needs="weights",
    ),
    Lens(
        name=ALTI_ROLLED_OUT,
        formula=r"\tilde C_l = C_l\, \tilde C_{l-1}, \quad C\text{: ALTI of a layer}",
        quantity="share of the state",
        says="how much of token j of the input is in the state of i behind this layer, by ALTI",
        source="Ferrando et al. 2022",
        caution="A product of shares is no measurement: nothing was left out of the input to get it. The feed-forward is left out.",
        needs="weights",
    ),
    Lens(
        name=VALUE_ZEROING,
        formula=r"1 - \cos(\tilde x_i, \tilde x_i^{\neg j}), \quad \tilde x^{\neg j}\text{: what leaves the block with } v_j = 0",
        quantity="share of the change",
        says="how much the state of i changes in this layer when the value of j is left out",
        source="Mohebbi et al. 2023",
        caution="Each row is divided by its sum, so states that hardly change look like those that change much. A layer by "
        "itself: what came before is not undone.",
        needs="forwards",
    ),
    Lens(
        name=ROLLED_OUT,
        formula=r"\tilde C_l = C_l\, \tilde C_{l-1}, \quad C\text{: value zeroing of a layer, its rows divided by their sums}",
        quantity="share of the change",
        says="how much of token j of the input is in the state of i behind this layer, by value zeroing",
        source="Mohebbi et al. 2023",
        caution="A product of shares is no measurement: nothing was left out of the input to get it.",
        needs="forwards",
    ),
    Lens(
        name=ROLLOUT,
        formula=r"\tilde A_l = \bigl(\tfrac12 \operatorname{mean}_h A_l + \tfrac12 I\bigr) \tilde A_{l-1}",
        quantity="share of the attention",
        says="how much of token j of the input is in the state of i behind this layer, if attention alone moved it",
        source="Abnar & Zuidema 2020",
        caution="It takes the residual connection for half of every state and all heads for equal, and leaves out values and "
        "feed-forward.",
        needs="record",
    ),
    Lens(
        name=RELEVANCE,
        formula=r"R \leftarrow R + \bar A R, \quad \bar A = \operatorname{mean}_h \max(0, \nabla A \odot A), \quad R_0 = I",
        quantity="relevance",
        says="how much of the evidence for the class has reached position i from token j of the input",
        source="Chefer et al. 2021",
        caution="Their generic method. Shown is R − I, divided by the largest number of the layer. What speaks against the "
        "class is left out. What counts for the answer is the last layer, in the rows that are pooled for it: that of the class token, or all.",
        needs="gradients",
        sums_to_1=False,
    ),
)
LENSES: Mapping[str, Lens] = MappingProxyType({lens.name: lens for lens in _ALL})


def through(
    lens: str,
    loaded: Loaded,
    model_input: InputLike,
    class_number: int | None = None,
    *,
    record: ForwardRecord | None = None,
) -> AttentionRecord:
    """Record of an input whose `pattern` is the map of `lens`, the name of one of `LENSES`, instead of the attention weights.

    A lens without heads has one map per layer, on a head axis of length 1. `class_number` is the class of which the
    gradient lens takes the gradient, by default the predicted one. `record` is the result of `capture` for this input, if
    it was computed before. Raises as `capture` does, KeyError for an unknown lens, and IndexError for a class that does not
    exist.

    >>> from loupe import load, through
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> through("rollout", encoder, "A gripping film.").pattern.shape
    (4, 1, 6, 6)
    """
    if lens not in LENSES:
        raise KeyError(f"no lens {lens!r}; there are {', '.join(LENSES)}")
    record = capture(loaded, model_input) if record is None else record
    if lens == NORM_WEIGHTED:
        return norm_weighted(loaded.model, record)
    if lens == WITH_RESIDUAL:
        return with_residual_and_norm(loaded.model, record)
    if lens in (ALTI, ALTI_ROLLED_OUT):
        map_by_layer = alti(loaded.model, record)
        return record_of_rolled_out_maps(map_by_layer) if lens == ALTI_ROLLED_OUT else map_by_layer
    if lens in (VALUE_ZEROING, ROLLED_OUT):
        map_by_layer = zeroing_record(record, changes_of_layers(loaded.model, record))
        return record_of_rolled_out_maps(map_by_layer) if lens == ROLLED_OUT else map_by_layer
    if lens == ROLLOUT:
        return rollout(record)
    if lens == RELEVANCE:
        return relevance(record, gradient_weighted_attention(loaded, model_input, class_number))
    return record
