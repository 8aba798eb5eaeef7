"""The data of the chart of a recorded training: recordings, pictures of all heads, and the phases of training."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image

from ..builders.number_format import percent, standard_error
from ..builders.palette import max_pool, png_uri, weight_colours

AT_MOST = 64  # cells along a side of a head's map
N_COLOURS = 64
# Letters of a data URI up to the end of the picture's palette: of the signature, the header and the palette, 240 bytes.
_CUT = len("data:image/png;base64,") + (8 + 25 + 12 + 3 * (1 + N_COLOURS)) * 4 // 3
_LETTERS = 160  # of a line over the whole track
_LETTER = 6.0  # pixels of a letter: where a name would be cut, phases are numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The recording of one encoder's training, with all that the chart shows of it."""

    name: str
    colour: str
    pattern: np.ndarray  # [moment, layer, head, query, key], in 255ths
    tokens: Sequence[str]  # of the input
    step: np.ndarray  # [moment], steps since the beginning
    n_steps: int
    phase: np.ndarray  # [moment], index of the phase
    tasks: Sequence[str]  # of each phase
    accuracy: np.ndarray  # [moment], on the task of that phase; NaN: not measured
    examples: Sequence[
        tuple[int, str] | None
    ]  # of each phase, behind an accuracy: how many of what; None: not known

    def __len__(self) -> int:
        return len(self.step)

    @property
    def task(self) -> list[str]:
        """The task at each moment."""
        return [self.tasks[index] for index in self.phase]

    @property
    def errors(self) -> list[str]:
        """For each moment, the standard error of its accuracy and the examples as text of two lines, such as "± 1.6 %" and
        "of 500 digits"; "" if not known.
        """
        examples = [self.examples[index] for index in self.phase]
        return [
            ""
            if known is None or np.isnan(share)
            else f"± {percent(standard_error(share, known[0]), brief=True)}\nof {known[0]} {known[1]}"
            for share, known in zip(self.accuracy, examples, strict=True)
        ]

    @property
    def lines(self) -> list[int]:
        """For each moment, the index of the line that its accuracy belongs to: a new line begins after a change of
        task and after a gap.
        """
        is_gap = np.isnan(self.accuracy)
        breaks = [
            before != after or missing
            for (before, after), missing in zip(pairwise(self.task), is_gap[1:], strict=True)
        ]
        return [0, *np.cumsum(breaks).tolist()]

    def spans(self, n: int) -> list[tuple[int, int]]:
        """For each moment of this recording, the first and the last of the `n` moments of the chart at which it is
        shown.
        """
        own_index = np.rint(np.arange(n) * (len(self) - 1) / max(n - 1, 1)).astype(int)
        shown = [np.flatnonzero(own_index == index) for index in range(len(self))]
        return [(int(moments[0]), int(moments[-1])) for moments in shown]


def head_sheets(pattern: np.ndarray, *, own: bool, is_rooted: bool) -> np.ndarray:
    """One picture of all heads for each moment, uint8 [moment, row, column], from patterns [moment, layer, head,
    query, key] in 255ths.

    A picture has a row of maps for each layer and a column for each head, with gaps of 0 between them. Weights become
    1 (weight 0) to `N_COLOURS` (weight 1 or, with `own`, the head's largest weight of all moments), in proportion to
    their square root if `is_rooted`.
    """
    pattern = max_pool(pattern, AT_MOST)
    n_moments, n_layers, n_heads, n_queries, n_keys = pattern.shape
    top = pattern.max(axis=(0, 3, 4), keepdims=True) if own else np.full((1, 1, 1, 1, 1), 255)
    levels = pattern / np.where(top > 0, top, 255).astype(np.float32)
    if is_rooted:
        levels = np.sqrt(levels)
    gap = max(1, max(n_queries, n_keys) // 16)
    sheet = np.zeros((n_moments, n_layers, n_queries + gap, n_heads, n_keys + gap), np.uint8)
    sheet[:, :, :n_queries, :, :n_keys] = np.moveaxis(1 + np.rint(levels * (N_COLOURS - 1)), 2, 3)
    return sheet.reshape(n_moments, n_layers * (n_queries + gap), -1)[:, :-gap, :-gap]


def shared_png(sheets: np.ndarray) -> tuple[tuple[str, str], list[str]]:
    """The `sheets`, indices of colours as uint8 [picture, row, column], as PNG files in data URIs, each cut in two.

    Returns ((light, dark), rests): light + rests[i] is picture i on a light page, dark + rests[i] on a dark one. What
    all pictures share ends with the palette, whose index 0 is transparent.
    """
    colours = weight_colours(np.linspace(0, 1, N_COLOURS)).round().astype(np.uint8)
    on_light, on_dark = (_sheet_uri(sheets[0], table)[:_CUT] for table in (colours, colours[::-1]))
    return (on_light, on_dark), [_sheet_uri(sheet, colours)[_CUT:] for sheet in sheets]


def _sheet_uri(sheet: np.ndarray, colours: np.ndarray) -> str:
    """A PNG of one sheet as a data URI; index 0 is transparent, and index i has row i - 1 of `colours`."""
    image = Image.fromarray(sheet)
    image.putpalette(bytes(3) + colours.tobytes())
    return png_uri(image, transparency=0)


def phases_of(tasks: Sequence[str]) -> list[dict[str, Any]]:
    """The stretches of moments with the same task: where they start and end as shares of all moments, and their names
    broken into lines.
    """
    starts = [0, *(index for index in range(1, len(tasks)) if tasks[index] != tasks[index - 1])]
    most = max(len(tasks) - 1, 1)
    bounds = [*(max(start - 0.5, 0) for start in starts), most]
    phases = []
    for index, (start, (first, last)) in enumerate(zip(starts, pairwise(bounds), strict=True)):
        n_letters = max(int(_LETTERS * (last - first) / most), 8)
        lines = textwrap.wrap(tasks[start], n_letters, max_lines=3, placeholder="…")
        phases.append(
            {
                "numbered": f"{index + 1}  {tasks[start]}",
                "index": index,
                "number": str(index + 1),
                "lines": "\n".join(lines),
                "needed": _LETTER * max(map(len, lines), default=0),
                "from": first / most,
                "to": last / most,
                "is_odd": index % 2 == 1,
            }
        )
    return phases
