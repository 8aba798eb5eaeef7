"""Controls: widgets whose value stands in the page's address, so that a link restores it, and that keep it on other pages.

A control is declared once, with its key, which is that of the widget and in the address, and with what it offers:

    MASK = Row("masks_kind", "Mask", ("Causal", "None"))

`MASK.choose()` draws it and returns what is chosen, `MASK.take("None")` sets it in a callback, and `MASK.to("None")` is a
part of a link (`app_pages.controls.pages`), made only if there is such an option. What depends on the encoder or the input,
such as the options of a list of layers, is passed to `choose`. A value that is chosen to begin with leaves the address.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

Value = TypeVar("Value")
Option = TypeVar("Option")
Quantity = TypeVar("Quantity", int, float, tuple[int, int])
Replacement = Callable[[Any, Sequence[Any]], Any]  # from a value and the options, see `first`

_EXPANDER: dict[str, Any] = {"bind": "query-params"}
_WIDGET = _EXPANDER | {"persist_state": "session"}
INDEX = "[0-9]{1,6}"  # how the number of a layer, a head or a position is written


# What takes the place of a chosen value that is no option any more, in another encoder or another text.


def first(_value: Any, options: Sequence[Option]) -> Option | None:
    """The first option; None if there are none."""
    return next(iter(options), None)


def nearest(value: Any, options: Sequence[int]) -> int | None:
    """The option nearest to the number `value`; the first one if `value` is no number."""
    if not isinstance(value, int):
        return first(value, options)
    return min(options, key=lambda option: abs(option - value))


def dropped(_value: Any, _options: Sequence[Option]) -> None:
    """Replacement for `Boxes`: None, so that an option that no longer exists is removed and the other chosen ones stay."""


def never_renamed(_option: str) -> None:
    """None, since the control's options were never renamed."""


@dataclass(frozen=True)
class Choice:
    """A control with a value for it, as part of a link; made by `Control.to`."""

    control: "Control[Any]"
    value: Any
    written: str | list[str]  # as in the address

    def take(self) -> None:
        """Callback: sets the control to this value."""
        self.control.take(self.value)


class Control(Generic[Value]):
    """Base of all controls. Further keywords of a declaration, or of `choose`, are passed to Streamlit's widget."""

    def __init__(self, key: str, label: str = "", default: Any = None, **widget: Any) -> None:
        self.key, self.label, self.default = key, label, default
        self.widget = {"label": label, "key": key, **_WIDGET, **widget}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    def held(self, default: Any = None) -> Any:
        """The control's value, even if this page does not draw it; `default` if it was not drawn yet."""
        return st.session_state.get(self.key, default)

    def take(self, value: Value) -> None:
        """Sets the value; only in callbacks, or before the control is drawn. Raises ValueError for an invalid value."""
        self.check(self.write(value))
        st.session_state[self.key] = value

    def to(self, value: Value) -> Choice:
        """The control with this value, for a link. Raises ValueError for an invalid value."""
        written = self.write(value)
        self.check(written)
        return Choice(self, value, written)

    def write(self, value: Value) -> str | list[str]:
        """The value as it is written in the address."""
        return [str(part) for part in value] if isinstance(value, list | tuple) else str(value)

    def check(self, written: str | list[str]) -> None:
        """Raises ValueError if `written` is not the written form of a valid value."""
        for text in [written] if isinstance(written, str) else written:
            if not self._accepts(text):
                raise ValueError(f"{self.key}={text} is no value of the control “{self.label or self.key}”")

    def _accepts(self, _text: str) -> bool:
        return True

    def _replace(self, options: tuple[Any, ...], mended: Callable[[Any], Any]) -> None:
        """Before a widget is drawn: replaces its value by `mended(value)`, which is among the present `options`.

        When the options have changed, even an unchanged value is written again: Streamlit identifies a choice by its label
        and a slider by its bounds, so the browser and the address would otherwise keep the old label or lose the value.
        When they have not changed, the value is left alone, or a slider that is being dragged would jump back.
        """
        session, options_key = st.session_state, f"{self.key}_options"
        if self.key in session:
            value = session[self.key]
            now = mended(value)
            if now != value or session.get(options_key, options) != options:
                session[self.key] = now
            else:
                self._write_again()
        session[options_key] = options

    def _write_again(self) -> None:
        """On the first run of a page, puts the value back into the address."""
        if self.key in st.session_state and st.session_state.get("arrived"):
            st.session_state[self.key] = st.session_state[self.key]


