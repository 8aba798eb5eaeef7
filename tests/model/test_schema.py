import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from msgspec import Meta

from model.schema import Count, Number, check_fields, convert, convert_closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    act: Literal["relu", "gelu"] | None = None
    sides: Annotated[tuple[Count, ...], Meta(min_length=2, max_length=2)] | Count | None = None

    def __post_init__(self) -> None:
        if self.sides == 13:
            raise ValueError("13 is no side")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    n: Annotated[int, Meta(ge=1, le=9)]
    names: tuple[str, ...] = ()
    share: Number = 0.5
    inner: Inner = Inner()
    several: tuple[Inner, ...] = ()


def test_json_becomes_the_dataclass():
    values = {"n": 3, "names": ["a"], "share": 1, "inner": {"act": "gelu", "sides": [2, 3]}}
    assert convert_closed(values, Outer) == Outer(
        n=3, names=("a",), share=1.0, inner=Inner(act="gelu", sides=(2, 3))
    )
    assert convert({"sides": 256}, Inner) == Inner(sides=256)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "n is missing"),
        ([], "it must be an object, got []"),
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"n": 10**400}, "n must be a whole number <= 9, got 1000"),
        ({"n": True}, "n must be a whole number, got True"),
        ({"n": 2.0}, "n must be a whole number, got 2.0"),
        ({"n": 1, "names": "a"}, "names must be a list, got 'a'"),
        ({"n": 1, "names": ["a", 3]}, "names 1 must be text, got 3"),
        ({"n": 1, "share": math.inf}, "share must be a number <= 1e+300, got inf"),
        ({"n": 1, "share": 10**400}, "share: Number out of range, got 1000"),
        ({"n": 1, "inner": None}, "inner must be an object, got None"),
        ({"n": 1, "inner": {"act": "tanh"}}, "inner act must be one of relu, gelu, got 'tanh'"),
        ({"n": 1, "inner": {"sides": [1]}}, "inner sides must be a list of length >= 2, got [1]"),
        ({"n": 1, "inner": {"sides": [1, -1]}}, "inner sides 1 must be a whole number >= 0, got -1"),
        ({"n": 1, "inner": {"sides": 13}}, "13 is no side"),
        ({"n": 1, "m": 2}, "unknown field 'm'; known are inner, n, names, several, share"),
        ({"n": 1, "several": [{}, {"code": 1}]}, "unknown field 'code'; known are act, sides"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named_with_its_value(values, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}") as refused:
        convert_closed(values, Outer)
    assert len(str(refused.value)) < 300


def test_a_dataclass_can_check_itself():
    with pytest.raises(ValueError, match=r"^n must be a whole number <= 9, got 10$"):
        check_fields(Outer(n=10))


def test_of_a_long_value_the_middle_is_left_out():
    with pytest.raises(ValueError, match=r"^n must be a whole number, got 'long") as refused:
        convert({"n": "long " * 10_000}, Outer)
    assert len(str(refused.value)) < 200
