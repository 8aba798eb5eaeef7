"""Examples of a data set: texts of a CSV, sentences of the project, or the MNIST test digits."""

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
    """Consecutive examples that are measured, stored and sent to another process together."""

    number: int  # from 0
    numbers: tuple[int, ...]  # of the examples in the data, from 1
    inputs: tuple[Input, ...]
    labels: tuple[str, ...] | None  # as they stand in the data

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """All examples of a data set, or `limit` of them at equal distances, since a file may be sorted.

    Every iteration reads the file again.
    """

    name: str  # of the data, as it stands on screen
    csv: Path | None  # None: the test digits, or, of `own`, our sentences
    limit: int | None = None
    own: bool = False

    def __iter__(self) -> Iterator[tuple[int, Input]]:
        """Pairs of the number in the data, from 1, and the input."""
        return ((number, given) for number, given, _ in self._chosen())

    def __len__(self) -> int:
        return self._all if self.limit is None else min(self._all, self.limit)

    def limited(self, limit: int | None) -> "Examples":
        """At most `limit` examples of the same data."""
        limits = [value for value in (limit, self.limit) if value is not None]
        examples = Examples(name=self.name, csv=self.csv, limit=min(limits, default=None), own=self.own)
        examples.__dict__.update(
            {key: value for key, value in self.__dict__.items() if key in ("_all", "sha256")}
        )
        return examples

    def shards(self, size: int, first: int = 0) -> Iterator[Shard]:
        """The examples in shards of `size`, from shard `first` on."""
        waiting: list[tuple[int, Input, str | None]] = []
        for index, example in enumerate(self._chosen()):
            if index < first * size:
                continue
            waiting.append(example)
            if len(waiting) == size:
                yield _shard(index // size, waiting)
                waiting = []
        if waiting:
            yield _shard((len(self) - 1) // size, waiting)

    @cached_property
    def sha256(self) -> str:
        """Hash of the files that hold the examples."""
        digest = hashlib.sha256()
        for path in self._files:
            with path.open("rb") as file:
                while chunk := file.read(2**20):
                    digest.update(chunk)
        return digest.hexdigest()

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
        """Number, input and label of each chosen example; the label is None where the data have none."""
        n, limit, last = self._all, len(self), -1
        all_examples: Iterator[tuple[Input, str | None]]
        if self.own:
            all_examples = _own()
        elif self.csv is None:
            all_examples = _digits()
        else:
            all_examples = _texts(self.csv)
        for index, example in enumerate(all_examples):
            # the examples at places floor(i n / limit)
            if (index * limit + limit - 1) // n > last:
                last = (index * limit + limit - 1) // n
                yield index + 1, *example  # type: ignore[misc]  # mypy joins the types of a starred tuple


def examples_for(
    loaded: Loaded, csv: Path | None, limit: int | None = None, name: str | None = None
) -> Examples:
    """The examples for an encoder; `name` is by default that of the file.

    Raises ValueError, in one sentence, where the data do not fit, cannot be read, or hold fewer than two examples.
    """
    if limit is not None and limit < 2:
        raise ValueError(f"a spread needs two examples at least, got a limit of {limit}")
    if loaded.config.is_text and csv is None:
        raise ValueError(f"{loaded.name} reads text: name a CSV with the column text")
    if not loaded.config.is_text and csv is not None:
        raise ValueError(f"{loaded.name} reads digits, which a CSV does not hold")
    examples = Examples(name=name or (DIGITS if csv is None else csv.name), csv=csv, limit=limit)
    if len(examples) < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {len(examples)}")
    return examples


def examples_to_show(loaded: Loaded) -> Examples:
    """Examples that come with the project and may be quoted."""
    own = loaded.config.is_text
    return Examples(name=OWN_NAME if own else DIGITS, csv=None, own=own)


def labelled_examples(loaded: Loaded, examples: Examples) -> list[tuple[int, Input, int]]:
    """Number, input and class index of each example.

    Raises ValueError, in one sentence, where the data have no labels, or one is no class of the encoder.
    """
    labelled = []
    for number, text_or_image, label in examples._chosen():
        if label is None:
            raise ValueError(f"{examples.name} lacks the column label")
        try:
            labelled.append((number, text_or_image, class_of(label, loaded.config.class_names)))
        except ValueError as error:
            raise ValueError(f"example {number}: {error}") from error
    return labelled


def _shard(number: int, examples: list[tuple[int, Input, str | None]]) -> Shard:
    numbers, inputs, labels = zip(*examples, strict=True)
    return Shard(number=number, numbers=numbers, inputs=inputs, labels=None if None in labels else labels)


def _digits() -> Iterator[tuple[Picture, str]]:
    images, labels = digits.examples()
    return ((Picture.of(image), str(label)) for image, label in zip(images, labels, strict=True))


def _own() -> Iterator[tuple[Text, None]]:
    """Sentences that can be picked on a page, then those about negation."""
    sentences, judged = OWN
    texts = [sentence["text"] for sentence in json.loads(sentences.read_text(encoding="utf-8"))]
    texts += pd.read_csv(judged, dtype=str, keep_default_na=False).text.tolist()
    return ((Text(text), None) for text in dict.fromkeys(texts))


def own_texts() -> dict[int, str]:
    """Sentences of the project by their numbers, from 1."""
    return {number: text.text for number, (text, _) in enumerate(_own(), 1)}


def _texts(csv: Path) -> Iterator[tuple[Text, str | None]]:
    """Texts with their labels, one row at a time. Raises ValueError, in one sentence, for a file without the column
    text.

    pandas would take the cell before a surplus comma as the name of the row.
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
