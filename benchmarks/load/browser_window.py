"""A browser window as the server sees it: a websocket, an address, and widgets with values.

It speaks the protocol of Streamlit's own page: protobuf messages over `/_stcore/stream`. Like that page it caches
large elements and tells the server which it has, keeps the address in step with the widgets, requests only the
fragment when a widget inside one changes, returns the cookie that a proxy sets on the first page, and downloads and
uploads files.
"""

import asyncio
import random
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

Value = str | bool | float | list[str] | FileUploaderState
LOST = (ConnectionClosed, OSError)  # the exceptions of a lost connection
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
    "download_button": "trigger_value",
    "popover": "bool_value",
    "file_uploader": "file_uploader_state_value",
}
# Widgets whose value is sent once and not kept.
MOMENTARY = ("button", "download_button", "popover", "file_uploader")
XSRF = "_streamlit_xsrf"  # the cookie whose value an upload repeats in a header
KEPT_RUNS = 2  # for how many runs a browser caches an element that is not sent again


class NoAnswerError(Exception):
    """The server sent nothing for `patience` seconds during a run."""


@dataclass
class Answer:
    """The elements that one run of the page sent, with its time in seconds and its size in bytes."""

    seconds: float  # from sending the request to the end of the run
    size: int = 0  # bytes
    messages: int = 0
    elements: list[tuple[str, Message]] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Any]:
        """The elements of these kinds."""
        return [element for kind, element in self.elements if kind in kinds]

    @property
    def exceptions(self) -> list[str]:
        """The exceptions that the page shows."""
        return [f"{exception.type}: {exception.message}".strip(": ") for exception in self.of("exception")]


@dataclass(frozen=True)
class File:
    """A downloaded file."""

    name: str  # as the browser would call it
    type: str
    content: bytes
    url: str
    declared_size: int  # bytes, by the header Content-Length


