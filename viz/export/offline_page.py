"""A record as one HTML file that opens offline, with all heads and the patterns of each.

The file fetches nothing, and its Content-Security-Policy allows it nothing: script and style are named by their
hashes. All words in it come from a block of JSON and are set as text.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..builders.figure import need_shape
from ..builders.palette import ACCENT, MASKED, WEIGHT, WEIGHTS, data_uri
from .safe_text import clean

if TYPE_CHECKING:  # the package loads torch
    from model.record import AttentionRecord, ForwardRecord

# Weights up to which the file has 16 bits for each: 8 megabytes of them before they are packed.
_MANY = 1 << 22
_EFFORT = 3  # of gzip, of 9: more takes three times as long and saves 4 %
_HERE = Path(__file__).parent / "page"
_SIDE = 336  # pixels of a picture
_SETTINGS = {
    "checkpoint": "Encoder",
    "text": "Text",
    "second_part": "Second part",
    "intervention": "Intervention",
    "precision": "Precision of the record",
    "version": "Version of Attention Loupe",
    "weights_sha256": "SHA-256 of the weights",
}


@dataclass(frozen=True, kw_only=True)
class OfflinePage:
    """What the page shows. Raises ValueError where the shapes do not fit each other."""

    pattern: np.ndarray  # [layer, head, query, key]
    queries: Sequence[str]
    keys: Sequence[str]
    title: str
    mask: np.ndarray | None = None  # bool [layer, head, query, key], False: may not attend
    classes: Mapping[str, float] = field(default_factory=dict)  # probabilities by name
    settings: Mapping[str, str] = field(default_factory=dict)
    patch_grid: tuple[int, int] | None = None
    first_patch: int = 0  # the key that is the first patch
    picture: np.ndarray | None = None  # uint8 [height, width], or with 3 colours behind
    chosen: tuple[int, int, int] = (0, 0, 0)  # layer, head, query
    what: str = WEIGHT  # what the numbers are

    def __post_init__(self) -> None:
        if self.pattern.ndim != 4:
            raise ValueError(f"a pattern is [layer, head, query, key], got shape {self.pattern.shape}")
        need_shape((len(self.queries), len(self.keys)), pattern=self.pattern[0, 0])
        if self.mask is not None:
            need_shape(self.pattern.shape, mask=self.mask)


def offline_page(
    record: "AttentionRecord",
    *,
    title: str,
    settings: Mapping[str, Any],
    picture: np.ndarray | None = None,
    chosen: tuple[int, int, int] = (0, 0, 0),
    notes: Sequence[str] = (),
    what: str = WEIGHT,
) -> OfflinePage:
    """The page of a record, with its `settings`.

    `notes` say how what it shows differs from the record, and `what` names its numbers. A record with an answer shows
    that too.
    """
    shown = _known_settings(settings)
    if config := getattr(record, "config", None):
        shown["Structure"] = f"{config.n_layers} layers of {config.n_heads} heads, {config.norm_placement}-LN"
    classes = {}
    if record.has_classes:
        whole = cast("ForwardRecord", record)
        answers = dict(zip(whole.class_names, map(float, whole.probabilities), strict=True))
        if whole.config.family.answers == "numbers":
            shown["Answer"] = ", ".join(f"{name} {value:.4g}" for name, value in answers.items())
        else:
            classes = answers
    if notes:
        shown["Shown"] = "; ".join(notes)
    return OfflinePage(
        pattern=record.pattern,
        queries=record.tokens,
        keys=record.attended.tokens,
        title=title,
        mask=record.mask,
        classes=classes,
        settings=shown,
        patch_grid=record.patch_grid,
        first_patch=record.first_patch,
        picture=picture,
        chosen=chosen,
        what=what,
    )


def _known_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """The settings that readers know, under the names that the page shows."""
    return {name: str(settings[key]) for key, name in _SETTINGS.items() if settings.get(key)}


def html(view: OfflinePage) -> bytes:
    """The HTML file as bytes."""
    script, style = ((_HERE / name).read_text(encoding="utf-8") for name in ("view.js", "view.css"))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    )
    parts = {
        "policy": policy,
        "title": escape(clean(view.title)),
        "style": style,
        "script": script,
        "data": _json(_data(view)),
    }
    page = (_HERE / "view.html").read_text(encoding="utf-8")
    # In one pass, or a word of the data that looks like a place for another part would become one.
    pieces = page.split("@@")
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces).encode()


def _data(view: OfflinePage) -> dict[str, Any]:
    n_layers, n_heads, n_queries, n_keys = view.pattern.shape
    weights, precision = _packed(view.pattern)
    precision_text = (
        "each weight as a 16-bit float: three digits"
        if precision == "f2"
        else ("each weight in 8 bits, the square of n/255: to within 0.004")
    )
    mask = None
    if view.mask is not None and not view.mask.all():
        mask = _base64(np.packbits(view.mask))
    values = {
        "title": view.title,
        "what": view.what,
        "queries": list(view.queries),
        "keys": list(view.keys),
        "classes": list(view.classes.items()),
        "settings": [*view.settings.items(), ("Precision of this file", precision_text)],
        "chosen": list(view.chosen),
        "picture": _picture(view),
        "grid": view.patch_grid,
        "firstPatch": view.first_patch,
    }
    return clean(values) | {
        "shape": [n_layers, n_heads, n_queries, n_keys],
        "precision": precision,
        "weights": weights,
        "mask": mask,
        "colours": list(WEIGHTS),
        "accent": ACCENT,
        "masked": MASKED,
    }


def _packed(pattern: np.ndarray) -> tuple[str, str]:
    """The weights as base64 of gzip, and their type: "f2" (16-bit floats), or "u1" (bytes) where there are many."""
    if pattern.size <= _MANY:
        largest = np.finfo(np.float16).max  # what somebody's arrays hold need not be weights
        return _base64(np.clip(pattern, -largest, largest).astype("<f2")), "f2"
    return _base64((np.sqrt(np.clip(np.nan_to_num(pattern), 0, 1)) * 255).round().astype(np.uint8)), "u1"


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(gzip.compress(array.tobytes(), _EFFORT, mtime=0)).decode()


def _picture(view: OfflinePage) -> str | None:
    return None if view.picture is None else data_uri(view.picture, side=_SIDE)


def _json(values: dict[str, Any]) -> str:
    """JSON for a block of data in HTML, without a character that could end it."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
