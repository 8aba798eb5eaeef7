"""What the drawings of the steps are given, and the choice of the one key that they show in detail."""

from dataclasses import dataclass

import numpy as np

from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.inside_a_head_controls import ALL_KEYS, KEY, STRONGEST
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from model.experiments.head_steps import HeadSteps, head_steps, unrecorded_activations
from model.record import ForwardRecord
from viz.builders.number_format import head_name
from viz.builders.token_label import label

FEW, STRONG = 24, 16  # up to so many keys all are drawn, of more the strongest


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One query's steps, and which of its keys are looked at."""

    subject: LiveSubject
    chosen: HeadChoice
    record: ForwardRecord
    steps: HeadSteps
    query: int
    key: int
    keys: tuple[int, ...]  # those that are drawn, in the order of their positions

    @property
    def n(self) -> int:
        return len(self.record)

    @property
    def head(self) -> str:
        return head_name(self.chosen.layer, self.chosen.head)

    @property
    def n_hidden(self) -> int:
        """Keys that are not drawn."""
        return self.n - len(self.keys)

    def name(self, position: int) -> str:
        """The position's label with a long token cut."""
        token = self.record.tokens[position]
        return self.record.labels[position].removesuffix(token) + label(token, 14)

    def by_key(self, values: np.ndarray) -> dict[str, np.ndarray | float]:
        """Of `values` [key, ...] those of the keys that are drawn."""
        return {self.name(key): values[key] for key in self.keys}

    def take_row(self, row: dict) -> None:
        """For callbacks: the key in the row that was clicked; a row below the keys is none."""
        if row["row"] < len(self.keys):
            KEY.take(self.keys[int(row["row"])])


def choose_view(subject: LiveSubject, chosen: HeadChoice, query: int) -> View:
    """Draws the boxes for the key, and for all keys where these are many.

    Raises ValueError as `model.experiments.head_steps.head_steps` does.
    """
    record = subject.record
    steps = steps_of(subject, chosen.layer, chosen.head, query)
    n = len(record)
    labels = {STRONGEST: STRONGEST, **dict(enumerate(record.labels))}
    key = KEY.choose(
        labels, format_func=labels.__getitem__
    )  # Streamlit keeps it: it must not refer to the record
    key = steps.attention.strongest(1)[0] if key == STRONGEST else key
    every = n > FEW and ALL_KEYS.choose(label=f"All {n} keys")
    keys = range(n) if every or n <= FEW else {key, *steps.attention.strongest(STRONG)}
    return View(
        subject=subject,
        chosen=chosen,
        record=record,
        steps=steps,
        query=query,
        key=key,
        keys=tuple(sorted(keys)),
    )


@cached
def steps_of(subject: LiveSubject, layer: int, head: int, query: int) -> HeadSteps:
    """Raises as `model.experiments.head_steps.head_steps` does."""
    activations = subject.compute(unrecorded_activations, layer)
    return head_steps(subject.loaded, subject.record, activations, layer=layer, head=head, query=query)
