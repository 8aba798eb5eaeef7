"""A Hub on the loopback address with the endpoints that a download asks for, and the faults that it may have."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

COMMIT = "1a2b3c4d" * 5


@dataclass
class Hub:
    """One repository. What each field holds besides files is a fault."""

    files: dict[str, bytes]
    name: str = "some/bert"
    commit: str = COMMIT
    gated: bool | str = False  # in what is said of the repository
    refuses_files: bool = False  # as a gated repository that says so only then
    sent: dict[str, bytes] = field(default_factory=dict)  # in the place of the true content
    cut_off: set[str] = field(default_factory=set)  # files of which half is sent
    sizes: dict[str, int | None] = field(default_factory=dict)  # in the place of the true size
    answer: bytes | None = None  # in the place of what is said of the repository
    status: int = 200
    requested: list[str] = field(default_factory=list)  # files, by name
    endpoint: str = ""

    def listed(self) -> bytes:
        siblings = []
        for name, content in self.files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            entry = {"rfilename": name, "size": self.sizes.get(name, len(content)), "blobId": blob}
            if name.endswith(".safetensors"):
                sha = hashlib.sha256(content).hexdigest()
                entry["lfs"] = {"sha256": sha, "size": len(content), "pointerSize": 134}
            siblings.append(entry)
        of_repository = {"id": self.name, "modelId": self.name, "sha": self.commit, "private": False}
        return json.dumps(of_repository | {"gated": self.gated, "siblings": siblings}).encode()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        path, hub = unquote(urlsplit(self.path).path), self.hub
        if path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            if name != hub.name:
                self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
            elif revision not in ("", "main", hub.commit, "a-branch"):
                self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            else:
                self._send(hub.status, hub.listed() if hub.answer is None else hub.answer, {})
            return
        name, _, file = path.removeprefix("/").partition("/resolve/")
        file = file.partition("/")[2]
        if with_body:
            hub.requested.append(file)
        if hub.refuses_files:
            self._send(403, b"", {"X-Error-Code": "GatedRepo"})
        elif name != hub.name or file not in hub.files:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            true, content = hub.files[file], hub.sent.get(file, hub.files[file])
            tag = hashlib.sha256(true).hexdigest()
            about = {"X-Repo-Commit": hub.commit, "ETag": f'"{tag}"', "X-Linked-Size": str(len(true))}
            half = len(content) // 2 if file in hub.cut_off else len(content)
            self._send(200, content[:half] if with_body else b"", about, len(content))

    def _send(self, status: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
