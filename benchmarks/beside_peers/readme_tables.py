"""Sections of benchmarks/README.md: tables of measured numbers, each with its day and its machine."""

import math
import os
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import median

import numpy as np
import torch

Row = Sequence[str]


def table(columns: Row, rows: Sequence[Row]) -> str:
    """A table in Markdown. Raises ValueError for a row that does not have one cell for each column."""
    if wrong := [row for row in rows if len(row) != len(columns)]:
        raise ValueError(f"{len(columns)} columns, and rows of other lengths: {wrong}")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ratio(times: Sequence[float], to: Sequence[float]) -> float:
    """The median over rounds of `times` divided by `to`, which were measured turn by turn, so that drift of the
    machine cancels.
    """
    return median(one / other for one, other in zip(times, to, strict=True))


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent of the power law by which `costs` grow with `sizes`: the slope of the least-squares line through
    their logarithms.

    Raises ValueError for fewer than two sizes, and for a cost or a size that is not above 0.
    """
    if len(sizes) < 2 or min(*sizes, *costs) <= 0:
        raise ValueError(f"no power can be fitted to {list(costs)} at {list(sizes)}")
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def with_workers(one: float, two: float, n: int) -> float:
    """The seconds that `n` workers take by Amdahl's law, fitted to what one worker (`one`) and two workers (`two`)
    took; NaN if two were not faster than one.
    """
    shared = 2 * (one - two)  # what is divided among the workers
    return one - shared + shared / n if shared > 0 else math.nan


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """The largest absolute difference between two arrays as text, with the range of their values."""
    largest = np.abs(ours.astype(float) - theirs).max()
    return f"{largest:.0e} of {np.ptp(theirs):.2g}"


def machine() -> str:
    """The machine in words: processor, cores, and which of its features torch uses."""
    cpu = Path("/proc/cpuinfo").read_text()
    model, family = (re.search(rf"{name}\s*:\s*(.+)", cpu) for name in ("model name", "cpu family"))
    name = f"{model[1]}, family {family[1]}" if model and family else "a processor without a name"
    return f"{os.cpu_count()} cores ({name}; {torch.backends.cpu.get_cpu_capability()}), torch {torch.__version__}"


def section(title: str, *parts: str, day: date | None = None) -> str:
    """A section of the README with its title, its day and its machine; `parts` are paragraphs and tables."""
    measured = f"Measured on {day or date.today():%Y-%m-%d}, {machine()}."
    return "\n\n".join([f"### {title}", measured, *parts])


def merged(page: str, name: str, text: str) -> str:
    """The text `page` with `text` in place of the section `name`, between its marks; raises ValueError if it has no
    such marks.
    """
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if page.count(start) != 1 or page.count(end) != 1:
        raise ValueError(f"the page has no section {name}")
    before, _, rest = page.partition(start)
    return f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}"
