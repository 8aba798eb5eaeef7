import pytest

from model.config import preset
from model.theory.cost import n_parameters
from model.theory.published_variations import COLUMNS, variations

BASE = preset("base")


def test_every_row_of_the_table_is_there() -> None:
    rows = variations()
    assert [row.group for row in rows] == (
        ["base"] + 4 * ["(A)"] + 2 * ["(B)"] + 7 * ["(C)"] + 4 * ["(D)"] + ["(E)", "big"]
    )
    assert len({row.name for row in rows}) == len(rows)
    assert all(tuple(row.printed) == COLUMNS and row.printed["BLEU"] for row in rows)


@pytest.mark.parametrize("name", ["base", "big"])
def test_base_and_big_are_the_presets_of_that_name(name: str) -> None:
    (row,) = (row for row in variations() if row.name == name)
    sizes = ("d_model", "n_layers", "n_heads", "d_k", "d_v", "d_ff")
    assert all(getattr(row.config, size) == getattr(preset(name), size) for size in sizes)


def test_rows_a_vary_the_heads_and_keep_the_parameters() -> None:
    """Their widths shrink as their number grows: "keeping the amount of computation constant"."""
    rows = [row for row in variations() if row.group == "(A)"]
    assert [row.config.n_heads for row in rows] == [1, 4, 16, 32]
    assert {row.config.n_heads * row.config.d_k for row in rows} == {512}
    assert {n_parameters(row.config) for row in rows} == {n_parameters(BASE)}


def test_what_the_paper_prints_in_millions_moves_with_the_encoder_half() -> None:
    """The decoder grows along, so the order must be the same wherever the paper prints a number."""
    printed = [
        (float(row.printed["params"]), n_parameters(row.config))
        for row in variations()
        if row.printed["params"]
    ]
    assert len(printed) == 11
    assert all(counted / 1e6 < whole for whole, counted in printed)
    assert sorted(printed) == sorted(printed, key=lambda pair: pair[1])


def test_fewer_layers_are_fewer_by_a_layer_each() -> None:
    layers = {
        row.config.n_layers: n_parameters(row.config)
        for row in variations()
        if row.printed["N"] and row.group != "big"
    }
    layer = 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512
    assert {n: layers[n] - layers[6] for n in (2, 4, 8)} == {2: -4 * layer, 4: -2 * layer, 8: 2 * layer}


def test_learned_positions_are_a_vector_each() -> None:
    (row,) = (row for row in variations() if row.group == "(E)")
    assert row.name == "(E) learned positions"
    assert n_parameters(row.config) - n_parameters(BASE) == BASE.n_positions * BASE.d_model


def test_names_say_what_a_row_changes() -> None:
    names = [row.name for row in variations()]
    assert "(B) d_k = 16" in names
    assert "(C) d_model = 256, d_k = 32, d_v = 32" in names
    assert "(D) ε_ls = 0.0" in names
