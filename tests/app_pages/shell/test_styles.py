"""What styles and scripts of the pages name: keys (`st-key-…`) that the pages' code can make, and Streamlit's elements."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit

import app_pages

_PAGES = Path(app_pages.__file__).parent
_NAMED = re.compile(r"(class\*=.)?\bst-key-([\w-]+)")
_ELEMENT = re.compile(r"(?<![\w-])st[A-Z][A-Za-z]+")
# Streamlit promises none of these names, so a new version may ask for work in each file that has one.
_ELEMENTS = json.loads((Path(__file__).parent / "streamlit_elements.json").read_text(encoding="utf-8"))
Parts = tuple[str | None, ...]  # of a string or f-string; None stands for what is computed


def test_elements_of_streamlit_are_those_of_the_list_and_exist():
    named = {
        name
        for path in [*_PAGES.rglob("*.css"), *_PAGES.rglob("*.js")]
        for name in _ELEMENT.findall(path.read_text(encoding="utf-8"))
    }
    assert sorted(named) == _ELEMENTS
    scripts = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("*.js")
    missing = named.difference(*(_ELEMENT.findall(script.read_text(encoding="utf-8")) for script in scripts))
    assert not missing, "the installed Streamlit makes no such element"


def test_each_key_in_the_styles_is_made_by_a_page():
    keys, words = _strings_of_the_code()
    named = {
        (key, bool(is_prefix)): path.name
        for path in [*_PAGES.rglob("*.css"), *_PAGES.rglob("*.js")]
        for is_prefix, key in _NAMED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    dead = {
        key: file
        for (key, is_prefix), file in named.items()
        if not any(_makes(parts, key, keys, words, is_prefix=is_prefix) for parts in keys)
    }
    assert not dead, "no page makes these keys"


@pytest.mark.parametrize(
    ("key", "is_prefix", "makes"),
    [
        ("side_first", False, True),
        ("side_", True, True),
        ("side_grid_2", False, True),
        ("side_ablate_second", False, True),
        ("side_third", False, False),
        ("side", False, False),
        ("one_", True, False),
    ],
)
def test_what_is_computed_in_a_key_is_a_word_or_a_key(key, is_prefix, makes):
    keys: set[Parts] = {("side_", None), ("grid_", None), ("ablate",)}
    assert _makes(("side_", None), key, keys, {"first", "second"}, is_prefix=is_prefix) == makes


def _makes(parts: Parts, key: str, keys: set[Parts], words: set[str], *, is_prefix: bool) -> bool:
    """Whether the parts can be this key, or begin with it.

    What is computed is a word, a number, empty or a key; at the beginning it is a key.
    """
    if parts[0] is None:
        return not is_prefix and any(
            _is_key(key[:end], keys, words) and _follows(parts[1:], key[end:], keys, words, is_prefix=False)
            for end in range(1, len(key))
        )
    return _follows(parts, key, keys, words, is_prefix=is_prefix)


def _follows(parts: Parts, text: str, keys: set[Parts], words: set[str], *, is_prefix: bool) -> bool:
    if not parts:
        return text == ""
    part, rest = parts[0], parts[1:]
    if part is not None:
        if text.startswith(part):
            return _follows(rest, text.removeprefix(part), keys, words, is_prefix=is_prefix)
        return is_prefix and part.startswith(text)
    if is_prefix and any(word.startswith(text) for word in words):
        return True
    return any(
        _is_computed(text[:end], keys, words) and _follows(rest, text[end:], keys, words, is_prefix=is_prefix)
        for end in range(len(text) + 1)
    )


def _is_computed(text: str, keys: set[Parts], words: set[str]) -> bool:
    name, _, number = text.rpartition("_")  # of a side, as in `app_pages.show.prediction.beside`
    is_side = (name,) in keys and number in words
    return text == "" or text.isdigit() or text in words or is_side or _is_key(text, keys, words)


def _is_key(text: str, keys: set[Parts], words: set[str]) -> bool:
    return any(
        parts[0] is not None
        and text.startswith(parts[0])
        and _follows(parts, text, keys, words, is_prefix=False)
        for parts in keys
    )


def _strings_of_the_code() -> tuple[set[Parts], set[str]]:
    """The strings that can be keys, as arguments or under a name that says so; and all strings of one word."""
    keys: set[Parts] = set()
    words: set[str] = set()
    for path in _PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.fullmatch(r"[\w-]+", node.value)
            ):
                words.add(node.value)
            for value in _values(node):
                keys.update(_strings_in(value))
    return {parts for parts in keys if any(part and re.search("[a-z]", part) for part in parts)}, words


def _values(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions in the node that can be a key."""
    if isinstance(node, ast.Call):
        yield from node.args
        yield from (keyword.value for keyword in node.keywords if "key" in (keyword.arg or ""))
    elif isinstance(node, ast.Assign) and any("key" in ast.unparse(target) for target in node.targets):
        yield node.value


def _strings_in(value: ast.AST) -> Iterator[Parts]:
    if isinstance(value, ast.JoinedStr):
        parts = tuple(part.value if isinstance(part, ast.Constant) else None for part in value.values)
        if all(part is None or re.fullmatch(r"[\w-]+", str(part)) for part in parts):
            yield parts  # type: ignore[misc]
    elif isinstance(value, ast.Constant):
        if isinstance(value.value, str) and re.fullmatch(r"[\w-]+", value.value):
            yield (value.value,)
    elif isinstance(value, ast.IfExp | ast.Tuple | ast.Starred | ast.GeneratorExp):
        for part in ast.iter_child_nodes(value):
            yield from _strings_in(part)
