"""What stands in an offline page: elements, texts, and the data of its chart."""

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any

import numpy as np

VEGA = "/* Vega */"  # in place of 0.9 megabytes that take six seconds to make


class Parts(HTMLParser):
    """Elements with their attributes in order, and what stands in elements of each kind, a text for each."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def policy(self) -> dict[str, str]:
        (policy,) = (
            of["content"] for tag, of in self.elements if of.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy
        directives = (part.strip().partition(" ") for part in policy.split(";"))
        return {name: values for name, _, values in directives}

    def data(self) -> dict[str, Any]:
        return json.loads(self.texts["script"][0])

    def settings(self) -> dict[str, str]:
        return dict(zip(self.texts["dt"], self.texts["dd"], strict=True))

    def answer(self) -> list[str]:
        return self.texts.get("bdi", [])

    def weights(self) -> np.ndarray:
        """The weights in the file, [layer, head, query, key]."""
        script = self.data()["script"]
        raw = gzip.decompress(base64.b64decode(script["weights"]["packed"]))
        kind, largest = (np.uint8, 255) if script["weights"]["bytes"] else (np.dtype("<u2"), 65535)
        shape = (script["n_queries"], script["layers"], script["heads"], script["n_keys"])
        return np.moveaxis(np.frombuffer(raw, kind).reshape(shape) / largest, 0, 2)
