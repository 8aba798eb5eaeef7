"""The pure parts of the measurements beside the peers: tables, ratios, powers, and the sections of their page."""

from datetime import date

import numpy as np
import pytest
import torch

from benchmarks.beside_peers.__main__ import GROUPS, README
from benchmarks.beside_peers.encoder_folders import OTHER_WORDS, text
from benchmarks.beside_peers.ours import page
from benchmarks.beside_peers.random_weights import random_record
from benchmarks.beside_peers.readme_tables import (
    difference,
    merged,
    ratio,
    section,
    slope,
    table,
    with_workers,
)
from benchmarks.beside_peers.side import interleaved
from benchmarks.beside_peers.training_step import CLASSES, VOCABULARY, Sizes, stepper


def test_a_table_has_a_line_for_each_row():
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_row_with_a_cell_too_many_is_an_error():
    with pytest.raises(ValueError, match="2 columns"):
        table(["a", "b"], [["1", "2", "3"]])


def test_a_ratio_is_the_median_of_the_turns():
    # the second turn was twice as slow for both, and the third had something else running
    assert ratio([1.0, 2.0, 9.0], [2.0, 4.0, 2.0]) == 0.5


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 2.5])
def test_the_slope_is_the_power_of_the_size(power):
    sizes = [16, 32, 64, 128]
    assert slope(sizes, [3 * size**power for size in sizes]) == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(("sizes", "costs"), [([16], [1.0]), ([16, 32], [1.0, 0.0])])
def test_no_power_is_fitted_to_too_little(sizes, costs):
    with pytest.raises(ValueError, match="no power"):
        slope(sizes, costs)


def test_workers_share_what_is_not_the_start():
    # 2 s of start and 8 s of work: 10 s, then 6 s, then 4 s
    assert with_workers(10.0, 6.0, 2) == 6.0
    assert with_workers(10.0, 6.0, 4) == 4.0
    assert np.isnan(with_workers(10.0, 10.5, 4))


def test_a_difference_stands_beside_the_range():
    assert difference(np.array([0.0, 0.5]), np.array([0.001, 0.501])) == "1e-03 of 0.5"


def test_a_section_says_its_day():
    assert section("Pages", "words", day=date(2030, 1, 2)).startswith("### Pages\n\nMeasured on 2030-01-02, ")


def test_a_section_is_replaced_and_the_others_stay():
    page = "top\n<!-- a -->\nold\n<!-- end of a -->\nbetween\n<!-- b -->\nkept\n<!-- end of b -->\n"
    once = merged(page, "a", "new")
    assert once == page.replace("old", "new")
    assert merged(once, "a", "new") == once


def test_a_page_without_the_section_is_an_error():
    with pytest.raises(ValueError, match="no section c"):
        merged("<!-- a -->\n<!-- end of a -->", "c", "new")


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_has_its_section(group):
    assert "\nnew\n" in merged(README.read_text(encoding="utf-8"), group, "new")


def test_turns_are_interleaved_and_the_first_is_thrown_away():
    turns: list[str] = []

    def run(name: str, seconds: float) -> float:
        turns.append(name)
        return seconds + len(turns)

    times = interleaved({"a": lambda: run("a", 0), "b": lambda: run("b", 10)}, rounds=2)
    assert turns == ["a", "b"] * 3
    assert times == {"a": [3, 5], "b": [14, 16]}


def test_a_text_has_so_many_words_beside_the_two_special_tokens():
    assert text(6).split() == ["the", "film", "is", "not"]
    assert len(text(40, OTHER_WORDS).split()) == 38


def test_random_weights_are_rows_of_shares():
    record = random_record("2x3x5")
    assert record.pattern.shape == (2, 3, 5, 5)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_step_changes_the_weights(precision):
    model = torch.nn.Sequential(
        torch.nn.Embedding(VOCABULARY, CLASSES), torch.nn.Flatten(), torch.nn.Linear(6, 2)
    )
    before = model[2].weight.clone()
    stepper(model, Sizes(layers=1, heads=1, width=CLASSES, tokens=3, batch=2), precision)()
    assert (model[2].weight != before).all()


def test_the_page_of_random_weights_is_written(tmp_path):
    page("1x1x3", str(tmp_path / "page.html"))()
    assert "word2" in (tmp_path / "page.html").read_text(encoding="utf-8")
