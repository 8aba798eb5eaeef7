"""Cost of an encoder by component, parameters and multiply-adds of one forward pass, and a published table of variations.

A multiply-add is one product and one addition. The linear maps, `q kᵀ`, `pattern v` and the norms are counted. Operations
that only add or only multiply are not: biases, residual additions, the scaling of embeddings and scores, softmax,
activations, pooling.

The variations of the Transformer in table 3 of "Attention Is All You Need" (Vaswani et al. 2017) have the results that are
printed there: those of the whole Transformer, encoder and decoder, on the development set newstest2013, English to German;
perplexities are per word piece.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..config import ModelConfig, preset

# Multiply-adds of a norm for each of its inputs: the square for the variance, centring and scaling by 1/sigma, gain
# and shift.
PER_NORMED = 3
ATTENTION_ITSELF = "scores, weighted sum"  # the part that grows with the square of the length
COLUMNS = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "ε_ls", "steps", "PPL", "BLEU", "params")
_VARIED = COLUMNS[:8]  # settings in which a row differs from the base model; the other columns are results
_FIELDS = {"N": "n_layers", "d_model": "d_model", "d_ff": "d_ff", "h": "n_heads", "d_k": "d_k", "d_v": "d_v"}

# As printed; a dot is an empty cell, whose value is that of the base model.
_TABLE = """
base  6   512  2048   8   64   64  0.1  0.1  100K  4.92  25.8   65
(A)   .     .     .   1  512  512    .    .     .  5.29  24.9    .
(A)   .     .     .   4  128  128    .    .     .  5.00  25.5    .
(A)   .     .     .  16   32   32    .    .     .  4.91  25.8    .
(A)   .     .     .  32   16   16    .    .     .  5.01  25.4    .
(B)   .     .     .   .   16    .    .    .     .  5.16  25.1   58
(B)   .     .     .   .   32    .    .    .     .  5.01  25.4   60
(C)   2     .     .   .    .    .    .    .     .  6.11  23.7   36
(C)   4     .     .   .    .    .    .    .     .  5.19  25.3   50
(C)   8     .     .   .    .    .    .    .     .  4.88  25.5   80
(C)   .   256     .   .   32   32    .    .     .  5.75  24.5   28
(C)   .  1024     .   .  128  128    .    .     .  4.66  26.0  168
(C)   .     .  1024   .    .    .    .    .     .  5.12  25.4   53
(C)   .     .  4096   .    .    .    .    .     .  4.75  26.2   90
(D)   .     .     .   .    .    .  0.0    .     .  5.77  24.6    .
(D)   .     .     .   .    .    .  0.2    .     .  4.95  25.5    .
(D)   .     .     .   .    .    .    .  0.0     .  4.67  25.3    .
(D)   .     .     .   .    .    .    .  0.2     .  5.47  25.7    .
(E)   .     .     .   .    .    .    .    .     .  4.92  25.7    .
big   6  1024  4096  16    .    .  0.3    .  300K  4.33  26.4  213
"""
_LEARNED = "(E)"  # "positional embedding instead of sinusoids", written across the empty cells


class ComponentCost(NamedTuple):
    """Parameters and multiply-adds of one component, summed over all layers, with the LaTeX formulas of both.

    In the formulas d, d_k, d_v, h, L, n, V, p, c stand for `d_model`, `d_k`, `d_v`, `n_heads`, `n_layers`, the
    positions, `vocab_size`, `patch_size` and the classes.
    """

    name: str
    parameters: int
    multiply_adds: int
    parameters_formula: str
    multiply_adds_formula: str


def component_costs(config: ModelConfig) -> tuple[ComponentCost, ...]:
    """Costs of the components, in the order of the forward pass, for an input that fills all `n_positions`.

    Components that the configuration lacks, such as a classifier, are left out.
    """
    d, d_k, d_v, d_ff = config.d_model, config.d_k, config.d_v, config.d_ff
    n, h, layers, c = config.n_positions, config.n_heads, config.n_layers, config.n_classes
    d_projected, projected_formula = 2 * d_k + d_v, "(2d_k+d_v)"
    d_stored, stored_formula = (d_k, "d_k") if config.shared_qkv else (d_projected, projected_formula)
    n_outer_norms = config.final_norm + config.embedding_norm
    n_norms = 2 * layers + n_outer_norms
    norms_formula = f"(2L+{n_outer_norms})" if n_outer_norms else "2L"
    components = [
        _embedding_cost(config),
        ComponentCost(
            "q, k, v",
            layers * (d + 1) * h * d_stored,
            layers * n * d * h * d_projected,
            rf"L\,(d+1)\,h\,{stored_formula}",
            rf"L\,n\,d\,h\,{projected_formula}",
        ),
        ComponentCost(ATTENTION_ITSELF, 0, layers * n * n * h * (d_k + d_v), "0", r"L\,n^2\,h\,(d_k+d_v)"),
        ComponentCost(
            "W_O",
            layers * (h * d_v + 1) * d,
            layers * n * h * d_v * d,
            r"L\,(h\,d_v+1)\,d",
            r"L\,n\,h\,d_v\,d",
        ),
        ComponentCost(
            "feed-forward",
            layers * (2 * d * d_ff + d_ff + d),
            layers * 2 * n * d * d_ff,
            r"L\,(2\,d\,d_{ff}+d_{ff}+d)",
            r"2\,L\,n\,d\,d_{ff}",
        ),
        ComponentCost(
            "norms",
            n_norms * 2 * d,
            n_norms * PER_NORMED * n * d,
            rf"{norms_formula}\cdot 2d",
            rf"{norms_formula}\cdot {PER_NORMED}\,n\,d",
        ),
    ]
    if c:
        components.append(ComponentCost("classifier", (d + 1) * c, d * c, r"(d+1)\,c", r"d\,c"))
    if config.masked_token_output:  # behind [MASK] alone: no part of a classification
        parameters = (d + 1) * d + 2 * d + (config.vocab_size or 0)
        components.append(ComponentCost("masked-token output", parameters, 0, r"(d+1)\,d + 2d + V", "0"))
    return tuple(components)


def n_parameters(config: ModelConfig) -> int:
    """Number of parameters of the whole encoder."""
    return sum(component.parameters for component in component_costs(config))


def n_multiply_adds(config: ModelConfig) -> int:
    """Number of multiply-adds of one forward pass on an input that fills all positions."""
    return sum(component.multiply_adds for component in component_costs(config))


def n_attention_weights(config: ModelConfig) -> int:
    """Number of attention weights L h n² for an input that fills all positions."""
    return config.n_layers * config.n_heads * config.n_positions**2


def pattern_megabytes(config: ModelConfig) -> float:
    """Memory in MB (10⁶ bytes) of all attention weights of one input in float32."""
    return 4 * n_attention_weights(config) / 1e6


def multiply_adds_at(config: ModelConfig, n: int) -> tuple[int, int]:
    """Multiply-adds of all layers for `n` positions: those of scores and weighted sums (which grow with n²), and those of the
    products with weight matrices (which grow with n).
    """
    d, h, d_k, d_v = config.d_model, config.n_heads, config.d_k, config.d_v
    linear = d * (h * (2 * d_k + d_v) + h * d_v + 2 * config.d_ff)
    return config.n_layers * n**2 * h * (d_k + d_v), config.n_layers * n * linear


def balanced_length(config: ModelConfig) -> float:
    """Sequence length n at which the scores and weighted sums need as many multiply-adds as the linear maps of a layer.

    It is the n for which L n² h (d_k + d_v) = L n (d h (2 d_k + d_v) + h d_v d + 2 d d_ff).
    """
    square, linear = multiply_adds_at(config, 1)
    return linear / square


def _embedding_cost(config: ModelConfig) -> ComponentCost:
    d, n = config.d_model, config.n_positions
    if config.is_text:
        parameters, multiply_adds = (config.vocab_size or 0) * d, 0
        formulas = [r"V\,d"], "0"  # a token's vector is looked up
    else:
        pixels = config.n_patch_values
        parameters, multiply_adds = (pixels + 1) * d, config.n_patches * pixels * d
        values_formula = "p^2" if config.n_channels == 1 else f"{config.n_channels} p^2"
        formulas = (
            [rf"({values_formula}+1)\,d"],
            rf"{'(n-1)' if config.pooling == 'class' else 'n'}\,{values_formula} d",
        )
        if config.pooling == "class":
            parameters += d
            formulas[0].append("d")
    if config.positions == "learned":
        parameters += n * d
        formulas[0].append(r"n\,d")
    return ComponentCost("embedding", parameters, multiply_adds, " + ".join(formulas[0]), formulas[1])


@dataclass(frozen=True, slots=True)
class Variation:
    """A row of table 3 of Vaswani et al. 2017, with the configuration of its encoder."""

    name: str  # the row's letter and its changes
    group: str  # "base", "(A)" to "(E)", "big"
    printed: dict[str, str]  # by `COLUMNS`, empty where the cell is
    config: ModelConfig  # of the encoder half


def variations() -> tuple[Variation, ...]:
    """All rows of table 3 of "Attention Is All You Need", in its order.

    The encoder of row (E) has learned position embeddings.
    """
    return tuple(_parse_row(*line.split()) for line in _TABLE.strip().splitlines())


def _parse_row(group: str, *cells: str) -> Variation:
    printed_cells = {column: cell.strip(".") for column, cell in zip(COLUMNS, cells, strict=True)}
    varied_cells = {column: printed_cells[column] for column in _VARIED if printed_cells[column]}
    changes: dict[str, Any] = {
        _FIELDS[column]: int(value) for column, value in varied_cells.items() if column in _FIELDS
    }
    if dropout := varied_cells.get("P_drop"):
        changes |= dict.fromkeys(("dropout_embedding", "dropout_sublayer"), float(dropout))
    if group == _LEARNED:
        changes["positions"] = "learned"
    config = replace(preset("base"), **changes)
    if group in ("base", "big"):
        return Variation(group, group, printed_cells, config)
    changes_text = (
        ", ".join(f"{column} = {value}" for column, value in varied_cells.items()) or "learned positions"
    )
    return Variation(f"{group} {changes_text}", group, printed_cells, config)
