"""NomicBERT (Nussbaum et al. 2024), and what it shares with GTE and Jina v3: BERT's blocks with rotary positions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any, NamedTuple

from ..config import ModelConfig
from ..family_options import LinearMap, Parts, Rotary
from .bert import TOKENS, TYPES
from .output_layers import MaskedTokenLayers, Outputs, read_outputs
from .rotary_settings import head_width, rotary_base
from .tensor_map import Layout, Reading
from .weights import Stored


class Rows(NamedTuple):
    """A linear layer that is one of the equal parts of another one in the file."""

    name: str
    part: int
    n_parts: int


class Names(NamedTuple):
    """Names in the file of the blocks, of their parts, and of the norm after the embedding."""

    blocks: str
    embedding_norm: str
    parts: Mapping[str, str | Rows]


def fused(name: str, ours: Sequence[str]) -> dict[str, str | Rows]:
    """The layers `ours`, stored one below the other as `name`."""
    return {layer: Rows(name, part, len(ours)) for part, layer in enumerate(ours)}


QKV = ("attention.w_q", "attention.w_k", "attention.w_v")
# as `transformers` names them in memory
CURRENT = Names(
    "layers",
    "embeddings.LayerNorm",
    {
        **{f"attention.w_{letter}": f"self_attn.{letter}_proj" for letter in "qkvo"},
        "norm_attention": "post_attention_layernorm",
        "norm_feed_forward": "post_mlp_layernorm",
        "feed_forward.expand": "mlp.gate_proj",
        "feed_forward.gate": "mlp.up_proj",
        "feed_forward.contract": "mlp.down_proj",
    },
)
# as its authors name them, and as `transformers` saves them
NOMIC = Names(
    "encoder.layers",
    "emb_ln",
    {
        **fused("attn.Wqkv", QKV),
        "attention.w_o": "attn.out_proj",
        "norm_attention": "norm1",
        "norm_feed_forward": "norm2",
        "feed_forward.expand": "mlp.fc12",
        "feed_forward.gate": "mlp.fc11",
        "feed_forward.contract": "mlp.fc2",
    },
)
AUTHORS_NAMES = {  # of settings, by those of `transformers`
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "max_trained_positions",
    "layer_norm_eps": "layer_norm_epsilon",
    "rope_theta": "rotary_emb_base",
}
SUPPORTED_VALUES: dict[str, tuple[object, ...]] = {  # of its authors' settings
    "activation_function": ("swiglu",),
    "causal": (False,),
    "mlp_fc1_bias": (False,),
    "mlp_fc2_bias": (False,),
    "moe_every_n_layers": (0, None),
    "parallel_block": (False,),
    "prenorm": (False,),
    "qkv_proj_bias": (False,),
    "rotary_emb_fraction": (1.0,),
    "rotary_emb_interleaved": (False,),
    "rotary_emb_scale_base": (None,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "scale_attn_weights": (True,),
    "use_rms_norm": (False, None),
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    authors_values = {ours: values[theirs] for ours, theirs in AUTHORS_NAMES.items() if theirs in values}
    layout = Layout.find({**authors_values, **values}, stored, TOKENS)
    check_values(layout, SUPPORTED_VALUES)
    masked = MaskedTokenLayers(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.layer_norm",
        ("cls.predictions.bias", "cls.predictions.decoder.bias"),
        layout.activation(default="silu"),
    )
    outputs = read_outputs(layout, pooler="pooler.dense", masked=masked)
    without_bias: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "gate", "contract")
    return read_rotary_bert(
        layout,
        "NomicBERT",
        outputs,
        NOMIC,
        Parts(gated=True, without_bias=without_bias),
        default_base=1000.0,
        default_act="silu",
        default_length=2048,
    )


def check_values(layout: Layout, supported: Mapping[str, tuple[object, ...]]) -> None:
    """Raises ValueError for the first setting in config.json that has another value than the `supported` ones."""
    for name, allowed in supported.items():
        value = layout.values.get(name, allowed[0])
        if not any(type(value) in (type(option), int) and value == option for option in allowed):
            raise ValueError(
                f"config.json has {name} {shortened(value)}, but only {allowed[0]!r} is supported"
            )


def read_rotary_bert(
    layout: Layout,
    name: str,
    outputs: Outputs,
    names: Names,
    parts: Parts,
    *,
    default_base: float,
    default_act: str = "gelu",
    default_length: int = 8192,
    default_eps: float = 1e-12,
) -> Reading:
    """Configuration and tensor map of an encoder of BERT's blocks, with rotary positions and these `parts`.

    `names` are the names of its tensors as they are saved; those that `transformers` has in memory are read as well.
    """
    if layout.has_tensor("layers.0.post_attention_layernorm.weight"):
        in_memory = {
            part: theirs if not parts.gated and part.startswith("feed_forward") else CURRENT.parts[part]
            for part, theirs in names.parts.items()
        }
        names = Names(CURRENT.blocks, CURRENT.embedding_norm, in_memory)
    n_layers = layout.n_layers("num_hidden_layers")
    d_model, n_heads, _ = layout.widths(
        layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads")
    )
    d_head, d_ff = head_width(layout, d_model, n_heads), layout.whole_number("intermediate_size")
    n_types = layout.whole_number("type_vocab_size", 0) if layout.has_tensor(TYPES) else 0
    rotary = Rotary(bases=(rotary_base(layout, default_base),) * n_layers)
    n_stored = layout.whole_number("max_position_embeddings", default_length)
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=d_ff,
        n_positions=layout.n_positions(n_stored, n_layers, n_heads),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=layout.token_id("pad_token_id"),
        norm_placement="post",
        final_norm=False,
        embedding_norm=True,
        positions="none",
        activation=layout.activation(default=default_act),
        layer_norm_eps=layout.real_number("layer_norm_eps", default_eps),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=replace(outputs.family, name=name, n_token_types=n_types, parts=replace(parts, rotary=rotary)),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    if n_types:
        layout.map_tensor("embedding.types.weight", TYPES)
    layout.map_linear("embedding.norm", names.embedding_norm)
    shapes = dict.fromkeys(QKV, (n_heads * d_head, d_model))
    for layer in range(n_layers):
        for part, theirs in names.parts.items():
            ours, block = f"blocks.{layer}.{part}", f"{names.blocks}.{layer}"
            has_bias = part.rpartition(".")[2] not in parts.without_bias
            if isinstance(theirs, str):
                layout.map_linear(ours, f"{block}.{theirs}", bias=has_bias)
            else:
                shape = shapes.get(part, (d_ff, d_model))
                layout.map_rows(
                    ours, f"{block}.{theirs.name}", theirs.part, theirs.n_parts, shape, bias=has_bias
                )
    return layout.reading(config)
