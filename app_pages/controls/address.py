"""Widgets whose value stands in the page's address, so that a link restores it, and that keep it on other pages.

A declaration says the key, of the widget and in the address; the options; what is chosen to begin with; and what becomes
of a choice that is an option no longer, in another encoder or another text. A choice that is the first one leaves the
address. Codes are choices that no widget holds, such as cells blocked by clicks.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Option = TypeVar("Option")
Number = TypeVar("Number", int, float, tuple[int, int])

EXPANDER = {"bind": "query-params"}
WIDGET = EXPANDER | {"persist_state": "session"}

# What takes the place of a held value that is no option: from the value and the options there are.


def first(_held: Any, options: Sequence[Option]) -> Option | None:
    return next(iter(options), None)


def nearest(held: Any, options: Sequence[int]) -> int | None:
    return (
        min(options, key=lambda option: abs(option - held)) if isinstance(held, int) else first(held, options)
    )


def dropped(_held: Any, _options: Sequence) -> None:
    """For `boxes`: an option that is no longer there is left out, the other chosen ones stay."""


def arrive(page: str) -> None:
    """Before anything is drawn: the page that this run is of.

    Going to another page, the browser leaves out of the address what stands in a closed popover. Widgets that are drawn for
    the first time there are set to what they hold, and so written into the address again. A link wins over what is held:
    its values are those that were not in the address of the page before.
    """
    arrived = st.session_state["arrived"] = st.session_state.get("page") != page
    st.session_state["page"] = page
    if arrived:
        _put_back().update(_codes())
        before = st.session_state.get("address", {})
        for key in st.query_params:
            if st.query_params.get_all(key) != before.get(key):
                st.session_state.pop(key, None)


def leave() -> None:
    """After everything is drawn: keeps what the address holds."""
    st.session_state["address"] = {key: st.query_params.get_all(key) for key in st.query_params}


def opened_bare() -> bool:
    """Whether the session began with an address that chooses nothing: then rules choose what is shown first."""
    return st.session_state.setdefault("opened_bare", not st.query_params)


# Controls


def row(label: str, options: Iterable[Option], *, key: str, **appearance: Any) -> Option:
    """A row of buttons of which one is chosen: the first at the start, and where the chosen option is no longer there."""
    options = list(options)
    _write_back(key, tuple(options), lambda held: held if held in options else options[0])
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=key, **WIDGET, **appearance
    )
    return options[0] if chosen is None else chosen  # `key=` without a value empties even what is required


def box(
    label: str,
    options: Iterable[Option],
    default: Option | None = None,
    *,
    key: str,
    gone: Callable[[Any, Sequence[Option]], Option | None] = first,
    format_func: Callable[[Option], str] = str,
    **appearance: Any,
) -> Option | None:
    """A drop-down list. At the start `default` is chosen, or else the first option; None where there are no options."""
    options = list(options)
    _write_back(
        key, tuple(map(format_func, options)), lambda held: held if held in options else gone(held, options)
    )
    at = 0 if default is None else options.index(default)
    return st.selectbox(label, options, at, format_func=format_func, key=key, **WIDGET, **appearance)


def boxes(
    label: str,
    options: Iterable[Option],
    default: Sequence[Option] = (),
    *,
    key: str,
    gone: Callable[[Any, Sequence[Option]], Option | None] = dropped,
    format_func: Callable[[Option], str] = str,
    **appearance: Any,
) -> list[Option]:
    """A drop-down list of which several can be chosen; they come in the order in which they were chosen."""
    options = list(options)

    def mended(held: list[Option]) -> list[Option]:
        each = (one if one in options else gone(one, options) for one in held)
        return [one for one in dict.fromkeys(each) if one is not None]

    _write_back(key, tuple(map(format_func, options)), mended)
    return st.multiselect(
        label, options, default, format_func=format_func, key=key, select_all=False, **WIDGET, **appearance
    )


def pills(
    label: str, options: Iterable[Option], default: Sequence[Option], *, key: str, **appearance: Any
) -> list[Option]:
    """A row of buttons of which several can be chosen; they come in the order of the options, which must not change."""
    options = list(options)
    _write_again(key)
    chosen = st.pills(
        label, options, selection_mode="multi", default=default, key=key, **WIDGET, **appearance
    )
    return [option for option in options if option in chosen]


def number(
    label: str, least: int, most: int, default: int | None = None, *, key: str, **appearance: Any
) -> int:
    """A box for a whole number from `least` to `most`; a chosen number outside them moves to the nearer end."""
    first = least if default is None else default
    _write_back(key, (least, most), lambda held: _clipped(held, least, most, first))
    bound = {} if _drop_infinity(key) else WIDGET
    return st.number_input(label, least, most, first, key=key, **bound, **appearance)


def slider(
    label: str,
    least: float,
    most: float,
    default: Number,
    *,
    key: str,
    step: float | None = None,
    **appearance: Any,
) -> Number:
    """A slider for one number, or for a range where `default` is a pair; what is outside moves to the nearer end."""
    _write_back(key, (least, most, step), lambda held: _clipped(held, least, most, default))
    return st.slider(label, least, most, default, step, key=key, **WIDGET, **appearance)


def select_slider(
    label: str, options: Sequence[Option], default: Option, *, key: str, **appearance: Any
) -> Option:
    """A slider over a few options in order, which must not change."""
    _write_again(key)
    return st.select_slider(label, options, default, key=key, **WIDGET, **appearance)


def toggle(label: str, default: bool = False, *, key: str, **appearance: Any) -> bool:
    _write_again(key)
    return st.toggle(label, default, key=key, **WIDGET, **appearance)


def text(label: str, default: str, *, key: str, **appearance: Any) -> str:
    _write_again(key)
    return st.text_area(label, default, key=key, **WIDGET, **appearance) or ""


def line(label: str, *, key: str, **appearance: Any) -> str:
    """A box for a few words; empty at the start."""
    _write_again(key)
    return st.text_input(label, key=key, **WIDGET, **appearance) or ""


def expander(label: str, expanded: bool, *, key: str) -> DeltaGenerator:
    """`.open` says whether it is unfolded."""
    return st.expander(label, expanded, key=key, **EXPANDER)


def held(key: str, default: Any = None) -> Any:
    """The value of a widget that is drawn elsewhere; `default` where it was not drawn yet."""
    return st.session_state.get(key, default)


def take(key: str, value: Any) -> None:
    """Sets the value of a widget; only in callbacks, or before the widget is drawn."""
    st.session_state[key] = value


def _write_back(key: str, options: tuple, mended: Callable[[Any], Any]) -> None:
    """Before a widget is drawn: replaces its value by `mended(value)`, which is one of the present options.

    It is written even where it stays what it is, once the options are others: Streamlit knows a choice by its label
    and a slider by its bounds, and left alone the browser and the address would keep the old label, or lose the value.
    In any other run it is left alone, or what is being dragged would jump back.
    """
    if key in st.session_state:
        held = st.session_state[key]
        now = mended(held)
        if now != held or st.session_state.get(f"{key}_options", options) != options:
            st.session_state[key] = now
        else:
            _write_again(key)
    st.session_state[f"{key}_options"] = options


def _write_again(key: str) -> None:
    if key in st.session_state and st.session_state.get("arrived"):
        st.session_state[key] = st.session_state[key]


def _drop_infinity(key: str) -> bool:
    """Whether the address held an infinity, which is taken out of it.

    Streamlit leaves words out by itself, but would make a whole number of an infinity, which ends in an OverflowError:
    what is drawn in this run must not be bound to the address.
    """
    finite = not any(map(_is_infinite, st.query_params.get_all(key)))
    if not finite:
        st.query_params.pop(key, None)
    return not finite


def _is_infinite(said: str) -> bool:
    try:
        return not math.isfinite(float(said))
    except ValueError:
        return False


def _clipped(held: Any, least: float, most: float, default: Number) -> Number:
    if held is None:
        return default
    if isinstance(held, tuple):
        return tuple(min(max(end, least), most) for end in held)
    return min(max(held, least), most)


# Codes


def code(key: str) -> str:
    """What the address holds as `key`, "" for nothing. Where a change of the page has dropped it, it is put back.

    On the same page the reader has gone back, with the browser, to a view without it.
    """
    _codes().add(key)
    if key in st.query_params:
        st.session_state[key] = st.query_params[key]
    elif key not in _put_back():
        st.session_state[key] = ""
    elif st.session_state.get(key):
        st.query_params[key] = st.session_state[key]
    _put_back().discard(key)
    return st.session_state.get(key, "")


def take_code(key: str, value: str) -> None:
    """For callbacks: writes `value` into the address as `key`."""
    _codes().add(key)
    st.session_state[key] = value
    if value:
        st.query_params[key] = value
    else:
        leave_code(key)


def leave_code(key: str) -> None:
    """For callbacks: takes `key` out of the address; its value stays in the session for later."""
    st.query_params.pop(key, None)
    _put_back().add(key)


def _codes() -> set[str]:
    """The codes that the session knows."""
    return st.session_state.setdefault("codes", set())


def _put_back() -> set[str]:
    """Codes that are not in the address now, but come back into it once the page asks for them."""
    return st.session_state.setdefault("codes_put_back", set())
