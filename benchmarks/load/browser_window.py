"""A browser window as the server knows it: a websocket, an address, and widgets that hold values.

It speaks what Streamlit's own page speaks: protobuf messages over `/_stcore/stream`. It keeps large elements and says
which it has, keeps the address in step with the widgets, sends a change of a widget inside a fragment for that fragment
alone, and takes the cookie that a proxy sets on the first page.
"""

import asyncio
import random
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

Value = str | bool | float | list[str]
LOST = (ConnectionClosed, OSError)  # what ends a window whose server is gone
FIELDS = {
    "selectbox": "string_value",
    "text_area": "string_value",
    "text_input": "string_value",
    "checkbox": "bool_value",
    "number_input": "double_value",
    "slider": "double_array_value",
    "select_slider": "string_array_value",
    "button_group": "string_array_value",
    "multiselect": "string_array_value",
    "button": "trigger_value",
}
KEPT_RUNS = 2  # for how many runs a browser keeps an element that it was not sent again


class NoAnswerError(Exception):
    """The server sent nothing for `patience` seconds in the middle of a run."""


@dataclass
class Answer:
    """What one run of the page sent."""

    seconds: float  # from sending the request to the end of the run
    size: int = 0  # bytes
    messages: int = 0
    elements: list[tuple[str, Message]] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Message]:
        return [element for kind, element in self.elements if kind in kinds]

    @property
    def exceptions(self) -> list[str]:
        return [f"{exception.type}: {exception.message}".strip(": ") for exception in self.of("exception")]


@dataclass(frozen=True)
class Widget:
    kind: str
    element: Message
    fragment: str

    @property
    def in_address(self) -> bool:
        return bool(getattr(self.element, "query_param_key", ""))

    @property
    def first(self) -> Value | None:
        """Its value before anybody has chosen one."""
        element = self.element
        if self.kind == "button_group":
            return [element.options[index].content for index in element.default]
        if self.kind == "multiselect":
            return [element.options[index] for index in element.default]
        if self.kind == "selectbox":
            return (
                element.options[element.default] if element.HasField("default") and element.options else None
            )
        if self.kind == "select_slider":
            return [element.options[int(index)] for index in element.default]
        return list(element.default) if self.kind == "slider" else element.default

    @property
    def set(self) -> Value | None:
        """The value that the server has set; None where it has set none."""
        element = self.element
        if not element.set_value:
            return None
        if self.kind in ("button_group", "multiselect"):
            return list(element.raw_values)
        if self.kind == "select_slider":
            return list(element.raw_value)
        if self.kind == "selectbox":
            return element.raw_value
        return list(element.value) if self.kind == "slider" else element.value

    def other(self, now: Value | None, draw: random.Random) -> Value | None:
        """Another value than it holds `now`; None where there is none."""
        element = self.element
        if self.kind == "checkbox":
            return not now
        if self.kind == "button":
            return True
        if self.kind == "number_input":
            up = now + element.step
            return up if not element.has_max or up <= element.max else element.min
        if self.kind == "slider":
            steps = round((element.max - element.min) / element.step)
            choices = [[element.min + step * element.step] for step in range(steps + 1)]
        elif self.kind == "button_group":
            choices = [[option.content] for option in element.options]
        elif self.kind == "select_slider":
            choices = [[option] for option in element.options]
        else:
            choices = list(element.options)
        others = [choice for choice in choices if choice != now]
        return draw.choice(others) if others else None


