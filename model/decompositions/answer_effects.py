"""`answer_effects`: by how much the number that `answer_parts` divides changes when the output of one head is set to zero."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd
import torch

from ..capture import evaluation_mode
from ..experiments.ablation import HeadAnswers, change_each_head, stack_answers
from ..experiments.attribution import Explained
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .answer_parts import answer_number, answer_parts

MIN_HEADS = 3  # for a rank correlation: the ranks of two either agree or do not
ROUNDED_DIGITS = 6  # values that differ by a millionth of the largest are equal but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class AnswerEffects:
    """For each head, its part of one number of an answer (`AnswerParts`), and the effect on that number of zeroing the head."""

    quantity: str  # what the number is, as in `AnswerParts`
    frame: pd.DataFrame  # a row for each head: part (its name), layer, head, value (its part), effect
    recorded: float  # the number, with all heads

    @property
    def n(self) -> int:
        """Number of heads."""
        return len(self.frame)

    @property
    def spearman(self) -> float | None:
        """Spearman's rank correlation of parts and effects over all heads, -1 to 1; None where `not_compared` says why."""
        if self.not_compared:
            return None
        return float(self._rounded().rank().corr().loc["value", "effect"])

    @property
    def not_compared(self) -> str | None:
        """Why there is no rank correlation, such as "all parts are equal"; None where there is one."""
        if self.n < MIN_HEADS:
            return f"fewer than {MIN_HEADS} heads"
        n_different = self._rounded().nunique()
        constant_columns = [name for name, n in zip(("parts", "effects"), n_different, strict=True) if n == 1]
        return f"all {constant_columns[0]} are equal" if constant_columns else None

    def _rounded(self) -> pd.DataFrame:
        """Parts and effects divided by the largest absolute value of both, and rounded."""
        numbers = self.frame[["value", "effect"]]
        return (numbers / (numbers.abs().to_numpy().max() or 1.0)).round(ROUNDED_DIGITS)


def answer_effects(
    loaded: Loaded,
    model_input: InputLike,
    answer: Explained = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> AnswerEffects:
    """For each head h, effect_h = y - y_h: y is the number that `answer_parts` divides, y_h the same number without the head's output.

    For y_h, z_h is 0 at every position, so that z_h W_O^h, which includes b_V, is missing from the output of the attention. All
    later sublayers and norms are computed from the changed states. Nothing is held constant except the pooled state of the other
    text of a similarity.

    A head's part is its direct contribution to y; its effect also includes what later sublayers make of its output. `spearman` says
    how well the two agree. Costs about half a forward pass for each head. `progress` is called with the share of the work that is
    done, 0 to 1. Raises as `answer_parts` does.

    >>> from loupe import answer_effects, load
    >>> effects = answer_effects(load("checkpoints/imdb-pre-ln"), "A gripping film.")
    >>> effects.quantity, effects.n, effects.spearman > 0.5
    ('logit of positive minus negative', 16, True)
    """
    model, config = loaded.model, loaded.config
    parts = answer_parts(loaded, model_input, answer)
    inputs, _ = prepare(loaded, model_input)

    def with_progress(steps: Iterable[HeadAnswers]) -> Iterator[HeadAnswers]:
        n_done = 0
        for result in steps:
            yield result
            n_done += len(result.heads)
            if progress is not None:
                progress(n_done / (config.n_layers * config.n_heads))

    with torch.inference_mode(), evaluation_mode(model):
        states = model.encode(inputs)
        _, number = answer_number(loaded, model_input, states, answer)
        steps = change_each_head(
            model,
            inputs,
            lambda _, z: torch.zeros_like(z),
            answer=lambda states, inputs: number(states, inputs)[:, None],
        )
        effects = float(number(states, inputs)) - stack_answers(with_progress(steps), config)[..., 0, 0]
    heads = parts.frame[parts.frame["kind"] == "head"].reset_index(drop=True)
    frame = heads[["part", "layer", "head", "value"]].assign(effect=effects.ravel())
    return AnswerEffects(parts.quantity, frame, parts.recorded)
