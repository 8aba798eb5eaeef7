"""python -m tests.architecture

Draws docs/architecture.svg: the folders of model, viz and app_pages, with an arrow from each folder to those that import it.
An arrow is left out where others lead the same way. Folders that import each other share a box, and so do the pages, and
the subjects of figures.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.test_boundaries import PYTHON, ROOT, imported, longest, parse

PICTURE = ROOT / "docs/architecture.svg"
ENCODER = "transformer, config, hooks, masks"  # beside the folders of model
PAGES, SUBJECTS = "a folder for each page", "a folder for each subject"
TITLES = {
    "model": "model/: numbers",
    "viz": "viz/: figures",
    "app_pages": "app_pages/: the app",
}
Graph = dict[str, set[str]]  # each box with those that it imports

BOX, ROW, GAP, LANE = (
    30,
    58,
    14,
    18,
)  # pixels: height of a box, distance of rows, space between boxes, width of an arrow
LETTER = 7.3
TIP = ' marker-end="url(#tip)"'
STYLE = """
  .paper { fill: #ffffff } .frame { fill: none; stroke: #8a8f99; stroke-dasharray: 5 4 }
  .box { fill: #eef4fb; stroke: #2f8ac8; stroke-width: 1.5 } text { fill: #1a1c24 }
  .arrow { fill: none; stroke: #4a4f5a; stroke-width: 1.3 } .tip { fill: #4a4f5a }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14171d } .frame { stroke: #7d838f } .box { fill: #1c2a3a; stroke: #59a9dd } text { fill: #eceef2 }
    .arrow { stroke: #b3b9c4 } .tip { fill: #b3b9c4 }
  }
"""


def folder_of(path: Path) -> str:
    """The box of a module: the first two parts of its path, but for what is drawn together."""
    top, *below = path.parts
    if top == "model" and len(below) == 1:
        return ENCODER
    if top == "app_pages" and (ROOT / top / below[0] / "page.py").is_file():
        return PAGES
    if top == "viz" and below[0] not in ("builders", "export"):
        return SUBJECTS
    return below[0]


def imports(top: str) -> Graph:
    """The boxes of one of the three folders; those that import each other as one, their names joined by commas."""
    paths = [path for path in PYTHON if path.parts[0] == top and len(path.parts) > 2 - (top == "model")]
    modules = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    graph: Graph = {folder_of(path): set() for path in modules.values()}
    for path in modules.values():
        for name in imported(parse(path), path):
            if (module := longest(name, modules)) is not None:
                graph[folder_of(path)] |= {folder_of(modules[module])} - {folder_of(path)}
    reached = {box: reachable(graph, box) for box in graph}
    together = {
        box: ", ".join(sorted({box} | {other for other in reached[box] if box in reached[other]}))
        for box in graph
    }
    joined: Graph = {name: set() for name in sorted(together.values())}
    for box, others in graph.items():
        joined[together[box]] |= {together[other] for other in others} - {together[box]}
    return joined


def reachable(graph: Graph, box: str) -> set[str]:
    """All that a box imports, itself or by way of others."""
    seen: set[str] = set()
    waiting = [box]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting.extend(sorted(new))
    return seen


def reduced(graph: Graph) -> Graph:
    """Without the arrows for which there is a longer way."""
    return {
        box: {
            one
            for one in others
            if not any(one in reachable(graph, other) for other in others if other != one)
        }
        for box, others in graph.items()
    }


def rows_of(graph: Graph) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Boxes in rows, each below all that it imports, and the links between neighbouring rows.

    In a row that an arrow only passes through there is an entry for it: its two ends, the row's number between them.
    """
    level: dict[str, int] = {}
    while len(level) < len(graph):
        for box, others in graph.items():
            if box not in level and others <= level.keys():
                level[box] = 1 + max((level[other] for other in others), default=-1)
    rows: list[list[str]] = [[] for _ in range(1 + max(level.values()))]
    for box in sorted(graph):
        rows[level[box]].append(box)
    links: list[tuple[str, str]] = []
    for box in sorted(graph):
        for other in sorted(graph[box]):
            lanes = [f"{other}>{row}>{box}" for row in range(level[other] + 1, level[box])]
            for row, lane in enumerate(lanes, level[other] + 1):
                rows[row].append(lane)
            links += pairwise([other, *lanes, box])
    return rows, links


def width(entry: str) -> float:
    return LANE if ">" in entry else LETTER * len(entry) + 22


def positions(rows: list[list[str]], links: list[tuple[str, str]]) -> dict[str, float]:
    """The middle of each entry from left to right: near the mean of those that it is linked with, and none on another."""
    linked: dict[str, list[str]] = defaultdict(list)
    for one, other in links:
        linked[one].append(other)
        linked[other].append(one)
    x = {entry: 100.0 * number for row in rows for number, entry in enumerate(row)}
    for _ in range(60):
        for row in rows:
            wish = {
                entry: sum(x[other] for other in linked[entry]) / len(linked[entry])
                if linked[entry]
                else x[entry]
                for entry in row
            }
            row.sort(key=lambda entry: (wish[entry], entry))
            end = -math.inf
            for entry in row:
                x[entry] = max(wish[entry], end + GAP + width(entry) / 2)
                end = x[entry] + width(entry) / 2
            shift = sum(wish[entry] - x[entry] for entry in row) / len(row)
            x.update({entry: x[entry] + shift for entry in row})
    left = min(x[entry] - width(entry) / 2 for entry in x)
    return {entry: x[entry] - left for entry in x}


@dataclass(frozen=True)
class Frame:
    """One of the three folders as SVG elements, with its frame's corner and size in pixels."""

    elements: list[str]
    left: float
    top: float
    width: float
    height: float


def frame(folder: str, left: float, top: float) -> Frame:
    """The folder drawn below its title, with the upper left corner of its frame there."""
    rows, links = rows_of(reduced(imports(folder)))
    x = positions(rows, links)
    y = {entry: top + 24 + ROW * number for number, row in enumerate(rows) for entry in row}
    wide = max(x[entry] + width(entry) / 2 for entry in x) + 32
    high = ROW * (len(rows) - 1) + BOX + 48
    x = {entry: left + 16 + value for entry, value in x.items()}
    elements = [
        f'<rect class="frame" x="{left:.0f}" y="{top:.0f}" width="{wide:.0f}" height="{high:.0f}" rx="8"/>',
        f'<text x="{left + 4:.0f}" y="{top - 10:.0f}" font-size="16" font-weight="600">{TITLES[folder]}</text>',
    ]
    for one, other in links:
        start = (x[one], y[one] + (BOX / 2 if ">" in one else BOX))
        end = (x[other], y[other] + (BOX / 2 if ">" in other else 0))
        elements.append(arrow(start, end, has_tip=">" not in other))
    for entry in sorted(x):
        if ">" not in entry:
            size = f'width="{width(entry):.0f}" height="{BOX}" rx="6"'
            elements.append(
                f'<rect class="box" x="{x[entry] - width(entry) / 2:.0f}" y="{y[entry]:.0f}" {size}/>'
                f'<text x="{x[entry]:.0f}" y="{y[entry] + 20:.0f}" text-anchor="middle">{entry}</text>'
            )
    return Frame(elements, left, top, wide, high)


def arrow(start: tuple[float, float], end: tuple[float, float], has_tip: bool = True) -> str:
    """A line that begins and ends straight down."""
    (x, y), (to_x, to_y) = start, end
    path = (
        f"M{x:.0f} {y:.0f}C{x:.0f} {(y + to_y) / 2:.0f} {to_x:.0f} {(y + to_y) / 2:.0f} {to_x:.0f} {to_y:.0f}"
    )
    return f'<path class="arrow" d="{path}"{TIP if has_tip else ""}/>'


def picture() -> str:
    """The whole picture as SVG."""
    model = frame("model", 16, 46)
    right = model.left + model.width + 60
    viz = frame("viz", right, 46)
    app_pages = frame("app_pages", right, viz.top + viz.height + 70)
    # Between the three: what `MAY_IMPORT` of tests/test_boundaries.py allows.
    across = "".join(
        f'<path class="arrow" d="M{right - 60:.0f} {other.top + 40:.0f}H{right:.0f}"{TIP}/>'
        for other in (viz, app_pages)
    )
    beside_title = right + 0.93 * min(viz.width, app_pages.width)
    down = arrow((beside_title, viz.top + viz.height), (beside_title, app_pages.top))
    wide = right + max(viz.width, app_pages.width) + 16
    high = max(model.top + model.height, app_pages.top + app_pages.height) + 16
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" font-size="13" '
            'font-family="system-ui, sans-serif" role="img" '
            'aria-label="The folders of model, viz and app_pages, and which imports which">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
            f'<rect class="paper" width="{wide:.0f}" height="{high:.0f}"/>',
            *model.elements,
            *viz.elements,
            *app_pages.elements,
            across,
            down,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
