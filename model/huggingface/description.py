"""Describes the encoder in a folder in words, before its weights are read."""

from dataclasses import dataclass
from pathlib import Path

from ..config import ModelConfig
from ..files.errors import single_line
from .folder import find_with_tokenizer

PLACEMENTS = {"pre": "before each sublayer (pre-LN)", "post": "after each sublayer (post-LN)"}
POOLED = {
    "class": "the class token's state",
    "mean": "the mean of the states",
    "max": "the maximum of the states",
    "sum by root": "the sum of the states by the root of their number",
    "weighted mean": "the mean of the states, weighted by position",
    "last": "the last token's state",
}
LAYERS = {
    "linear": "a linear layer",
    "layer norm": "a LayerNorm",
    "unit length": "divided by its length",
    "first numbers": "its first numbers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Facts about an encoder as text, or the reason why it cannot be opened."""

    family: str  # "BERT"; "" where it is not known
    config: ModelConfig | None
    summary: tuple[tuple[str, str], ...] = ()  # what and how much, to be shown as rows
    notes: tuple[str, ...] = ()  # sentences: where the app differs from the original
    left_out: tuple[str, ...] = ()  # names of tensors that are stored and not used
    problem: str | None = None  # why it cannot be opened, in one sentence


def describe(folder: Path) -> Description:
    """Describes the encoder in a folder without loading its weights; if it cannot be opened, `problem` says why."""
    try:
        encoder, _ = find_with_tokenizer(folder)
    except ValueError as error:
        return Description(family="", config=None, problem=str(error))
    return Description(
        family=encoder.config.family.name,
        config=encoder.config,
        summary=_summary_rows(encoder.config, encoder.n_parameters),
        notes=(*encoder.reading.differences, *encoder.reading.notes),
        left_out=tuple(map(single_line, encoder.left_out)),
    )


def _summary_rows(config: ModelConfig, n_parameters: int) -> tuple[tuple[str, str], ...]:
    """Rows (name, value) of a table about the encoder: size, input, positions, outputs and memory."""
    family = config.family
    if config.is_text:
        input_text = f"text, up to {config.n_positions:,} tokens of a vocabulary of {config.vocab_size:,}"
        if family.n_token_types > 1:
            input_text += "; token types mark a second part of the text"
    else:
        colours = "colour" if config.n_channels == 3 else "greyscale"
        image, patch = ("{} × {}".format(*sides) for sides in (config.image_sides, config.patch_sides))
        input_text = f"pictures of {image} in {colours}, as {config.n_patches:,} patches of {patch}"
        if family.n_registers:
            input_text += f", with {family.n_registers} registers"
    shared_phrase = (
        f", with {family.n_layer_groups} sets of weights shared among the layers"
        if family.n_layer_groups
        else ""
    )
    return (
        ("family", family.name),
        ("layers × heads", f"{config.n_layers} × {config.n_heads}{shared_phrase}"),
        ("width", f"{config.d_model:,}, {config.d_k} per head, {config.d_ff:,} in the feed-forward"),
        ("RMSNorm" if family.parts.norm == "rms" else "LayerNorm", PLACEMENTS[config.norm_placement]),
        ("positions", "; ".join(_position_phrases(config))),
        ("parameters", f"{n_parameters:,}"),
        ("input", input_text),
        ("output", "; ".join(_output_phrases(config))),
        (
            "memory",
            f"{max(1, _megabytes(config, n_parameters)):,.0f} MB of memory with {'a picture' if config.n_patches else 'its longest input'}",
        ),
    )


def _position_phrases(config: ModelConfig) -> list[str]:
    """Phrases on the kind of position encoding, and on the window or causal mask of the attention, if it has one."""
    family, parts, phrases = config.family, config.family.parts, list[str]()
    if config.positions != "none":
        phrases.append(f"{config.positions} vectors are added to the embedding")
    if family.n_relative_buckets:
        phrases.append(
            f"a bias on each score by distance, in {family.n_relative_buckets} buckets up to {family.furthest_bucket} tokens"
        )
    if config.has_grid_bias:
        each_or_all = {
            (True, False): "in each layer its own",
            (False, True): "the same in all layers",
            (True, True): "in each layer its own beside one for all layers",
        }[parts.grid_bias_by_layer, parts.grid_bias_shared]
        phrases.append(f"a bias on each score by the rows and columns between two patches, {each_or_all}")
    if parts.rotary is not None:
        bases = " and ".join(f"{base:,.0f}" for base in sorted(set(parts.rotary.bases), reverse=True))
        by_layer = ", by layer" if len(set(parts.rotary.bases)) > 1 else ""
        by_coordinates = (
            " of patches are rotated by row and column" if parts.rotary.on_grid else " are rotated"
        )
        phrases.append(f"queries and keys{by_coordinates} (rotary, base {bases}{by_layer})")
    if (disentangled := parts.disentangled) is not None:
        phrases.append(
            f"scores of contents and of {2 * disentangled.span:,} vectors of relative positions are added up (disentangled)"
        )
    if parts.causal:
        phrases.append("each token attends to itself and to earlier ones alone (causal)")
    widths = sorted({width for width in parts.windows if width is not None})
    if widths:
        n_local = sum(width is not None for width in parts.windows)
        each_side = " or ".join(f"{width:,}" for width in widths)
        phrases.append(f"{n_local} of {config.n_layers} layers see {each_side} tokens to each side")
    return phrases or ["none"]


def _output_phrases(config: ModelConfig) -> list[str]:
    """Phrases on the output layers: classes, token classes, masked tokens and pooled vector."""
    family = config.family
    outputs: list[str] = []
    if config.n_classes:
        n, names = config.n_classes, ", ".join(config.class_names[:4])
        names += ", …" if n > 4 else ""
        phrase_by_kind = {
            "choice": f"one of {n} classes",
            "each": f"any of {n} classes",
            "numbers": f"{n} numbers",
        }
        single_phrase = f"{names} or not" if family.answers == "each" else f"a number ({names})"
        outputs.append(f"{phrase_by_kind[family.answers]} ({names})" if n > 1 else single_phrase)
    if config.masked_token_output:
        outputs.append("a prediction for masked tokens")
    if family.token_class_names:
        n = len(family.token_class_names)
        outputs.append(
            f"one of {n} classes for each token"
            if n > 1
            else f"{family.token_class_names[0]} or not, for each token"
        )
    if not outputs:
        pooled = _pooled_phrase(config)
        layers = ["a linear layer"] * (family.pooler is not None)
        layers += [LAYERS[layer.kind] for layer in family.sentence_layers]
        outputs.append(f"an embedding of {config.d_pooled} numbers: {', then '.join((pooled, *layers))}")
    return outputs


def _pooled_phrase(config: ModelConfig) -> str:
    """Phrase on how the states of the positions are pooled into one vector."""
    family = config.family
    if family.attention_pooling:
        return "what a learned query reads of all states"
    if family.pools_token == "highest id":
        return "the state of the token with the highest id"
    if family.pools_token is not None:
        return f"the {'last' if family.pools_token == 'last' else 'end'} token's state"
    if family.pools_patches_alone:
        return "the mean of the patches' states"
    return " beside ".join(POOLED[pooling] for pooling in family.sentence_poolings or (config.pooling,))


def _megabytes(config: ModelConfig, n_parameters: int) -> float:
    """Memory in MB for the weights, and for all activations that are kept of one input of the greatest length."""
    n, per_head = config.n_positions, config.n_layers * config.n_heads
    vectors = (
        per_head * n * (2 * config.d_k + 2 * config.d_v) + (2 * config.n_layers + 1) * n * config.d_model
    )
    return (4 * n_parameters + 9 * per_head * n * n + 4 * vectors) / 1e6
