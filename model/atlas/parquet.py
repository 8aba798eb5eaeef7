"""Tables as parquet files: small, of plain numbers and words, with where they come from in the schema's metadata.

What is read was perhaps written by somebody else: nothing is taken on trust, and nothing but plain columns is read.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..files.content import content_of
from ..files.errors import why
from ..files.writing import replacing
from ..schema import convert
from .data_source import DataSource

LARGEST_FILE = 8 * 2**20  # bytes
LARGEST_TABLE = 64 * 2**20  # bytes, unpacked
MOST_ROWS = 200_000
MOST_COLUMNS = 100
LONGEST_WORDS = 2000  # characters in a cell
KEY = b"atlas"
PLAIN = frozenset({"PLAIN", "RLE"})  # RLE tells which cells are empty

ColumnValues = Sequence | np.ndarray
NUMBER, COUNTED, WORD, NUMBERS = pa.float32(), pa.int32(), pa.string(), pa.list_(pa.float32())


def write_table(
    path: Path, source: DataSource, columns: Mapping[str, tuple[pa.DataType, ColumnValues]]
) -> None:
    """Raises OSError where it cannot be written; what was there before then stays."""
    arrays = [pa.array(list(values), kind, from_pandas=False) for kind, values in columns.values()]
    table = pa.table(arrays, pa.schema([(name, kind) for name, (kind, _) in columns.items()]))
    # Statistics, dictionaries and a second schema would be larger than a few dozen rows.
    small = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path) as beside,
        pq.ParquetWriter(beside, table.schema, compression="zstd", **small) as writer,
    ):
        writer.write_table(table)
        known = {name: value for name, value in asdict(source).items() if value is not None}
        writer.add_key_value_metadata({KEY: json.dumps(known, ensure_ascii=False).encode()})


def read_table(
    path: Path, needed: Mapping[str, pa.DataType], later: Mapping[str, pa.DataType] | None = None
) -> tuple[DataSource, dict[str, list]] | None:
    """Source and columns; None where there is no file.

    The columns in `needed` must be there, those in `later` may, and all others are numbers.

    Raises ValueError, in one sentence, where the file is damaged, too large, or holds something else.
    """
    try:
        return _read(path, needed, later or {})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        raise ValueError(f"{path.parent.name}/{path.name} cannot be read: {why(error)}") from error


def _read(
    path: Path, needed: Mapping[str, pa.DataType], later: Mapping[str, pa.DataType]
) -> tuple[DataSource, dict[str, list]]:
    content = io.BytesIO(content_of(path, LARGEST_FILE))
    file = pq.ParquetFile(content, arrow_extensions_enabled=False)
    found, schema = file.metadata, file.schema_arrow
    groups = [found.row_group(at) for at in range(found.num_row_groups)]
    parts = [group.column(at) for group in groups for at in range(group.num_columns)]
    # A dictionary, or a count of repeats, would let a few bytes unpack to all the memory there is.
    if not PLAIN.issuperset(encoding for part in parts for encoding in part.encodings):
        raise ValueError("its columns are not plain")
    unpacked = sum(group.total_byte_size for group in groups) + 4 * sum(part.num_values for part in parts)
    if found.num_rows > MOST_ROWS or len(schema) > MOST_COLUMNS or not 0 <= unpacked <= LARGEST_TABLE:
        raise ValueError(f"{found.num_rows:,} rows of {len(schema)} columns are more than an atlas has")
    _check_columns(schema, needed, later)
    if KEY not in (known := found.metadata or {}):
        raise ValueError("it does not say where it comes from")
    source = convert(json.loads(known[KEY]), DataSource)
    if len(source.weights) != 1:
        raise ValueError("it must name the weights of one encoder")
    table = file.read(use_threads=False)
    table.validate(full=True)
    columns = {name: table.column(name).to_pylist() for name in schema.names}
    for name, values in columns.items():
        _check_values(name, values, schema.field(name).type)
    return source, columns


def _check_columns(
    schema: pa.Schema, needed: Mapping[str, pa.DataType], later: Mapping[str, pa.DataType]
) -> None:
    if len(set(schema.names)) < len(schema):
        raise ValueError("two of its columns have one name")
    if missing := sorted(set(needed) - set(schema.names)):
        raise ValueError(f"it lacks the column {missing[0]}")
    kinds = {**later, **needed}
    for field in schema:
        expected = kinds.get(field.name, NUMBER)
        # what a list calls its items differs between writers
        same = field.type == expected or (
            pa.types.is_list(expected)
            and pa.types.is_list(field.type)
            and field.type.value_type == expected.value_type
        )
        if not same:
            raise ValueError(f"its column {field.name} holds {field.type}, not {expected}"[:150])


def _check_values(name: str, values: list, kind: pa.DataType) -> None:
    """Numbers are finite or missing; words are there and not endless."""
    if kind == WORD:
        if any(each is None or len(each) > LONGEST_WORDS for each in values):
            raise ValueError(f"its column {name} lacks words or holds more than {LONGEST_WORDS:,} characters")
    elif kind == COUNTED:
        if any(each is not None and each < 0 for each in values):
            raise ValueError(f"its column {name} holds a negative number")
    elif pa.types.is_list(kind):
        if any(each is None or not np.isfinite(np.array(each, float)).all() for each in values):
            raise ValueError(f"its column {name} holds what is no number")
    elif any(each is not None and not np.isfinite(each) for each in values):
        raise ValueError(f"its column {name} holds what is no number")
