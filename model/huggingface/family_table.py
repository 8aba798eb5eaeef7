"""`FamilyTable`: the names that a family of encoders gives to its settings, tensors and blocks. With it `read_text` reads encoders
of texts, and `model.huggingface.vit` encoders of pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import Family, Rotary
from .output_layers import OutputNames, read_outputs
from .tensor_map import MOST_LAYERS, Reading, ReadingBuilder, Rows, Sizes, has_norm_bias, json_object
from .weights import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTable:
    """Names of a family's settings in config.json and of its tensors in the weights file; by default those of BERT.

    None stands for a setting that the family's own function reads, or for a tensor that the family does not have.
    """

    name: str
    known_tensor: str = "embeddings.word_embeddings.weight"  # a tensor that every encoder of the family has
    # settings in config.json
    d_model: str = "hidden_size"
    n_layers: str = "num_hidden_layers"
    n_heads: str = "num_attention_heads"
    d_head: str | None = None  # where config.json may hold it; else d_model / n_heads
    d_ff: str | None = "intermediate_size"
    n_positions: str = "max_position_embeddings"
    padding_id: str | None = "pad_token_id"
    activation: str | None = "hidden_act"
    layer_norm_eps: str | float = "layer_norm_eps"  # the number itself where config.json does not hold it
    # what `transformers` takes for settings on which config.json is silent
    defaults: Mapping[str, Any] = field(default_factory=dict)
    # tensors before the blocks
    tokens: str = "embeddings.word_embeddings.weight"
    types: str = "embeddings.token_type_embeddings.weight"
    positions: str | None = "embeddings.position_embeddings.weight"
    first_position: int = 0  # rows of the table before it are not read
    embedding_norm: str | None = "embeddings.LayerNorm"
    widening: str | None = None  # from the embedding's width to d_model, where these differ
    # blocks, and what follows them
    blocks: str | Sequence[str] = "encoder.layer"  # before the number of each, or the names of all
    block: Mapping[str, str | Rows]  # names of a block's parts, by those of `model.transformer`
    scales: Mapping[str, str] = field(default_factory=dict)  # factors of LayerScale, by the part they follow
    final_norm: str | None = None  # of encoders whose norms stand before each sublayer
    outputs: OutputNames | None = None  # None where the family's own function reads them
    shares_layers: bool = False  # several layers have the same weights
    # of pictures
    class_token: str | None = "embeddings.cls_token"
    patches: str = "embeddings.patch_embeddings.projection"
    patch_bias: bool = True
    squares: tuple[str, ...] = ()  # the sizes of which the family's own library knows squares alone

    def builder(self, values: Mapping[str, Any], stored: Stored) -> ReadingBuilder:
        """A builder for the values of config.json and for tensors with the prefix, such as "bert.", of the stored tensor `known_tensor`.

        Raises ValueError if that tensor is missing.
        """
        names = sorted(
            (name for name in stored.shapes if f".{name}".endswith(f".{self.known_tensor}")), key=len
        )
        if not names:
            raise ValueError(f"{self.known_tensor} is missing from the weights")
        return ReadingBuilder(values, stored, names[0].removesuffix(self.known_tensor), self.defaults)

    def sizes(self, builder: ReadingBuilder) -> Sizes:
        """Width, layers and heads by config.json. Raises ValueError if they contradict each other or the weights."""
        n_layers, max_layers = builder.whole_number(self.n_layers), MOST_LAYERS
        if not self.shares_layers:
            max_layers = min(max_layers, len(builder.stored.shapes))
        if not 1 <= n_layers <= max_layers:
            raise ValueError(f"config.json has {self.n_layers} {n_layers}, which does not fit the weights")
        d_model, n_heads = builder.whole_number(self.d_model), builder.whole_number(self.n_heads)
        return Sizes(d_model, n_layers, n_heads, builder.head_width(d_model, n_heads, self.d_head))

    def block_names(self, n_layers: int) -> Sequence[str]:
        """The names of all blocks in the weights file, such as "encoder.layer.0", in their order."""
        if isinstance(self.blocks, str):
            return [f"{self.blocks}.{layer}" for layer in range(n_layers)]
        return self.blocks


def read_text(builder: ReadingBuilder, table: FamilyTable) -> Reading:
    """Configuration and tensor map of an encoder of texts, from its table and from the fields that `builder` already holds.

    Where both give a field of `ModelConfig`, that of `builder` is used. Raises ValueError if config.json or the tensors do not
    fit the table.
    """
    d_model, n_layers, n_heads, _ = table.sizes(builder)
    n_stored, width = builder.whole_number(table.n_positions), d_model
    if table.outputs is not None:
        read_outputs(
            builder, table.outputs, builder.activation(table.activation) if table.activation else "gelu"
        )
    builder.map_tensor("embedding.tokens.weight", table.tokens)
    if builder.has_tensor(table.types) and (n_types := builder.whole_number("type_vocab_size", 0)):
        builder.family["n_token_types"] = n_types
        builder.map_tensor("embedding.types.weight", table.types)
    has_widening = table.widening is not None and builder.has_tensor(f"{table.widening}.weight")
    widens_first = builder.family.get("widened_first", False)
    if has_widening:
        assert table.widening is not None
        width = builder.family["d_embedding"] = builder.whole_number("embedding_size", d_model)
        builder.map_linear(
            f"embedding.norm.{int(not widens_first)}", table.widening, has_bias=not widens_first
        )
    if table.positions is not None:
        builder.map_tensor(
            "embedding.position_table", table.positions, (n_stored, width), table.first_position
        )
    fields = {
        "n_positions": builder.n_positions(n_stored, n_layers, n_heads, table.first_position),
        "vocab_size": builder.whole_number("vocab_size"),
        "padding_id": builder.token_id(table.padding_id) if table.padding_id else None,
        "positions": "none" if table.positions is None else "learned",
    }
    norm_name = f"embedding.norm.{int(widens_first)}" if has_widening else "embedding.norm"
    return reading_with_blocks(builder, table, fields, norm_name)


def reading_with_blocks(
    builder: ReadingBuilder,
    table: FamilyTable,
    fields: Mapping[str, Any],
    embedding_norm: str = "embedding.norm",
) -> Reading:
    """Maps the blocks and norms, which are all that `builder` still lacks, and returns configuration and tensor map.

    `fields` are fields of `ModelConfig`; `embedding_norm` is the name of that norm in `ImportedEncoder`.
    """
    d_model, n_layers, n_heads, d_head = table.sizes(builder)
    own_fields: dict[str, Any] = {
        "d_model": d_model,
        "n_layers": n_layers,
        "n_heads": n_heads,
        "d_k": d_head,
        "d_v": d_head,
        "norm_placement": "pre" if table.final_norm else "post",
        "final_norm": table.final_norm is not None,
        "embedding_norm": table.embedding_norm is not None,
        "layer_norm_eps": table.layer_norm_eps,
    }
    if isinstance(table.layer_norm_eps, str):
        own_fields["layer_norm_eps"] = builder.real_number(table.layer_norm_eps, 1e-12)
    if table.d_ff is not None:
        own_fields["d_ff"] = builder.whole_number(table.d_ff)
    if table.activation is not None:
        own_fields["activation"] = builder.activation(table.activation)
    family = Family(**{"name": table.name, **builder.family})
    config = ModelConfig(**{**own_fields, **fields, **builder.fields}, family=family)
    norm_bias, blocks = has_norm_bias(family.parts), table.block_names(n_layers)
    if table.embedding_norm is not None:
        builder.map_linear(embedding_norm, table.embedding_norm, has_bias=norm_bias)
    builder.map_blocks(blocks, table.block, config)
    builder.map_scales(blocks, table.scales, config)
    if table.final_norm is not None:
        builder.map_linear("final_norm", table.final_norm, has_bias=norm_bias)
    return builder.reading(config)


def refuse_decoder(builder: ReadingBuilder) -> None:
    """Raises ValueError if config.json says that the model is a decoder or has cross-attention."""
    if builder.values.get("is_decoder") or builder.values.get("add_cross_attention"):
        raise ValueError("this is a decoder, but only encoders are supported")


# Rotary positions, by the names that older and newer versions of `transformers` use


def rotary(builder: ReadingBuilder, sizes: Sizes, bases: Sequence[float] = (), **options: Any) -> Rotary:
    """Rotary positions; `bases` holds the base of each layer, by default config.json's one base for all layers.

    `options` are further fields of `Rotary`. Raises ValueError for heads of an odd width.
    """
    if sizes.d_head % 2 or not sizes.d_head:
        raise ValueError(f"rotary positions turn pairs of numbers, but each head is {sizes.d_head} wide")
    return Rotary(bases=tuple(bases) or (rotary_base(builder),) * sizes.n_layers, **options)


def rotary_base(builder: ReadingBuilder, name: str = "rope_theta", layer_type: str | None = None) -> float:
    """The base of the rotary frequencies, from `rope_parameters` in config.json or, in older files, from the setting `name`.

    With a `layer_type`, `rope_parameters` holds an object for each type of layer. Raises ValueError for scaled frequencies
    (such as YaRN), and for a base that is no number of 1 or more.
    """
    parameters = json_object(builder.values, "rope_parameters")
    scaling = json_object(builder.values, "rope_scaling")
    if layer_type is not None:
        parameters = json_object(parameters, layer_type) | scaling
    elif scaling:
        parameters = scaling
    for key in ("rope_type", "type"):  # today's name and the older one
        if (kind := parameters.get(key, "default")) != "default":
            raise ValueError(
                f"its rotary positions have rope_type {shortened(kind)}, but only 'default' is supported"
            )
    base = parameters.get("rope_theta", builder.value(name))
    is_number = isinstance(base, int | float) and not isinstance(base, bool)
    if not is_number or not 1 <= base <= 1e12:
        raise ValueError(f"config.json has {name} {shortened(base)}, which must be a number from 1 to 10^12")
    return float(base)
