"""Figures as files, in the format that the name of the file says."""

import warnings
from pathlib import Path

from ..builders.figure import Figure
from .drawing import pdf, png, svg
from .export_style import ExportStyle
from .figure_csv import csv, parquet
from .missing_letters import sentence

MIME = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
    "tex": "application/x-tex",
}
PICTURES, TABLES = ("png", "svg", "pdf"), ("csv", "parquet")


def figure_bytes(figure: Figure, kind: str, style: ExportStyle = ExportStyle()) -> bytes:  # noqa: B008 (frozen)
    """The figure as "png", "svg" or "pdf" in a `style`, or its numbers as "csv" or "parquet". Raises ValueError for another
    kind.
    """
    if kind == "svg":
        return svg(figure, style).encode()
    if kind == "pdf":
        return pdf(figure, style)
    if kind == "png":
        return png(figure, style)
    if kind == "csv":
        return csv(figure)
    if kind == "parquet":
        return parquet(figure)
    raise ValueError(f"a figure becomes one of {', '.join((*PICTURES, *TABLES))}, got {kind!r}")


def save(figure: Figure, path: str | Path, style: ExportStyle = ExportStyle()) -> None:  # noqa: B008 (frozen)
    """Writes the figure to a file in a `style`: .pdf, .svg or .png, or its numbers as .csv or .parquet.

    Warns of letters that no font here has. Raises ValueError for another suffix, and for numbers in all cells that do not fit or
    of a figure without cells, and OSError where the file cannot be written.

    >>> from loupe import ExportStyle, attention_heatmap, from_arrays, save_figure
    >>> figure = attention_heatmap(from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"]), layer=0, head=0)
    >>> save_figure(figure, "head.pdf", ExportStyle(width_cm=8.5, font_pt=8))  # doctest: +SKIP
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in (*PICTURES, *TABLES):
        raise ValueError(f"a figure's file ends in .{', .'.join((*PICTURES, *TABLES))}, got {path.name}")
    path.write_bytes(figure_bytes(figure, kind, style))
    if warning := sentence(figure, kind):
        warnings.warn(warning, stacklevel=2)
