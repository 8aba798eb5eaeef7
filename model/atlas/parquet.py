"""Small tables of numbers and text as parquet files, with their `DataSource` in the metadata.

A file may have been written by a stranger, so its size is limited and its columns are checked when it is read.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Meta

from ..files.content import read_bounded, replacement_file
from ..files.errors import error_text
from ..schema import Count, PositiveCount, convert

LARGEST_FILE = 8 * 2**20  # bytes
LARGEST_TABLE = 64 * 2**20  # bytes, unpacked
MOST_ROWS = 200_000
MOST_COLUMNS = 100
LONGEST_TEXT = 2000  # characters in a cell
KEY = b"atlas"
PLAIN = frozenset({"PLAIN", "RLE"})  # encodings; RLE marks the empty cells

NUMBER, COUNTED, WORD, NUMBERS = pa.float32(), pa.int32(), pa.string(), pa.list_(pa.float32())
SIGNED, FLAG = pa.int64(), pa.bool_()
Types = Mapping[str, pa.DataType]  # of columns, by name; all others hold numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """What stored results were computed from: the command, the examples, and the weights of the encoders."""

    command: str
    data: str  # name of the data on screen
    sha256: str  # of the file with the data
    n: PositiveCount  # examples
    weights: tuple[str, ...]  # hash of the weights of each encoder (`model.checkpoint.weights_hash`)
    samples: Mapping[str, Count] = field(default_factory=dict)  # examples of each measure that used fewer
    # share of the tokens that the vocabulary lacks; None where they were not counted
    unknown: Annotated[float, Meta(ge=0, le=1)] | None = None


def write_table(path: Path, source: DataSource, rows: pd.DataFrame, types: Types) -> None:
    """Writes `rows` and `source` to a parquet file, which is replaced if it exists; NaN and infinity become empty cells.

    `types` holds the type of each column. Raises OSError if the file cannot be written; a previous file is then kept.
    """
    numbers = rows.select_dtypes("number")
    rows = rows.assign(**numbers.where(np.isfinite(numbers)))
    schema = pa.schema({name: types.get(name, NUMBER) for name in rows})
    table = pa.Table.from_pandas(rows, schema, preserve_index=False).replace_schema_metadata(None)
    source_fields = {name: value for name, value in asdict(source).items() if value is not None}
    # Statistics, dictionaries and a second schema would be larger than a few dozen rows.
    compact_options = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacement_file(path) as temporary,
        pq.ParquetWriter(temporary, table.schema, compression="zstd", **compact_options) as writer,
    ):
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps(source_fields, ensure_ascii=False).encode()})


def read_table(path: Path, required: Types) -> tuple[DataSource, pd.DataFrame] | None:
    """The data source and the rows of a parquet file; None if there is no file.

    `required` holds the types of the required columns; others must hold numbers. Raises ValueError, with a one-sentence message, if the
    file is damaged or too large, does not name its source, lacks a required column, or has a column of the wrong type.
    """
    try:
        return _read_checked(path, required)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise ValueError(f"{path.parent.name}/{path.name} cannot be read: {error_text(error)}") from error


def _read_checked(path: Path, required: Types) -> tuple[DataSource, pd.DataFrame]:
    # A buffer, not a Python file: Arrow reads a file in a thread of its own, which can abort the process if Python ends
    # while the thread still waits for Python's lock (github.com/apache/arrow/issues/34314).
    content = pa.py_buffer(read_bounded(path, LARGEST_FILE))
    file = pq.ParquetFile(content, arrow_extensions_enabled=False)
    metadata, schema = file.metadata, file.schema_arrow
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    chunks = [group.column(index) for group in groups for index in range(group.num_columns)]
    # A dictionary, or a count of repeats, would let a few bytes unpack to all the memory there is.
    if not PLAIN.issuperset(encoding for chunk in chunks for encoding in chunk.encodings):
        raise ValueError("its columns are not plain")
    n_unpacked_bytes = sum(group.total_byte_size for group in groups) + 4 * sum(
        chunk.num_values for chunk in chunks
    )
    if (
        metadata.num_rows > MOST_ROWS
        or len(schema) > MOST_COLUMNS
        or not 0 <= n_unpacked_bytes <= LARGEST_TABLE
    ):
        raise ValueError(f"{metadata.num_rows:,} rows of {len(schema)} columns are more than an atlas has")
    _check_columns(schema, required)
    if KEY not in (file_metadata := metadata.metadata or {}):
        raise ValueError("it does not say where it comes from")
    source = convert(json.loads(file_metadata[KEY]), DataSource)
    if len(source.weights) != 1:
        raise ValueError("it must name the weights of one encoder")
    table = file.read(use_threads=False)
    table.validate(full=True)
    columns = {name: table.column(name).to_pylist() for name in schema.names}
    for name, values in columns.items():
        _check_values(name, values, schema.field(name).type)
    return source, pd.DataFrame(columns)


def _check_columns(schema: pa.Schema, required: Types) -> None:
    """Raises ValueError unless all required columns have their types, and all others hold numbers."""
    if len(set(schema.names)) < len(schema):
        raise ValueError("two of its columns have one name")
    if missing := sorted(set(required) - set(schema.names)):
        raise ValueError(f"it lacks the column {missing[0]}")
    for column in schema:
        expected = required.get(column.name, NUMBER)
        # writers give the items of a list different names
        is_expected_type = column.type == expected or (
            pa.types.is_list(expected)
            and pa.types.is_list(column.type)
            and column.type.value_type == expected.value_type
        )
        if not is_expected_type:
            raise ValueError(f"its column {column.name} holds {column.type}, not {expected}"[:150])


def _check_values(name: str, values: list, kind: pa.DataType) -> None:
    """Raises ValueError unless every number is finite or missing, and every text is present and short."""
    if kind == WORD:
        if any(text is None or len(text) > LONGEST_TEXT for text in values):
            raise ValueError(f"its column {name} lacks words or holds more than {LONGEST_TEXT:,} characters")
    elif kind == COUNTED:
        if any(number is not None and number < 0 for number in values):
            raise ValueError(f"its column {name} holds a negative number")
    elif pa.types.is_list(kind):
        if any(numbers is None or not np.isfinite(np.array(numbers, float)).all() for numbers in values):
            raise ValueError(f"its column {name} holds what is no number")
    elif any(number is not None and not np.isfinite(number) for number in values):
        raise ValueError(f"its column {name} holds what is no number")
