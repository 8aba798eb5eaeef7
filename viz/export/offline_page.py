"""A record as one HTML file that opens offline: the linked chart of the app, with all heads and the pattern of each.

The file fetches nothing, and its Content-Security-Policy forbids all fetching: scripts and style are allowed by their
hashes, and no script may run text as code. Texts from the record are escaped, or come from a JSON block and are set
as text.
"""

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..attention import linked_data
from ..attention import linked_heads as chart
from ..attention.matrix_links import MatrixLink
from ..builders.figure_page import json_block, vega_bundle
from ..builders.palette import WEIGHT, WeightScale
from ..builders.theme import PAGE, file_config
from .safe_text import replace_forbidden

if TYPE_CHECKING:  # the package loads torch
    from model.record import AttentionRecord, ForwardRecord

# Weights up to which the file has 16 bits for each: 8 megabytes of them before they are packed.
_MANY = 1 << 22
_EFFORT = 3  # of gzip, of 9: more takes three times as long and saves 4 %
_HERE = Path(__file__)
_CHANNEL = "heads"
_MOST_CLASSES = 5  # classes of the answer that are shown by themselves
_SETTINGS = {
    "checkpoint": "Encoder",
    "text": "Text",
    "second_part": "Second part",
    "intervention": "Intervention",
    "precision": "Precision of the record",
    "version": "Version of Attention Loupe",
    "weights_sha256": "SHA-256 of the weights",
}
_PRECISION = "each weight as one of {} numbers from 0 to 1: to within {}"
_OUTSIDE = "; what is no number, or outside of 0 to 1, as the nearer of the two"


def offline_page(
    record: "AttentionRecord",
    *,
    title: str,
    settings: Mapping[str, Any],
    picture: np.ndarray | None = None,
    chosen: tuple[int, int, int] = (0, 0, 0),
    notes: Sequence[str] = (),
    what: str = WEIGHT,
    measures: Mapping[str, np.ndarray] | None = None,
    about: Sequence[str] | None = None,
    by_layer: bool = False,
    links: Sequence[MatrixLink] | None = None,
) -> bytes:
    """The HTML file of a record with its provenance (`settings`); it opens at the `chosen` (layer, head, query).

    `picture` is uint8 [height, width] or [height, width, 3]. `notes` say how the numbers shown differ from those of
    the record, and `what` names these numbers. `measures`, `about`, `by_layer` and `links` are those of
    `linked_heads`. The answer is shown, too, if the record has one.
    """
    shown_settings = {name: str(settings[key]) for key, name in _SETTINGS.items() if settings.get(key)}
    classes = {}
    if config_of_encoder := getattr(record, "config", None):
        shown_settings["Structure"] = (
            f"{config_of_encoder.n_layers} layers of {config_of_encoder.n_heads} heads, "
            f"{config_of_encoder.norm_placement}-LN"
        )
    if record.has_classes:
        forward_record = cast("ForwardRecord", record)
        classes = dict(zip(forward_record.class_names, map(float, forward_record.probabilities), strict=True))
        if forward_record.config.family.answers == "numbers":
            shown_settings["Answer"] = ", ".join(f"{name} {value:.4g}" for name, value in classes.items())
            classes = {}
    if notes:
        shown_settings["Shown"] = "; ".join(notes)
    has_16_bits = record.pattern.size <= _MANY
    precision = _PRECISION.format(*(("65,536", "0.00001") if has_16_bits else ("256 (8 bits)", "0.002")))
    # What somebody's arrays hold need not be weights.
    weights = np.clip(np.nan_to_num(record.pattern), 0, 1)
    if not np.array_equal(weights, record.pattern):
        record, precision = replace(record, pattern=weights), precision + _OUTSIDE
    shown_settings["Precision of this file"] = precision
    if record.patch_grid is None:
        picture = None
    figure = chart.linked_heads(
        record,
        selected=chosen[:2],
        measures=measures,
        about=about,
        by_layer=by_layer,
        scale=WeightScale(what=what, shares=what == WEIGHT),
        picture=picture,
        channel=_CHANNEL,
        notes=notes,
        links=links,
    )
    script_data = linked_data.script_data(
        record, channel=_CHANNEL, chart_selector="#chart", kept=chosen, has_picture=picture is not None
    )
    data = {
        "specification": figure.specification | {"width": "container", "height": "container"},
        "datasets": figure.columns,
        "configs": {theme: file_config(theme) for theme in PAGE},
        "script": {
            name: _packed_numbers(value, name == "weights" and not has_16_bits)
            if isinstance(value, np.ndarray)
            else value
            for name, value in script_data.items()
        },
    }
    # The scripts of a page share their names: that of the app is a module, whose one export gets a name here.
    script = chart.SCRIPT.replace("export default function", "const linkedHeads = function")
    script += _sibling_text("js")
    style, vega = chart.STYLE.read_text(encoding="utf-8") + _sibling_text("css"), vega_bundle()
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src '{_csp_hash(vega)}' '{_csp_hash(script)}'; style-src '{_csp_hash(style)}'"
    )
    parts = {
        "policy": policy,
        "title": _html_escaped(title),
        "answer": _answer_html(classes),
        "settings": "".join(
            f"<dt>{_html_escaped(name)}</dt><dd>{_html_escaped(value)}</dd>"
            for name, value in shown_settings.items()
        ),
        "tokens": chart.HTML.read_text(encoding="utf-8"),
        "style": style,
        "vega": vega,
        "script": script,
        "data": json_block(replace_forbidden(data)),
    }
    # In one pass, or a word of the data that looks like a name of another part would become one.
    pieces = _sibling_text("html").split("@@")
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces).encode()


def _sibling_text(suffix: str) -> str:
    """The text of the file beside this module that has the same name and another suffix."""
    return _HERE.with_suffix(f".{suffix}").read_text(encoding="utf-8")


def _packed_numbers(numbers: np.ndarray, in_8_bits: bool) -> dict[str, Any]:
    """A uint16 array for JSON: `packed` is base64 of its gzipped bytes, and `bytes` says whether they are 8-bit
    numbers.

    With `in_8_bits`, each number is divided by 257 and rounded, so that it fits into 8 bits.
    """
    shortened = np.rint(numbers / 257).astype(np.uint8) if in_8_bits else numbers.astype("<u2")
    packed = gzip.compress(shortened.tobytes(), _EFFORT, mtime=0)
    return {"packed": base64.b64encode(packed).decode(), "bytes": in_8_bits}


def _answer_html(classes: Mapping[str, float]) -> str:
    """The most probable classes with their probabilities as HTML; "" without classes."""
    if not classes:
        return ""
    ranked = sorted(classes.items(), key=lambda item: -item[1])
    shown, others = ranked[:_MOST_CLASSES], ranked[_MOST_CLASSES:]
    if others:
        shown.append((f"{len(others)} others together", sum(share for _, share in others)))
    return "Answer: " + "".join(
        f"<span><bdi>{_html_escaped(name)}</bdi> {100 * share:.1f} %</span>" for name, share in shown
    )


def _html_escaped(text: str) -> str:
    """The text as HTML, without invisible letters that could change its meaning."""
    return escape(replace_forbidden(text))


def _csp_hash(source: str) -> str:
    """The hash of a script or a style, as a Content-Security-Policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
