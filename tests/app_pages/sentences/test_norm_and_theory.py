"""Claims about the place of the norm, theory, and cost: sentences against numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from app_pages.show import verdicts
from app_pages.theory import at_start, first_steps
from model.claims.verdict import Beyond, Larger, judge
from tests.app_pages.sentences.turns import Row, row, table
from tests.model.claims.invented_measurements import invented

# Values of the seeds of one placement.
HIGH, LOW, EVEN = (2.0, 2.1, 2.2), (1.0, 1.1, 1.2), (1.0, 1.0, 1.0)


def verdict_line(pre: tuple[float, ...], post: tuple[float, ...], rule: Any = None) -> str:
    rule = rule or Larger("pre")
    return verdicts.verdict_lines(judge(rule, [invented(pre, post)]), rule)


def borderline(p: float) -> str:
    """The line for a tested difference with this corrected p."""
    (judgement,) = judge(Larger("pre"), [invented((2.0,) * 6, (1.0,) * 6)])
    return verdicts.verdict_lines([replace(judgement, p=p)], Larger("pre"))


def chip(*outcomes: tuple[tuple[float, ...], tuple[float, ...]]) -> str:
    measured = [invented(pre, post, where=str(number)) for number, (pre, post) in enumerate(outcomes)]
    return verdicts.verdict_html(judge(Larger("pre"), measured))


def by_layer(*ratios: float, variant: str = "post-LN") -> str:
    return at_start.by_layer_text({variant: np.array([[1.0, ratio] for ratio in ratios])})


def concentration(share: float) -> str:
    return at_start.concentration_sentence({"pre-LN": share})


def norms(variant: str, *layers: float) -> str:
    """What is said of the norms of these layers beside the two bounds and the line of the lemma."""
    lemma = np.array([[1.0, 2.0], [2.5, 4.0], [1.5, 1.5]])
    return at_start.hidden_norms_text({variant: np.array([layers])}, lemma)


TABLE: dict[str, list[Row]] = {
    "a verdict over the seeds": [
        row("all as claimed", lambda: verdict_line(HIGH, LOW), "All 3 seeds agree", "3 of 3 pairs"),
        row("all against it", lambda: verdict_line(LOW, HIGH), "say the opposite", "0 of 3 pairs"),
        row("a tie", lambda: verdict_line(EVEN, EVEN), "No clear difference", "0 of 3 pairs"),
        row("one of two touches", lambda: verdict_line((2.0, 2.1, 1.2), LOW), "No clear difference"),
        row("two seeds", lambda: verdict_line(HIGH[:2], LOW[:2]), "No verdict from fewer than 3 seeds"),
        row("one seed", lambda: verdict_line(HIGH[:1], LOW[:1]), "1 of 1 pair)"),
        row("at a bound", lambda: verdict_line(EVEN, EVEN, Beyond("pre", 1.0)), "No clear", "0 of 3 seeds"),
        row("p prints like the bound", lambda: borderline(0.0499), "Holds", "p = 0.0499"),
        row("p is clear", lambda: borderline(0.003), "p = 0.003"),
        row("nothing measured", lambda: verdicts.verdict_lines([], Larger("pre")), "Not measured"),
        row(
            "agreeing kinds", lambda: chip((HIGH, LOW)), "seems to hold", "claimed in 1 of 1 kind of encoders"
        ),
        row(
            "mixed kinds",
            lambda: chip((HIGH, LOW), (LOW, HIGH)),
            "mixed",
            "as claimed in 1 of 2 kinds of encoders · the opposite in 1",
        ),
        row(
            "too few alone", lambda: chip((HIGH[:1], LOW[:1])), "too few seeds or only guesses in 1 of 1 kind"
        ),
        row(
            "no difference",
            lambda: chip((EVEN, EVEN)),
            "not confirmed",
            "no clear difference in 1 of 1 kind",
            never=("agree",),
        ),
    ],
    "whether the gradient grows with the layer": [
        row(
            "in no seed",
            lambda: by_layer(0.7, 0.8, 0.9),
            "it grows from the first layer to the last in 0 of 3 seeds",
            "0.70 to 0.90",
        ),
        row("no growth at all", lambda: by_layer(*[1.0] * 3), "in 0 of 3 seeds"),
        row("in some seeds", lambda: by_layer(0.68, 0.9, 1.52), "in 1 of 3 seeds", "0.68 to 1.52"),
        row("one seed", lambda: by_layer(0.7), "in 0 of 1 seed."),
        row(
            "another placement",
            lambda: by_layer(0.7, 0.9, variant="pre-LN"),
            "| pre-LN |",
            never=("it grows",),
        ),
    ],
    "the theory at the start": [
        row(
            "one depth",
            lambda: at_start.last_layer_text({"pre-LN": np.ones((1, 1))}, [4]),
            "mean over 1 seed",
            "One depth has no slope",
        ),
        row(
            "flat",
            lambda: at_start.last_layer_text({"pre-LN": np.ones((2, 2))}, [2, 4]),
            "| pre-LN | 1.00 | **0.00** (0.00 to 0.00) |",
        ),
        row("a share that rounds to 0", lambda: concentration(0.003), "pre-LN 0.003", never=("0.00.",)),
        row("no share", lambda: concentration(0.0), "pre-LN 0."),
        row("all inside the band", lambda: norms("pre-LN", 2.0, 3.0), "**2 of 2** layers"),
        row("at the edge of the band", lambda: norms("pre-LN", 1.0, 9.0), "**1 of 2** layers"),
        row("on the line", lambda: norms("post-LN", 1.5, 1.5), "at most **0 %** away"),
        row("nearly on the line", lambda: norms("post-LN", 1.5, 1.503), "at most **under 1 %** away"),
        row(
            "steps over the seeds",
            lambda: first_steps._update_text({"pre-LN": np.array([[0, 1.0, 2.0], [0, 3.0, 4.0]])}, 2, 16),
            "| **2.00** (1.00 to 3.00) | 3.00 (2.00 to 4.00) |",
        ),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
