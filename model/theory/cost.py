"""Cost of an encoder by component: parameters, and multiply-adds of one forward pass.

A multiply-add is one product and one addition. The linear maps, `q kᵀ`, `pattern v` and the norms are counted. Operations
that only add or only multiply are not: biases, residual additions, the scaling of embeddings and scores, softmax,
activations, pooling.
"""

from typing import NamedTuple

from ..config import ModelConfig

# Multiply-adds of a norm for each of its inputs: the square for the variance, centring and scaling by 1/sigma, gain
# and shift.
PER_NORMED = 3


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
        ComponentCost(
            "scores, weighted sum", 0, layers * n * n * h * (d_k + d_v), "0", r"L\,n^2\,h\,(d_k+d_v)"
        ),
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
    """Multiply-adds in all layers for n positions: of scores and weighted sums, which grow with n², and of the products
    with weight matrices, which grow with n.
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
