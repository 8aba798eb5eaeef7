"""What is said of heads over data: sentences against numbers."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from app_pages.heads import patch, patch_over_pairs, prune, relations_tab
from app_pages.heads.patch_effect import Columns, Quantity
from app_pages.heads.table import beyond_clause
from model.atlas.parquet import DataSource
from model.capture import capture
from model.experiments.patching import Pairs
from model.experiments.patching_over_pairs import mean_effects
from model.experiments.pruning import PruningStep
from tests.app_pages.sentences.turns import Row, row, table
from tests.model import tiny
from viz.heads.relation_charts import BestHead

PRUNED = DataSource(command="", data="reviews", sha256="", n=256, weights=("a",), samples={"judged": 2000})


def pruned(*steps: tuple[int, int], n: int = 2000, right: float = 0.9) -> str:
    """What is said of a pruning, from how many answers turned wrong and right at each step."""
    changes = ((0, 0), *steps)
    table = SimpleNamespace(source=PRUNED)
    numbered = [
        PruningStep(
            number,
            None if number == 0 else 0,
            None if number == 0 else number - 1,
            right + (turned_right - turned_wrong) / max(n, 1),
            0.1,
            n,
            turned_wrong,
            turned_right,
        )
        for number, (turned_wrong, turned_right) in enumerate(changes)
    ]
    return prune._removal_sentences("mine", table, numbered)


def best(share: float, baseline: float, n: int = 100, beyond: bool = True) -> BestHead:
    return BestHead("case", 0, 1, "to head", share, share - 0.1, share + 0.1, baseline, -1, n, beyond)


def few_links(n_relations: int, n: int = 100) -> str:
    """What is said of relations of which one has `n` links, and the others fewer."""
    return relations_tab._fewer_links_sentence([best(1, 0, n=n)], n_relations)


COLUMNS = Columns(("H0", "FF"), 1)


def of_effects(signed: bool) -> Quantity:
    return Quantity("change", signed, ("falls", "rises"))


def over_pairs(*effects: tuple[float, float], signed: bool = True) -> str:
    """The headline over pairs of inputs, each with the effects of a head and of a feed-forward."""
    means = mean_effects([np.array([pair]) for pair in effects], signed=signed)
    return patch_over_pairs.headline(means, COLUMNS, of_effects(signed))


TEXT = capture(tiny.loaded(tiny.TEXT), "not great film")
TWICE = replace(TEXT, tokens=("[CLS]", "not", "a", "film", "[SEP]"))
SHORT = capture(tiny.loaded(tiny.TEXT), "not film")


TABLE: dict[str, list[Row]] = {
    "how many heads can go": [
        row(
            "none",
            lambda: pruned((40, 0), (80, 0)),
            "lower as soon as the first head is gone",
            "90.0 % → 88.0 %",
        ),
        row("it rises", lambda: pruned((0, 40), (0, 40)), "not clearly lower even", "+2.0 ±"),
        row(
            "lower, though it rounds to the same",
            lambda: pruned((9, 0), n=100_000, right=0.9),
            "lower as soon as",
            "90.00 % → 89.99 %",
            "−0.01 ± 0.003 points",
        ),
    ],
    "a relation beyond the best offset": [
        row(
            "far beyond", lambda: beyond_clause(best(0.64, 0.36)), "64 % of 100 links", "words away hits 36 %"
        ),
        row("prints alike", lambda: beyond_clause(best(0.554, 0.551)), "55.4 % of 100", "hits 55.1 %"),
        row("no relation has enough links", lambda: few_links(3, n=5), "No relation has the"),
        row("one has too few", lambda: few_links(2), "fewer than 20 links: 1 relation."),
        row("several have too few", lambda: few_links(3), "fewer than 20 links: 2 relations."),
        row("all have enough", lambda: f"[{few_links(1)}]", "[]"),
    ],
    "the headline over pairs": [
        row(
            "the largest could be chance",
            lambda: over_pairs((1.5, -0.05), (-0.8, -0.051), (0.9, -0.052)),
            "L0 H0 has the largest mean effect: +0.533",
            "which could be chance. Of the parts with a clear effect, L0 FF has the largest: −0.0510",
            "1 of 2 parts",
        ),
        row(
            "the largest is clear",
            lambda: over_pairs((1.5, -0.05), (1.4, -0.051), (1.6, -0.052)),
            "L0 H0 has the largest mean effect: +1.50",
            "2 of 2 parts",
            never=("no clear effect",),
        ),
        row(
            "none is clear",
            lambda: over_pairs((1.5, 0.3), (-0.8, -0.3)),
            "no part has a clear effect; L0 H0 has the largest",
        ),
        row(
            "nothing varies",
            lambda: over_pairs((2.0, 0.1), (2.0, 0.1)),
            "no part has a clear effect",
            never=("2 of 2",),
        ),
        row(
            "no effect",
            lambda: over_pairs((0.0, 0.0), (0.0, 0.0)),
            "no part has an effect.",
            never=("largest",),
        ),
        row("rounding", lambda: over_pairs((1e-7, 0.0), (-1e-7, 1e-8)), "no part has an effect."),
        row(
            "a tie",
            lambda: over_pairs((0.5, 0.5), (0.4, 0.4), (0.6, 0.6)),
            "L0 H0, L0 FF have the largest mean effect: +0.500",
        ),
        row("one pair", lambda: over_pairs((0.5, 0.1)), "Over 1 pair: at least two pairs are needed"),
        row(
            "distances",
            lambda: over_pairs((0.5, 0.1), (0.4, 0.2), signed=False),
            "L0 H0 has the largest mean effect: 0.450",
            never=("clear", "+"),
        ),
    ],
    "what a patch would have to do": [
        row(
            "too close",
            lambda: patch._too_close_sentence(0.001, "text"),
            "differ by +0.001, too little to divide by",
        ),
        row(
            "no mask in the second",
            lambda: patch._too_close_sentence(math.nan, "text"),
            "no masked token at that position",
            never=("nan", "–"),
        ),
        row(
            "as long as each other",
            lambda: patch._pairing_sentences(TEXT, TWICE, Pairs((0,), (0,))),
            "5 positions",
            "Positions whose tokens differ: 1.",
        ),
        row(
            "equal texts",
            lambda: patch._pairing_sentences(TEXT, TEXT, Pairs((0,), (0,))),
            "Positions whose tokens differ: 0.",
        ),
        row(
            "one without a partner",
            lambda: patch._pairing_sentences(TEXT, SHORT, Pairs((0, 1, 2, 3), (0, 1, 2, 3))),
            "left as they are: 1.",
        ),
        row(
            "several without a partner",
            lambda: patch._pairing_sentences(TEXT, SHORT, Pairs((0, 1, 2), (0, 1, 2))),
            "left as they are: 2.",
        ),
    ],
    "a head and the best offset": [
        row("beyond it", lambda: relations_tab.comparison_clause(True, 0.01), "clearly more", never=("not",)),
        row("not beyond it", lambda: relations_tab.comparison_clause(False, 0.2), "not clearly more"),
        row(
            "too few links",
            lambda: relations_tab.comparison_clause(False, math.nan),
            "too few to compare",
            never=("more",),
        ),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
