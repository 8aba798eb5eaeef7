"""What an encoder costs: its parameters and the multiply-adds of one forward pass, part by part.

A multiply-add is one product and the addition of it. Counted are those of the linear maps, of `q kᵀ` and
`pattern v`, and of the norms. What only adds or only multiplies is left out: biases, residual additions,
the scaling of embeddings and of scores, softmax, activations, pooling.
"""

from typing import NamedTuple

from ..config import ModelConfig

# The numbers that a norm's multiply-adds come to for each number that goes through it: its square added to
# the variance, centring and scaling by 1/sigma, gain and shift.
PER_NORMED = 3


class Part(NamedTuple):
    """One part of an encoder, all its layers together, with the formulas (LaTeX) of both numbers.

    d, d_k, d_v, h, L, n, V, p, c stand for `d_model`, `d_k`, `d_v`, `n_heads`, `n_layers`, the positions,
    `vocab_size`, `patch_size` and the classes.
    """

    name: str
    parameters: int
    multiply_adds: int
    parameters_formula: str
    multiply_adds_formula: str


def parts(config: ModelConfig) -> tuple[Part, ...]:
    """In the order of the forward pass, for one input that fills all `n_positions`.

    What the configuration leaves out, a classifier for instance, is left out here too.
    """
    d, d_k, d_v, d_ff = config.d_model, config.d_k, config.d_v, config.d_ff
    n, h, layers, c = config.n_positions, config.n_heads, config.n_layers, config.n_classes
    maps, formula = 2 * d_k + d_v, "(2d_k+d_v)"
    stored, stored_formula = (d_k, "d_k") if config.shared_qkv else (maps, formula)
    ends = config.final_norm + config.embedding_norm
    norms, norms_formula = 2 * layers + ends, f"(2L+{ends})" if ends else "2L"  # two a layer
    found = [
        _embedding(config),
        Part(
            "q, k, v",
            layers * (d + 1) * h * stored,
            layers * n * d * h * maps,
            rf"L\,(d+1)\,h\,{stored_formula}",
            rf"L\,n\,d\,h\,{formula}",
        ),
        Part("scores, weighted sum", 0, layers * n * n * h * (d_k + d_v), "0", r"L\,n^2\,h\,(d_k+d_v)"),
        Part(
            "W_O",
            layers * (h * d_v + 1) * d,
            layers * n * h * d_v * d,
            r"L\,(h\,d_v+1)\,d",
            r"L\,n\,h\,d_v\,d",
        ),
        Part(
            "feed-forward",
            layers * (2 * d * d_ff + d_ff + d),
            layers * 2 * n * d * d_ff,
            r"L\,(2\,d\,d_{ff}+d_{ff}+d)",
            r"2\,L\,n\,d\,d_{ff}",
        ),
        Part(
            "norms",
            norms * 2 * d,
            norms * PER_NORMED * n * d,
            rf"{norms_formula}\cdot 2d",
            rf"{norms_formula}\cdot {PER_NORMED}\,n\,d",
        ),
    ]
    if c:
        found.append(Part("classifier", (d + 1) * c, d * c, r"(d+1)\,c", r"d\,c"))
    if config.masked_token_output:  # behind [MASK] alone: no part of a classification
        parameters = (d + 1) * d + 2 * d + config.vocab_size
        found.append(Part("masked-token output", parameters, 0, r"(d+1)\,d + 2d + V", "0"))
    return tuple(found)


def n_parameters(config: ModelConfig) -> int:
    return sum(part.parameters for part in parts(config))


def n_multiply_adds(config: ModelConfig) -> int:
    return sum(part.multiply_adds for part in parts(config))


def n_attention_weights(config: ModelConfig) -> int:
    """L h n², of one input that fills all positions."""
    return config.n_layers * config.n_heads * config.n_positions**2


def pattern_megabytes(config: ModelConfig) -> float:
    """What all attention weights of one input take in float32, in 10⁶ bytes."""
    return 4 * n_attention_weights(config) / 1e6


def balance(config: ModelConfig) -> float:
    """The n at which scores and weighted sum need as many multiply-adds as a layer's linear maps.

    L n² h (d_k + d_v) = L n (d h (2 d_k + d_v) + h d_v d + 2 d d_ff), solved for n.
    """
    h, d_k, d_v = config.n_heads, config.d_k, config.d_v
    linear = config.d_model * (h * (2 * d_k + d_v) + h * d_v + 2 * config.d_ff)
    return linear / (h * (d_k + d_v))


def _embedding(config: ModelConfig) -> Part:
    d, n = config.d_model, config.n_positions
    if config.is_text:
        parameters, multiply_adds = config.vocab_size * d, 0
        formulas = [r"V\,d"], "0"  # a token's vector is looked up
    else:
        pixels = config.patch_values
        parameters, multiply_adds = (pixels + 1) * d, config.n_patches * pixels * d
        values = "p^2" if config.n_channels == 1 else f"{config.n_channels} p^2"
        formulas = [rf"({values}+1)\,d"], rf"{'(n-1)' if config.pooling == 'class' else 'n'}\,{values} d"
        if config.pooling == "class":
            parameters += d
            formulas[0].append("d")
    if config.positions == "learned":
        parameters += n * d
        formulas[0].append(r"n\,d")
    return Part("embedding", parameters, multiply_adds, " + ".join(formulas[0]), formulas[1])
