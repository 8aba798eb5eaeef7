"""Values together with the Python code that computes them, for users who want to continue from a figure in a script or notebook.

The code uses only public names of the library. Value and code are computed only on request.
"""

import base64
import inspect
import math
import textwrap
import zlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

_LIBRARY_PACKAGES = ("model", "viz")  # packages of the library
_IMPORT_ALIASES = {"numpy": "np", "pandas": "pd"}
_MAX_LINE_LENGTH = 88  # letters of a line
_MAX_PLAIN_NUMBERS = 300  # larger arrays are written compressed
_MAX_PACKED_BYTES = 4000  # arrays that are larger even when compressed are refused


class Expression:
    """A value and the Python code that computes it; attributes and items of an expression are expressions too. Calling it returns
    the value.
    """

    def __init__(self, value: Callable[[], Any], write: Callable[["Script"], str]) -> None:
        self._value, self._write = cache(value), write

    def with_value(self, value: Callable[[], Any]) -> "Expression":
        """An expression with the same Python code, but whose value is computed by `value`, for example from a cache."""
        return Expression(value, self._write)

    def __call__(self) -> Any:
        """The value, computed once."""
        return self._value()

    def __getattr__(self, name: str) -> "Expression":
        if name.startswith("_"):
            raise AttributeError(name)
        return Expression(lambda: getattr(self(), name), lambda script: f"{script.write(self)}.{name}")

    def __getitem__(self, index: Any) -> "Expression":
        def write(script: Script) -> str:
            parts = index if isinstance(index, tuple) else (index,)
            return f"{script.write(self)}[{', '.join(map(script.write, parts))}]"

        return Expression(lambda: self()[_evaluated(index)], write)

    def __iter__(self) -> Any:
        raise TypeError("an expression has parts, but their number is not known")

    def python(self) -> str:
        """Python code that assigns the value to the variable `figure`. Raises ValueError if a part of it cannot be written as
        code.
        """
        script = Script()
        result = script.write(self)
        return script.text(f"figure = {result}\nfigure")


def call(function: Callable[..., Any] | Expression, *arguments: Any, **options: Any) -> Expression:
    """The call `function(*arguments, **options)` as an expression. The function is public, of the library, numpy or pandas;
    arguments may be expressions.
    """

    def write(script: "Script") -> str:
        defaults = _defaults(function)
        texts = [*map(script.write, arguments)]
        texts += [
            f"{name}={script.write(value)}"
            for name, value in options.items()
            if name not in defaults or not _is_same(value, defaults[name])
        ]
        return _wrapped(f"{script.write(function)}(", texts, ")")

    return Expression(lambda: _evaluated(function)(*_evaluated(arguments), **_evaluated(options)), write)


def named(name: str, expression: Any, value: Callable[[], Any] | None = None) -> Expression:
    """An expression (or a list or dict with expressions in it) that the code assigns to a variable `name`. `value` can compute
    the value in another way, for example from a cache.
    """
    return Expression(
        value or (lambda: _evaluated(expression)), lambda script: script.assign(name, expression)
    )


def _defaults(function: Any) -> dict[str, Any]:
    """Default values of a function's parameters, by name."""
    if isinstance(function, Expression):
        return {}
    parameters = inspect.signature(function).parameters.values()
    return {option.name: option.default for option in parameters if option.default is not option.empty}


def _is_same(value: Any, default: Any) -> bool:
    if isinstance(value, Expression | np.ndarray):
        return False
    is_empty = (
        isinstance(value, list | tuple) and isinstance(default, list | tuple) and not (value or default)
    )
    return is_empty or (type(value) is type(default) and value == default)


def _wrapped(beginning: str, parts: list[str], end: str) -> str:
    """`beginning`, comma-separated `parts` and `end` on one line or, if that is too long, with each part on a line of its own."""
    line = f"{beginning}{', '.join(parts)}{end}"
    if len(line) <= _MAX_LINE_LENGTH and "\n" not in line:
        return line
    return "\n".join([beginning, *(textwrap.indent(f"{part},", "    ") for part in parts), end])


def _evaluated(argument: Any) -> Any:
    """The argument with each expression in it replaced by its value."""
    if isinstance(argument, Expression):
        return argument()
    if type(argument) in (list, tuple):
        return type(argument)(map(_evaluated, argument))
    if type(argument) is dict:
        return {name: _evaluated(value) for name, value in argument.items()}
    return argument


