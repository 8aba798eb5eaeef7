"""The data frame of a figure as CSV or Parquet: one row for each mark, or a matrix with its labels."""

import io

import pandas as pd

from ..builders.figure import Figure
from .safe_text import clean

_PICTURES = {"on_light", "on_dark", "url"}  # columns that hold images, as long data URIs


def table(figure: Figure) -> pd.DataFrame:
    """The figure's data frame without columns of pictures; labels of rows become the first column."""
    frame = figure.frame.drop(columns=_PICTURES.intersection(figure.frame.columns))
    if not pd.api.types.is_integer_dtype(frame.index.dtype):
        frame = frame.rename_axis(index=frame.index.name or "row").reset_index()
    names = [
        " ".join(map(str, (level for level in name if level != ""))) if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    frame = frame.set_axis([clean(name.strip()) for name in names], axis=1)
    texts = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    return frame.assign(**{name: [clean(text) for text in frame[name]] for name in texts})


def csv(figure: Figure) -> bytes:
    """The figure's numbers as CSV in UTF-8."""
    return table(figure).to_csv(index=False, lineterminator="\n").encode()


def parquet(figure: Figure) -> bytes:
    """The figure's numbers as Parquet."""
    buffer = io.BytesIO()
    table(figure).to_parquet(buffer, index=False)
    return buffer.getvalue()
