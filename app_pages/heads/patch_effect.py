"""The grid of patched parts on the Patch tab, and the quantity that its colours show."""

from dataclasses import dataclass

import numpy as np

from app_pages.controls.head_choice import take_head
from app_pages.controls.heads_controls import KEYS, OUTPUT, QUERIES, VALUES
from app_pages.subject.answer import Answer
from app_pages.toolkit.markdown import first_names
from model.config import ModelConfig
from model.experiments.patching import HeadPart, n_parts
from model.measures.changes import ROUNDING, ROUNDING_DISTANCE, largest_indices
from viz.builders.number_format import format_number
from viz.heads.part_grids import FEED_FORWARD

_SHARE_FORMULA = "Share of the way: (patched − clean) / (other − clean), 0 where the answer is as for the first, 1 where it is as for the second."
_SHARE_FORMULA_OF_STATE = (
    "Share of the way: (cos(patched, other) − cos(clean, other)) / (1 − cos(clean, other)) of the pooled states, 0 where the state "
    "is as near to the second one as before, 1 where it is the second one, below 0 where it moves away from it."
)
MOST_NAMED_PARTS = 3  # parts of equal effect
PARTS: dict[str, HeadPart] = {OUTPUT: "z", QUERIES: "q", KEYS: "k", VALUES: "v"}
_CELL_CLAUSES = {
    OUTPUT: "one head puts out, at all positions, what it does for {}",
    QUERIES: "one head has, at all positions, its queries of {}: only where it looks can change",
    KEYS: "one head has, at all positions, its keys of {}: only where it looks can change",
    VALUES: "one head has, at all positions, its values of {}: where it looks stays, and what it reads there changes",
}


@dataclass(frozen=True)
class Columns:
    """The columns of the grid [layer, part]: one for each head, or for each group of heads that share keys and values, and last
    the feed-forward.
    """

    names: tuple[str, ...]
    n_heads_of_part: int  # 1, or how many heads share keys and values

    @classmethod
    def of(cls, config: ModelConfig, part: HeadPart) -> "Columns":
        """The columns for patching the `part` of each head."""
        n = n_parts(config, part)
        size = config.n_heads // n
        names = [
            f"H{first}" if size == 1 else f"H{first}–{first + size - 1}" for first in range(0, n * size, size)
        ]
        return cls((*names, FEED_FORWARD), size)

    def of_head(self, head: int) -> int:
        """Index of the column in which the head with this number stands, alone or with its group."""
        return head // self.n_heads_of_part

    def take(self, cell: dict) -> None:
        """Callback of a click on a cell: chooses the cell's head, or the first head of its group; nothing for a feed-forward."""
        if (column := int(cell["column"])) < len(self.names) - 1:
            take_head(int(cell["layer"]), column * self.n_heads_of_part)

    def name(self, layer: int, column: int) -> str:
        """Name of a part, such as "L2 H0" or "L2 FF"."""
        return f"L{layer} {self.names[column]}"

    def part_names(self, indices: np.ndarray) -> str:
        """Names of the first few parts with these flat `indices` into the grid [layer, part]."""
        return first_names(
            [self.name(*divmod(int(index), len(self.names))) for index in indices], MOST_NAMED_PARTS
        )

    def sentence(self, patched_option: str, second: str) -> str:
        """Sentence on what is patched in each cell. `patched_option` is what is chosen in the control PATCHED, a key of `PARTS`;
        `second` names the input from which it is taken, such as "the second text".
        """
        shared = (
            "" if self.n_heads_of_part == 1 else f" {self.names[0]}: heads that share their keys and values."
        )
        return (
            f"Each cell: {_CELL_CLAUSES[patched_option].format(second)}. {FEED_FORWARD}: the layer's feed-forward puts out what it "
            f"does for {second}.{shared}"
        )


@dataclass(frozen=True)
class Quantity:
    """The quantity that the colours of a figure of patching effects show; `signed` says whether it can be negative."""

    name: str  # with the unit, such as "change of the log-odds of good, in nats"
    signed: bool
    end_names: tuple[str, str]  # of the ends of the colour scale, such as ("falls", "rises")
    formula: str = ""  # of a share of the way, as a sentence

    def as_text(self, effect: float) -> str:
        """An effect as text, with its sign if the quantity is signed."""
        return format_number(effect, "+#.3g" if self.signed else "#.3g")

    def largest_parts(self, effects: np.ndarray) -> np.ndarray:
        """Flat indices of the parts with the largest effect (several if equal); none if all effects are within rounding."""
        return largest_indices(effects, ROUNDING if self.signed else ROUNDING_DISTANCE)

    def largest_sentence(self, effects: np.ndarray, columns: Columns) -> str:
        """Sentence on the part, or parts, with the largest of `effects` [layer, part]."""
        indices = self.largest_parts(effects)
        if not len(indices):
            return "No part has an effect."
        layer, column = divmod(int(indices[0]), effects.shape[1])
        return f"Largest effect of one head or feed-forward: {columns.part_names(indices)} ({self.as_text(float(effects[layer, column]))})."


def quantity(answer: Answer, *, normalised: bool, what: str = "") -> Quantity:
    """The measured quantity: the change of `answer` or, if `normalised`, its share of the way to the second input's answer.
    `what` replaces the answer's own name of its change.
    """
    if normalised:
        formula = _SHARE_FORMULA if answer.is_signed else _SHARE_FORMULA_OF_STATE
        return Quantity("share of the way to the second answer", True, ("away", "towards"), formula)
    return Quantity(what or answer.change_title, answer.is_signed, answer.scale_ends)