class OfOptions(Control[Value], Generic[Value, Option]):
    """A control with options.

    If they depend on the encoder or the input, they are passed to `choose`, and the regular expression `pattern` says what
    a link may contain. `former` maps an option's name in links of earlier versions to today's option, or to None. `gone`
    chooses the replacement of a chosen option that no longer exists.
    """

    def __init__(
        self,
        key: str,
        label: str = "",
        options: Iterable[Option] | None = None,
        default: Any = None,
        *,
        pattern: str = ".*",
        former: Callable[[str], Option | None] = never_renamed,
        gone: Replacement = first,
        format_func: Callable[[Any], str] = str,
        **widget: Any,
    ) -> None:
        super().__init__(key, label, default, **widget)
        self.options = None if options is None else list(options)
        self.pattern, self.former, self.gone, self.format_func = pattern, former, gone, format_func

    def write(self, value: Value) -> str | list[str]:
        return (
            [self.format_func(part) for part in value] if isinstance(value, list) else self.format_func(value)
        )

    def _accepts(self, text: str) -> bool:
        if self.options is None:
            return re.fullmatch(self.pattern, text, re.DOTALL) is not None
        return text in map(self.format_func, self.options)

    def _offered(self, options: Iterable[Option] | None = None) -> list[Option]:
        """The present options: `options`, or else the declared ones. Also replaces a former name in the address."""
        if self.key not in st.session_state:
            renamed = self.former(st.query_params.get(self.key, ""))
            if renamed is not None:
                st.session_state[self.key] = renamed
        return list(self.options or () if options is None else options)


class Row(OfOptions[Option, Option]):
    """A row of buttons with one chosen: at first the first one, also after the chosen option disappears."""

    def choose(self, options: Iterable[Option] | None = None, **widget: Any) -> Option:
        """Draws the row and returns the chosen option."""
        offered = self._offered(options)
        self._replace(tuple(offered), lambda value: value if value in offered else offered[0])
        arguments = self.widget | {"options": offered, "default": offered[0], "required": True} | widget
        chosen = st.segmented_control(**arguments)
        # `key=` without a value empties even what is required
        return offered[0] if chosen is None else chosen


class Tabs(Row[str]):
    """The parts of a page, one of which is shown."""

    def __init__(self, key: str, options: Iterable[str], label: str = "Part", **declared: Any) -> None:
        super().__init__(key, label, options, label_visibility="collapsed", width="stretch", **declared)

    def choose(self, options: Iterable[str] | None = None, **widget: Any) -> str:
        with st.container(key=f"parts_{self.key}"):
            return super().choose(options, **widget)


class Box(OfOptions[Option, Option]):
    """A drop-down list. At first `default` is chosen, or else the first option."""

    def choose(
        self,
        options: Iterable[Option] | None = None,
        default: Option | None = None,
        *,
        gone: Replacement | None = None,
        format_func: Callable[[Any], str] | None = None,
        **widget: Any,
    ) -> Any:
        """Draws the list and returns the chosen option, None if there are no options."""
        offered, label_of, replace = (
            self._offered(options),
            format_func or self.format_func,
            gone or self.gone,
        )
        self._replace(
            tuple(map(label_of, offered)),
            lambda value: value if value in offered else replace(value, offered),
        )
        start = self.default if default is None else default
        arguments = {"index": 0 if start is None else offered.index(start), "format_func": label_of} | widget
        return st.selectbox(options=offered, **self.widget | arguments)


