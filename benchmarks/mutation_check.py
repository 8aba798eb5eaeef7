"""python -m benchmarks.mutation_check [REVISION ...] [--n 60] [--seed 0]

Changes one expression at a time in a copy of the committed source, runs the tests that should notice, and prints how many
changes were noticed, by folder and by kind, and every change that was not. Lines are drawn at random by `--seed`, as many
in each of the folders; of the changes that a line allows one is drawn. Strings, annotations and decorators stay as they are,
and so do sizes in pixels: a number is changed only where something is computed of it. So does `strict`, a guard without which
a right program does the same.

A change is first tested by the test file that mirrors the source file, then by the other tests of that folder, then by
all tests that import the module, and for figures and pages by those that run on all of them. A test that does not end within
`SECONDS` of processor time has noticed the change as well. The tests in the browser take no part.
"""

import argparse
import ast
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("model/measures", "model/lenses", "viz", "app_pages")
EVERY_PAGE = ("tests/app_pages", "tests")  # the test files in these folders themselves run on many pages
EVERY_FIGURE = "tests/viz"  # those in this folder itself on many figures
SECONDS = 300
# `strict`, and the size and place of things on the screen.
NOT_DROPPED = {
    *("strict", "width", "height", "autosize", "gap", "margin", "help", "label_visibility"),
    *("vertical_alignment", "horizontal_alignment"),
}
# Imported once, before the process of each test run is forked; pytest's own plugins must not be among them.
LIBRARIES = (
    "torch",
    "streamlit.testing.v1",
    "altair",
    "plotly.graph_objects",
    "pandas",
    "tokenizers",
    "sklearn",
)

SWAPPED = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: "<",
    ast.Gt: "<=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "+",
    ast.Pow: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
    ast.And: "or",
    ast.Or: "and",
}


