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

    def __init__(self, called: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="loupe-")).resolve()
        self._end = finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        # 64 bits that nobody can guess: nobody else's address opens it
        self.name = f"{UPLOAD}{as_part(called)}-{secrets.token_hex(8)}"
        _known[self.name] = self

    @property
    def n_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def delete(self) -> None:
        _known.pop(self.name, None)
        self._end()


_known: WeakValueDictionary[str, Upload] = WeakValueDictionary()


def held(name: str) -> Upload | None:
    return _known.get(name)


def delete_all() -> None:
    for each in list(_known.values()):
        each.delete()


def upload(files: Iterable[tuple[str, bytes | memoryview]], at_most: int) -> Upload:
    """A folder of these files: the name of each, as the browser says it, and its content; `at_most` bytes together.

    Names decide nothing but which of the known files each is: the others are left out.
    Raises ValueError, in one sentence, where the files make no encoder.
    """
    known, called = {}, ""
    for said, content in files:
        *above, file = said.replace("\\", "/").split("/")
        if file.lower().endswith(PICKLES):
            raise ValueError(
                f"{as_part(file)} is a pickle, which can run code when it is loaded, so it is not read"
            )
        if (place := _place(above, file, content)) is None:
            continue
        if place in known:
            raise ValueError(f"{place} was chosen twice")
        known[place] = content
        called = above[0] if above and place == CONFIG else called
    if (total := sum(map(len, known.values()))) > at_most:
        raise ValueError(
            f"these files are {total / MB:,.0f} MB; at most {max(at_most, 0) / MB:,.0f} MB more may be uploaded"
        )
    if CONFIG not in known:
        raise ValueError("config.json is missing: it describes the model")
    if not any(WEIGHTS.fullmatch(name) for name in known):
        raise ValueError("the weights are missing: model.safetensors")
    made = Upload(called or _called(known[CONFIG]))
    for place, content in known.items():
        path = made.folder / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return made


def as_part(called: str) -> str:
    """Made of a name from elsewhere: one part of a name here, never empty."""
    called = re.sub(r"[^\w.+=-]+", "-", called.replace("\\", "/").rstrip("/").rpartition("/")[2])
    return re.sub(r"^\W+|\W+$", "", called[:40]) or "encoder"


def _place(above: list[str], file: str, content: bytes | memoryview) -> str | None:
    """Where a file lies in the folder; None for what is not read. A browser numbers what it saves again."""
    file = re.sub(r" ?\(\d+\)(?=\.)", "", file)
    if file not in FILES and not WEIGHTS.fullmatch(file):
        return None
    if above and PART.fullmatch(above[-1]):
        return f"{above[-1]}/{file}"
    if file == CONFIG and any(key.startswith("pooling_mode") for key in _read(content)):
        return f"1_Pooling/{file}"  # chosen beside the other files, without its folder
    return file


def _called(config: bytes | memoryview) -> str:
    """What a configuration calls its encoder."""
    values = _read(config)
    names = (values.get(key) for key in ("_name_or_path", "model_type"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _read(content: bytes | memoryview) -> dict:
    """Of a file of JSON; what cannot be read is said where it is opened."""
    try:
        values = parse_json(bytes(content)) if len(content) < MB else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
