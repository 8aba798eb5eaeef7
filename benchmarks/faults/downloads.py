"""Windows of the class download figures, tables, records and pages; each file must be complete, readable, and of its
own window.
"""

import io
import random
import re
from xml.etree import ElementTree

import pandas as pd
from PIL import Image

from benchmarks.faults.promises import DOWNLOADS, ISOLATED
from benchmarks.faults.world import World
from benchmarks.load.browser_window import Answer, File
from benchmarks.load.lesson import Extra, Pupil
from model.record.record_file import from_bytes
from viz.export.save import MIME

FIGURE, TABLE = "file_of_", "heads_file"  # prefixes of the menus' keys
DIRECT = ("download_record", "download_view", "many_csv")  # buttons without a menu


def downloading(world: World) -> Extra:
    """A function that downloads one of the files that a window's page offers."""

    async def download(pupil: Pupil, draw: random.Random) -> Answer | None:
        window = pupil.window
        menus = [key for key, widget in window.widgets.items() if widget.kind == "popover" and key.startswith((FIGURE, TABLE))]  # fmt: skip
        keys = [*menus, *(key for key in DIRECT if key in window.widgets)]
        if not keys:
            return None
        key = draw.choice(keys)
        answer = None
        if key in menus:
            answer = await window.change(key, True)
            kind, button = f"{key}_kind", f"{key}_button" if key == TABLE else f"{key}_file"
            if (value := window.widgets[kind].other(None, draw)) != window.values[kind]:
                world.check(DOWNLOADS, await window.change(kind, value), f"the menu {key}")
        else:
            button = key
        try:
            file = await window.download(button)
        except ValueError as error:
            if world.lost_a_process:  # the file was on the process that is gone
                raise ConnectionError(str(error)) from error
            world.ledger.record(DOWNLOADS, f"{pupil.scenario.title}: {error}")
            return answer
        failure = file_error(file, pupil.word.decode() if pupil.scenario.shows_text else "")
        world.ledger.record(DOWNLOADS, f"{pupil.scenario.title}, {file.name}: {failure}" if failure else "")
        leaks = pupil.words_of_others(file.content)
        world.ledger.record(ISOLATED, f"{file.name} holds {leaks[0]}" if leaks else "")
        world.search_for_secrets(file.content)
        return await window.change(key, False) if key in menus else answer

    return download


def file_error(file: File, word: str = "") -> str:
    """The error of a downloaded file in words; "" without one. Records and web pages must contain the `word` of the
    window.
    """
    suffix = file.name.rpartition(".")[2]
    if len(file.content) != file.declared_size or not file.content:
        return f"{len(file.content):,} of {file.declared_size:,} bytes"
    expected = MIME.get(suffix, "application/octet-stream")
    if file.type.partition(";")[0] != expected:
        return f"its type is {file.type}, not {expected}"
    try:
        return _content_error(suffix, file.content, word)
    except Exception as error:  # whatever a reader raises, the file is not what it should be
        return f"it does not open: {type(error).__name__}: {error}"


def _content_error(suffix: str, content: bytes, word: str) -> str:
    """The error of a file's content in words, by the suffix of its name; "" without one."""
    match suffix:
        case "png":
            Image.open(io.BytesIO(content)).load()
        case "svg":
            ElementTree.fromstring(content)
        case "pdf":
            if not content.startswith(b"%PDF-") or b"%%EOF" not in content[-20:]:
                return "it has no beginning or no end"
        case "csv":
            return "" if len(pd.read_csv(io.BytesIO(content))) else "it has no rows"
        case "parquet":
            return "" if len(pd.read_parquet(io.BytesIO(content))) else "it has no rows"
        case "tex":
            return "" if b"\\end{tabular}" in content else "it has no end"
        case "npz":
            tokens = from_bytes(content, "a record.npz").record.tokens
            return "" if word in ("", *tokens) else f"its tokens are {' '.join(tokens)[:100]}"
        case "html":
            if not re.search(rb'http-equiv="?Content-Security-Policy', content) or b"</html>" not in content[-20:]:  # fmt: skip
                return "it has no Content-Security-Policy or no end"
            return "" if word.encode() in content else f"it lacks {word}"
        case _:
            return f"unknown file type .{suffix}"
    return ""