@dataclass(frozen=True)
class Mutant:
    """One change of a source file: the characters from `start` to `end` are replaced by `new`."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        """The changed source."""
        return source[: self.start] + self.new + source[self.end :]


@dataclass(frozen=True)
class Outcome:
    """A mutant, and the tests that noticed it, "" if none did."""

    mutant: Mutant
    noticed_by: str  # empty where no test failed

    def __str__(self) -> str:
        change = self.mutant
        return f"{change.path}:{change.line}, {change.kind}, now `{change.new}`: noticed by {self.noticed_by or 'nobody'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("revisions", nargs="*", default=["HEAD"], metavar="REVISION")
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in LIBRARIES:
        import_module(name)
    for revision in arguments.revisions:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True)
            subprocess.run(["tar", "-x"], cwd=copy, input=archive.stdout, check=True)
            mutants = draw(copy, arguments.n, random.Random(arguments.seed))
            mirrors = {tests for mutant in mutants for tests in stages(copy, mutant.path)[0]}
            if run(copy, sorted(mirrors)) != 0:
                print(f"{revision}: the tests fail before anything is changed")
                return 1
            outcomes = []
            for number, mutant in enumerate(mutants, 1):
                outcomes.append(check(copy, mutant))
                print(f"{number} of {len(mutants)}: {outcomes[-1]}", file=sys.stderr, flush=True)
            report(revision, outcomes)
    return 0


def draw(root: Path, n: int, rng: random.Random) -> list[Mutant]:
    """`n` random mutants, equally many in each folder, no two on one line."""
    drawn = []
    for folder in FOLDERS:
        by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for path in sorted((root / folder).rglob("*.py")):
            for mutant in mutants_of(path.read_text(encoding="utf-8"), str(path.relative_to(root))):
                by_line[mutant.path, mutant.line].append(mutant)
        lines = rng.sample(sorted(by_line), n // len(FOLDERS))
        drawn += [rng.choice(by_line[line]) for line in lines]
    return drawn


def mutants_of(source: str, path: str) -> Iterator[Mutant]:
    """All mutants of a source file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    encoded = source.encode()

    def offset(line: int, column: int) -> int:
        """The index of a character in the file; ast counts a line's bytes."""
        return len(encoded[: starts[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """The first and the last index of a node in the file."""
        return offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)

    for node in executed(ast.parse(source)):
        for kind, start, end, new in changes(node, source, span):
            yield Mutant(path, node.lineno, kind, start, end, new)


def executed(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """All expressions and statements except annotations, decorators, `strict` and the insides of f-strings."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom) or not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.keyword) and node.arg == "strict":
                continue
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            yield from executed(node)


Change = tuple[str, int, int, str]


def changes(node: ast.AST, source: str, span: Callable[..., tuple[int, int]]) -> Iterator[Change]:
    """The changes that are possible at this node itself: kind, start, end, new text."""
    if isinstance(node, ast.BinOp | ast.Compare | ast.Subscript | ast.Slice | ast.UnaryOp):
        for side in ast.iter_child_nodes(node):
            if isinstance(side, ast.Constant) and type(side.value) is int:
                yield "constant", *span(side), str(side.value + 1)
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from swapped("comparison", operator, left, right, source, span)
        case ast.BinOp(left=left, op=operator, right=right):
            if not any(
                isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (left, right)
            ):
                yield from swapped("arithmetic", operator, left, right, source, span)
        case ast.BoolOp(op=operator, values=[left, right]):
            yield from swapped("condition", operator, left, right, source, span)
        case ast.Constant(value=bool(value)):
            yield "constant", *span(node), str(not value)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            start, end = span(test)
            yield "condition", start, end, f"not ({source[start:end]})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return", *span(value), "None"
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg in NOT_DROPPED:
                    continue
                start, end = span(keyword)
                comma = re.match(r"\s*,", source[end:])
                if comma is not None:
                    yield "keyword", start, end + comma.end(), ""
                elif source[end:].lstrip().startswith(")"):
                    yield "keyword", start, end, ""


def swapped(
    kind: str,
    operator: ast.AST,
    left: ast.expr,
    right: ast.expr,
    source: str,
    span: Callable[..., tuple[int, int]],
) -> Iterator[Change]:
    """The change of an operator to its opposite, if only this operator stands between its two sides."""
    new = SWAPPED.get(type(operator))
    start, end = span(left)[1], span(right)[0]
    if new is not None and not set("()#") & set(source[start:end]):
        yield kind, start, end, f" {new} "


def stages(root: Path, path: str) -> list[list[str]]:
    """The lists of test files and folders to run one after another until one fails."""
    source = Path(path)
    folder = Path("tests") / source.parent
    mirrors = sorted((root / folder).glob(f"test_{source.stem}.py"))
    if source.stem == "__init__":
        mirrors = sorted((root / folder).glob(f"test_{source.parent.name}.py"))
    beside = [file for file in sorted((root / folder).glob("test_*.py")) if file not in mirrors]
    importers = [
        file
        for file in sorted((root / "tests").rglob("test_*.py"))
        if file.parent != root / folder and "browser" not in file.parts and names(file, source)
    ]
    if source.parts[0] == "app_pages":
        importers += [
            file
            for every in EVERY_PAGE
            for file in sorted((root / every).glob("test_*.py"))
            if file not in importers and "open_app" in file.read_text(encoding="utf-8")
        ]
    if source.parts[0] == "viz":
        importers += [
            file for file in sorted((root / EVERY_FIGURE).glob("test_*.py")) if file not in importers
        ]
    listed = [[str(file.relative_to(root)) for file in files] for files in (mirrors, beside, importers)]
    return [files for files in listed if files] or [[]]


def names(test: Path, source: Path) -> bool:
    """Whether the test file imports the module in the source file."""
    parts = source.with_suffix("").parts
    parent, module = ".".join(parts[:-1]), ".".join(parts)
    text = test.read_text(encoding="utf-8")
    return module in text or bool(
        re.search(rf"from {re.escape(parent)} import .*\b{re.escape(parts[-1])}\b", text)
    )


def check(root: Path, mutant: Mutant) -> Outcome:
    """Runs the tests on one mutant."""
    path = root / mutant.path
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.apply(source), encoding="utf-8")
    try:
        for number, tests in enumerate(stages(root, mutant.path)):
            if tests and run(root, tests) != 0:
                return Outcome(mutant, ("mirror", "folder", "importers")[number])
        return Outcome(mutant, "")
    finally:
        path.write_text(source, encoding="utf-8")


def run(root: Path, tests: Sequence[str]) -> int:
    """The exit code of pytest, run in a fork of this process, which has already imported the libraries."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = _pytest_in(root, tests)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _pytest_in(root: Path, tests: Sequence[str]) -> int:
    """The exit code of pytest on these tests in the folder `root`."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    os.chdir(root)
    for module in [module for module in sys.modules if module.partition(".")[0] == "benchmarks"]:
        del sys.modules[module]
    sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in ("", str(ROOT)))]
    sys.dont_write_bytecode = True
    return pytest.main(["-q", "-x", "--assert=plain", "-p", "no:cacheprovider", f"--rootdir={root}", *tests])


def report(revision: str, outcomes: Sequence[Outcome]) -> None:
    print(f"\n{revision}: {sum(bool(outcome.noticed_by) for outcome in outcomes)} of {len(outcomes)} noticed")
    for title, of in (("folder", in_folder), ("kind", lambda outcome: outcome.mutant.kind)):
        every = Counter(map(of, outcomes))
        noticed = Counter(of(outcome) for outcome in outcomes if outcome.noticed_by)
        print(f"\n| {title} | noticed | of |\n|---|---|---|")
        for name, n in sorted(every.items()):
            print(f"| {name} | {noticed[name]} | {n} |")
    for stage, n in Counter(outcome.noticed_by or "nobody" for outcome in outcomes).most_common():
        print(f"noticed by {stage}: {n}")
    for outcome in outcomes:
        if not outcome.noticed_by:
            print(outcome)


def in_folder(outcome: Outcome) -> str:
    """The folder of the outcome's mutant, one of `FOLDERS`."""
    return next(folder for folder in FOLDERS if outcome.mutant.path.startswith(f"{folder}/"))


if __name__ == "__main__":
    sys.exit(main())
