"""Converts untrusted values to annotated types; the annotations of a dataclass, with their bounds, serve as its schema.

A tuple of fixed length must not be a member of a union (`tuple[int, int] | int`): msgspec 0.22 confuses its length with the
bounds of the number. `Annotated[tuple[int, ...], Meta(min_length=2, max_length=2)]` says the same and is safe.
"""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from reprlib import Repr
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=2**53)]  # above, a float does not hold every whole number
PositiveCount = Annotated[int, Meta(ge=1, le=2**53)]
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]  # JSON may hold numbers that no float holds

_READABLE_TYPES = {
    "`int": "`a whole number",
    "`float": "`a number",
    "`str": "`text",
    "`bool": "`true or false",
    "`array": "`a list",
    "`object": "`an object",
    " | null": " or null",
    "`": "",
}
_PATH_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")  # of a path such as $.log[2].step
_short_repr = Repr()
_short_repr.maxstring = _short_repr.maxother = 80


def convert(value: object, kind: Any, name: str = "") -> Any:
    """Converts `value` to the annotated type `kind`; error messages put `name` before the names of fields.

    Raises ValueError, with a one-sentence message that states the field and its value, if a value does not fit its
    annotation.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        if error.__cause__ is not None:  # raised by __post_init__ of a dataclass
            raise ValueError(str(error.__cause__)) from error
        message, _, path = str(error).partition(" - at `$")
        steps: list[str | int] = [field or int(index) for field, index in _PATH_STEP.findall(path)]
        raise ValueError(
            _error_sentence(message, value, kind, [*filter(None, [name]), *steps], steps)
        ) from error


def convert_closed(value: object, kind: Any) -> Any:
    """Like `convert`, but raises ValueError also for an object with a field that its dataclass does not have."""
    result = convert(value, kind)
    _refuse_unknown(value, result)
    return result


def check_fields(instance: object) -> None:
    """Raises ValueError if the value of a field of the dataclass does not fit its annotation."""
    kind: type = type(instance)
    for name, annotation in _annotations(kind).items():
        convert(getattr(instance, name), annotation, name)


@cache
def _annotations(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _error_sentence(
    message: str, value: Any, kind: Any, names: list[str | int], steps: list[str | int]
) -> str:
    """Error sentence made from msgspec's `message`, with the value that does not fit.

    `steps` is the path of keys and indices from `value` to that value, `names` the same path as the sentence writes it, and
    `kind` the annotated type of `value`.
    """
    field = " ".join(map(str, names))
    if message.startswith("Object missing required field"):
        return f"{field}: {message.split('`')[1]} is missing".removeprefix(": ")
    field = field or "it"
    for step in steps:
        value, kind = value[step], _type_at(kind, step)
    got_phrase = f"got {_short_repr.repr(value)}"
    allowed_values = [
        allowed_value
        for member in _types_in_union(kind)
        if get_origin(member) is Literal
        for allowed_value in get_args(member)
    ]
    if allowed_values:
        return f"{field} must be one of {', '.join(map(str, allowed_values))}, {got_phrase}"
    if not message.startswith("Expected "):
        return f"{field}: {message}, {got_phrase}"
    expected_type = message.removeprefix("Expected ").partition(", got ")[0]
    for word, description in _READABLE_TYPES.items():
        expected_type = expected_type.replace(word, description)
    return f"{field} must be {expected_type}, {got_phrase}"


def _type_at(kind: Any, step: str | int) -> Any:
    """Annotation of the field called `step`, or of the items of a list; None if it is unknown."""
    for member in _types_in_union(kind):
        if isinstance(step, str) and step in getattr(member, "__annotations__", {}):
            return _annotations(member)[step]
        if isinstance(step, int) and get_origin(member) in (list, tuple):
            return get_args(member)[0]
    return None


def _types_in_union(kind: Any) -> Iterator[Any]:
    """Yields the types in a union, or `kind` itself, without the bounds of `Annotated`."""
    if get_origin(kind) in (Annotated, Union, UnionType):
        for member in get_args(kind):
            yield from _types_in_union(member)
    else:
        yield kind


def _refuse_unknown(value: Any, result: object) -> None:
    """Raises ValueError for the first field in `value` that the dataclass in `result` does not have."""
    if is_dataclass(result) and isinstance(value, dict):
        field_names = {field.name for field in fields(result)}
        if unknown_fields := sorted(set(value) - field_names):
            raise ValueError(
                f"unknown field {unknown_fields[0][:80]!r}; known are {', '.join(sorted(field_names))}"
            )
        for name, inner_value in value.items():
            _refuse_unknown(inner_value, getattr(result, name))
    elif isinstance(result, dict):
        for name, converted in result.items():
            _refuse_unknown(value[name], converted)
    elif isinstance(result, list | tuple):
        for inner_value, converted in zip(value, result, strict=True):
            _refuse_unknown(inner_value, converted)
