from types import SimpleNamespace

import numpy as np

from app_pages.inside_a_head.view import View
from model.record import Positions


def view(tokens: tuple[str, ...], patch_grid: tuple[int, int] | None = None) -> View:
    record = Positions(
        tokens=tokens, roles=("patch" if patch_grid else "word",) * len(tokens), patch_grid=patch_grid
    )
    chosen = SimpleNamespace(layer=1, head=3)
    steps = SimpleNamespace(attention=SimpleNamespace(pattern=np.array([0.2, 0.1, 0.2, 0.5])))
    return View(subject=None, chosen=chosen, record=record, steps=steps, query=0, key=2, keys=(0, 2, 3))


def test_tokens_that_occur_twice_are_told_apart():
    texts = view(("the", "film", "the", "x" * 40))
    assert [texts.name(key) for key in texts.keys] == ["0 the", "2 the", "3 xxxxxxxxxxxxx…"]


def test_patches_have_names_of_their_own():
    patches = view(("[CLS]", "r0c0", "r0c1", "r0c2"), (1, 3))
    assert [patches.name(position) for position in (0, 2)] == ["[CLS]", "r0c1"]


def test_rows_come_by_position_or_by_weight():
    texts = view(("a", "b", "c", "d"))
    assert texts.ordered(by_weight=False) == [0, 2, 3]
    assert texts.ordered(by_weight=True) == [3, 0, 2]
