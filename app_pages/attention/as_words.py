"""Two views of the patterns: pieces merged into words, special tokens hidden."""

from dataclasses import dataclass

import numpy as np

from app_pages.controls.attention_controls import HIDE_SPECIAL, WORDS
from app_pages.controls.control_bar import Slots
from app_pages.subject.subject import LensChoice, Subject
from model.measures.head_measures import weight_sums
from model.measures.word_view import hidden_positions
from model.record import AttentionRecord
from viz.builders.number_format import percent
from viz.builders.palette import WEIGHT


@dataclass(frozen=True, kw_only=True)
class View:
    """What is shown of a record through a lens, and what its figures say of it."""

    record: AttentionRecord
    measures: dict[str, np.ndarray]  # [layer, head]
    notes: tuple[str, ...]  # a line each, for figures; none where the record is shown as it is
    what: str = WEIGHT  # what its numbers are
    hides: bool  # whether something is missing of rows that sum to 1

    def notes_on(self, pattern: np.ndarray) -> tuple[str, ...]:
        """The same, and where something is hidden how much of the weight in `pattern` [query, key] is shown."""
        if not self.hides:
            return self.notes
        shown = f"{percent(float(weight_sums(pattern).mean()), 0)} of the weight is shown (mean over the queries), without renormalising"
        return (*self.notes, shown)


def choose_view(subject: Subject, slots: Slots, through: LensChoice) -> View:
    """Two toggles, where they change anything, of what is seen through a lens."""
    record = subject.record
    both = (record, record.attended)
    merged = hidden = False
    with slots.view:
        if any(read.at("continuation") for read in both):
            merged = WORDS.choose()
        if any(hidden_positions(read) for read in both):
            hidden = HIDE_SPECIAL.choose()
    seen, measures = subject.viewed(through, merged=merged, hidden=hidden)
    notes = [*through.notes]
    if merged:
        notes.append("pieces merged into words: attention to a word is their sum, from a word their mean")
    if hidden:
        names = dict.fromkeys(read.tokens[at] for read in both for at in hidden_positions(read))
        notes.append(f"special tokens hidden: {', '.join(names)}")
    return View(
        record=seen,
        measures=measures,
        notes=tuple(notes),
        what=through.lens.quantity,
        hides=hidden and through.lens.sums_to_1,
    )
