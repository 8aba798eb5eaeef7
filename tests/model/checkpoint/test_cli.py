import errno
import os

import pytest
import torch

from model.checkpoint.cli import exit_with_one_sentence


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("the text\nis  empty"), "the text is empty"),
        (FileNotFoundError("no checkpoint 'it'"), "no checkpoint 'it'"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.npz"), "No space left on device: a.npz"),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 ..."),
            "the memory of the GPU is too small for this; --device cpu takes the CPU",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(error, message, capsys):
    with pytest.raises(SystemExit) as ended, exit_with_one_sentence("model.it"):
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (2, f"model.it: {message}\n")


def test_what_is_wrong_in_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError), exit_with_one_sentence("model.it"):
        1 // 0  # noqa: B018
