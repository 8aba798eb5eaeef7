"""Copies by way of two pieces, with transfers that end as late as a GPU's may."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from model.capture.to_host import copy_by_pieces, to_host

PIECE = 8


class LateTransfers:
    """Transfers that fill their piece only when somebody waits for them; before that it holds 255."""

    def __init__(self) -> None:
        self.n_begun, self.n_waited_for = 0, 0

    def __call__(self, chunk: Tensor, piece: Tensor) -> Callable[[], None]:
        piece.fill_(255)
        self.n_begun += 1

        def wait() -> None:
            piece.copy_(chunk)
            self.n_waited_for += 1

        return wait


@pytest.mark.parametrize("n", [1, 3, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 3])
def test_every_byte_arrives_whatever_the_length(n: int) -> None:
    source = torch.arange(n, dtype=torch.uint8)
    target = np.full(n, 254, np.uint8)
    pieces = [torch.empty(PIECE, dtype=torch.uint8) for _ in range(2)]
    transfers = LateTransfers()
    copy_by_pieces(source, target, pieces, transfers)
    np.testing.assert_array_equal(target, np.arange(n))
    assert transfers.n_begun == transfers.n_waited_for == -(-n // PIECE)


def test_one_piece_is_filled_while_the_other_is_copied_on() -> None:
    # at most one transfer is under way, and it began before the last one's bytes were copied on
    order: list[str] = []

    def start_transfer(chunk: Tensor, piece: Tensor) -> Callable[[], None]:
        order.append(f"begin {int(chunk[0]) // PIECE}")
        piece.copy_(chunk)
        return lambda: order.append(f"wait {int(chunk[0]) // PIECE}")

    pieces = [torch.empty(PIECE, dtype=torch.uint8) for _ in range(2)]
    source = torch.arange(3 * PIECE, dtype=torch.uint8)
    copy_by_pieces(source, np.empty(len(source), np.uint8), pieces, start_transfer)
    assert order == ["begin 0", "wait 0", "begin 1", "wait 1", "begin 2", "wait 2"]


def test_an_error_of_the_device_is_raised() -> None:
    def start_transfer(_chunk: Tensor, _piece: Tensor) -> Callable[[], None]:
        raise RuntimeError("the device is gone")

    piece = torch.empty(PIECE, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="the device is gone"):
        copy_by_pieces(piece, np.empty(PIECE, np.uint8), [piece, piece], start_transfer)


def test_what_lies_in_the_machines_memory_is_not_copied() -> None:
    values = torch.rand(2, 3)
    assert to_host(values).data_ptr() == values.data_ptr()
