"""Encoders that somebody has uploaded: a temporary folder each, deleted when the session ends."""

import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakValueDictionary, finalize

from ..files.encoder_files import BESIDE, CONFIG, HISTORY, INDEX, PICKLES
from ..files.json_file import parse_json

UPLOAD = "upload:"
FILES = (CONFIG, *BESIDE, INDEX, HISTORY)
WEIGHTS = re.compile(r"[A-Za-z0-9][\w.-]{0,99}\.safetensors", re.ASCII)
PART = re.compile(r"\d_[A-Za-z]{1,40}", re.ASCII)  # of a sentence-transformers folder: 1_Pooling
MB = 2**20


class Upload:
    """The folder of one encoder. Whoever holds the object has the files; with the last reference they are gone."""

    def __init__(self, title: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="loupe-")).resolve()
        self._end = finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        # 64 bits that nobody can guess: nobody else's address opens it
        self.name = f"{UPLOAD}{as_part(title)}-{secrets.token_hex(8)}"
        _known[self.name] = self

    @property
    def n_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def delete(self) -> None:
        _known.pop(self.name, None)
        self._end()


_known: WeakValueDictionary[str, Upload] = WeakValueDictionary()


def upload_named(name: str) -> Upload | None:
    """The upload of that name, None where it was deleted."""
    return _known.get(name)


def delete_all() -> None:
    for upload in list(_known.values()):
        upload.delete()


def upload(files: Iterable[tuple[str, bytes | memoryview]], at_most: int) -> Upload:
    """Writes `files`, pairs of the name that the browser gives and the content, into a temporary folder.

    Files whose names are not those of an encoder's files are left out. Together they may have `at_most` bytes.
    Raises ValueError, in one sentence, where the files make no encoder.
    """
    contents: dict[str, bytes | memoryview] = {}
    title = ""
    for path_in_browser, content in files:
        *above, file = path_in_browser.replace("\\", "/").split("/")
        if file.lower().endswith(PICKLES):
            raise ValueError(
                f"{as_part(file)} is a pickle, which can run code when it is loaded, so it is not read"
            )
        if (target := _target(above, file, content)) is None:
            continue
        if target in contents:
            raise ValueError(f"{target} was chosen twice")
        contents[target] = content
        title = above[0] if above and target == CONFIG else title
    if (total := sum(map(len, contents.values()))) > at_most:
        raise ValueError(
            f"these files are {total / MB:,.0f} MB; at most {max(at_most, 0) / MB:,.0f} MB more may be uploaded"
        )
    if CONFIG not in contents:
        raise ValueError("config.json is missing: it describes the model")
    if not any(WEIGHTS.fullmatch(name) for name in contents):
        raise ValueError("the weights are missing: model.safetensors")
    made = Upload(title or _title(contents[CONFIG]))
    for target, content in contents.items():
        path = made.folder / target
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return made


def as_part(title: str) -> str:
    """A name from elsewhere as one part of a name here: without signs that mean something in a path, and never empty."""
    part = re.sub(r"[^\w.+=-]+", "-", title.replace("\\", "/").rstrip("/").rpartition("/")[2])
    return re.sub(r"^\W+|\W+$", "", part[:40]) or "encoder"


def _target(above: list[str], file: str, content: bytes | memoryview) -> str | None:
    """Where to write a file that was in the folders `above`; None for files that are not read."""
    # a browser numbers what it saves again
    file = re.sub(r" ?\(\d+\)(?=\.)", "", file)
    if file not in FILES and not WEIGHTS.fullmatch(file):
        return None
    if above and PART.fullmatch(above[-1]):
        return f"{above[-1]}/{file}"
    if file == CONFIG and any(key.startswith("pooling_mode") for key in _read(content)):
        return f"1_Pooling/{file}"  # chosen beside the other files, without its folder
    return file


def _title(config: bytes | memoryview) -> str:
    """The name that a configuration gives its encoder, "" where it gives none."""
    values = _read(config)
    names = (values.get(key) for key in ("_name_or_path", "model_type"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _read(content: bytes | memoryview) -> dict:
    """The object in a JSON file; empty where it cannot be read, which is reported when the encoder is opened."""
    try:
        values = parse_json(bytes(content)) if len(content) < MB else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
