"""A record that was opened from a file: kept until the session ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from model.inputs import Picture
from model.measures.head_measures import odd_rows, summary
from model.measures.word_view import view
from model.record import AttentionRecord, ForwardRecord
from model.record.record_file import HALF
from viz.builders.number_format import written

OPENED = "opened_record"  # in the session
OTHER_KIND = "other_kind"  # in the session: the kind of input was changed


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What is open in this session."""

    name: str  # of the file
    record: AttentionRecord
    settings: Mapping[str, Any]
    picture: np.ndarray | None
    views: dict[tuple, tuple[AttentionRecord, dict]] = field(default_factory=dict)

    @property
    def given(self) -> Picture | None:
        """The picture that was read, blank where the file does not hold it; None for text."""
        if self.record.patch_grid is None:
            return None
        blank = np.zeros([8 * side for side in self.record.patch_grid], np.uint8)
        return Picture.of(blank if self.picture is None else self.picture)

    @property
    def holds(self) -> str:
        """What the file lacks of a whole record in single precision, and what follows from that; "" where it lacks nothing."""
        said = []
        if not isinstance(self.record, ForwardRecord):
            alone = f"The record holds attention and {self.record.units} alone"
            said.append(f"{alone}: there is no prediction, and no state or score, to show.")
        if self.settings.get("precision") == HALF:
            said.append(
                "The numbers were saved in half precision: they, and the measures made of them, are right to about three digits."
            )
        return " ".join(said)

    @property
    def odd_rows(self) -> str:
        """Which rows do not sum to 1, in a sentence; "" where all do."""
        odd = odd_rows(self.record.pattern, self.record.mask)
        if not len(odd):
            return ""
        least, most = (written(float(end), ".3g") for end in (odd.min(), odd.max()))
        rows, sums = (
            int(self.record.mask.any(axis=-1).sum()),
            least if least == most else f"{least} to {most}",
        )
        return f"{len(odd):,} of {rows:,} rows do not sum to 1 but to {sums}. They are shown as they are."

    def viewed(self, *, merged: bool, hidden: bool) -> tuple[AttentionRecord, dict[str, np.ndarray]]:
        """The record in that view, and the measures of its heads."""
        if (merged, hidden) not in self.views:
            seen = view(self.record, merged=merged, hidden=hidden)
            self.views[merged, hidden] = seen, summary(seen)
        return self.views[merged, hidden]


def opened() -> Opened | None:
    return st.session_state.get(OPENED)