class Boxes(OfOptions[list[Option], Option]):
    """A drop-down list with any number chosen, returned in the order in which they were chosen."""

    def choose(self, options: Iterable[Option] | None = None, default: Sequence[Option] = ()) -> list[Option]:
        """Draws the list and returns the chosen options."""
        offered = self._offered(options)

        def mended(value: list[Option]) -> list[Option]:
            present = (option if option in offered else self.gone(option, offered) for option in value)
            return [option for option in dict.fromkeys(present) if option is not None]

        self._replace(tuple(map(self.format_func, offered)), mended)
        arguments = {"default": default or self.default, "format_func": self.format_func, "select_all": False}
        return st.multiselect(options=offered, **self.widget | arguments)


class Pills(OfOptions[list[Option], Option]):
    """A row of buttons with any number chosen, returned in the order of the options."""

    def choose(self) -> list[Option]:
        """Draws the row and returns the chosen options."""
        offered = self._offered()
        self._write_again()
        arguments = self.widget | {"options": offered, "default": self.default, "selection_mode": "multi"}
        chosen = st.pills(**arguments)
        return [option for option in offered if option in chosen]


class SelectSlider(OfOptions[Option, Option]):
    """A slider over a few ordered options."""

    def choose(self) -> Option:
        """Draws the slider and returns the chosen option."""
        arguments = {"options": self._offered(), "value": self.default, "format_func": self.format_func}
        self._write_again()
        return st.select_slider(**self.widget | arguments)


class Bounded(Control[Quantity]):
    """A number or a range between `least` and `most`; values outside are clamped.

    Bounds that depend on the encoder or the input are None here and passed to `choose`.
    """

    def __init__(
        self,
        key: str,
        label: str = "",
        least: float | None = None,
        most: float | None = None,
        default: Quantity | None = None,
        **widget: Any,
    ) -> None:
        super().__init__(key, label, default, **widget)
        self.least, self.most = least, most

    def _accepts(self, text: str) -> bool:
        try:
            number = float(text)
        except ValueError:
            return False
        least = -math.inf if self.least is None else self.least
        return math.isfinite(number) and least <= number <= (math.inf if self.most is None else self.most)

    def _arguments(self, least: Any, most: Any, default: Any, **widget: Any) -> dict[str, Any]:
        """Arguments of the widget, with the present bounds; clamps the held value to them."""
        least = self.least if least is None else least
        most = self.most if most is None else most
        default = self.default if default is None else default
        start = least if default is None else default
        arguments = {**self.widget, "min_value": least, "max_value": most, "value": start, **widget}
        self._replace((least, most, arguments.get("step")), lambda value: _clipped(value, least, most, start))
        return arguments


class Number(Bounded[int]):
    """A box for a whole number; by default it begins with the smallest."""

    def choose(self, least: int | None = None, most: int | None = None, default: int | None = None) -> int:
        """Draws the box and returns the number."""
        arguments = self._arguments(least, most, default)
        if any(map(_is_infinite, st.query_params.get_all(self.key))):
            # Streamlit leaves words out by itself, but would make a whole number of an infinity, which ends in an
            # OverflowError: what is drawn in this run must not be bound to the address.
            st.query_params.pop(self.key, None)
            arguments = {name: value for name, value in arguments.items() if name not in _WIDGET}
        return st.number_input(**arguments)


class Slider(Bounded[Quantity]):
    """A slider for one number, or for a range if `default` is a pair."""

    def choose(
        self,
        least: float | None = None,
        most: float | None = None,
        default: Quantity | None = None,
        **widget: Any,
    ) -> Quantity:
        """Draws the slider and returns the number, or both ends of the range."""
        return st.slider(**self._arguments(least, most, default, **widget))


class Toggle(Control[bool]):
    """A switch, off by default."""

    def write(self, value: bool) -> str:
        return str(value).lower()

    def _accepts(self, text: str) -> bool:
        return text in ("true", "false")

    def choose(self, **widget: Any) -> bool:
        """Draws the switch and returns whether it is on."""
        self._write_again()
        return st.toggle(value=bool(self.default), **self.widget | widget)