class Script:
    """Lines of Python code with the imports they need."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}  # by module, "" for whole modules
        self._lines: list[str] = []
        self._names: dict[str, Any] = {}  # what a name stands for: an object, or an assigned text

    def text(self, last: str) -> str:
        """The whole code: imports, assignments, and then `last`, the code of its last lines."""
        modules = [f"import {name}" for name in sorted(self._imports.get("", ()))]
        names = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._imports.items())
            if module
        ]
        blocks = [modules, names, [*self._lines, last]]
        return "\n\n".join("\n".join(lines) for lines in blocks if lines)

    def assign(self, name: str, value: Any) -> str:
        """Assigns the value to a variable called `name`, unless a variable has it already; returns the variable's name."""
        text = self.write(value)
        new_name = self._free_name(name, text)
        if new_name not in self._names:
            self._names[new_name] = text
            self._lines.append(f"{new_name} = {text}")
        return new_name

    def _free_name(self, name: str, meaning: Any) -> str:
        """`name`, with a number appended if it already stands for something other than `meaning`."""
        number, new_name = 1, name
        while new_name in self._names and self._names[new_name] != meaning:
            number += 1
            new_name = f"{name}_{number}"
        return new_name

    def write(self, value: Any) -> str:
        """Python code for the value. Raises ValueError if it has none."""
        if isinstance(value, Expression):
            return value._write(self)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is ...:
            return "..."
        if value is None or isinstance(value, bool | int | float | str | bytes | range):
            return repr(value)
        if isinstance(value, slice):
            start, stop = ("" if end is None else self.write(end) for end in (value.start, value.stop))
            return f"{start}:{stop}" + ("" if value.step is None else f":{value.step}")
        if isinstance(value, np.ndarray):
            return self._write_array(value)
        if not isinstance(value, type) and (is_dataclass(value) or hasattr(value, "_fields")):
            return self._write_record(value)
        if isinstance(value, ModuleType) or callable(value):
            return self._reference(value)
        if isinstance(value, Mapping):
            items = [f"{self.write(key)}: {self.write(item)}" for key, item in value.items()]
            return _wrapped("{", items, "}")
        if isinstance(value, list | tuple | set | frozenset):
            parts = [*map(self.write, value)]
            if isinstance(value, tuple):
                return f"({parts[0]},)" if len(parts) == 1 else _wrapped("(", parts, ")")
            if isinstance(value, list):
                return _wrapped("[", parts, "]")
            return _wrapped("{", parts, "}") if parts else "set()"
        raise ValueError(f"{type(value).__name__} cannot be written as Python")

    def _write_record(self, value: Any) -> str:
        """Python code for a dataclass or named tuple, without fields that have their default values."""
        if is_dataclass(value):
            defaults = {field.name: field.default for field in fields(value) if field.default is not MISSING}
            names = [field.name for field in fields(value) if field.init]
        else:
            defaults, names = value._field_defaults, value._fields
        values = {name: getattr(value, name) for name in names}
        kept = {name: item for name, item in values.items() if name not in defaults or item != defaults[name]}
        texts = [f"{name}={self.write(item)}" for name, item in kept.items()]
        return _wrapped(f"{self._reference(type(value))}(", texts, ")")

    def _write_array(self, array: np.ndarray) -> str:
        np_name = self._reference(np)
        if array.size <= _MAX_PLAIN_NUMBERS:
            return f"{np_name}.array({array.tolist()!r}, {array.dtype.name!r})"
        packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
        if len(packed) > _MAX_PACKED_BYTES:
            raise ValueError(f"an array of {array.shape} is too large to be written")
        self._imports.setdefault("", set()).update(("base64", "zlib"))
        content = f"zlib.decompress(base64.b85decode({packed!r}))"
        return f"{np_name}.frombuffer({content}, {array.dtype.name!r}).reshape({array.shape})"

    def _reference(self, value: Any) -> str:
        """Imports a module, class or function, and returns its name in the code. Raises ValueError for those of the
        app's pages.
        """
        if isinstance(value, ModuleType):
            package, _, own_name = value.__name__.rpartition(".")
            if value.__name__ in _IMPORT_ALIASES:
                return self._import("", value.__name__, value, _IMPORT_ALIASES[value.__name__])
            return self._import(f"loupe.{package}", own_name, value)
        if (owner := getattr(value, "__self__", None)) is not None and not isinstance(owner, ModuleType):
            return f"{self.write(owner)}.{value.__name__}"
        module = "numpy" if isinstance(value, np.ufunc) else value.__module__
        package = module.partition(".")[0]
        if package in _IMPORT_ALIASES:
            return f"{self._reference(import_module(package))}.{value.__name__}"
        if package == "builtins":
            return value.__name__
        if package not in _LIBRARY_PACKAGES:
            raise ValueError(f"{value.__name__} of {module} cannot be written as Python")
        public = [name for name, source in _sources().items() if source == (module, value.__name__)]
        if public:
            return self._import("loupe", public[0], value)
        return self._import(f"loupe.{module}", value.__name__, value)

    def _import(self, module: str, name: str, value: Any, new_name: str = "") -> str:
        """Imports `name` from `module`, as `new_name` or with a number appended if the name already stands for something else;
        returns the name.
        """
        new_name = self._free_name(new_name or name, value)
        self._names[new_name] = value
        self._imports.setdefault(module, set()).add(name if new_name == name else f"{name} as {new_name}")
        return new_name


@cache
def _sources() -> dict[str, tuple[str, str]]:
    """Module and name in that module of each public name of the library."""
    import loupe

    return {
        name: (module.removeprefix("loupe."), original) for name, (module, original) in loupe.SOURCES.items()
    }
