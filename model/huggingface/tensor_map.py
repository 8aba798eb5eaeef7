"""Checks the values of a `config.json`, and maps the parameters of `ImportedEncoder` to stored tensors, for all families."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from reprlib import repr as shortened
from typing import Any, NamedTuple, TypeVar

import torch
from torch.nn import functional

from ..config import MOST_PATTERNS, ModelConfig
from ..family_options import Activation, Parts
from ..files.errors import single_line
from .weights import Shape, Stored

ACTIVATIONS: dict[str, Activation] = {  # by their names in config.json
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "quick_gelu": "quick_gelu",
}
Option = TypeVar("Option")
# beside the values of config.json, none of which is called so
LONGEST_TEXT = "max_seq_length of sentence-transformers"
MOST_LAYERS = 512
MOST_CLASSES = 2**17
LARGEST_NUMBER = 2**31  # nothing is built that is wider
LONGEST_NAME = 200  # characters of a class's name
LAYER_SCALE = "LayerScale's factors are multiplied into the output matrices of attention and feed-forward, which changes no result."


class Grid(NamedTuple):
    """Rows and columns of the patches of a picture."""

    rows: int
    columns: int

    @classmethod
    def of(cls, image: tuple[int, int], patch: tuple[int, int]) -> "Grid":
        """The grid of whole patches in a picture; `image` and `patch` are (height, width) in pixels."""
        return cls(image[0] // patch[0], image[1] // patch[1])

    @property
    def n_patches(self) -> int:
        return self.rows * self.columns


class PositionTable(NamedTuple):
    """How a stored table of position vectors is interpolated from its own grid of patches to that of the pictures that are read."""

    n_special: int  # rows before those of the patches, which stay as they are
    stored_grid: Grid  # for which the table was learned
    read_grid: Grid
    n_registers: int = 0  # for which zeros are put behind the special rows: nothing is added to them
    antialias: bool = False

    def fit(self, table: torch.Tensor) -> torch.Tensor:
        """The stored `table`, interpolated (bicubic, as in `transformers`): [position, d_model] of the pictures that are read."""
        table = table.reshape(self.n_special + self.stored_grid.n_patches, -1)
        special, patches = table[: self.n_special], table[self.n_special :]
        if self.read_grid != self.stored_grid:
            grid = patches.T.unflatten(1, self.stored_grid)[None]
            grid = functional.interpolate(grid, self.read_grid, mode="bicubic", antialias=self.antialias)
            patches = grid[0].flatten(1).T
        return torch.cat((special, table.new_zeros(self.n_registers, table.shape[1]), patches))


class OffsetTable(NamedTuple):
    """How a stored table of biases by the offset between two patches is interpolated to another grid of patches."""

    stored_grid: Grid  # for which the table was learned
    read_grid: Grid
    n_special: int = 3  # rows behind those of the offsets, which stay as they are

    @property
    def n_stored_offsets(self) -> int:
        return (2 * self.stored_grid.rows - 1) * (2 * self.stored_grid.columns - 1)

    def fit(self, table: torch.Tensor) -> torch.Tensor:
        """The stored `table` [offset, head], interpolated to `read_grid` (bilinear, as in `transformers`)."""
        rows, columns = self.stored_grid
        if self.read_grid == self.stored_grid and rows == columns:
            return table
        offsets, special = table[: -self.n_special], table[-self.n_special :]
        # columns before rows, though they are stored the other way round: so it interpolates every table that is no square
        grid = offsets.T.unflatten(1, (2 * columns - 1, 2 * rows - 1))
        size = (2 * self.read_grid.rows - 1, 2 * self.read_grid.columns - 1)
        return torch.cat((functional.interpolate(grid[None], size, mode="bilinear")[0].flatten(1).T, special))


class Source(NamedTuple):
    """The stored tensor, or rows of it, from which one parameter of the encoder is read."""

    name: str
    shape: Shape | None = None  # as it is stored; None for the parameter's own
    first_row: int = 0  # where the parameter is a part of the rows of what is stored
    table: PositionTable | OffsetTable | None = None  # of numbers for positions, which are interpolated


class Rows(NamedTuple):
    """A linear layer that is stored as some of the rows of a larger one, such as the queries in a fused QKV layer.

    The rows are part number `part`, from 0, of `n_parts` equal parts.
    """

    name: str  # of the layer in the file, with the sign before "weight" and "bias"
    part: int
    n_parts: int


QKV = ("attention.w_q", "attention.w_k", "attention.w_v")
# as several families call them, some of them in memory alone
FULLY_CONNECTED = {"feed_forward.expand": "mlp.fc1", "feed_forward.contract": "mlp.fc2"}
GATED = {
    "feed_forward.expand": "mlp.gate_proj",
    "feed_forward.gate": "mlp.up_proj",
    "feed_forward.contract": "mlp.down_proj",
}


def fused_rows(stored_name: str, layers: Sequence[str]) -> dict[str, Rows]:
    """For each of `layers` its part of the rows of the layer `stored_name`, in which they are concatenated in this order."""
    return {layer: Rows(stored_name, part, len(layers)) for part, layer in enumerate(layers)}


class Sizes(NamedTuple):
    """Width of the residual stream, number of layers and of heads, and width of each head."""

    d_model: int
    n_layers: int
    n_heads: int
    d_head: int


@dataclass(frozen=True, slots=True)
class Reading:
    """An encoder's configuration, and for each of its parameters the stored tensor from which it is read."""

    config: ModelConfig
    sources: Mapping[str, Source]  # by the names of `ImportedEncoder`
    zeros: Sequence[str] = ()  # parameters that are not stored, since they are 0
    notes: Sequence[str] = ()  # sentences about what is read otherwise than one might think
    scales: Mapping[str, Source] = field(default_factory=dict)  # factors of a parameter's rows, by its name
    differences: Sequence[str] = ()  # sentences: where its answer is not that of its own library


