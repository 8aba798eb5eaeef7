"""What is said of positions: sentences against numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from app_pages.positions import (
    bias_by_distance,
    checkpoint,
    experiment_sentences,
    experiments,
    page,
    rotated_scores,
    sinusoids,
    windows,
)
from model.capture import capture
from model.experiments.embeddings import GridMeans
from model.experiments.position_kinds import MAPS, Reach
from model.family_options import Family, Parts
from tests.app_pages.sentences.turns import Row, row, table
from tests.model import tiny

TEXT = capture(tiny.loaded(tiny.TEXT), "not great film")  # [CLS] not great film [SEP]


def seen(before: int, after: int, half: int = 100) -> str:
    return windows.range_text(np.array([before, after]), half)


def held(*distances: int, half: int = 100) -> str:
    holds = np.array([[distance, distance] for distance in distances])
    return windows._information_sentence(Reach(half, holds, holds))


def bias(*curve: float) -> str:
    half = len(curve) // 2
    return bias_by_distance.extremes_sentence("L0 H0", np.arange(-half, half + 1), np.array(curve))


def moved(*scores: float) -> str:
    return rotated_scores.moved_sentence(np.array(scores))


def grid(*means: float, is_learned: bool = True) -> str:
    return checkpoint.grid_sentence(GridMeans(*means), is_learned=is_learned)


def head_input(layer: int = 0, **changes: Any) -> str:
    return sinusoids._head_input_sentence(replace(tiny.TEXT, **changes), layer, f"L{layer} H0")


TWICE_AS_LONG = replace(TEXT, pattern=TEXT.pattern[..., ::-1].copy())


TABLE: dict[str, list[Row]] = {
    "what shifts do to the pooled state": [
        row(
            "nothing moves",
            lambda: experiments.no_effect_sentence(49, 0.0),
            "exactly as it is",
            never=("rounding",),
        ),
        row(
            "rounding",
            lambda: experiments.no_effect_sentence(49, 2.4e-7),
            "which is rounding",
            r"2.4 \times 10^{-7}",
            never=("exactly",),
        ),
        row(
            "a weight changes much", lambda: experiments._largest_change_sentence(TEXT, TWICE_AS_LONG), "**0."
        ),
        row("no weight changes", lambda: experiments._largest_change_sentence(TEXT, TEXT), "**$0$**"),
        row(
            "rotations stay",
            lambda: experiment_sentences.shift_sentences(TEXT, ("rotated",), 3),
            "so it stays",
            "Any change is rounding",
        ),
        row(
            "added vectors do not",
            lambda: experiment_sentences.shift_sentences(TEXT, ("added", "biased"), 3),
            "offsets alone",
            never=("Any change is rounding",),
        ),
        row(
            "beyond the table",
            lambda: experiment_sentences.shift_sentences(TEXT, ("added",), 9),
            "never met in training",
        ),
        row(
            "at the table's end",
            lambda: experiment_sentences.shift_sentences(TEXT, ("added",), 7),
            "to 11.",
            never=("never met",),
        ),
        row(
            "nothing to leave out",
            lambda: experiment_sentences.left_out_sentences(("windowed",)),
            "nothing to leave out",
            "Masks stay",
        ),
        row(
            "all tokens are seen",
            lambda: experiment_sentences.permutation_sentences(TEXT, ("added",), sees_all=True)[1],
            "treat all positions alike",
        ),
        row(
            "masks hide some",
            lambda: experiment_sentences.permutation_sentences(TEXT, ("windowed",), sees_all=False)[1],
            "the order counts",
            never=("alike",),
        ),
    ],
    "how far a layer sees": [
        row("everything", lambda: seen(100, 100), "everything"),
        row("a window", lambda: seen(64, 64), "±64 positions"),
        row("almost everything", lambda: seen(99, 99), "±99", never=("everything",)),
        row("earlier ones", lambda: seen(100, 0), "the token itself and all earlier ones"),
        row("some earlier ones", lambda: seen(5, 0), "the token itself and 5 earlier ones"),
        row("one-sided", lambda: seen(5, 2), "5 positions before and 2 after"),
        row("holds everything from a layer on", lambda: held(64, 100), "After L1", "from everywhere"),
        row(
            "never holds everything",
            lambda: held(16, 32, 48),
            "After the last layer",
            "±48 positions",
            never=("everywhere",),
        ),
    ],
    "where a bias is largest": [
        row(
            "one offset each",
            lambda: bias(0.1, 0.5, 0.2, 0.9, 0.3),
            "most, **+0.90**, at offset +1",
            "least, **+0.10**, at offset −2",
        ),
        row(
            "far offsets share the largest",
            lambda: bias(0.9, 0.9, 0.2, 0.5, 0.1),
            "at offset −1 and beyond",
            "least, **+0.10**, at offset +2",
        ),
        row(
            "offsets between share the least",
            lambda: bias(0.5, 0.6, 0.2, 0.1, 0.1, 0.9, 0.7),
            "least, **+0.10**, at offsets 0 to +1",
        ),
        row("apart from each other", lambda: bias(0.9, 0.1, 0.2, 0.3, 0.9), "at 2 offsets, the nearest"),
        row("all equal", lambda: bias(0.2, 0.2, 0.2), "adds **+0.20** at every offset", never=("most",)),
        row("print alike", lambda: bias(0.001, 0.002, 0.0015), "**+0.002**", "**+0.001**"),
        row("negative alone", lambda: bias(-0.5, -0.1, -0.2), "most, **−0.10**, at offset 0"),
    ],
    "a pair moved along": [
        row("rounding", lambda: moved(1.0, 1.000001), "the score stays", "rounding"),
        row("equal", lambda: moved(1.0, 1.0, 1.0), "Over all 3 places", "the score stays"),
        row("not equal", lambda: moved(1.0, 1.1), "the score changes", never=("stays", "rounding")),
        row("large scores round more", lambda: moved(1000.0, 1000.01), "the score stays"),
        row("one place", lambda: moved(1.0), "nothing can be compared", never=("stays",)),
    ],
    "whether a table shows the grid": [
        row("it does", lambda: grid(0.5, 0.4, 0.1), "was learned in training"),
        row("it does not", lambda: grid(0.1, 0.1, 0.1), "is not visible here"),
        row("computed", lambda: grid(0.5, 0.4, 0.1, is_learned=False), "do not tell"),
    ],
    "what a head multiplies by W_Q": [
        row(
            "the sum",
            lambda: head_input(norm_placement="post", final_norm=False),
            "$(X + P)\\, W_Q$, plus a bias is the very $q$",
        ),
        row("behind a norm", lambda: head_input(), r"\text{LayerNorm}(X + P)\, W_Q$, plus a bias"),
        row(
            "without a bias",
            lambda: head_input(family=Family(parts=Parts(without_bias=("w_q",)))),
            r"W_Q$.",
            never=("bias",),
        ),
        row(
            "behind an RMSNorm",
            lambda: head_input(family=Family(parts=Parts(norm="rms"))),
            r"\text{RMSNorm}(X + P)",
        ),
        row(
            "behind two norms",
            lambda: head_input(embedding_norm=True),
            r"\text{LayerNorm}(\text{LayerNorm}(X + P))",
        ),
        row("a later layer", lambda: head_input(1), "after layer 0, not $X + P$"),
    ],
    "the formula of a score": [
        row(
            "three terms",
            lambda: page.score_formula([name.replace("_", " ") for name in MAPS]),
            r"q_t \cdot k_{\delta(t,s)}",
            r"q_{\delta(t,s)} \cdot k_s",
            r"\sqrt{3 \, d_k}",
            never=(r"\delta(s,t)",),
        ),
        row(
            "content to position alone",
            lambda: page.score_formula(["content to content", "content to position"]),
            r"\sqrt{2 \, d_k}",
            never=(r"q_{\delta",),
        ),
        row(
            "contents alone",
            lambda: page.score_formula(["content to content"]),
            r"/ \sqrt{d_k}",
            never=("delta",),
        ),
        row(
            "all numbers rotated",
            lambda: rotated_scores.score_formula(rotates_all=True),
            r"\cos(",
            never=("+ c",),
        ),
        row("some are not", lambda: rotated_scores.score_formula(rotates_all=False), "+ c"),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
