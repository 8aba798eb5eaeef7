"""Values of a `config.json`, checked, and the map from the encoder's parameters to stored tensors, for all families."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from reprlib import repr as shortened
from typing import Any, NamedTuple

from ..config import MOST_PATTERNS, ModelConfig
from ..family_options import Activation
from ..files.errors import in_a_line
from .weights import Shape, Stored

ACTIVATIONS: dict[str, Activation] = {  # by their names in config.json
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
MOST_LAYERS = 512
MOST_CLASSES = 2**17
LARGEST_NUMBER = 2**31  # nothing is built that is wider
LONGEST_NAME = 200  # characters of a class's name


class Source(NamedTuple):
    """Where the numbers of one of the encoder's parameters are stored."""

    name: str
    shape: Shape | None = None  # as it is stored; None for the parameter's own
    first: int = 0  # of its rows, where it is a part of what is stored


class Widths(NamedTuple):
    """Width of the residual stream, number of heads, and width of each."""

    d_model: int
    n_heads: int
    d_head: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A folder as a family's module reads it: its configuration, and where each parameter is stored."""

    config: ModelConfig
    sources: Mapping[str, Source]  # by the names of `ImportedEncoder`
    zeros: Sequence[str] = ()  # parameters that are not stored, since they are 0
    notes: Sequence[str] = ()  # sentences about what is read otherwise than one might think


