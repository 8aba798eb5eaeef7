import torch

from model.masks import causal, key_padding, local_window, patch_window


def rows(mask: torch.Tensor) -> list[str]:
    return ["".join("x" if allowed else "." for allowed in row) for row in mask.tolist()]


def test_nobody_attends_to_padding():
    mask = key_padding(torch.tensor([[5, 6, 0, 0], [5, 0, 7, 8]]), padding_id=0)
    assert mask.shape == (2, 1, 1, 1, 4)
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
    assert rows(patch_window((2, 3), 1, class_token=False)) == [
        "xx.xx.",
        "xxxxxx",
        ".xx.xx",
        "xx.xx.",
        "xxxxxx",
        ".xx.xx",
    ]


def test_the_class_token_sees_every_patch_and_is_seen():
    assert rows(patch_window((1, 3), 1, class_token=True)) == ["xxxx", "xxx.", "xxxx", "x.xx"]
