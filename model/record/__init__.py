"""The one thing that pages and figures pass around: what an encoder did with one input."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32

from ..config import ModelConfig
from ..family_options import Answers

Role = Literal[
    "word",  # a whole word, or the beginning of one
    "continuation",  # a piece that goes on with the word before it
    "patch",
    "class",  # stands first, for the whole input
    "separator",
    "padding",
    "unknown",  # in place of what the vocabulary does not have
    "mask",  # hides a token
    "special",  # any other token that the tokenizer calls special
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Token (or patch) and role at each position of one input."""

    tokens: tuple[str, ...]  # "[CLS]", "great", "##s", "r2c5"
    roles: tuple[Role, ...]  # one a position
    patch_grid: tuple[int, int] | None = None  # (rows, columns) of patches, None for text
    continuing_prefix: str = ""  # with which the tokenizer marks a continuation
    # in a view, which merges or leaves out positions: the first original position of each
    numbers: tuple[int, ...] | None = None
    merged: bool = False  # whether a view has merged the pieces of each word

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def unit(self) -> Literal["token", "patch"]:
        return "token" if self.patch_grid is None else "patch"

    @property
    def units(self) -> Literal["tokens", "words", "patches"]:
        if self.patch_grid is not None:
            return "patches"
        return "words" if self.merged else "tokens"

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each position that no other has: tokens, which can repeat, are numbered ("3 film")."""
        if self.patch_grid is not None:
            return self.tokens
        return tuple(f"{self.number(position)} {token}" for position, token in enumerate(self.tokens))

    def number(self, position: int) -> int:
        """The position in the whole input; of merged positions the first. Differs from `position` only in a view."""
        return position if self.numbers is None else self.numbers[position]

    def position_of(self, number: int) -> int:
        """The inverse of `number`: where a position of the whole input is in this view; where it is hidden, the one before."""
        if self.numbers is None:
            return min(max(number, 0), len(self) - 1)
        return max((index for index, first in enumerate(self.numbers) if first <= number), default=0)

    @property
    def pieces(self) -> tuple[str, ...]:
        """The tokens as they stand in the text: a continuation without its prefix."""
        return tuple(
            token.removeprefix(self.continuing_prefix) if role == "continuation" else token
            for token, role in zip(self.tokens, self.roles, strict=True)
        )

    @property
    def first_patch(self) -> int:
        """The position of the first patch: 1 behind a class token, else 0. 0 for text."""
        return self.roles.index("patch") if "patch" in self.roles else 0

    def patch_at(self, position: int) -> int | None:
        """The number of the patch at that position; None for the class token before the first one."""
        return position - self.first_patch if position >= self.first_patch else None

    def at(self, *roles: Role) -> tuple[int, ...]:
        """The positions that have one of `roles`, in order."""
        return tuple(position for position, role in enumerate(self.roles) if role in roles)

    def in_order(self, order: Sequence[int]) -> "Positions":
        """The positions in another order: at index i, token and role of position `order[i]`."""
        tokens = tuple(self.tokens[position] for position in order)
        return replace(self, tokens=tokens, roles=tuple(self.roles[position] for position in order))


def _short(positions: Positions) -> str:
    """Number of positions and the first tokens, on one line."""
    text = " ".join(positions.tokens)
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    return f"{len(positions)} {positions.unit if len(positions) == 1 else positions.units} {shown!r}"


def read_answers(
    logits: Float32[np.ndarray, "*axes class"], kind: Answers
) -> Float32[np.ndarray, "*axes class"]:
    """Probabilities from logits: softmax for a "choice", the logistic function for "each"; "numbers" are returned as they are."""
    if kind == "numbers":
        return logits
    if kind == "each":
        return np.exp(-np.logaddexp(0, -logits))
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttentionRecord(Positions):
    """Attention patterns and what stands at their positions: all that a figure of attention needs, and no more.

    The positions are those of the queries; `keys` are given where those are others, as in cross-attention. Arrays are
    read-only. A `ForwardRecord` is one of these, too.
    """

    pattern: Float32[np.ndarray, "layer head query key"]
    mask: Bool[np.ndarray, "layer head query key"]  # True = may attend
    keys: Positions | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._summary().values())})"

    def _repr_html_(self) -> str:
        """A table for notebooks: the summary, and the shapes of the arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = (f"{name} {list(v.shape)}" for name, v in values.items() if isinstance(v, np.ndarray))
        rows = {**self._summary(), "arrays": ", ".join(arrays)}
        cells = (f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
        return f"<table><caption>{type(self).__name__}</caption>{''.join(cells)}</table>"

    def _summary(self) -> dict[str, str]:
        """What the record is of, each entry on one line."""
        n_layers, n_heads, *_ = self.pattern.shape
        summary = {"input": _short(self)}
        if self.keys is not None:
            summary["keys"] = f"keys of {_short(self.keys)}"
        return summary | {
            "heads": f"{n_layers} layer{'s' * (n_layers > 1)} × {n_heads} head{'s' * (n_heads > 1)}"
        }

    @property
    def attended(self) -> Positions:
        """The positions of the keys: `keys`, or those of the queries."""
        return self.keys or self

    @property
    def has_classes(self) -> bool:
        return False

    @property
    def has_class_token(self) -> bool:
        """Whether the first position stands for the whole input."""
        return self.roles[:1] == ("class",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ForwardRecord(AttentionRecord):
    """One forward pass of one example: no batch axis, read-only numpy arrays, float32 at natural scale.

    `residual` holds the state carried forward in both placements (in post-LN that is after the norm):
    after the embedding, then after each attention (mid) and each feed-forward (post).
    """

    config: ModelConfig
    scores: Float32[np.ndarray, "layer head query key"]  # q kᵀ / sqrt(d_k), before the mask
    q: Float32[np.ndarray, "layer head query d_k"]
    k: Float32[np.ndarray, "layer head key d_k"]
    v: Float32[np.ndarray, "layer head key d_v"]
    z: Float32[np.ndarray, "layer head query d_v"]
    residual: Float32[np.ndarray, "stage query d_model"]
    logits_by_layer: Float32[np.ndarray, "stage class"]
    logits: Float32[np.ndarray, " class"]  # of no class where the encoder has no classifier
    pooled: Float32[np.ndarray, " d_pooled"]  # the state that the classifier reads, or would read
    # Of an output for each token, such as the names in a text; None where there is none.
    token_logits: Float32[np.ndarray, "query token_class"] | None = None

    def _summary(self) -> dict[str, str]:
        summary = super(
            ForwardRecord, self
        )._summary()  # slots make another class, which a bare `super` does not know
        if self.has_classes:
            best = int(self.probabilities.argmax())
            summary["prediction"] = f"{self.class_names[best]!r} {self.probabilities[best]:.1%}"
        return summary

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.config.class_names

    @property
    def has_classes(self) -> bool:
        """Whether the answer is one class of several."""
        return self.config.chooses

    @property
    def predicted_class(self) -> int | None:
        """The class with the largest logit; None where the answer is not one class of several."""
        return int(self.logits.argmax()) if self.has_classes else None

    @property
    def is_finite(self) -> bool:
        """Whether residual stream and logits are finite: finite weights can make infinite activations."""
        return bool(np.isfinite(self.residual).all() and np.isfinite(self.logits).all())

    @property
    def has_class_token(self) -> bool:
        """Whether the first position is the one that is classified."""
        return self.config.pooling == "class"

    @property
    def probabilities(self) -> Float32[np.ndarray, " class"]:
        """Softmax, logistic function or plain values of the logits, as `read_answers` has it for this encoder."""
        return read_answers(self.logits, self.config.family.answers)

    @property
    def token_class_names(self) -> tuple[str, ...]:
        return self.config.family.token_class_names

    @property
    def token_probabilities(self) -> Float32[np.ndarray, "query token_class"] | None:
        """As `probabilities`, for the classes of each token; None without such an output."""
        if self.token_logits is None:
            return None
        return read_answers(self.token_logits, self.config.family.token_answers)

    @property
    def stages(self) -> tuple[str, ...]:
        """Names along the first axis of `residual` and `logits_by_layer`: embed, L0 mid, L0 post, ..."""
        layers = range(self.config.n_layers)
        return ("embed", *(f"L{layer} {point}" for layer in layers for point in ("mid", "post")))
