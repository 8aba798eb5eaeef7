"""What the figures of the page are about: the chosen head of an input through a lens, and one of its queries."""

from dataclasses import dataclass

import numpy as np

from app_pages.controls.attention_controls import HIDE_SPECIAL, WORDS
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.answer import Answer
from app_pages.subject.subject import LensChoice, Subject
from model.experiments.knock_out import KnockOutKind
from model.lenses import Lens
from model.measures.head_measures import weight_sums
from model.measures.word_view import hidden_positions
from model.record import AttentionRecord
from viz.builders.number_format import percent
from viz.builders.palette import WEIGHT


@dataclass(frozen=True, kw_only=True)
class RecordView:
    """A record as it is shown, with the measures of its heads and the notes for its figures."""

    record: AttentionRecord
    measures: dict[str, np.ndarray]  # [layer, head]
    notes: tuple[str, ...]  # a line each; none where the record is shown as it is
    quantity: str = WEIGHT  # what the numbers of the maps are
    hides_weight: bool  # whether special tokens are missing from rows that sum to 1

    def notes_on(self, pattern: np.ndarray) -> tuple[str, ...]:
        """The notes, and where tokens are hidden how much of the weight in `pattern` [query, key] is shown."""
        if not self.hides_weight:
            return self.notes
        share = percent(float(weight_sums(pattern).mean()), 0)
        return (
            *self.notes,
            f"{share} of the weight is shown (mean over the queries), without renormalising",
        )


def choose_view(subject: Subject, slots: Slots, through: LensChoice) -> RecordView:
    """Draws the toggles that merge word pieces and hide special tokens, where the input has any; returns the view."""
    record = subject.record
    position_sets = (record, record.attended)
    merged = hidden = False
    with slots.view:
        if any(positions.positions_with_role("continuation") for positions in position_sets):
            merged = WORDS.choose()
        if any(hidden_positions(positions) for positions in position_sets):
            hidden = HIDE_SPECIAL.choose()
    viewed = subject.viewed(through, merged=merged, hidden=hidden)
    notes = [*through.notes]
    if merged:
        notes.append("pieces merged into words: attention to a word is their sum, from a word their mean")
    if hidden:
        names = dict.fromkeys(
            positions.tokens[index] for positions in position_sets for index in hidden_positions(positions)
        )
        notes.append(f"special tokens hidden: {', '.join(names)}")
    return RecordView(
        record=viewed.record,
        measures=viewed.measures,
        notes=tuple(notes),
        quantity=through.lens.quantity,
        hides_weight=hidden and through.lens.sums_to_1,
    )


@dataclass(frozen=True, kw_only=True)
class ShownHead:
    """All that is chosen above the figures of one head."""

    subject: Subject
    chosen: HeadChoice
    through: LensChoice
    view: RecordView  # its record, with words merged or tokens hidden
    query: int  # index in the view's record
    kind: KnockOutKind | None  # how tokens are knocked out; None for a record from a file
    answer: Answer  # that the head is checked against

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head."""
        return self.chosen.layer, self.chosen.head

    @property
    def lens(self) -> Lens:
        return self.through.lens

    @property
    def pattern(self) -> np.ndarray:
        """The head's map in the view [query, key]."""
        return self.view.record.pattern[self.head]

    @property
    def why_unchecked(self) -> str | None:
        """Why nothing says whether the map explains the answer; None where it is checked."""
        return self.through.why_unchecked(self.subject.record, of_masked_word=self.answer.word is not None)
