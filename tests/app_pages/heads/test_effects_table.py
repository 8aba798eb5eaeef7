import numpy as np
import pytest

from app_pages.heads import effects_table
from app_pages.heads.effects_table import draw_effects_table
from app_pages.heads.patch_effect import Columns
from model.experiments.patching_over_pairs import mean_effects

COLUMNS = Columns(("H0", "H1", "FF"), 1)
EFFECTS = mean_effects(
    [np.array([[0.1, -2.0, 1.0]]) + shift * np.array([[1, 0.1, 0.1]]) for shift in (-1, 0, 1)]
)


class Drawn:
    """In place of the table: what it was given."""

    def draw(self, headings, rows, **options):
        self.titles, self.rows = [heading["title"] for heading in headings], rows
        self.take_row = options["take_row"]

    @property
    def texts(self) -> list[list[str]]:
        return [[cell["text"] for cell in row["cells"]] for row in self.rows]


@pytest.fixture
def drawn(monkeypatch) -> Drawn:
    table = Drawn()
    monkeypatch.setattr(effects_table, "_table", table)
    return table


def test_the_largest_mean_comes_first_with_its_interval(drawn: Drawn) -> None:
    draw_effects_table(EFFECTS, COLUMNS, (0, 0), is_tested=True)
    assert drawn.titles == ["part", "mean", "95 % interval", "sd", "pairs", "effect"]
    assert drawn.texts == [
        ["L0 H1", "−2.00", "−2.25 to −1.75", "0.100", "3", "clear"],
        ["L0 FF", "+1.00", "+0.752 to +1.25", "0.100", "3", "clear"],
        ["L0 H0", "+0.100", "−2.38 to +2.58", "1.00", "3", "could be chance"],
    ]
    assert [row["current"] for row in drawn.rows] == [False, False, True]


def test_what_does_not_vary_is_not_tested(drawn: Drawn) -> None:
    effects = mean_effects([np.array([[2.0, 0.5, 0.0]]), np.array([[2.0, 0.5 + 1e-7, 1.0]])])
    draw_effects_table(effects, COLUMNS, (0, 0), is_tested=True)
    assert [texts[-1] for texts in drawn.texts] == ["not tested", "not tested", "could be chance"]


def test_distances_have_no_test_and_no_sign(drawn: Drawn) -> None:
    draw_effects_table(EFFECTS, COLUMNS, (0, 0), is_tested=False)
    assert "effect" not in drawn.titles
    assert drawn.texts[1][:2] == ["L0 FF", "1.00"]


def test_of_one_pair_there_is_no_interval(drawn: Drawn) -> None:
    draw_effects_table(mean_effects([np.ones((1, 3))]), COLUMNS, (0, 0), is_tested=True)
    assert drawn.texts[0] == ["L0 H0", "+1.00", "–", "–", "1", "not tested"]
