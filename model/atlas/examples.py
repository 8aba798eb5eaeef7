"""The examples of a data set, one at a time: texts of a CSV, or the MNIST test digits that come with the project."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .. import digits
from ..checkpoint import Loaded
from ..inputs import Input, Picture, Text

WINDOW = 1024  # texts that are in memory together
DIGITS = "MNIST test digits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """`limit` of the examples at equal distances, since a file may be sorted; all where there are fewer.

    Going through them again reads the file again.
    """

    name: str  # of the data, as it stands on screen
    csv: Path | None  # None: the test digits
    limit: int

    def __iter__(self) -> Iterator[tuple[int, Input]]:
        """Each with its number in the data, from 1."""
        n = len(digits.examples()[0]) if self.csv is None else sum(map(len, _windows(self.csv)))
        chosen = {place * n // self.limit for place in range(self.limit)} if n > self.limit else range(n)
        found = _digits() if self.csv is None else _texts(self.csv)
        return ((place + 1, given) for place, given in enumerate(found) if place in chosen)

    @property
    def sha256(self) -> str:
        """Of the file that holds them."""
        path = self.csv or digits.EXAMPLES / "t10k-images-idx3-ubyte.gz"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def examples_for(loaded: Loaded, csv: Path | None, limit: int, name: str | None = None) -> Examples:
    """What the encoder reads; `name` is the file's where none is given. Raises ValueError where the data do not fit."""
    if limit < 2:
        raise ValueError(f"a spread needs two examples at least, got a limit of {limit}")
    if loaded.config.is_text and csv is None:
        raise ValueError(f"{loaded.name} reads text: name a CSV with the column text")
    if not loaded.config.is_text and csv is not None:
        raise ValueError(f"{loaded.name} reads digits, which a CSV does not hold")
    if csv is not None and "text" not in pd.read_csv(csv, nrows=0).columns:
        raise ValueError(f"{csv.name} lacks the column text")
    return Examples(name=name or (DIGITS if csv is None else csv.name), csv=csv, limit=limit)


def _digits() -> Iterator[Picture]:
    return map(Picture.of, digits.examples()[0])


def _texts(csv: Path) -> Iterator[Text]:
    for window in _windows(csv):
        yield from map(Text, window)


def _windows(csv: Path) -> Iterator[pd.Series]:
    with pd.read_csv(csv, usecols=["text"], dtype=str, keep_default_na=False, chunksize=WINDOW) as windows:
        yield from (window.text for window in windows)
