"""Inputs with links between their words, such as between a word and its head in the sentence, read from CoNLL-U or CSV.

A CSV has a row for each link and the columns `text`, `from`, `to` and `relation`; rows of one text stand together. Positions
count from 1: words between white space, or, in a text without white space, characters, such as a protein's residues. For
pictures, a column `picture` takes the place of `text`: a file beside the CSV, whose patches are counted row by row.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ..files.table_file import LONGEST_TEXT, open_text, table_rows
from ..inputs import Picture, Text
from ..inputs.picture_file import read_picture
from ..inputs.text import has_character_vocabulary
from ..loaded import Loaded
from .dataset_examples import Examples

CONLLU, CSV = ".conllu", ".csv"
N_COLUMNS = 10  # of CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
# Left aside as in Clark et al. 2019: a root has no other end, and punctuation hangs on some word by convention.
LEFT_ASIDE = ("root", "punct")
LONGEST_NAME = 100  # characters of a relation's name

# In which a head is asked about a link: the dependent is the query and its head the key, or the other way round.
TO_HEAD, TO_DEPENDENT = "to head", "to dependent"
DIRECTIONS = (TO_HEAD, TO_DEPENDENT)

Span = tuple[int, int]  # first character of a word, and the one after its last


class Link(NamedTuple):
    """A relation between two words, characters or patches, which are given by their indices from 0."""

    dependent: int
    head: int
    relation: str  # the label before its colon


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedText(Text):
    """A text with the spans of its words, in the order of the text, and the links between them."""

    words: tuple[Span, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPicture(Picture):
    """A picture with links between its patches."""

    links: tuple[Link, ...]


Linked = LinkedText | LinkedPicture


def linked_examples(
    loaded: Loaded, file: Path, limit: int | None = None, name: str | None = None
) -> Examples:
    """The texts or pictures of a file, each with its links (labelled pairs of words or patches); at most `limit` of them.

    `name` is the title of the data on screen, by default the name of the file. Raises ValueError, with a one-sentence
    message, if the file is neither CoNLL-U nor CSV, is damaged, holds no link, or does not suit the encoder.
    """
    ending = file.suffix.lower()
    if ending not in (CONLLU, CSV):
        raise ValueError(f"{file.name} is no file of links: its name must end in {CONLLU} or {CSV}")
    if ending == CONLLU and not loaded.config.is_text:
        raise ValueError(f"{loaded.name} reads pictures, which {file.name} does not hold")
    files: tuple[Path, ...] = (file,)
    read: Callable[[Path], Iterator[Linked]] = read_conllu
    if ending == CSV:
        read = read_texts if loaded.config.is_text else _read_pictures
    if read is _read_pictures:
        files += tuple({file.parent / row["picture"]: None for _, row in table_rows(file, "picture")})
    if not any(linked.links for linked in read(file)):
        raise ValueError(f"{file.name} holds no link")
    examples = Examples(
        name=name or file.name, files=files, read=lambda: ((linked, None) for linked in read(file))
    )
    return examples.limited(limit)


def with_spaces_if_needed(loaded: Loaded, linked: LinkedText) -> LinkedText:
    """The text as it is or, if its words are single characters which are tokens of the encoder, with spaces between them."""
    assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
    if any(end - start != 1 for start, end in linked.words) or not has_character_vocabulary(loaded.tokenizer):
        return linked
    characters = [linked.text[start] for start, _ in linked.words]
    words = tuple((2 * index, 2 * index + 1) for index in range(len(characters)))
    return LinkedText(" ".join(characters), words=words, links=linked.links)


def read_conllu(file: Path) -> Iterator[LinkedText]:
    """Yields the sentences of a CoNLL-U file, with a link for each word that has a head, except relations in `LEFT_ASIDE`.

    The text is the column FORM with spaces, except after words with `SpaceAfter=No`. A multiword token, such as "don't", is
    divided into its words if their forms joined give the token; otherwise each of its words has the span of the whole token.
    Empty nodes are left out. Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    rows: list[tuple[int, list[str]]] = []
    with open_text(file) as lines:
        try:
            for number, line in enumerate(lines, 1):
                if len(line) > LONGEST_TEXT:
                    raise ValueError(f"it has more than {LONGEST_TEXT:,} characters")
                if line.strip() and not line.startswith("#"):
                    rows.append((number, line.rstrip("\r\n").split("\t")))
                elif not line.strip() and rows:
                    yield _linked_sentence(rows)
                    rows = []
            if rows:
                yield _linked_sentence(rows)
        except _RowError as error:
            raise ValueError(
                f"{file.name} is no CoNLL-U, seen in line {error.line}: {error.message}"
            ) from error


