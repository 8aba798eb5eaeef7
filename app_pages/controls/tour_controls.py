"""The stops of the tour, and the control that holds at which of them the reader is."""

from collections.abc import Mapping
from typing import NamedTuple

from app_pages.controls import pages
from app_pages.controls.address import Code
from app_pages.controls.pages import Page


class Stop(NamedTuple):
    """A stop: a page, what is to be seen there, and the part of the page that is opened, as its address has it."""

    title: str
    seen: str
    page: Page
    parts: Mapping[str, str] = {}
    hides_a_word: bool = False  # that on which the answer depends most


STOPS = (
    Stop(
        "All heads at once",
        "Each square is a head. Point at a word: every head shows which words it reads for that word.",
        pages.ATTENTION,
    ),
    Stop(
        "Hide a word",
        "The struck-out word is hidden from every head: does the answer change? Click others, too.",
        pages.MASKS,
        {"masks_part": "Step by step", "masks_kind": "Block tokens"},
        hides_a_word=True,
    ),
    Stop(
        "Where one weight comes from",
        "Query times key, divided by √d_k, softmax, times value: one row of a head in numbers.",
        pages.INSIDE_A_HEAD,
        {"inside": "Step by step"},
    ),
    Stop(
        "Why √d_k",
        "Without the division, one key gets nearly all the weight once vectors are long. Set the scale to 1.",
        pages.INSIDE_A_HEAD,
        {"inside": "Why √d_k", "inside_scale": "random vectors"},
    ),
    Stop(
        "Why word order needs help",
        "Move t: each position has its own pattern of waves, which is added to the word there.",
        pages.POSITIONS,
        {"positions": "Sinusoids"},
    ),
    Stop(
        "What each head does",
        "A row for each head: its role, where it looks, and under “zeroed” how the answer changes without it.",
        pages.HEADS,
        {"heads_part": "Table"},
    ),
    Stop(
        "How the heads formed",
        "Play the training: the maps begin blurred, and each head finds its pattern.",
        pages.TRAINING,
        {"training": "Recording"},
    ),
    Stop(
        "Before or after: the LayerNorm",
        "Each row is a claim of a paper about pre-LN and post-LN, and what was measured of it here.",
        pages.NORM_PLACEMENT,
    ),
    Stop(
        "Two encoders, one sentence",
        "The same words in pre-LN and post-LN: which heads look alike?",
        pages.COMPARE,
        {"compare_part": "Heads", "compare_what": "two encoders"},
    ),
    Stop(
        "Your own encoder",
        "Open one from Hugging Face, choose it on any page, and take the tour again with it.",
        pages.YOUR_OWN,
    ),
)
TOUR = Code("tour", pattern="|".join(str(number) for number in range(1, len(STOPS) + 1)))


def current_stop() -> int | None:
    """Number of the stop at which the reader is, from 1; None outside the tour."""
    written = TOUR.read()
    return int(written) if written in map(str, range(1, len(STOPS) + 1)) else None
