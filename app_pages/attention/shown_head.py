"""What the figures of the page are about: the chosen head of an input through a lens, and one of its queries."""

from dataclasses import dataclass

import numpy as np

from app_pages.attention.record_view import RecordView
from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.answer import Answer
from app_pages.subject.subject import LensChoice, Subject
from model.experiments.knock_out import KnockOutKind
from model.lenses import Lens


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
