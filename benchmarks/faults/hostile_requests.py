"""Requests that no browser sends: paths outside the app, other origins, damaged messages, values of a wrong type, uploads without a session."""

import asyncio
import http.client
import random
import secrets
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.broken_folders import SECRET
from benchmarks.faults.promises import REQUESTS, UPLOADS
from benchmarks.faults.world import PATIENCE, World
from benchmarks.load.browser_window import LOST, NoAnswerError

PATHS = (
    "/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/media/../../../etc/passwd", "/media/%2e%2e%2fpasswd", "/media/" + "0" * 56 + ".npz",
    "/static/../../../app.py", "/static/..%2f..%2f..%2fetc/passwd", "/app/static/../app.py", "/component/x/../../app.py", "/..%5c..%5cetc/passwd",
    "//etc/passwd", "/_stcore/bidi-components/x/../../../etc/passwd", "/component/" + "a" * 4000, "/_stcore/upload_file/x/y", "/\x01", "/%00", "/%ff%fe",
    "/app.py", "/.streamlit/config.toml", "/checkpoints/imdb-pre-ln/config.json", "/_stcore/metrics", "/_stcore/script-health-check",
)  # fmt: skip
# Contents of files that nobody may fetch.
PRIVATE = (b"root:x:", b"import streamlit", b"[server]", SECRET.encode(), b'"d_model"')
# What Streamlit itself prints about such requests, before any page runs.
PRINTED = ("DecodeError", "TypeError: unhashable type: 'dict'")
TOO_LARGE = 81 * 2**20  # bytes; server.maxUploadSize is 80 MB


async def send_odd_requests(world: World) -> None:
    """Sends requests that no browser sends, of random kinds, one after the other."""
    draw = world.draw("requests")
    while world.goes_on:
        for send in (
            _fetch,
            _foreign_origin,
            _damaged_message,
            _wrong_type,
            _upload_without_session,
            _too_large_upload,
        ):
            try:
                await send(world, draw)
            except NoAnswerError as error:
                world.ledger.record(REQUESTS, f"{send.__name__}: {error}")
            except (*LOST, http.client.HTTPException) as error:
                if not world.lost_a_process:
                    world.ledger.record(REQUESTS, f"{send.__name__}: {type(error).__name__}: {error}")
            await world.rest(draw)


async def _fetch(world: World, draw: random.Random) -> None:
    """Requests a path outside the app, which must not return a private file."""
    path = draw.choice(PATHS)
    method = draw.choice(("GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "PATCH"))
    status, content = await asyncio.to_thread(_request, world.server, method, path)
    leaked = [private for private in PRIVATE if private in content]
    failure = f"{method} {path[:80]}: status {status}" if status >= 500 and not world.lost_a_process else ""
    world.ledger.record(REQUESTS, f"{method} {path[:80]} brought {leaked[0]!r}" if leaked else failure)
    world.search_for_secrets(content)


def _request(server: str, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:  # fmt: skip
    """The status and content of the answer to a request whose path is sent unnormalised; status 400 if the connection
    is closed at once.
    """
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=PATIENCE)
    try:
        connection.putrequest(method, "/", skip_accept_encoding=True)
        connection._buffer[0] = f"{method} {path} HTTP/1.1".encode()
        for name, value in {**(headers or {}), "Content-Length": str(len(body or b""))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
        return 400, b""
    finally:
        connection.close()


async def _foreign_origin(world: World, _: random.Random) -> None:
    """A page from another origin may not open a session of the app."""
    try:
        async with connect(f"{world.server.replace('http', 'ws', 1)}/_stcore/stream", origin="http://192.0.2.1", open_timeout=PATIENCE):  # fmt: skip
            failure = "another origin was let in"
    except InvalidStatus as error:
        failure = (
            ""
            if error.response.status_code == 403 or world.lost_a_process
            else f"status {error.response.status_code}"
        )
    world.ledger.record(REQUESTS, failure)


async def _damaged_message(world: World, draw: random.Random) -> None:
    """Sends bytes that are no protobuf message; another window must be answered afterwards."""
    window = world.window("cost")
    try:
        await window.open()
        await window._socket.send(draw.randbytes(draw.choice((1, 50, 100_000))))
        await asyncio.sleep(0.2)
    finally:
        await window.close()
    await _still_answers(world, "a damaged message")


async def _wrong_type(world: World, draw: random.Random) -> None:
    """Sends a value of another type than the widget has; another window must be answered afterwards."""
    window = world.window("", {"checkpoint": "imdb-pre-ln"})
    try:
        await window.open()
        request = BackMsg()
        key = draw.choice([key for key in ("head", "query", "layer") if key in window.widgets])
        state = WidgetState(id=window.widgets[key].element.id)
        state.json_value = '{"unexpected": "value"}'
        request.rerun_script.widget_states.widgets.append(state)
        await window._ask(request)
    finally:
        await window.close()
    await _still_answers(world, "a value of another type")


async def _upload_without_session(world: World, draw: random.Random) -> None:
    """Uploads into a session that does not exist, without the token against forged requests."""
    path = f"/_stcore/upload_file/{secrets.token_hex(16)}/{draw.randrange(10)}"
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="../../x"\r\n\r\nx\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    status, _ = await asyncio.to_thread(_request, world.server, "PUT", path, body, headers)
    is_refused = status in (400, 403) or (world.lost_a_process and status >= 500)
    world.ledger.record(
        UPLOADS, "" if is_refused else f"a file for a session that does not exist: status {status}"
    )


async def _too_large_upload(world: World, draw: random.Random) -> None:
    """Uploads a file above the limit, which must be refused by its size, before it is read."""
    if draw.random() < 0.8:  # 80 MB take long
        return
    window = world.window("your_own")
    try:
        await window.open()
        widget = next(key for key in window.widgets if key.startswith("own_files_"))
        await window.upload(widget, {"model.safetensors": bytes(TOO_LARGE)})
        world.ledger.record(UPLOADS, f"{TOO_LARGE:,} bytes were taken")
    except ValueError as error:
        world.ledger.record(UPLOADS, "" if "413" in str(error) or world.lost_a_process else str(error))
    except (ConnectionResetError, BrokenPipeError):  # it does not wait for the rest
        world.ledger.record(UPLOADS)
    finally:
        await window.close()


async def _still_answers(world: World, after: str) -> None:
    """Records whether a new window is answered `after` an odd request."""
    window = world.window("cost")
    try:
        world.check(REQUESTS, await window.open(), f"another window after {after}")
    finally:
        await window.close()
