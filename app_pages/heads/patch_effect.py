"""What is patched and what is measured on the Patch tab: the parts of a layer, and the effect with its unit."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app_pages.controls.answer_choice import Answer
from app_pages.controls.head_choice import take_head
from app_pages.controls.heads_controls import KEYS, OUTPUT, QUERIES, VALUES
from app_pages.subject.two_sides import POOLED
from model.config import ModelConfig
from model.experiments.patching import HeadPart, n_parts
from model.record import ForwardRecord
from viz.builders.number_format import format_number
from viz.builders.palette import ROUNDING
from viz.heads.patch_grid import FEED_FORWARD

SHARE_FORMULA = "Share of the way: (patched − clean) / (other − clean), 0 where the answer is as for the first, 1 where it is as for the second."
PARTS: dict[str, HeadPart] = {OUTPUT: "z", QUERIES: "q", KEYS: "k", VALUES: "v"}
_WHAT_A_CELL_IS = {
    OUTPUT: "one head puts out, at all positions, what it does for {}",
    QUERIES: "one head has, at all positions, its queries of {}: only where it looks can change",
    KEYS: "one head has, at all positions, its keys of {}: only where it looks can change",
    VALUES: "one head has, at all positions, its values of {}: where it looks stays, and what it reads there changes",
}


@dataclass(frozen=True)
class Columns:
    """The columns of the grid of parts: a part of each head, or of each group of heads that share it, then the feed-forward."""

    names: tuple[str, ...]
    n_heads_of_part: int

    @classmethod
    def of(cls, config: ModelConfig, part: HeadPart) -> "Columns":
        n = n_parts(config, part)
        size = config.n_heads // n
        names = [
            f"H{first}" if size == 1 else f"H{first}–{first + size - 1}" for first in range(0, n * size, size)
        ]
        return cls((*names, FEED_FORWARD), size)

    def of_head(self, head: int) -> int:
        """Column of a head."""
        return head // self.n_heads_of_part

    @property
    def take(self) -> Callable[[dict], None]:
        """Callback of a click on a cell: chooses its head, or the first of its heads; a feed-forward has none."""

        def chosen(cell: dict) -> None:
            if (column := int(cell["column"])) < len(self.names) - 1:
                take_head(int(cell["layer"]), column * self.n_heads_of_part)

        return chosen

    def name(self, layer: int, column: int) -> str:
        """Name of a part, such as "L2 H0" or "L2 FF"."""
        return f"L{layer} {self.names[column]}"

    def sentence(self, taken: str, second: str) -> str:
        """What each cell is; `taken` is the choice, `second` the input from which it is taken."""
        shared = (
            "" if self.n_heads_of_part == 1 else f" {self.names[0]}: heads that share their keys and values."
        )
        return (
            f"Each cell: {_WHAT_A_CELL_IS[taken].format(second)}. {FEED_FORWARD}: the layer's feed-forward puts out what it "
            f"does for {second}.{shared}"
        )


@dataclass(frozen=True)
class Quantity:
    """What the colours of a figure of effects show."""

    what: str  # with its unit
    signed: bool
    ends: tuple[str, str]  # names of the ends of the colours

    def largest_sentence(self, effects: np.ndarray, columns: Columns) -> str:
        """Sentence on the part with the largest effect, from effects [layer, part]."""
        layer, column = divmod(int(np.abs(effects).argmax()), effects.shape[1])
        effect = float(effects[layer, column])
        if abs(effect) <= ROUNDING:
            return "No part has an effect."
        number = format_number(effect, "+#.3g" if self.signed else "#.3g")
        return f"Largest effect: {columns.name(layer, column)} ({number})."


def quantity(
    answer: Answer,
    record: ForwardRecord,
    *,
    normalised: bool,
    over_pairs: bool = False,
    guessed: bool = False,
) -> Quantity:
    """What is measured. `over_pairs` each pair has a predicted class, or if `guessed` a masked word, of its own."""
    signed = answer.is_signed(record)
    if normalised:
        ends = ("away", "towards") if signed else ("as the first", "towards the second")
        return Quantity("share of the way to the second answer", signed, ends)
    if answer.is_masked_word and over_pairs and guessed:
        what = "change of log P(first guess at [MASK]) in nats"
    elif answer.is_masked_word:
        what = answer.changed_quantity(record)
    elif record.predicted_class is None:
        what = POOLED
    elif over_pairs:
        what = "change of the log-odds of the predicted class, in nats"
    else:
        what = f"{answer.changed_quantity(record)}, in nats"
    return Quantity(what, signed, ("falls", "rises") if signed else ("as before", "furthest"))