class _RowError(Exception):
    """A damaged row of a CoNLL-U file, with the number of its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def _linked_sentence(rows: Sequence[tuple[int, list[str]]]) -> LinkedText:
    """One sentence with its links, from the line numbers and columns of its rows in a CoNLL-U file."""
    n_words = sum(columns[0].isdecimal() for _, columns in rows)
    text = ""
    words: list[Span] = []
    links: list[Link | None] = []
    last_of_token = 0  # number of the last word of the token of several words that is being read
    for line, columns in rows:
        if len(columns) != N_COLUMNS:
            raise _RowError(line, f"it has {len(columns)} columns, not {N_COLUMNS}")
        number, form, head, label, options = (columns[index] for index in (0, 1, 6, 7, 9))
        if re.fullmatch(r"\d+\.\d+", number):
            continue
        is_token = re.fullmatch(r"(\d+)-(\d+)", number)
        if not form.strip():
            raise _RowError(line, "its word is empty")
        separator = "" if "SpaceAfter=No" in options.split("|") else " "
        if is_token:
            first, last_of_token = int(is_token[1]), int(is_token[2])
            if first != len(words) + 1 or not first <= last_of_token <= n_words:
                raise _RowError(line, f"the words {number[:20]!r} do not follow on the word {len(words)}")
            forms = [
                row[1] for _, row in rows if row[0].isdecimal() and first <= int(row[0]) <= last_of_token
            ]
            words += _spans_in_token(len(text), form, forms)
            text += form + separator
            continue
        if number != str(len(links) + 1):
            raise _RowError(line, f"the number {number[:20]!r} does not follow on the word {len(links)}")
        if len(links) + 1 > last_of_token:
            words.append((len(text), len(text) + len(form)))
            text += form + separator
        links.append(_dependency_link(line, len(links), head, label, n_words))
    return LinkedText(
        text.rstrip(), words=tuple(words), links=tuple(link for link in links if link is not None)
    )


def _spans_in_token(start: int, form: str, forms: Sequence[str]) -> list[Span]:
    """Spans of the words with these `forms` in the multiword token `form`, which begins at character `start`."""
    if "".join(forms) != form:
        return [(start, start + len(form))] * len(forms)
    ends = [start + len("".join(forms[: index + 1])) for index in range(len(forms))]
    return list(zip([start, *ends[:-1]], ends, strict=True))


def _dependency_link(line: int, word: int, head: str, label: str, n_words: int) -> Link | None:
    """The link of a word to its head; None for the root, for a word without head, and for relations in `LEFT_ASIDE`.

    `word` is the word's index from 0, `head` the cell with the number of its head from 1, or 0 for the root.
    """
    if head == "_":
        return None
    if not head.isdecimal() or int(head) > n_words or int(head) == word + 1:
        raise _RowError(line, f"the head {head[:20]!r} is none of the sentence's {n_words} other words or 0")
    relation = label.partition(":")[0]
    if not 1 <= len(relation) <= LONGEST_NAME:
        raise _RowError(line, f"a relation's name must have 1 to {LONGEST_NAME} characters")
    return None if int(head) == 0 or relation in LEFT_ASIDE else Link(word, int(head) - 1, relation)


def read_texts(csv: Path) -> Iterator[LinkedText]:
    """Yields the texts of a CSV with their links. Raises ValueError, with a one-sentence message, if the file is damaged."""
    for text, rows in _rows_by_input(csv, "text"):
        words = tuple(match.span() for match in re.finditer(r"\S+", text))
        kind = "words"
        if len(words) == 1:
            start, end = words[0]
            words, kind = tuple((index, index + 1) for index in range(start, end)), "characters"
        yield LinkedText(text, words=words, links=_links_of_rows(csv, rows, len(words), kind))


def _read_pictures(csv: Path) -> Iterator[LinkedPicture]:
    for name, rows in _rows_by_input(csv, "picture"):
        picture = Picture.of(read_picture(csv.parent / name))
        yield LinkedPicture(picture.content, picture.shape, links=_links_of_rows(csv, rows, None, "patches"))


def _rows_by_input(csv: Path, column: str) -> Iterator[tuple[str, list[tuple[int, dict[str, str]]]]]:
    """Yields each text or picture, which is in `column`, with its consecutive rows: line number and cells by column."""
    rows = table_rows(csv, column, "from", "to", "relation")
    for value, group in groupby(rows, key=lambda numbered: numbered[1][column]):
        yield value, list(group)


def _links_of_rows(
    csv: Path, rows: Sequence[tuple[int, dict[str, str]]], n: int | None, kind: str
) -> tuple[Link, ...]:
    """The links that the rows of one text or picture hold; each end is checked to be from 1 to `n`, unless `n` is None.

    `kind` names in an error message what is counted: "words", "characters" or "patches".
    """
    links = []
    for line, row in rows:
        ends: list[int] = []
        for column in ("from", "to"):
            number = row[column].strip()
            if not (number.isdecimal() and 1 <= int(number) <= (n or 10**6)):
                of_all = "" if n is None else f" of the {n} {kind} of its text"
                raise ValueError(f"{csv.name}, line {line}: {column} is {number[:20]!r}, no number{of_all}")
            ends.append(int(number) - 1)
        relation = row["relation"].partition(":")[0].strip()
        if not 1 <= len(relation) <= LONGEST_NAME:
            raise ValueError(
                f"{csv.name}, line {line}: a relation's name must have 1 to {LONGEST_NAME} characters"
            )
        dependent, head = ends
        if dependent == head:
            raise ValueError(f"{csv.name}, line {line}: the two ends of the link are one position")
        links.append(Link(dependent, head, relation))
    return tuple(links)
