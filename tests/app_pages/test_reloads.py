"""Every page in every state: an address that is opened anew shows what was shown when it was copied."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.address import Tabs
from app_pages.controls.compare_controls import COMPARED, INPUTS, OF_TWO_INPUTS
from app_pages.controls.pages import PAGES, THEORY, Page, controls_of
from tests.first_run import container_keys
from tests.slow import one_of_each

Open = Callable[..., AppTest]
INPUT = {"kind", "text", "source"}  # with another one, other controls stand there
STATES = [
    # The first one is left out of the address, and what compares two inputs needs them.
    (page, ({tabs.key: tab} if number else {}) | ({COMPARED.key: INPUTS} if tab in OF_TWO_INPUTS else {}))
    for page in PAGES.values()
    if page is not THEORY  # it computes for seconds, and has no control whose beginning depends on the input
    for tabs in controls_of(page.name).values()
    if isinstance(tabs, Tabs)
    for number, tab in enumerate(tabs.options or ())
]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_the_heads_of_an_input(open_app, kind):
    shows_the_same_again(open_app, PAGES["attention"], {} if kind == "Text" else {"kind": kind})


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "query"), one_of_each(STATES))
def test_a_tab(open_app, page, query):
    shows_the_same_again(open_app, page, query)


def shows_the_same_again(open_app: Open, page: Page, query: dict[str, str]) -> None:
    """Changes every control of the page at this address, and opens anew what is in the address then."""
    app = open_app(page, **query)
    assert_same(app, open_app(page, **app.query_params), "nothing")
    changed = INPUT | query.keys()
    while (widget := next((widget for widget in bound(app) if widget.key not in changed), None)) is not None:
        changed.add(widget.key)
        change(app, widget)
    assert_same(app, open_app(page, **app.query_params), sorted(changed))


def assert_same(app: AppTest, again: AppTest, changed: object) -> None:
    assert not app.exception
    assert not again.exception
    before, after = shown(app), shown(again)
    differing = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert not differing, f"with {changed} changed, {app.query_params} shows others: {sorted(differing)}"
    assert [*container_keys(app.main)] == [*container_keys(again.main)]


def bound(app: AppTest) -> Iterator[Any]:
    """The controls that have their value in the address and can be changed."""
    for node in app.main:
        proto = getattr(node, "proto", None)
        if getattr(proto, "query_param_key", "") and not getattr(proto, "disabled", False):
            yield node


def change(app: AppTest, widget: Any) -> None:
    """Chooses another value and runs the app. As the browser does, this writes it into the address, and leaves out the value
    with which the control begins.
    """
    proto, options = widget.proto, list(getattr(widget, "options", ()))
    written: str | list[str]
    if widget.type == "selectbox" and len(options) > 1:
        index = (widget.index + 1) % len(options)
        widget.select_index(index)
        written, is_begin = options[index], proto.HasField("default") and index == proto.default
    elif widget.type == "button_group" and len(options) > 1 and isinstance(widget.value, str):
        option = next(option for option in options if option != widget.value)
        widget.set_value(option)
        written, is_begin = option, [options.index(option)] == [*proto.default]
    elif widget.type in ("toggle", "checkbox"):
        widget.set_value(not widget.value)
        written, is_begin = str(widget.value).lower(), widget.value == proto.default
    elif widget.type == "slider" and not isinstance(widget.value, tuple):
        widget.set_value(widget.min if widget.value == widget.max else widget.max)
        written, is_begin = f"{widget.value:g}", [widget.value] == [*proto.default]
    elif widget.type == "number_input":
        step = widget.step if widget.max is None or widget.value + widget.step <= widget.max else -widget.step
        widget.set_value(widget.value + step)
        written, is_begin = f"{widget.value:g}", widget.value == proto.default
    else:
        return
    app.query_params.pop(widget.key, None)
    if not is_begin:
        app.query_params[widget.key] = written
    app.run()


def shown(app: AppTest) -> dict[str, Any]:
    """What the page shows: the values of its controls, its texts, and what its figures are made of."""
    result: dict[str, Any] = {}
    for node in app.main:
        proto = getattr(node, "proto", None)
        if getattr(proto, "query_param_key", ""):
            result[node.key] = node.value
        elif node.type in ("markdown", "caption", "latex", "html"):
            # Bars move from where they were before, and what a page chose as an example is the reader's own in a link.
            body = re.sub('; --last: [^;"]*', "", proto.body)
            body = re.sub("For example: (.)", lambda match: match[1].upper(), body)
            result.setdefault(node.type, []).append(body)
        elif node.type == "vega_lite_chart":
            frames = [(frame.name, frame.data.data) for frame in proto.datasets]
            result.setdefault(node.type, []).append((proto.spec, frames))
        elif node.type == "plotly_chart":
            result.setdefault(node.type, []).append(proto.spec)
    return result
