"""The examples of a data set: texts of a CSV, sentences of our own, or the MNIST test digits that come with the project."""

import csv as table
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ..evaluate.__main__ import class_of
from ..inputs import Input, Picture, Text, digits
from ..loaded import Loaded

LONGEST_TEXT = 10_000_000  # characters
DIGITS = "MNIST test digits"
OWN_NAME = "sentences of our own"
OWN = (digits.EXAMPLES / "sentences.json", Path(__file__).parents[1] / "train" / "negation_judged.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Some examples that follow one another: what is measured, stored and sent to another process in one piece."""

    number: int  # from 0
    numbers: tuple[int, ...]  # of the examples in the data, from 1
    inputs: tuple[Input, ...]
    labels: tuple[str, ...] | None  # as they stand in the data

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """`limit` of the examples at equal distances, since a file may be sorted; all where there are fewer, or no limit.

    Going through them again reads the file again.
    """

    name: str  # of the data, as it stands on screen
    csv: Path | None  # None: the test digits, or, of `own`, our sentences
    limit: int | None = None
    own: bool = False

    def __iter__(self) -> Iterator[tuple[int, Input]]:
        """Each with its number in the data, from 1."""
        return ((number, given) for number, given, _ in self._chosen())

    def __len__(self) -> int:
        return self._all if self.limit is None else min(self._all, self.limit)

    def limited(self, limit: int | None) -> "Examples":
        """At most so many of the same data."""
        limits = [each for each in (limit, self.limit) if each is not None]
        made = Examples(name=self.name, csv=self.csv, limit=min(limits, default=None), own=self.own)
        made.__dict__.update(
            {key: value for key, value in self.__dict__.items() if key in ("_all", "sha256")}
        )
        return made

    def shards(self, size: int, first: int = 0) -> Iterator[Shard]:
        """All of them, `size` a shard, from shard `first` on."""
        waiting: list[tuple[int, Input, str | None]] = []
        for at, each in enumerate(self._chosen()):
            if at < first * size:
                continue
            waiting.append(each)
            if len(waiting) == size:
                yield _shard(at // size, waiting)
                waiting = []
        if waiting:
            yield _shard((len(self) - 1) // size, waiting)

    @cached_property
    def sha256(self) -> str:
        """Of the files that hold them, one after the other."""
        found = hashlib.sha256()
        for path in self._files:
            with path.open("rb") as file:
                while part := file.read(2**20):
                    found.update(part)
        return found.hexdigest()

    @property
    def _files(self) -> tuple[Path, ...]:
        if self.own:
            return OWN
        return (self.csv or digits.EXAMPLES / "t10k-images-idx3-ubyte.gz",)

    @cached_property
    def _all(self) -> int:
        if self.own:
            return sum(1 for _ in _own())
        if self.csv is None:
            return len(digits.examples()[0])
        return sum(1 for _ in _texts(self.csv))

    def _chosen(self) -> Iterator[tuple[int, Input, str | None]]:
        """Number, input and label; without a label where the data have none."""
        n, limit, last = self._all, len(self), -1
        found = _own() if self.own else _digits() if self.csv is None else _texts(self.csv)
        for place, (given, label) in enumerate(found):
            # the examples at places floor(i n / limit)
            if (place * limit + limit - 1) // n > last:
                last = (place * limit + limit - 1) // n
                yield place + 1, given, label


def examples_for(
    loaded: Loaded, csv: Path | None, limit: int | None = None, name: str | None = None
) -> Examples:
    """What the encoder reads; `name` is the file's where none is given.

    Raises ValueError, in one sentence, where the data do not fit, cannot be read, or hold fewer than two examples.
    """
    if limit is not None and limit < 2:
        raise ValueError(f"a spread needs two examples at least, got a limit of {limit}")
    if loaded.config.is_text and csv is None:
        raise ValueError(f"{loaded.name} reads text: name a CSV with the column text")
    if not loaded.config.is_text and csv is not None:
        raise ValueError(f"{loaded.name} reads digits, which a CSV does not hold")
    found = Examples(name=name or (DIGITS if csv is None else csv.name), csv=csv, limit=limit)
    if len(found) < 2:
        raise ValueError(f"a spread needs two examples at least, {found.name} holds {len(found)}")
    return found


def examples_to_show(loaded: Loaded) -> Examples:
    """Those that come with the project, which everybody may see."""
    own = loaded.config.is_text
    return Examples(name=OWN_NAME if own else DIGITS, csv=None, own=own)


def labelled_examples(loaded: Loaded, examples: Examples) -> list[tuple[int, Input, int]]:
    """Number, input and class, by its number among the encoder's, of each example.

    Raises ValueError, in one sentence, where the data have no labels, or one is no class of the encoder.
    """
    found = []
    for number, given, label in examples._chosen():
        if label is None:
            raise ValueError(f"{examples.name} lacks the column label")
        try:
            found.append((number, given, class_of(label, loaded.config.class_names)))
        except ValueError as error:
            raise ValueError(f"example {number}: {error}") from error
    return found


def _shard(number: int, found: list[tuple[int, Input, str | None]]) -> Shard:
    numbers, inputs, labels = zip(*found, strict=True)
    return Shard(number=number, numbers=numbers, inputs=inputs, labels=None if None in labels else labels)


def _digits() -> Iterator[tuple[Picture, str]]:
    images, labels = digits.examples()
    return ((Picture.of(image), str(label)) for image, label in zip(images, labels, strict=True))


def _own() -> Iterator[tuple[Text, None]]:
    """First those that can be picked on a page, then those that turn on a negation."""
    sentences, judged = OWN
    texts = [each["text"] for each in json.loads(sentences.read_text(encoding="utf-8"))]
    texts += pd.read_csv(judged, dtype=str, keep_default_na=False).text.tolist()
    return ((Text(text), None) for text in dict.fromkeys(texts))


def own_texts() -> dict[int, str]:
    """The sentences that come with the project, by their numbers, from 1."""
    return {number: text.text for number, (text, _) in enumerate(_own(), 1)}


def _texts(csv: Path) -> Iterator[tuple[Text, str | None]]:
    """One row at a time. Raises ValueError, in one sentence, for what is no CSV with the column text.

    pandas would take what stands before a comma too many for the name of the row.
    """
    before = table.field_size_limit(LONGEST_TEXT)  # the whole process has one limit
    with csv.open(newline="", encoding="utf-8-sig") as file:
        rows = table.DictReader(file, strict=True)
        try:
            if "text" not in (rows.fieldnames or ()):
                raise ValueError(f"{csv.name} lacks the column text")
            for row in rows:
                if None in row or None in row.values():
                    raise ValueError(
                        f"{csv.name} has more or fewer cells in line {rows.line_num} than in its first; a text with "
                        "commas stands in quotes"
                    )
                yield Text(row["text"]), row.get("label")
        except (table.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{csv.name} is no CSV, seen in line {rows.line_num + 1}: {error}") from error
        finally:
            table.field_size_limit(before)
