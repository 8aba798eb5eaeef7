"""Controls: widgets whose value stands in the page's address, so that a link restores it, and that keep it on other
pages.

A control is declared once, with its key, which names it in the session and in the address, and with its options:

    MASK = Row("masks_kind", "Mask", ("Causal", "None"))

`MASK.choose()` draws it and returns what is chosen, `MASK.take("None")` sets it in a callback, and `MASK.to("None")` is
a part of a link (`app_pages.controls.pages`); it raises ValueError if there is no such option. Options that depend on
the encoder or the input, such as layers, are passed to `choose`. A control with its initial value is left out of the
address, unless that value depends on the input (`PositionBox`).
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException

from app_pages.toolkit.gestures import add_to_address

Value = TypeVar("Value")
Option = TypeVar("Option")
Quantity = TypeVar("Quantity", int, float, tuple[int, int])
Replacement = Callable[[Any, Sequence[Any]], Any]  # from a value and the options, see `first`

_WIDGET: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
INDEX = "[0-9]{1,6}"  # how the number of a layer, a head or a position is written
# Texts travel in the page's address, two of them where two are compared. Servers refuse addresses of more than
# 64 KB, and a character may take nine bytes there. Encoders read some 1,800 characters.
LONGEST = 3500


# What takes the place of a chosen value that is no option any more, in another encoder or another text.


def first(_value: Any, options: Sequence[Option]) -> Option | None:
    """The first option, as the substitute for a value that is no longer offered; None if there are no options."""
    return next(iter(options), None)


def nearest(value: Any, options: Sequence[int]) -> int | None:
    """The option nearest to `value`, or the first option if `value` is no whole number. `options` must not be empty."""
    if not isinstance(value, int):
        return first(value, options)
    return min(options, key=lambda option: abs(option - value))


def drop_option(_value: Any, _options: Sequence[Option]) -> None:
    """Returns None as the substitute for an option that is no longer offered, so that `MultiSelect` drops it and keeps the other chosen
    options.
    """


@dataclass(frozen=True)
class Choice:
    """A value of a control as part of a link; made by `Control.to`. `address_value` is the value as it stands in the address."""

    control: "Control[Any]"
    value: Any
    address_value: str | list[str]

    def take(self) -> None:
        """Callback: sets the control to this value."""
        self.control.take(self.value)


class Control(Generic[Value]):
    """Base class of the controls.

    `pattern` is a regular expression that every text of this control in an address must match; `format_func` turns a value into
    such a text. Other keyword arguments, here or in `choose`, are passed to Streamlit's widget.
    """

    def __init__(
        self,
        key: str,
        label: str = "",
        default: Any = None,
        *,
        pattern: str = ".*",
        format_func: Callable[[Any], str] = str,
        **widget: Any,
    ) -> None:
        self.key, self.label, self.default = key, label, default
        self.pattern, self.format_func = pattern, format_func
        self.widget = {"label": label, "key": key, **_WIDGET, **widget}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    def held(self, default: Any = None) -> Any:
        """The current value, kept even while another page is drawn; `default` if the control was never drawn."""
        return st.session_state.get(self.key, default)

    def take(self, value: Value) -> None:
        """Sets the value; only in callbacks, or before the control is drawn. Raises ValueError as `to` does."""
        self.check(self._address_value(value))
        st.session_state[self.key] = value

    def to(self, value: Value) -> Choice:
        """The `value` of this control as part of a link. Raises ValueError if the control has no such value."""
        address_value = self._address_value(value)
        self.check(address_value)
        return Choice(self, value, address_value)

    def check(self, address_value: str | list[str]) -> None:
        """Raises ValueError if `address_value`, the text or texts under this key in an address, is no value of this control."""
        for text in [address_value] if isinstance(address_value, str) else address_value:
            if not self._accepts(text):
                raise ValueError(f"{self.key}={text} is no value of the control “{self.label or self.key}”")

    def _accepts(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text, re.DOTALL) is not None

    def _address_value(
        self, value: Value, format_func: Callable[[Any], str] | None = None
    ) -> str | list[str]:
        """The value as it stands in the address: a text, or a list of texts."""
        write = format_func or self.format_func
        return [write(part) for part in value] if isinstance(value, list | tuple) else write(value)

    def _draw(self, widget: Callable[..., Any], begin: Any, **arguments: Any) -> Any:
        """Draws the widget, whose initial value is `begin`, and returns its value.

        On the first run of a page the value is set anew, so that it stands in the address again; so is a value that must always
        stand there (its widget starts empty) and is missing. Streamlit does not write a value into the address that was set
        before the widget was first drawn, so that is done here. If the address holds another value at that time, the widget is
        bound to the address only from the next run on: Streamlit would otherwise take that value, or delete it.
        """
        session, drawn_key, unbound_key = st.session_state, f"{self.key}_drawn", f"{self.key}_unbound"
        unbound: dict[str, Any] = {}
        if self.key in session:
            write = arguments.get("format_func", self.format_func)
            address_value = self._address_value(session[self.key], write)
            in_address = st.query_params.get_all(self.key)
            is_missing = begin is None and drawn_key in session and not in_address
            if session.get("arrived") or session.pop(unbound_key, False) or is_missing:
                session[self.key] = session[self.key]
            is_other = in_address != ([address_value] if isinstance(address_value, str) else address_value)
            if drawn_key not in session and session[self.key] != begin and is_other:
                _write_to_address(self.key, address_value)
                if in_address:
                    unbound, session[unbound_key] = dict.fromkeys(_WIDGET), True
        session[drawn_key] = True
        return widget(**self.widget | arguments | unbound)

    def _replace(self, options: tuple[Any, ...], mended: Callable[[Any], Any]) -> None:
        """Replaces the value by `mended(value)`, one of the present `options`; called before the widget is drawn.

        When the options have changed, even an unchanged value is written: Streamlit identifies a choice by its label and a slider
        by its bounds, and the browser and the address would otherwise keep the old label, or lose the value. In any other run an
        unchanged value is not written, since that would interrupt a drag.
        """
        session, options_key = st.session_state, f"{self.key}_options"
        if self.key in session:
            now = mended(session[self.key])
            if now != session[self.key] or session.get(options_key, options) != options:
                session[self.key] = now
        session[options_key] = options


class OfOptions(Control[Value], Generic[Value, Option]):
    """A control with options; those that depend on the encoder or the input are passed to `choose`.

    `gone(value, options)` returns the substitute for a chosen option that is no longer offered.
    """

    def __init__(
        self,
        key: str,
        label: str = "",
        options: Iterable[Option] | None = None,
        default: Any = None,
        *,
        gone: Replacement = first,
        **widget: Any,
    ) -> None:
        super().__init__(key, label, default, **widget)
        self.options = None if options is None else list(options)
        self.gone = gone

    def _accepts(self, text: str) -> bool:
        if self.options is None:
            return super()._accepts(text)
        return text in map(self.format_func, self.options)

    def _offered(self, options: Iterable[Option] | None = None) -> list[Option]:
        """The options that are offered now: `options` if given, else those of the declaration."""
        return list(self.options or () if options is None else options)


class Row(OfOptions[Option, Option]):
    """A row of buttons, one of which is chosen: by default the first, also if the chosen option is no longer offered."""

    def choose(
        self, options: Iterable[Option] | None = None, default: Option | None = None, **widget: Any
    ) -> Option:
        """Draws the control and returns the chosen option; at first that is `default`, or else the first option."""
        offered = self._offered(options)
        begin = offered[0] if default is None else default
        self._replace((*offered, begin), lambda value: value if value in offered else begin)
        chosen = self._draw(
            st.segmented_control, begin, options=offered, default=begin, required=True, **widget
        )
        # `key=` without a value empties even what is required
        return begin if chosen is None else chosen


class Tabs(Row[str]):
    """The tabs of a page."""

    def __init__(self, key: str, options: Iterable[str], label: str = "Part", **declared: Any) -> None:
        super().__init__(key, label, options, label_visibility="collapsed", width="stretch", **declared)

    def choose(self, options: Iterable[str] | None = None, default: str | None = None, **widget: Any) -> str:
        with st.container(key="parts"):
            return super().choose(options, default, **widget)


class SelectBox(OfOptions[Option, Option]):
    """A drop-down list. At first `default` is chosen, or else the first option."""

    is_always_written: ClassVar[bool] = False

    def choose(
        self,
        options: Iterable[Option] | None = None,
        default: Option | None = None,
        *,
        gone: Replacement | None = None,
        format_func: Callable[[Any], str] | None = None,
        **widget: Any,
    ) -> Any:
        """Draws the control and returns the chosen option; None if there are no options.

        `gone` returns the substitute for a chosen option that is no longer offered. Arguments that are None are those of
        the declaration.
        """
        offered, label_of = self._offered(options), format_func or self.format_func
        replace = gone or self.gone
        self._replace(
            tuple(map(label_of, offered)),
            lambda value: value if value in offered else replace(value, offered),
        )
        begin = self.default if default is None else default
        index = 0 if begin is None else offered.index(begin)
        begin = next(iter(offered[index:]), None)
        if not self.is_always_written:
            return self._draw(
                st.selectbox, begin, options=offered, index=index, format_func=label_of, **widget
            )
        in_address = st.query_params.get(self.key) in [*map(label_of, offered)]
        if st.session_state.get(self.key) is None and not in_address:
            st.session_state[self.key] = begin
        # Streamlit leaves out of the address what a widget begins with: this one begins empty.
        chosen = self._draw(
            st.selectbox, None, options=offered, index=None, required=True, format_func=label_of, **widget
        )
        return begin if chosen is None else chosen


class PositionBox(SelectBox[Option]):
    """A drop-down list whose value stands in the address even if it is the initial one, because that depends on the input."""

    is_always_written = True


class MultiSelect(OfOptions[list[Option], Option]):
    """A drop-down list in which several options can be chosen; they are returned in the order of choosing."""

    def choose(self, options: Iterable[Option] | None = None, default: Sequence[Option] = ()) -> list[Option]:
        """Draws the control and returns the chosen options."""
        offered = self._offered(options)

        def mended(value: list[Option]) -> list[Option]:
            present = (option if option in offered else self.gone(option, offered) for option in value)
            return [option for option in dict.fromkeys(present) if option is not None]

        self._replace(tuple(map(self.format_func, offered)), mended)
        begin = default or self.default
        return self._draw(
            st.multiselect,
            [*(begin or ())],
            options=offered,
            default=begin,
            format_func=self.format_func,
            select_all=self.widget.get("select_all", False),
        )


class Pills(OfOptions[list[Option], Option]):
    """A row of buttons of which several can be chosen; the chosen options are returned in the order of the row."""

    def choose(self) -> list[Option]:
        """Draws the control and returns the chosen options."""
        offered = self._offered()
        chosen = self._draw(
            st.pills, self.default or [], options=offered, default=self.default, selection_mode="multi"
        )
        return [option for option in offered if option in chosen]


class SelectSlider(OfOptions[Option, Option]):
    """A slider over a few options in order."""

    def choose(self) -> Option:
        """Draws the control and returns the chosen option."""
        options = self._offered()
        begin = options[0] if self.default is None else self.default
        return self._draw(st.select_slider, begin, options=options, value=begin, format_func=self.format_func)


class Bounded(Control[Quantity]):
    """A number, or a range, from `least` to `most`; numbers outside are set to the nearer bound.

    If `most` is None, the upper bound depends on the encoder or the input and is passed to `choose`.
    """

    def __init__(
        self,
        key: str,
        label: str = "",
        least: float = 0,
        most: float | None = None,
        default: Quantity | None = None,
        **widget: Any,
    ) -> None:
        super().__init__(key, label, default, **widget)
        self.least, self.most = least, most

    def _accepts(self, text: str) -> bool:
        number = _number(text)
        return math.isfinite(number) and self.least <= number <= (
            math.inf if self.most is None else self.most
        )

    def _draw_within(self, widget: Callable[..., Any], most: Any, default: Any, **arguments: Any) -> Any:
        """Draws the widget with its current bounds and returns its value; a held value outside them is set to the
        nearer bound.
        """
        most = self.most if most is None else most
        begin = next(value for value in (default, self.default, self.least) if value is not None)
        bounds = (self.least, most, self.widget.get("step"))
        self._replace(bounds, lambda value: _clipped(value, self.least, most, begin))
        return self._draw(widget, begin, min_value=self.least, max_value=most, value=begin, **arguments)


class Number(Bounded[int]):
    """A box for a whole number; at first the declared default, or else the least number."""

    def choose(self, most: int | None = None, default: int | None = None) -> int:
        """Draws the control and returns the chosen number; `most` is the upper bound, by default the declared one."""
        unbound = {}
        if not all(map(math.isfinite, map(_number, st.query_params.get_all(self.key)))):
            # Streamlit would make a whole number of an infinity, which ends in an OverflowError: what is drawn in this
            # run must not be bound to the address.
            st.query_params.pop(self.key, None)
            unbound = dict.fromkeys(_WIDGET)
        return self._draw_within(st.number_input, most, default, **unbound)


class Slider(Bounded[Quantity]):
    """A slider for one number, or for a range where `default` is a pair."""

    def choose(self, most: float | None = None, default: Quantity | None = None, **widget: Any) -> Quantity:
        """Draws the control and returns the chosen number, or both ends of the range; `most` is the upper bound, by default the declared one."""
        return self._draw_within(st.slider, most, default, **widget)


class Toggle(Control[bool]):
    """A switch; at first off, unless declared otherwise."""

    def __init__(self, key: str, label: str = "", default: bool = False, **widget: Any) -> None:
        super().__init__(
            key, label, default, pattern="true|false", format_func=lambda on: str(on).lower(), **widget
        )

    def choose(self, **widget: Any) -> bool:
        """Draws the control and returns whether it is on."""
        return self._draw(st.toggle, self.default, value=self.default, **widget)


class TextBox(Control[str]):
    """A box for a text: two lines high, and while it has the focus as high as its text.

    Enter applies the text and Shift+Enter breaks the line; if `enter_breaks_line`, Enter breaks the line. `max_characters` is the limit in
    characters.
    """

    def __init__(
        self,
        key: str,
        label: str,
        default: str = "",
        *,
        max_characters: int = LONGEST,
        enter_breaks_line: bool = False,
    ) -> None:
        super().__init__(
            key,
            label,
            default,
            max_chars=max_characters,
            height="content",
            label_visibility="visible" if enter_breaks_line else "collapsed",
        )
        self._container_key = f"text_{'by_line_' if enter_breaks_line else ''}{key}"

    def choose(self, default: str | None = None) -> str:
        """Draws the control and returns its text; at first that is `default`, or else the declared one."""
        with st.container(key=self._container_key):
            begin = self.default if default is None else default
            return self._draw(st.text_area, begin, value=begin) or ""


class TextLine(Control[str]):
    """A box for a few words; empty at the start."""

    def choose(self) -> str:
        """Draws the control and returns its text."""
        return self._draw(st.text_input, "") or ""


class Code(Control[str]):
    """A text in the address that belongs to no widget, such as the list of cells blocked by clicks; "" if there is none."""

    def read(self) -> str:
        """The text in the address; "" if there is none.

        If it is missing because the page changed, it is restored. If it is missing on the same page, the reader went
        back in the browser, and it stays empty.
        """
        _state().used_codes.add(self.key)
        if self.key in st.query_params:
            st.session_state[self.key] = st.query_params[self.key]
        elif self.key not in _state().codes_to_restore:
            st.session_state[self.key] = ""
        elif st.session_state.get(self.key):
            st.query_params[self.key] = st.session_state[self.key]
        _state().codes_to_restore.discard(self.key)
        return st.session_state.get(self.key, "")

    def take(self, value: str) -> None:
        """Callback: writes `value` into the address."""
        _state().used_codes.add(self.key)
        _state().taken_codes[self.key] = value
        st.session_state[self.key] = value
        if value:
            st.query_params[self.key] = value
        else:
            self.leave()

    def begin(self, value: str) -> None:
        """Writes the initial value into the address, after `read` has returned ""."""
        st.session_state[self.key] = value
        _write_to_address(self.key, value)

    def is_of_other_text(self, tokens: Sequence[str]) -> bool:
        """Whether the input's `tokens` differ from those at the last call, so that positions in this code would refer to other
        tokens.

        All digits have the same patch names, so between digits they do not differ.
        """
        before = st.session_state.get(f"{self.key}_tokens", tokens)
        st.session_state[f"{self.key}_tokens"] = tokens
        return before != tokens

    def leave(self) -> None:
        """Callback: removes the text from the address; it is kept in the session for later."""
        st.query_params.pop(self.key, None)
        _state().codes_to_restore.add(self.key)


# A run of the app


@dataclass
class _AddressState:
    """What a session remembers of its address beside the values of the controls."""

    has_run: bool = False  # whether a run has ended
    # Initial values by key, to be written into the address when the first run ends.
    first_values: dict[str, list[str]] = field(default_factory=dict)
    used_codes: set[str] = field(default_factory=set)  # keys of the codes that were used in this session
    # Codes by key that callbacks set since the last completed run: until then the browser still sends the previous address.
    taken_codes: dict[str, str] = field(default_factory=dict)
    # Keys of codes that the address lost with a change of page; each is written again once the new page reads it.
    codes_to_restore: set[str] = field(default_factory=set)


def _state() -> _AddressState:
    return st.session_state.setdefault("address_state", _AddressState())


def begin_run(page: str) -> None:
    """Records which page this run draws; called before anything is drawn.

    On a new page every widget writes its value into the address again when it is first drawn, since the browser leaves out
    widgets in closed popovers. Values that came with a link, that is, those in the address that the previous page's address
    lacked, replace those of the session.
    """
    arrived = st.session_state["arrived"] = st.session_state.get("page") != page
    st.session_state["page"] = page
    if arrived:
        _state().codes_to_restore.update(_state().used_codes)
        before = st.session_state.get("address", {})
        # The keys of both: Streamlit raises an error for a name that no key can have, such as the empty one of "?=1".
        for key in set(st.query_params) & set(map(str, st.session_state)):
            if st.query_params.get_all(key) != before.get(key):
                del st.session_state[key]
            elif key in _state().used_codes:  # the session has it, perhaps newer: `Code.read` writes it again
                del st.query_params[key]
    else:
        for key, value in _state().taken_codes.items():
            if value:
                st.query_params[key] = value
            else:
                st.query_params.pop(key, None)


@contextmanager
def kept_for_next_run() -> Iterator[None]:
    """Context for drawing a page; on exit it keeps the address in the session for the next run.

    It keeps nothing if the run ends early for another run: the browser that requested it may still have the previous run's
    address.
    """
    try:
        yield
    except RerunException:
        raise
    except BaseException:
        _keep_address()
        raise
    _keep_address()


def _keep_address() -> None:
    """Keeps the address in the session. On the session's first run the browser then adds the initial values of the controls: from
    the server each would become a step of the browser's history, before `history.js` is loaded to merge them.
    """
    state = _state()
    first_values = {} if state.has_run else state.first_values
    state.taken_codes.clear()
    st.session_state["address"] = {
        key: st.query_params.get_all(key) for key in st.query_params
    } | first_values
    state.has_run = True
    add_to_address(first_values)


def began_without_parameters() -> bool:
    """Whether the session began with an address without parameters; then rules choose the first head and query."""
    return st.session_state.setdefault("began_without_parameters", not st.query_params)


def _number(text: str) -> float:
    """The number that the text stands for; NaN if it is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _clipped(value: Any, least: float, most: float, default: Any) -> Any:
    """A number, or both ends of a range, each set to the nearer bound if outside; `default` if `value` is None."""
    if value is None:
        return default
    if isinstance(value, tuple):
        return tuple(min(max(end, least), most) for end in value)
    return min(max(value, least), most)


def _write_to_address(key: str, address_value: str | list[str]) -> None:
    """Writes a value into the address; on the session's first run a missing key is written only at the end of the run."""
    if _state().has_run or key in st.query_params:
        st.query_params[key] = address_value
    else:
        _state().first_values[key] = [address_value] if isinstance(address_value, str) else address_value