@dataclass
class Layout:
    """Collects a `Reading`: from the `values` of config.json and the tensors that are stored."""

    values: Mapping[str, Any]
    stored: Stored
    prefix: str = ""  # before the encoder's own names, such as "bert."
    sources: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    zeros: list[str] = field(default_factory=list)

    @classmethod
    def find(cls, values: Mapping[str, Any], stored: Stored, known: str) -> "Layout":
        """A layout with the prefix of the tensor `known`, which every encoder of the family has. Raises ValueError without it."""
        names = sorted((name for name in stored.shapes if f".{name}".endswith(f".{known}")), key=len)
        if not names:
            raise ValueError(f"{known} is missing from the weights")
        return cls(values, stored, names[0].removesuffix(known))

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number of config.json, not negative. Raises ValueError where it is none."""
        value = self.values.get(name)
        value = default if value is None else value
        if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be a whole number")
        return value

    def layers(self, name: str, *, shared: bool = False) -> int:
        """The number of layers. Raises ValueError, before any is built, where the weights cannot have so many."""
        n, most = self.number(name), MOST_LAYERS if shared else len(self.stored.shapes)
        if not 1 <= n <= min(most, MOST_LAYERS):
            raise ValueError(f"config.json has {name} {n}, which does not fit the weights")
        return n

    def real(self, name: str, default: float) -> float:
        value = self.values.get(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > LARGEST_NUMBER:
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be a number")
        return float(value)

    def token(self, name: str, default: int | None = None) -> int | None:
        """The id of a token, None where config.json has none. Raises ValueError where it is no whole number."""
        value = self.values.get(name, default)
        if value is not None and type(value) is not int:
            raise ValueError(
                f"config.json has {name} {shortened(value)}, which must be the number of a token"
            )
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"config.json has {name} {shortened(value)}, which must be true or false")
        return value

    def activation(self, name: str = "hidden_act", default: str = "gelu") -> Activation:
        value = self.values.get(name, default)
        if not isinstance(value, str) or value not in ACTIVATIONS:
            raise ValueError(
                f"config.json has {name} {shortened(value)}; supported are {', '.join(ACTIVATIONS)}"
            )
        return ACTIVATIONS[value]

    def widths(self, d_model: int, n_heads: int) -> "Widths":
        """The width of each head. Raises ValueError where the heads do not share `d_model` evenly."""
        if not n_heads or d_model % n_heads:
            raise ValueError(f"a width of {d_model} cannot be divided among {n_heads} heads")
        return Widths(d_model, n_heads, d_model // n_heads)

    def check_patterns(self, n_positions: int, n_layers: int, n_heads: int) -> None:
        """Raises ValueError where the patches of a picture make more attention weights than can be shown."""
        if (n := n_layers * n_heads * n_positions**2) > MOST_PATTERNS:
            raise ValueError(
                f"{n_positions:,} positions make {n:,} attention weights; at most {MOST_PATTERNS:,} can be shown"
            )

    def n_positions(self, stored: int, n_layers: int, n_heads: int, first: int = 0) -> int:
        """How many of the `stored` positions are read: all from the `first` on, or as many as can be shown."""
        n = stored - first
        most = isqrt(MOST_PATTERNS // max(n_layers * n_heads, 1))
        if n > most:
            self.notes.append(
                f"It could read {n:,} tokens; here only the first {most:,} are read, to limit memory."
            )
        return min(n, most)

    def has_tensor(self, name: str) -> bool:
        """Whether the encoder's own part of the weights has a tensor of this name."""
        return self.prefix + name in self.stored.shapes

    def output_name(self, name: str) -> str | None:
        """The stored name of an output layer's tensor, which may have no prefix or the encoder's; None where there is none."""
        outer = self.prefix.rstrip(".").rpartition(".")[0]
        for before in dict.fromkeys((f"{outer}." if outer else "", "", self.prefix)):
            if before + name in self.stored.shapes:
                return before + name
        return None

    def map_tensor(self, ours: str, theirs: str, shape: Shape | None = None, first: int = 0) -> None:
        """Reads our parameter `ours` from the tensor `theirs` below the prefix; `first` is its first row there."""
        self.sources[ours] = Source(self.prefix + theirs, shape, first)

    def map_linear(self, ours: str, theirs: str, *, bias: bool = True) -> None:
        """Maps weight and bias of a linear layer or a norm."""
        for part in ("weight", "bias")[: 1 + bias]:
            self.map_tensor(f"{ours}.{part}", f"{theirs}.{part}")

    def map_blocks(self, stored_names: Sequence[str], parts: Mapping[str, str], *, bias: bool = True) -> None:
        """Maps weight and `bias` of all `parts` (stored name by ours) of the blocks with these stored names."""
        for layer, block in enumerate(stored_names):
            for ours, theirs in parts.items():
                self.map_linear(f"blocks.{layer}.{ours}", f"{block}.{theirs}", bias=bias)

    def reading(self, config: ModelConfig) -> Reading:
        """The reading with this configuration and all that was mapped."""
        return Reading(config, self.sources, self.zeros, self.notes)

    def map_output_linear(self, ours: str, theirs: str) -> None:
        """Maps weight and bias of an output layer."""
        for part in ("weight", "bias"):
            name = self.output_name(f"{theirs}.{part}") or f"{theirs}.{part}"
            self.sources[f"{ours}.{part}"] = Source(name)

    def n_output_rows(self, name: str) -> int:
        """The number of rows of an output layer's weight, which is its number of classes. Raises ValueError without it."""
        if (shape := self.stored.shapes.get(name)) is None:
            raise ValueError(f"{name} is missing from the weights")
        if len(shape) != 2:
            raise ValueError(f"{name} has shape {shape}, but should have two axes")
        if not 1 <= shape[0] <= MOST_CLASSES:
            raise ValueError(f"{name} has shape {shape}; from 1 to {MOST_CLASSES:,} classes can be shown")
        return shape[0]

    def class_labels(self, n: int) -> tuple[str, ...]:
        """Names of `n` classes by config.json; where it names another number of them, "class 0", "class 1", ..."""
        named = self.values.get("id2label")
        if isinstance(named, dict) and len(named) == n and all(str(index) in named for index in range(n)):
            return _distinct([_name(named[str(index)]) for index in range(n)])
        if isinstance(named, dict) and named:
            self.notes.append(
                f"config.json names {len(named)} classes, but the weights have {n}: the classes are numbered instead."
            )
        return tuple(f"class {index}" for index in range(n))


def _name(value: object) -> str:
    return in_a_line(value if isinstance(value, str) else shortened(value), LONGEST_NAME)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with their number behind those that are empty or occur twice: no figure could tell these apart."""
    counts = Counter(names)
    return tuple(
        name if name and counts[name] == 1 else f"{name or 'class'} {index}"
        for index, name in enumerate(names)
    )