@dataclass(frozen=True)
class Widget:
    """A widget of the page: its kind, its protobuf element, and the fragment that it is in."""

    kind: str
    element: Any
    fragment: str

    @property
    def in_address(self) -> bool:
        """Whether the widget's value is part of the query string."""
        return bool(getattr(self.element, "query_param_key", ""))

    @property
    def first(self) -> Value | None:
        """The default value of the widget."""
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
        """The value that the server has set; None if it has set none."""
        element = self.element
        if not element.set_value:
            return None
        if self.kind in ("button_group", "multiselect"):
            return list(element.raw_values)
        if self.kind == "select_slider":
            return list(element.raw_value)
        if self.kind == "selectbox":
            return element.raw_value if element.HasField("raw_value") else None
        return list(element.value) if self.kind == "slider" else element.value

    def offers(self, value: Value | None) -> bool:
        """Whether the widget can still hold this value, after other choices may have changed its options or bounds."""
        element = self.element
        if self.kind == "button_group":
            return {option.content for option in element.options}.issuperset(value or ())
        if self.kind in ("select_slider", "multiselect"):
            return set(element.options).issuperset(value or ())
        if self.kind == "selectbox":
            return value is None or value in element.options
        if self.kind in ("slider", "number_input") and value is not None:
            numbers = value if isinstance(value, list) else [value]
            return all(element.min <= number <= element.max for number in numbers)
        return True

    def other(self, now: Value | None, draw: random.Random) -> Value | None:
        """A random value other than its present value `now`; None if there is none."""
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
    """A browser window, not opened yet; `on_message` is called with the bytes of every message from the server."""

    def __init__(
        self, server: str, page: str = "", query: dict[str, str | list[str]] | None = None, *,
        on_message: Callable[[bytes], None] = lambda _: None, patience: float = 60,
    ) -> None:  # fmt: skip
        self.server, self.page, self.query = server, page, dict(query or {})
        self.widgets: dict[str, Widget] = {}
        self.values: dict[str, Value] = {}
        self.on_message, self.patience = on_message, patience
        self.cookies: dict[str, str] = {}
        self._kept: dict[str, tuple[int, Message]] = {}  # hash: last run in which it was needed, the element
        self._runs = 0
        self._session = ""  # its identifier, which it repeats where no page is run
        self._socket: ClientConnection | None = None

    async def open(self) -> Answer:
        """Opens the address in a new session; a second call is a reload of the page."""
        began = time.monotonic()
        await self.close()
        self.widgets, self.values, self._kept = {}, {}, {}
        await asyncio.to_thread(self._first_page)
        await self._connect()
        return await self._ask(self._request(), began)

    async def change(self, key: str, value: Value, **others: Value) -> Answer:
        """Sets one widget, or several at once, as a form does; returns the answer."""
        return await self._ask(self._change(key, value, **others))

    async def go(self, page: str) -> Answer:
        """Goes to another page in the same session, as a click in the navigation does."""
        self.page = page
        return await self._ask(self._request())

    async def download(self, key: str) -> File:
        """The file of a download button; if the page has not made it, the server makes it on request.

        Raises ValueError if the server cannot make the file or does not send it.
        """
        element = self.widgets[key].element
        url = element.url
        if element.HasField("deferred_file_id"):
            request = BackMsg()
            operation = request.backend_operation_request
            operation.request_id, operation.session_id = uuid.uuid4().hex, self._session
            operation.deferred_file.file_id = element.deferred_file_id
            answer = (await self._reply(request, "backend_operation_response")).backend_operation_response
            if answer.error_msg:
                raise ValueError(f"{key}: {answer.error_msg}")
            url = answer.deferred_file.url
        return await asyncio.to_thread(self._fetch, url)

    async def upload(self, key: str, files: dict[str, bytes], **others: Value) -> Answer:
        """Sends files to the server, and then a request in which the widget holds them, together with `others`.

        Raises ValueError, with the status, where the server refuses a file.
        """
        request = BackMsg()
        request.file_urls_request.request_id = uuid.uuid4().hex
        request.file_urls_request.session_id = self._session
        request.file_urls_request.file_names.extend(files)
        urls = (await self._reply(request, "file_urls_response")).file_urls_response.file_urls
        held = FileUploaderState()
        for (name, content), url in zip(files.items(), urls, strict=True):
            status = await asyncio.to_thread(self._put, url.upload_url, name, content)
            if status != 204:
                raise ValueError(f"{name}: HTTP status {status}")
            held.uploaded_file_info.append(
                UploadedFileInfo(file_id=url.file_id, name=name, size=len(content), file_urls=url)
            )
        return await self.change(key, held, **others)

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
        """Name of the process that a proxy has chosen, from its cookie; "" without a cookie."""
        return self.cookies.get("loupe", "")

    # What is sent

    def _first_page(self) -> None:
        """Fetches the HTML page, which sets the cookie of a proxy."""
        request = urllib.request.Request(f"{self.server}/{self.page}", headers=self._headers())
        with urllib.request.urlopen(request, timeout=self.patience) as answer:
            for cookie in answer.headers.get_all("Set-Cookie", ()):
                self._take_cookie(cookie)

    async def _connect(self) -> None:
        try:
            self._socket = await connect(
                f"{self.server.replace('http', 'ws', 1)}/_stcore/stream",
                subprotocols=["streamlit", "PLACEHOLDER_AUTH_TOKEN"],
                origin=self.server,
                additional_headers=self._headers(),
                max_size=None,
                ping_interval=None,  # a slow server is measured, not left
                open_timeout=self.patience,
            )
        except InvalidStatus as error:
            if error.response.status_code < 500:
                raise
            raise ConnectionError(f"{error}") from error  # the proxy has no process that is up
        for cookie in self._socket.response.headers.get_all("Set-Cookie"):
            self._take_cookie(cookie)

    def _headers(self) -> dict[str, str]:
        return (
            {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
            if self.cookies
            else {}
        )

    def _fetch(self, url: str) -> File:
        """The file at this address of the server."""
        request = urllib.request.Request(f"{self.server}{url}", headers=self._headers())
        try:
            with urllib.request.urlopen(request, timeout=self.patience) as answer:
                content, headers = answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            raise ValueError(f"{url}: HTTP status {error.code}") from error
        except HTTPException as error:
            raise ConnectionError(f"{url} broke off") from error
        return File(
            headers.get_filename(""), headers["Content-Type"], content, url, int(headers["Content-Length"])
        )

    def _put(self, url: str, name: str, content: bytes) -> int:
        """Uploads one file and returns the status of the answer."""
        health = urllib.request.Request(f"{self.server}/_stcore/health", headers=self._headers())
        with urllib.request.urlopen(health, timeout=self.patience) as answer:
            for cookie in answer.headers.get_all("Set-Cookie", ()):
                self._take_cookie(cookie)
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        headers = self._headers() | {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        headers["X-Xsrftoken"] = self.cookies.get(XSRF, "")
        request = urllib.request.Request(f"{self.server}{url}", body, headers, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=self.patience) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def _take_cookie(self, cookie: str) -> None:
        self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(cookie).items()}

    def _request(self) -> BackMsg:
        request = BackMsg()
        request.rerun_script.query_string = urlencode(self.query, doseq=True)
        request.rerun_script.page_name = self.page
        request.rerun_script.cached_message_hashes.extend(self._kept)
        request.rerun_script.context_info.url = f"{self.server}/{self.page}"
        return request

    def _change(self, key: str, value: Value, **others: Value) -> BackMsg:
        """A request with the values of all widgets, as a browser sends it; a missing value would be removed from the
        address.
        """
        changes = {key: value, **others}
        for name, changed in changes.items():
            if self.widgets[name].kind not in MOMENTARY:
                self._set_value(name, changed)
        request = self._request()
        request.rerun_script.fragment_id = self.widgets[key].fragment
        held = {name: held for name, held in self.values.items() if held is not None and name in self.widgets}
        for name, sent in (held | changes).items():
            widget = self.widgets[name]
            state = WidgetState(id=widget.element.id)
            if isinstance(sent, list):
                getattr(state, FIELDS[widget.kind]).data.extend(sent)
            elif isinstance(sent, FileUploaderState):
                state.file_uploader_state_value.CopyFrom(sent)
            else:
                setattr(state, FIELDS[widget.kind], sent)
            request.rerun_script.widget_states.widgets.append(state)
        return request

    # What arrives

    async def _ask(self, request: BackMsg, began: float | None = None) -> Answer:
        """Sends a request and returns the answer, when the run that it started has ended."""
        began = time.monotonic() if began is None else began
        self._runs += 1
        whole = not request.rerun_script.fragment_id
        answer, started, received = Answer(0), False, {}
        try:
            async with asyncio.timeout(self.patience) as waiting:
                if self._socket is None:
                    raise ConnectionError("the window is not open")
                await self._socket.send(request.SerializeToString())
                while True:
                    content = await self._socket.recv()
                    # a page that shows how far it is may take longer
                    waiting.reschedule(asyncio.get_running_loop().time() + self.patience)
                    self.on_message(content)
                    answer.size, answer.messages = answer.size + len(content), answer.messages + 1
                    message = ForwardMsg.FromString(content)
                    match message.WhichOneof("type"):
                        case "new_session":
                            started, received, answer.elements = True, {}, []
                            self._session = message.new_session.initialize.session_id or self._session
                        case "page_info_changed":
                            self.query = parse_qs(
                                message.page_info_changed.query_string, keep_blank_values=True
                            )
                        case "delta" | "ref_hash" if started:
                            self._receive(message, answer, received)
                        case "script_finished" if started and (
                            message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
                        ):
                            break
        except TimeoutError:
            raise NoAnswerError(f"nothing arrived for {self.patience:.0f} s") from None
        self.widgets = received if whole else self.widgets | received
        self.values = {key: value for key, value in self.values.items() if key in self.widgets}
        self._kept = {
            name: (run, kept) for name, (run, kept) in self._kept.items() if run + KEPT_RUNS > self._runs
        }
        answer.seconds = time.monotonic() - began
        return answer

    async def _reply(self, request: BackMsg, kind: str) -> ForwardMsg:
        """The message of this `kind` with which the server answers a request that runs no page."""
        if self._socket is None:
            raise ConnectionError("the window is not open")
        try:
            async with asyncio.timeout(self.patience):
                await self._socket.send(request.SerializeToString())
                while True:
                    content = await self._socket.recv()
                    self.on_message(content)
                    message = ForwardMsg.FromString(content)
                    if message.WhichOneof("type") == kind:
                        return message
        except TimeoutError:
            raise NoAnswerError(f"no {kind} for {self.patience:.0f} s") from None

    def _receive(self, message: ForwardMsg, answer: Answer, received: dict[str, Widget]) -> None:
        """Adds the element of a message to the answer; a widget is added to `received`, by its key."""
        if message.WhichOneof("type") == "ref_hash":
            _, delta = self._kept[message.ref_hash]
            self._kept[message.ref_hash] = self._runs, delta
        else:
            delta = message.delta
            if message.metadata.cacheable:
                self._kept[message.hash] = self._runs, delta
        if delta.add_block.popover.id:
            popover = delta.add_block.popover
            received[_widget_key(popover.id)] = Widget("popover", popover, delta.fragment_id)
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
            key = _widget_key(element.id)
            before = self.widgets.get(key)
            received[key] = widget
            if kind in MOMENTARY:
                return
            if (value := widget.set) is not None:
                self._set_value(key, value, widget)
            elif before is None or before.element.id != element.id:
                self.values[key] = widget.first

    def _set_value(self, key: str, value: Value, widget: Widget | None = None) -> None:
        """Sets the value of a widget, and writes it into the address unless it is the default."""
        widget = widget or self.widgets[key]
        self.values[key] = value
        if not widget.in_address:
            return
        name = widget.element.query_param_key
        if value == widget.first:
            self.query.pop(name, None)
        else:
            self.query[name] = [
                _address_text(item) for item in (value if isinstance(value, list) else [value])
            ]


def _widget_key(widget_id: str) -> str:
    """The key that the page gave a widget, from the end of the widget's identifier."""
    return widget_id.split("-", 2)[2]


def _address_text(value: Value) -> str:
    """The value as text in the query string."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
