"""The numbers of a figure as CSV or Parquet: one row for each mark, or a matrix with its labels."""

import io

import pandas as pd

from ..builders.figure import Figure, VegaFigure
from ..builders.number_format import THIN
from .safe_text import clean


def table(figure: Figure) -> pd.DataFrame:
    """The numbers that the figure shows: its data frame without columns that only the drawing needs, or the weights that its
    pictures show. Labels of rows become the first column; all columns have different names.
    """
    if isinstance(figure, VegaFigure) and figure.table is not None:
        frame = figure.table()
    else:
        frame = figure.frame
        if isinstance(figure, VegaFigure):
            unneeded = [name for name, in_file in figure.in_file.items() if in_file is None]
            frame = frame.drop(columns=unneeded).rename(columns=dict(figure.in_file))
    names = [
        " ".join(map(str, (level for level in name if level != ""))) if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    if not pd.api.types.is_integer_dtype(frame.index.dtype):
        names.insert(0, frame.index.name or "row")
        frame = pd.concat([frame.index.to_series(index=frame.index), frame], axis=1)
    return _clean_texts(
        frame.set_axis(_different([clean(name.strip().replace(THIN, " ")) for name in names]), axis=1)
    )


def _different(names: list[str]) -> list[str]:
    """The names, the second and further of equal ones with a number; a token may be called like a column of labels."""
    result: list[str] = []
    for name in names:
        number, candidate = 2, name
        while candidate in result:
            number, candidate = number + 1, f"{name} ({number})"
        result.append(candidate)
    return result


def csv(figure: Figure) -> bytes:
    """The figure's numbers as CSV in UTF-8."""
    return table(figure).to_csv(index=False, lineterminator="\n").encode()


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A data frame without its index as CSV in UTF-8."""
    return _clean_texts(frame).to_csv(index=False, lineterminator="\n").encode()


def parquet(figure: Figure) -> bytes:
    """The figure's numbers as Parquet."""
    buffer = io.BytesIO()
    table(figure).to_parquet(buffer, index=False)
    return buffer.getvalue()


def _clean_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with � for each character in its texts that no file may hold."""
    texts = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    return frame.assign(**{name: [clean(text) for text in frame[name]] for name in texts})
