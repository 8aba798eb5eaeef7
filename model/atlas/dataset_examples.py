"""Examples of a data set: the texts of a CSV file, the project's own sentences, or the MNIST test digits."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count, islice
from pathlib import Path

import pandas as pd

from ..files.table_file import table_rows
from ..inputs import Input, Picture, Text, digits
from ..loaded import Loaded
from ..measures.predicted_classes import class_index_of

DIGITS = "MNIST test digits"
OWN_NAME = "sentences of our own"
OWN = (digits.EXAMPLES / "sentences.json", digits.EXAMPLES / "negation_judged.csv")

LabelledInput = tuple[Input, str | None]  # the label as it stands in the data, None where they have none


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A block of consecutive examples of a data set, which is measured as a whole, perhaps in another process."""

    number: int  # from 0
    numbers: tuple[int, ...]  # of the examples in the data, from 1
    inputs: tuple[Input, ...]

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """All examples of a data set, or at most `limit` of them; these are evenly spaced, since a file may be sorted.

    Each iteration reads the files again.
    """

    name: str  # of the data, on screen
    files: tuple[Path, ...]
    read: Callable[[], Iterator[LabelledInput]]  # all examples in the files
    limit: int | None = None

    def __iter__(self) -> Iterator[tuple[int, Input]]:
        """Yields pairs (number of the example in the data, from 1; its input)."""
        return ((number, text_or_image) for number, text_or_image, _ in self.with_labels())

    def __len__(self) -> int:
        return self._n_without_limit if self.limit is None else min(self._n_without_limit, self.limit)

    def limited(self, limit: int | None) -> "Examples":
        """At most `limit` examples of the same data."""
        examples = copy(self)  # unlike `dataclasses.replace`, with the number and the hash that are known
        limits = [value for value in (limit, self.limit) if value is not None]
        object.__setattr__(examples, "limit", min(limits, default=None))
        return examples

    def with_labels(self) -> Iterator[tuple[int, Input, str | None]]:
        """Yields the number in the data (from 1), the input and the label of each example, None if it has no label."""
        n, limit, last_selected = self._n_without_limit, len(self), -1
        for index, (text_or_image, label) in enumerate(self.read()):
            # those whose index is floor(i n / limit) for an i
            if (index * limit + limit - 1) // n > last_selected:
                last_selected = (index * limit + limit - 1) // n
                yield index + 1, text_or_image, label

    def shards(self, size: int, first: int = 0) -> Iterator[Shard]:
        """Yields the examples in shards of `size` examples, beginning with shard number `first`, from 0."""
        examples = islice(self, first * size, None)
        for number in count(first):
            if not (batch := list(islice(examples, size))):
                return
            numbers, inputs = zip(*batch, strict=True)
            yield Shard(number=number, numbers=numbers, inputs=inputs)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 hash of all files together, in hexadecimal."""
        digest = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                while chunk := file.read(2**20):
                    digest.update(chunk)
        return digest.hexdigest()

    @cached_property
    def _n_without_limit(self) -> int:
        return sum(1 for _ in self.read())


@contextmanager
def naming_example(number: int) -> Iterator[None]:
    """Context manager that puts the number of an example (from 1) before the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"example {number}: {error}") from error


def examples_for(
    loaded: Loaded, csv: Path | None, limit: int | None = None, name: str | None = None
) -> Examples:
    """The examples for an encoder: the texts of the file `csv`, or the MNIST test digits if it is None; at most `limit`.

    `name` is the title of the data on screen, by default the name of the file. Raises ValueError, with a one-sentence
    message, if the data do not suit the encoder, cannot be read, or hold fewer than two examples.
    """
    if limit is not None and limit < 2:
        raise ValueError(f"a spread needs two examples at least, got a limit of {limit}")
    if loaded.config.is_text and csv is None:
        raise ValueError(f"{loaded.name} reads text: name a CSV with the column text")
    if not loaded.config.is_text and csv is not None:
        raise ValueError(f"{loaded.name} reads digits, which a CSV does not hold")
    if csv is None:
        examples = _test_digits(name or DIGITS)
    else:
        examples = Examples(name=name or csv.name, files=(csv,), read=partial(_read_texts, csv))
    examples = examples.limited(limit)
    if len(examples) < 2:
        raise ValueError(f"a spread needs two examples at least, {examples.name} holds {len(examples)}")
    return examples


def examples_to_show(loaded: Loaded) -> Examples:
    """Examples that come with the project and may be shown on screen: its own sentences, or the MNIST test digits."""
    if loaded.config.is_text:
        return Examples(name=OWN_NAME, files=OWN, read=_read_own_sentences)
    return _test_digits(DIGITS)


def labelled_examples(loaded: Loaded, examples: Examples) -> list[tuple[int, Input, int]]:
    """The number in the data (from 1), the input and the class index of each example.

    Raises ValueError, with a one-sentence message, if the data have no labels or a label is not one of the encoder's
    classes.
    """
    labelled = []
    for number, text_or_image, label in examples.with_labels():
        if label is None:
            raise ValueError(f"{examples.name} lacks the column label")
        with naming_example(number):
            labelled.append((number, text_or_image, class_index_of(label, loaded.config.class_names)))
    return labelled


def own_texts() -> dict[int, str]:
    """The project's own sentences, by their numbers in the data (from 1)."""
    return {number: text.text for number, (text, _) in enumerate(_read_own_sentences(), 1)}


def _test_digits(name: str) -> Examples:
    return Examples(name=name, files=(digits.EXAMPLES / "t10k-images-idx3-ubyte.gz",), read=_read_digits)


def _read_digits() -> Iterator[tuple[Picture, str]]:
    images, labels = digits.examples()
    return ((Picture.of(image), str(label)) for image, label in zip(images, labels, strict=True))


def _read_own_sentences() -> Iterator[tuple[Text, None]]:
    """Yields the project's sentences: first those that a page offers, then those about negation."""
    sentences, negations = OWN
    texts = [sentence["text"] for sentence in json.loads(sentences.read_text(encoding="utf-8"))]
    texts += pd.read_csv(negations, dtype=str, keep_default_na=False).text.tolist()
    return ((Text(text), None) for text in dict.fromkeys(texts))


def _read_texts(csv: Path) -> Iterator[tuple[Text, str | None]]:
    """Yields the texts of the CSV with their labels, row by row; a label is None if there is no such column."""
    return ((Text(row["text"]), row.get("label")) for _, row in table_rows(csv, "text"))
