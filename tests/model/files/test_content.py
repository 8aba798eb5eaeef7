import os
from pathlib import Path

import pytest

from model.files.content import check_regular, read_bounded


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"x" * 2**20)
    assert read_bounded(path, 2**20) == b"x" * 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(ValueError, match=r"^it is larger than 1 MB$"):
        read_bounded(path, 2**20)


def test_what_is_not_there_is_told_from_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ValueError, match=r"^it is not a file$"):
            check_regular(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="nothing"):
        check_regular(tmp_path / "nothing")
