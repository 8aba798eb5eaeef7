import torch

from model.masks import (
    blocked_cells,
    blocked_keys,
    causal,
    combine_with_padding,
    local_window,
    patch_window,
    real_positions,
    restrict_to_heads,
)


def rows(mask: torch.Tensor) -> list[str]:
    return ["".join("x" if allowed else "." for allowed in row) for row in mask.tolist()]


def test_nobody_attends_to_padding():
    real = real_positions(torch.tensor([[5, 6, 0, 0], [5, 0, 7, 8]]), padding_id=0)
    mask = combine_with_padding(None, real, (2, 3, 1, 4, 4))
    assert mask.shape == (2, 3, 1, 1, 4)
    assert rows(mask[:, 0, 0, 0]) == ["xx..", "x.xx"]


def test_causal():
    assert rows(causal(3)) == ["x..", "xx.", "xxx"]


def test_local_window():
    assert rows(local_window(4, 1)) == ["xx..", "xxx.", ".xxx", "..xx"]
    assert rows(local_window(2, 0)) == ["x.", ".x"]
    assert local_window(3, 5).all()


def test_patch_window_counts_rows_and_columns():
    # 0 1 2
    # 3 4 5
    assert rows(patch_window((2, 3), 1, n_before=0)) == [
        "xx.xx.",
        "xxxxxx",
        ".xx.xx",
        "xx.xx.",
        "xxxxxx",
        ".xx.xx",
    ]


def test_the_class_token_sees_every_patch_and_is_seen():
    assert rows(patch_window((1, 3), 1, n_before=1)) == ["xxxx", "xxx.", "xxxx", "x.xx"]


def test_blocked_keys_are_closed_to_every_query():
    assert rows(blocked_keys(3, (0, 2))) == [".x.", ".x.", ".x."]
    assert blocked_keys(3, ()).all()


def test_blocked_cells():
    assert rows(blocked_cells(3, ((0, 1), (2, 0)))) == ["x.x", "xxx", ".xx"]


def test_a_mask_within_chosen_heads_of_chosen_layers():
    mask = restrict_to_heads(causal(2), n_layers=3, n_heads=2, layers=(0, 2), heads=(1,))
    assert mask.shape == (3, 2, 2, 2)
    held = [[not bool(head.all()) for head in layer] for layer in mask]
    assert held == [[False, True], [False, False], [False, True]]
    assert rows(mask[2, 1]) == ["x.", "xx"]
