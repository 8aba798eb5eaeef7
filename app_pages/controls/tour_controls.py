"""The stops of the tour, and the control that holds the reader's present stop."""

from collections.abc import Mapping
from typing import NamedTuple

from app_pages.controls import pages
from app_pages.controls.address import Code
from app_pages.controls.pages import Page


class Stop(NamedTuple):
    """A stop of the tour: a page, what to look at there (`seen`), and the address parameters `parts` that open that part of the
    page.

    `seen` is true of any encoder and input, unless `otherwise` holds the sentence for those of which it is not.
    """

    title: str
    seen: str
    page: Page
    parts: Mapping[str, str] = {}
    # The same where the input is a picture, or no word is hidden; {part} is what is clicked.
    otherwise: str = ""
    hides_a_word: bool = False  # that on which the answer depends most
    is_of_training: bool = False  # needs the recording that an encoder brings of its training


STOPS = (
    Stop(
        "All heads at once",
        "Type a sentence, or keep this one. Each square is a head: point at a word to see what each reads.",
        pages.ATTENTION,
        {"view": "matrix", "part": "this head"},
        otherwise="Each square is a head: point at {part}, and each shows where that part looks.",
    ),
    Stop(
        "Hide a word",
        "The struck-out word is hidden from every head: see how the answer changes. Click other words, too.",
        pages.MASKS,
        {"masks_part": "Step by step", "masks_kind": "Block tokens"},
        otherwise="Click {part}: it is hidden from every head. See how the answer changes.",
        hides_a_word=True,
    ),
    Stop(
        "Where one weight comes from",
        "Query times key, then a softmax, then the values: click the steps at the left.",
        pages.INSIDE_A_HEAD,
        {"inside": "Step by step"},
    ),
    Stop(
        "Why √d_k",
        "Set the scale to 1: scores that are not divided spread far, and one key gets nearly all the weight.",
        pages.INSIDE_A_HEAD,
        {"inside": "Why √d_k", "inside_scale": "random vectors"},
    ),
    Stop(
        "Why word order needs help",
        "Attention sees no order. Move “Position t”: each position adds its own pattern to the word.",
        pages.POSITIONS,
        {"positions": "Sinusoids"},
    ),
    Stop(
        "What each head does",
        "A row per head: its role, where it looks, and under “zeroed” how far the answer falls without it.",
        pages.HEADS,
        {"heads_part": "Table"},
    ),
    Stop(
        "How the heads formed",
        "Press Play, below the maps: they begin blurred, and each head finds its pattern.",
        pages.TRAINING,
        {"training": "Recording"},
        is_of_training=True,
    ),
    Stop(
        "Before or after: the LayerNorm",
        "From which layers does an answer come? Below: papers' claims, measured here.",
        pages.NORM_PLACEMENT,
        {"norm_figure": "what an answer is made of"},
    ),
    Stop(
        "Two encoders, one input",
        "One left, one right, each with its name: which heads look alike? Click a square to see it large.",
        pages.COMPARE,
        {"compare_part": "Heads", "compare_what": "two encoders"},
    ),
    Stop(
        "Your own encoder",
        "Open one here, and the tour begins again with it.",
        pages.YOUR_OWN,
    ),
)
TOUR = Code("tour", pattern="|".join(str(number) for number in range(1, len(STOPS) + 1)))


def current_stop() -> int | None:
    """Number, from 1, of the stop where the reader is; None outside the tour."""
    written = TOUR.read()
    return int(written) if written in map(str, range(1, len(STOPS) + 1)) else None
