from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from app_pages.inside_a_head.view import KEY, View
from model.record import Positions


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict:
    kept: dict = {}
    monkeypatch.setattr(st, "session_state", kept)
    return kept


def view(tokens: tuple[str, ...], patch_grid: tuple[int, int] | None = None) -> View:
    record = Positions(
        tokens=tokens, roles=("patch" if patch_grid else "word",) * len(tokens), patch_grid=patch_grid
    )
    chosen = SimpleNamespace(layer=1, head=3)
    return View(subject=None, chosen=chosen, record=record, steps=None, query=0, key=2, keys=(0, 2, 3))


def test_tokens_that_occur_twice_are_told_apart() -> None:
    assert list(view(("the", "film", "the", "x" * 40)).numbers(np.arange(4))) == [
        "0 the",
        "2 the",
        "3 xxxxxxxxxxxxx…",
    ]


def test_patches_have_names_of_their_own() -> None:
    patches = view(("[CLS]", "r0c0", "r0c1", "r0c2"), (1, 3))
    assert [patches.name(position) for position in (0, 2)] == ["[CLS]", "r0c1"]


def test_what_is_drawn_of_the_keys() -> None:
    found = view(("a", "b", "c", "d")).numbers(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found == {"0 a": 1, "2 c": 3, "3 d": 4}


@pytest.mark.parametrize(("row", "key"), [(0, 0), (1, 2), (2, 3), (2.0, 3)])
def test_a_click_on_a_row_chooses_its_key(session: dict, row: float, key: int) -> None:
    view(("a",) * 5).take_row({"row": row})
    assert session == {KEY.key: key}


def test_a_click_on_the_row_of_all_others_chooses_nothing(session: dict) -> None:
    view(("a",) * 5).take_row({"row": 3})
    assert session == {}