class TextArea(Control[str]):
    """A box for a text of several lines."""

    def choose(self, default: str | None = None) -> str:
        """Draws the box, which begins with `default`, and returns the text."""
        self._write_again()
        start = self.default if default is None else default
        return st.text_area(value=start or "", **self.widget) or ""


class TextLine(Control[str]):
    """A box for a few words, empty at first."""

    def choose(self) -> str:
        """Draws the box and returns the words."""
        self._write_again()
        return st.text_input(**self.widget) or ""


class Expander(Toggle):
    """A part of the page that can be folded; `default` says whether it begins unfolded."""

    def draw(self, label: str) -> ExpanderContainer:
        """Draws the expander; its attribute `open` says whether it is unfolded."""
        return st.expander(label, self.default, key=self.key, **_EXPANDER)


class Code(Control[str]):
    """A URL parameter without a widget, such as cells blocked by clicks; "" if absent. Values match the regex `pattern`."""

    def __init__(self, key: str, pattern: str = ".*") -> None:
        super().__init__(key)
        self.pattern = pattern

    def _accepts(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text, re.DOTALL) is not None

    def read(self) -> str:
        """Value in the address; a value that was lost on the way to another page is put back.

        If it disappears while the page stays the same, the user went back in the browser to a view without it.
        """
        _codes().add(self.key)
        if self.key in st.query_params:
            st.session_state[self.key] = st.query_params[self.key]
        elif self.key not in _put_back():
            st.session_state[self.key] = ""
        elif st.session_state.get(self.key):
            st.query_params[self.key] = st.session_state[self.key]
        _put_back().discard(self.key)
        return st.session_state.get(self.key, "")

    def take(self, value: str) -> None:
        """Callback: writes `value` into the address."""
        _codes().add(self.key)
        st.session_state[self.key] = value
        if value:
            st.query_params[self.key] = value
        else:
            self.leave()

    def is_of_other_text(self, tokens: Sequence[str]) -> bool:
        """Whether the code was written for another text than these `tokens`; from now on it belongs to this one.

        In another text the same positions are other tokens. Patches stay the same from picture to picture.
        """
        last_tokens = st.session_state.get(f"{self.key}_tokens", tokens)
        st.session_state[f"{self.key}_tokens"] = tokens
        return last_tokens != tokens

    def leave(self) -> None:
        """Callback: removes the code from the address; its value stays in the session."""
        st.query_params.pop(self.key, None)
        _put_back().add(self.key)


# A run of the app


def arrive(page: str) -> None:
    """Prepares the run of `page`; called before anything is drawn.

    When the page changes, the browser drops the parameters of widgets in a closed popover from the address. Widgets that
    are drawn for the first time on the new page are set to the values held in the session, and so written again. A link
    takes precedence: its values are the parameters that were not in the previous page's address.
    """
    arrived = st.session_state["arrived"] = st.session_state.get("page") != page
    st.session_state["page"] = page
    if arrived:
        _put_back().update(_codes())
        last_address = st.session_state.get("address", {})
        for key in st.query_params:
            if st.query_params.get_all(key) != last_address.get(key):
                st.session_state.pop(key, None)


def leave() -> None:
    """After everything is drawn: keeps what the address holds."""
    st.session_state["address"] = {key: st.query_params.get_all(key) for key in st.query_params}


def opened_bare() -> bool:
    """Whether the session began with an address without parameters: then rules choose what is shown first."""
    return st.session_state.setdefault("opened_bare", not st.query_params)


def _is_infinite(text: str) -> bool:
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def _clipped(value: Any, least: float, most: float, default: Any) -> Any:
    """The number, or both ends of the range, clamped to the bounds; `default` for None."""
    if value is None:
        return default
    if isinstance(value, tuple):
        return tuple(min(max(end, least), most) for end in value)
    return min(max(value, least), most)


def _codes() -> set[str]:
    """Keys of the codes that this session has used."""
    return st.session_state.setdefault("codes", set())


def _put_back() -> set[str]:
    """Keys of codes that are not in the address now, and are put back when the page reads them."""
    return st.session_state.setdefault("codes_put_back", set())