class Window:
    """`look` is called with the bytes of every message from the server."""

    def __init__(
        self, server: str, page: str = "", query: dict[str, str | list[str]] | None = None, *,
        look: Callable[[bytes], None] = lambda _: None, patience: float = 60,
    ) -> None:  # fmt: skip
        self.server, self.page, self.query = server, page, dict(query or {})
        self.widgets: dict[str, Widget] = {}
        self.values: dict[str, Value] = {}
        self.look, self.patience = look, patience
        self.cookies: dict[str, str] = {}
        self._kept: dict[str, tuple[int, Message]] = {}  # hash: last run in which it was needed, the element
        self._runs = 0
        self._socket: ClientConnection | None = None

    async def open(self) -> Answer:
        """Opens the address in a new session; a second call is a reload of the page."""
        began = time.monotonic()
        await self.close()
        self.widgets, self.values, self._kept = {}, {}, {}
        await asyncio.to_thread(self._first_page)
        await self._connect()
        return await self._ask(self._request(), began)

    async def change(self, key: str, value: Value) -> Answer:
        return await self._ask(self._change(key, value))

    async def go(self, page: str) -> Answer:
        """Goes to another page in the same session, as a click in the navigation does."""
        self.page = page
        return await self._ask(self._request())

    async def vanish(self, request: BackMsg | None = None, *, after: int = 0) -> None:
        """Drops the connection in the middle of a request: right after sending it, or `after` some messages."""
        if self._socket is None:
            await self._connect()
        await self._socket.send((request or self._request()).SerializeToString())
        for _ in range(after):
            await self._socket.recv()
        self._socket.transport.abort()
        self._socket = None

    async def close(self) -> None:
        if self._socket is not None:
            socket, self._socket = self._socket, None
            await socket.close()

    @property
    def process(self) -> str:
        """Which of several processes a proxy has chosen, by its cookie; "" where nothing was said."""
        return self.cookies.get("loupe", "")

    # What is sent

    def _first_page(self) -> None:
        request = urllib.request.Request(f"{self.server}/{self.page}", headers=self._headers())
        with urllib.request.urlopen(request, timeout=self.patience) as answer:
            for cookie in answer.headers.get_all("Set-Cookie", ()):
                self._take_cookie(cookie)

    async def _connect(self) -> None:
        self._socket = await connect(
            f"{self.server.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=["streamlit", "PLACEHOLDER_AUTH_TOKEN"],
            origin=self.server,
            additional_headers=self._headers(),
            max_size=None,
            ping_interval=None,  # a server that is slow is measured, not left
            open_timeout=self.patience,
        )
        for cookie in self._socket.response.headers.get_all("Set-Cookie"):
            self._take_cookie(cookie)

    def _headers(self) -> dict[str, str]:
        return (
            {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
            if self.cookies
            else {}
        )

    def _take_cookie(self, cookie: str) -> None:
        self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(cookie).items()}

    def _request(self) -> BackMsg:
        request = BackMsg()
        request.rerun_script.query_string = urlencode(self.query, doseq=True)
        request.rerun_script.page_name = self.page
        request.rerun_script.cached_message_hashes.extend(self._kept)
        request.rerun_script.context_info.url = f"{self.server}/{self.page}"
        return request

    def _change(self, key: str, value: Value) -> BackMsg:
        widget = self.widgets[key]
        if widget.kind != "button":
            self._hold(key, value)
        request = self._request()
        request.rerun_script.fragment_id = widget.fragment
        state = WidgetState(id=widget.element.id)
        if isinstance(value, list):
            getattr(state, FIELDS[widget.kind]).data.extend(value)
        else:
            setattr(state, FIELDS[widget.kind], value)
        request.rerun_script.widget_states.widgets.append(state)
        return request

    # What arrives

    async def _ask(self, request: BackMsg, began: float | None = None) -> Answer:
        """Sends a request and waits until the run that answers it has ended."""
        began = time.monotonic() if began is None else began
        self._runs += 1
        whole = not request.rerun_script.fragment_id
        answer, started, seen = Answer(0), False, {}
        try:
            async with asyncio.timeout(self.patience) as waiting:
                if self._socket is None:
                    raise ConnectionError("the window is not open")
                await self._socket.send(request.SerializeToString())
                while True:
                    content = await self._socket.recv()
                    # a page that shows how far it is may take longer
                    waiting.reschedule(asyncio.get_running_loop().time() + self.patience)
                    self.look(content)
                    answer.size, answer.messages = answer.size + len(content), answer.messages + 1
                    message = ForwardMsg.FromString(content)
                    match message.WhichOneof("type"):
                        case "new_session":
                            started, seen, answer.elements = True, {}, []
                        case "page_info_changed":
                            self.query = parse_qs(
                                message.page_info_changed.query_string, keep_blank_values=True
                            )
                        case "delta" | "ref_hash" if started:
                            self._take(message, answer, seen)
                        case "script_finished" if started and (
                            message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
                        ):
                            break
        except TimeoutError:
            raise NoAnswerError(f"nothing arrived for {self.patience:.0f} s") from None
        self.widgets = seen if whole else self.widgets | seen
        self.values = {key: value for key, value in self.values.items() if key in self.widgets}
        self._kept = {
            name: (run, kept) for name, (run, kept) in self._kept.items() if run + KEPT_RUNS > self._runs
        }
        answer.seconds = time.monotonic() - began
        return answer

    def _take(self, message: ForwardMsg, answer: Answer, seen: dict[str, Widget]) -> None:
        if message.WhichOneof("type") == "ref_hash":
            _, delta = self._kept[message.ref_hash]
            self._kept[message.ref_hash] = self._runs, delta
        else:
            delta = message.delta
            if message.metadata.cacheable:
                self._kept[message.hash] = self._runs, delta
        if delta.WhichOneof("type") != "new_element":
            return
        kind = delta.new_element.WhichOneof("type")
        if kind is None:
            return
        element = getattr(delta.new_element, kind)
        if kind == "slider" and element.options:
            kind = "select_slider"
        answer.elements.append((kind, element))
        if kind in FIELDS and element.id:
            widget = Widget(kind, element, delta.fragment_id)
            key = element.id.split("-", 2)[2]
            before = self.widgets.get(key)
            seen[key] = widget
            if kind == "button":
                return
            if (value := widget.set) is not None:
                self._hold(key, value, widget)
            elif before is None or before.element.id != element.id:
                self.values[key] = widget.first

    def _hold(self, key: str, value: Value, widget: Widget | None = None) -> None:
        """The value of a widget, which is written into the address where it is not the first one."""
        widget = widget or self.widgets[key]
        self.values[key] = value
        if not widget.in_address:
            return
        name = widget.element.query_param_key
        if value == widget.first:
            self.query.pop(name, None)
        else:
            self.query[name] = [_written(item) for item in (value if isinstance(value, list) else [value])]


def _written(value: Value) -> str:
    """The value as the address spells it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
