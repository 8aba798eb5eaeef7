"""A record as one HTML file that opens offline, with all heads and the patterns of each.

The file fetches nothing, and its Content-Security-Policy allows it nothing: script and style are named by their
hashes. All words in it come from a block of JSON and are set as text.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

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
_PRECISIONS = {
    "f2": "each weight as a 16-bit float: three digits",
    "u1": "each weight in 8 bits, the square of n/255: to within 0.004",
}


def offline_page(
    record: "AttentionRecord",
    *,
    title: str,
    settings: Mapping[str, Any],
    picture: np.ndarray | None = None,
    chosen: tuple[int, int, int] = (0, 0, 0),
    notes: Sequence[str] = (),
    what: str = WEIGHT,
) -> bytes:
    """The HTML file of a record with its `settings`, which opens at the `chosen` (layer, head, query).

    `picture` is uint8 [height, width] or [height, width, 3]. `notes` say how what it shows differs from the record, and
    `what` names its numbers. A record with an answer shows that too.
    """
    weights, precision = _packed(record.pattern)
    shown_settings = {name: str(settings[key]) for key, name in _SETTINGS.items() if settings.get(key)}
    classes = {}
    if config := getattr(record, "config", None):
        shown_settings["Structure"] = (
            f"{config.n_layers} layers of {config.n_heads} heads, {config.norm_placement}-LN"
        )
    if record.has_classes:
        forward_record = cast("ForwardRecord", record)
        classes = dict(zip(forward_record.class_names, map(float, forward_record.probabilities), strict=True))
        if forward_record.config.family.answers == "numbers":
            shown_settings["Answer"] = ", ".join(f"{name} {value:.4g}" for name, value in classes.items())
            classes = {}
    if notes:
        shown_settings["Shown"] = "; ".join(notes)
    shown_settings["Precision of this file"] = _PRECISIONS[precision]
    values = {
        "title": title,
        "what": what,
        "queries": list(record.tokens),
        "keys": list(record.attended.tokens),
        "classes": list(classes.items()),
        "settings": list(shown_settings.items()),
        "chosen": list(chosen),
        "picture": None if picture is None else data_uri(picture, side=_SIDE),
        "grid": record.patch_grid,
        "firstPatch": record.first_patch,
        "shape": list(record.pattern.shape),
        "precision": precision,
        "colours": list(WEIGHTS),
        "accent": ACCENT,
        "masked": MASKED,
    }
    mask = None if record.mask.all() else _base64(np.packbits(record.mask))
    script, style = ((_HERE / name).read_text(encoding="utf-8") for name in ("view.js", "view.css"))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    )
    parts = {
        "policy": policy,
        "title": escape(clean(title)),
        "style": style,
        "script": script,
        "data": _json(clean(values) | {"weights": weights, "mask": mask}),
    }
    # In one pass, or a word of the data that looks like a name of another part would become one.
    pieces = (_HERE / "view.html").read_text(encoding="utf-8").split("@@")
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces).encode()


def _packed(pattern: np.ndarray) -> tuple[str, str]:
    """The weights as base64 of gzip, and their type: "f2" (16-bit floats), or "u1" (bytes) where there are many."""
    if pattern.size <= _MANY:
        largest = np.finfo(np.float16).max  # what somebody's arrays hold need not be weights
        return _base64(np.clip(pattern, -largest, largest).astype("<f2")), "f2"
    return _base64((np.sqrt(np.clip(np.nan_to_num(pattern), 0, 1)) * 255).round().astype(np.uint8)), "u1"


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(gzip.compress(array.tobytes(), _EFFORT, mtime=0)).decode()


def _json(values: dict[str, Any]) -> str:
    """JSON for a block of data in HTML, without a character that could end it."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