@dataclass
class ReadingBuilder:
    """Builds a `Reading`, step by step, from the `values` of config.json and the stored tensors of a folder."""

    values: Mapping[str, Any]
    stored: Stored
    prefix: str = ""  # before the encoder's own names, such as "bert."
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of settings on which config.json is silent
    fields: dict[str, Any] = field(default_factory=dict)  # of `ModelConfig`
    family: dict[str, Any] = field(default_factory=dict)  # fields of `Family`
    sources: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    zeros: list[str] = field(default_factory=list)
    scales: dict[str, Source] = field(default_factory=dict)

    # Settings

    def value(self, name: str, default: Any = None) -> Any:
        """The value of `name` in config.json; if config.json lacks it, that of the family's defaults, or else `default`."""
        value = self.values.get(name)
        return self.defaults.get(name, default) if value is None else value

    def whole_number(self, name: str, default: int | None = None) -> int:
        """The value of `name`. Raises ValueError unless it is a whole number from 0 to `LARGEST_NUMBER`."""
        value = self.value(name, default)
        if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be a whole number")
        return value

    def real_number(self, name: str, default: float | None = None) -> float:
        """The value of `name`. Raises ValueError unless it is a number of at most `LARGEST_NUMBER`, with either sign."""
        value = self.value(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > LARGEST_NUMBER:
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be a number")
        return float(value)

    def token_id(self, name: str) -> int | None:
        """The token id that config.json has under `name`; None if it is null or negative.

        Raises ValueError for anything but a whole number.
        """
        value = self.values.get(name, self.defaults.get(name))
        if value is not None and type(value) is not int:
            raise ValueError(
                f"config.json has {name} {shortened(value)}, which must be the number of a token"
            )
        return None if value is None or value < 0 else value

    def flag(self, name: str, default: bool) -> bool:
        """The value of `name`. Raises ValueError unless it is true or false."""
        value = self.value(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be true or false")
        return value

    def choice(self, name: str, options: Mapping[str, Option], default: str | None = None) -> Option:
        """The entry of `options` whose key is the value of `name` in config.json. Raises ValueError if there is none."""
        value = self.value(name, default)
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"config.json has {name} {shortened(value)}; supported are {', '.join(options)}")
        return options[value]

    def activation(self, name: str = "hidden_act") -> Activation:
        """The activation function that config.json has under `name`. Raises ValueError if it is not supported."""
        return self.choice(name, ACTIVATIONS, "gelu")

    def refuse_other_values(self, supported: Mapping[str, tuple[object, ...]]) -> None:
        """Raises ValueError if a setting in config.json has a value that is not among those that `supported` lists for it."""
        for name, allowed in supported.items():
            value = self.values.get(name, allowed[0])
            if not any(type(value) in (type(option), int) and value == option for option in allowed):
                raise ValueError(
                    f"config.json has {name} {shortened(value)}, but only {allowed[0]!r} is supported"
                )

    def head_width(self, d_model: int, n_heads: int, name: str | None = None) -> int:
        """The width of each head: `name` in config.json, else `d_model` / `n_heads`. Raises ValueError if that is not whole."""
        if name is not None and self.value(name) is not None:
            return self.whole_number(name)
        if not n_heads or d_model % n_heads:
            raise ValueError(f"a width of {d_model} cannot be divided among {n_heads} heads")
        return d_model // n_heads

    def n_positions(self, n_stored: int, n_layers: int, n_heads: int, first_row: int = 0) -> int:
        """The number of positions that are read, of a table with `n_stored` rows, from row `first_row` on.

        It is limited by the length in sentence-transformers' settings (`LONGEST_TEXT`), and by the memory for the attention
        patterns, which a note then says.
        """
        n_available = min(n_stored - first_row, self.values.get(LONGEST_TEXT, n_stored))
        n_shown = isqrt(MOST_PATTERNS // max(n_layers * n_heads, 1))
        if n_available > n_shown:
            self.notes.append(
                f"It could read {n_available:,} tokens; here only the first {n_shown:,} are read, to limit memory."
            )
        return min(n_available, n_shown)

    # Tensors

    def has_tensor(self, name: str) -> bool:
        """Whether a tensor of this name, after the encoder's prefix, is stored."""
        return self.prefix + name in self.stored.shapes

    def map_tensor(
        self,
        parameter: str,
        stored_name: str,
        shape: Shape | None = None,
        first_row: int = 0,
        table: PositionTable | OffsetTable | None = None,
    ) -> None:
        """Maps a parameter of `ImportedEncoder` to the tensor `stored_name`, given without prefix, from row `first_row` on.

        `shape` is that of the stored tensor; None if it is the parameter's. `table` says how the numbers are interpolated.
        """
        self.sources[parameter] = Source(self.prefix + stored_name, shape, first_row, table)

    def map_linear(self, layer: str, stored_layer: str, *, has_bias: bool = True) -> None:
        """Maps the weight and, if `has_bias`, the bias of a linear layer or norm to those of `stored_layer` in the file."""
        for parameter in ("weight", "bias")[: 1 + has_bias]:
            self.map_tensor(f"{layer}.{parameter}", f"{stored_layer}.{parameter}")

    def map_rows(self, layer: str, rows: Rows, shape: Shape, *, has_bias: bool = True) -> None:
        """Maps a linear layer, whose weight has `shape`, to the `rows` of a larger layer in the file."""
        n_rows = shape[0]
        for parameter, axes in (("weight", shape[1:]), ("bias", ()))[: 1 + has_bias]:
            stored_shape = (rows.n_parts * n_rows, *axes)
            self.map_tensor(f"{layer}.{parameter}", rows.name + parameter, stored_shape, rows.part * n_rows)

    def map_blocks(
        self, stored_names: Sequence[str], block: Mapping[str, str | Rows], config: ModelConfig
    ) -> None:
        """Maps the linear layers and norms of all blocks, which are called `stored_names` in the file.

        `block` holds for each part of a block, such as "attention.w_q", its name in the file; `config.family.parts` says which
        parts have no bias.
        """
        parts = config.family.parts
        for layer, stored_name in enumerate(stored_names):
            for part, stored_part in block.items():
                name, is_norm = f"blocks.{layer}.{part}", part.startswith("norm")
                if part == "norm_attention" and layer == 0 and not parts.first_norm:
                    continue
                bias = has_norm_bias(parts) if is_norm else part.rpartition(".")[2] not in parts.without_bias
                if isinstance(stored_part, str):
                    self.map_linear(name, f"{stored_name}.{stored_part}", has_bias=bias)
                else:
                    n_rows = config.d_ff if part.startswith("feed_forward") else config.n_heads * config.d_k
                    rows = stored_part._replace(name=f"{stored_name}.{stored_part.name}")
                    self.map_rows(name, rows, (n_rows, config.d_model), has_bias=bias)

    def map_scales(self, stored_names: Sequence[str], scales: Mapping[str, str], config: ModelConfig) -> None:
        """Multiplies the rows of the blocks' output matrices by LayerScale's factors [d_model], which the file holds.

        `scales` holds, for each linear layer that LayerScale follows, the name of the factors in the file.
        """
        for layer, stored_name in enumerate(stored_names):
            for part, stored_scale in scales.items():
                bias = part.rpartition(".")[2] not in config.family.parts.without_bias
                for parameter in ("weight", "bias")[: 1 + bias]:
                    source = Source(f"{self.prefix}{stored_name}.{stored_scale}", (config.d_model,))
                    self.scales[f"blocks.{layer}.{part}.{parameter}"] = source
        if scales:
            self.notes.append(LAYER_SCALE)

    def reading(self, config: ModelConfig) -> Reading:
        """The `Reading` of this configuration, with all tensors that have been mapped."""
        return Reading(config, self.sources, self.zeros, self.notes, self.scales)

    # Output layers

    def output_tensor_name(self, name: str) -> str | None:
        """The stored name of an output layer's tensor: `name`, with or without a prefix; None if it is not stored."""
        outer_prefix = self.prefix.rstrip(".").rpartition(".")[0]
        for prefix in dict.fromkeys((f"{outer_prefix}." if outer_prefix else "", "", self.prefix)):
            if prefix + name in self.stored.shapes:
                return prefix + name
        return None

    def map_output_tensor(self, parameter: str, *names: str) -> None:
        """Maps a parameter of an output layer to the first of the tensors `names` that is stored."""
        stored_name = next(filter(None, map(self.output_tensor_name, names)), names[0])
        self.sources[parameter] = Source(stored_name)

    def map_output_linear(self, layer: str, stored_layer: str, *, has_bias: bool = True) -> None:
        """Maps the weight and the bias of an output layer to those of `stored_layer` in the file.

        Without `has_bias` the bias is zeros.
        """
        for parameter in ("weight", "bias")[: 1 + has_bias]:
            self.map_output_tensor(f"{layer}.{parameter}", f"{stored_layer}.{parameter}")
        if not has_bias:
            self.zeros.append(f"{layer}.bias")

    def n_output_rows(self, name: str) -> int:
        """The number of classes of an output layer: the rows of its weight, whose stored name is `name`.

        Raises ValueError if the weight is not stored, or has more rows than can be shown.
        """
        if (shape := self.stored.shapes.get(name)) is None:
            raise ValueError(f"{name} is missing from the weights")
        if len(shape) != 2:
            raise ValueError(f"{name} has shape {shape}, but should have two axes")
        if not 1 <= shape[0] <= MOST_CLASSES:
            raise ValueError(f"{name} has shape {shape}; from 1 to {MOST_CLASSES:,} classes can be shown")
        return shape[0]

    def class_labels(self, n_classes: int) -> tuple[str, ...]:
        """Names of the `n_classes` classes, from `id2label` in config.json.

        If it does not name exactly `n_classes`, they are "class 0", "class 1", ..., and a note says so.
        """
        labels = self.values.get("id2label")
        if (
            isinstance(labels, dict)
            and len(labels) == n_classes
            and all(str(index) in labels for index in range(n_classes))
        ):
            values = (labels[str(index)] for index in range(n_classes))
            return _distinct_names(
                [
                    single_line(value if isinstance(value, str) else shortened(value), LONGEST_NAME)
                    for value in values
                ]
            )
        if isinstance(labels, dict) and labels:
            self.notes.append(
                f"config.json names {len(labels)} classes, but the weights have {n_classes}: the classes are numbered instead."
            )
        return tuple(f"class {index}" for index in range(n_classes))


def has_norm_bias(parts: Parts) -> bool:
    """Whether the norms have a bias, which RMSNorm never has."""
    return parts.norm_bias and parts.norm == "layer"


def json_object(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The JSON object that `values` holds under `name`; {} if it holds nothing. Raises ValueError for any other value."""
    value = values.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"config.json has {name} {shortened(value)}, which must be an object")
    return value


def _distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of classes made unique: the number of the class is appended to an empty or repeated name."""
    counts = Counter(names)
    return tuple(
        name if name and counts[name] == 1 else f"{name or 'class'} {index}"
        for index, name in enumerate(names)
    )
