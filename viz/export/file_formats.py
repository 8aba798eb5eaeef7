"""Figures as the bytes of a file, by the name of the format."""

from ..builders.figure import Figure
from .drawing import png, svg
from .export_style import ExportStyle
from .figure_csv import csv, parquet

MIME = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
}
PICTURES, TABLES = ("png", "svg"), ("csv", "parquet")


def figure_bytes(figure: Figure, kind: str, style: ExportStyle = ExportStyle()) -> bytes:  # noqa: B008 (frozen)
    """The figure as "png" or "svg" in a `style`, or its numbers as "csv" or "parquet". Raises ValueError for another
    kind.
    """
    if kind == "svg":
        return svg(figure, style).encode()
    if kind == "png":
        return png(figure, style)
    if kind == "csv":
        return csv(figure)
    if kind == "parquet":
        return parquet(figure)
    raise ValueError(f"a figure becomes one of {', '.join((*PICTURES, *TABLES))}, got {kind!r}")
