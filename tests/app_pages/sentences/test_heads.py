"""What is said of heads over data: sentences against numbers."""

from types import SimpleNamespace

from app_pages.heads import prune, relations_tab
from app_pages.heads.table import beyond_clause
from model.atlas.data_source import DataSource
from model.experiments.pruning import PruningStep
from tests.app_pages.sentences.turns import Row, row, table
from viz.heads.relation_dots import BestHead

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


TABLE: dict[str, list[Row]] = {
    "how many heads can go": [
        row(
            "none",
            lambda: pruned((40, 0), (80, 0)),
            "lower as soon as the first head is gone",
            "90.0 % → 88.0 %",
        ),
        row("all", lambda: pruned((0, 0), (0, 0)), "not clearly lower even with all 2 heads gone"),
        row(
            "a change within chance",
            lambda: pruned((3, 2), (60, 0)),
            "with 1 of 2 heads gone accuracy is not clearly lower",
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
        row("far beyond", lambda: beyond_clause(best(0.64, 0.36)), "64 % of 100 links", "offset hits 36 %"),
        row("prints alike", lambda: beyond_clause(best(0.554, 0.551)), "55.4 % of 100", "hits 55.1 %"),
        row("all links", lambda: beyond_clause(best(1.0, 0.2)), "100 % of 100"),
        row("nearly all links", lambda: beyond_clause(best(0.9996, 0.2, n=3000)), "over 99 % of 3,000"),
        row(
            "no relation has enough links",
            lambda: relations_tab._fewer_links_sentence([best(1, 0, n=5)], 3),
            "No relation has the",
        ),
        row(
            "one has too few",
            lambda: relations_tab._fewer_links_sentence([best(1, 0)], 2),
            "1 relation with fewer",
            "is left out",
        ),
        row(
            "several have too few",
            lambda: relations_tab._fewer_links_sentence([best(1, 0)], 3),
            "2 relations with fewer",
            "are left out",
        ),
        row("all have enough", lambda: f"[{relations_tab._fewer_links_sentence([best(1, 0)], 1)}]", "[]"),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn: Row) -> None:
    turn.check()
