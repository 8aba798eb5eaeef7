"""Encoders that users upload: each is stored in a temporary folder, which is deleted when the session ends.

All uploads of one process lie in one folder, which the process deletes when it ends. A killed process deletes nothing. Therefore each
process locks a file in its folder; the system releases the lock when the process ends, and the next process to start deletes the
folders whose lock nobody holds.
"""

import atexit
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary, finalize

from ..files.content import parse_json
from ..files.encoder_files import BESIDE, CONFIG, HISTORY, INDEX, PICKLES
from ..files.errors import error_text

try:
    import fcntl
except ImportError:  # Windows: there, what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]

UPLOAD = "upload:"
FILES = (CONFIG, *BESIDE, INDEX, HISTORY)
WEIGHTS = re.compile(r"[A-Za-z0-9][\w.-]{0,99}\.safetensors", re.ASCII)
PART = re.compile(r"\d_[A-Za-z]{1,40}", re.ASCII)  # of a sentence-transformers folder: 1_Pooling
MB = 2**20
PREFIX, LOCK = "loupe-uploads-", "lock"
_locks: dict[Path, int] = {}  # open as long as this process runs, by the folder


class Upload:
    """The temporary folder of an uploaded encoder; it is deleted when the last reference to this object is gone.

    Raises OSError if the folder cannot be made.
    """

    def __init__(self, title: str) -> None:
        if not _locks:
            _make_process_folder()
        self.folder = Path(tempfile.mkdtemp(dir=next(iter(_locks)))).resolve()
        self._end = finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        # 64 bits that nobody can guess: nobody else's address opens it
        self.name = f"{UPLOAD}{safe_part(title)}-{secrets.token_hex(8)}"
        _known[self.name] = self

    @property
    def n_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def delete(self) -> None:
        _known.pop(self.name, None)
        self._end()


_known: WeakValueDictionary[str, Upload] = WeakValueDictionary()


def upload_named(name: str) -> Upload | None:
    """The upload with this name; None if it was deleted."""
    return _known.get(name)


def delete_all() -> None:
    for upload in list(_known.values()):
        upload.delete()
    delete_process_folder()


def upload(files: Iterable[tuple[str, bytes | memoryview]], max_bytes: int) -> Upload:
    """Writes `files`, pairs of the path in the browser and the content, into a temporary folder.

    Files whose names are not those of an encoder's files are ignored; the others may have at most `max_bytes` bytes together.
    Raises ValueError, with a one-sentence message, if the files are not those of an encoder, too large, or cannot be written.
    """
    contents: dict[str, bytes | memoryview] = {}
    title = ""
    for path_in_browser, content in files:
        *parent_folders, file_name = path_in_browser.replace("\\", "/").split("/")
        if file_name.lower().endswith(PICKLES):
            raise ValueError(
                f"{safe_part(file_name)} is a pickle, which can run code when it is loaded, so it is not read"
            )
        if (target := _target_path(parent_folders, file_name, content)) is None:
            continue
        if target in contents:
            raise ValueError(f"{target} was chosen twice")
        contents[target] = content
        title = parent_folders[0] if parent_folders and target == CONFIG else title
    if (n_bytes := sum(map(len, contents.values()))) > max_bytes:
        raise ValueError(
            f"these files are {n_bytes / MB:,.0f} MB; at most {max(max_bytes, 0) / MB:,.0f} MB more may be uploaded"
        )
    if CONFIG not in contents:
        raise ValueError("config.json is missing: it describes the model")
    if not any(WEIGHTS.fullmatch(name) for name in contents):
        raise ValueError("the weights are missing: model.safetensors")
    title = title or _encoder_title(contents[CONFIG])
    try:
        return _write(title, contents)
    except OSError as error:  # such as a full disk
        raise ValueError(f"the server cannot store these files: {error_text(error)}") from error


def _write(title: str, contents: Mapping[str, bytes | memoryview]) -> Upload:
    """Writes all files, given as content by path, or none of them. Raises OSError if that is not possible."""
    new_upload = Upload(title)
    try:
        for target, content in contents.items():
            path = new_upload.folder / target
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    except OSError:
        new_upload.delete()
        raise
    return new_upload


def safe_part(title: str) -> str:
    """The `title` for use in an encoder's name: without characters that have a meaning in a path, and never empty."""
    safe_name = re.sub(r"[^\w.+=-]+", "-", title.replace("\\", "/").rstrip("/").rpartition("/")[2])
    return re.sub(r"^\W+|\W+$", "", safe_name[:40]) or "encoder"


def _target_path(parent_folders: list[str], file_name: str, content: bytes | memoryview) -> str | None:
    """Path, in the upload's folder, for an uploaded file; None for a file that is not needed.

    `parent_folders` are the folders above it on the user's machine, the outermost first.
    """
    # a browser numbers what it saves again
    file_name = re.sub(r" ?\(\d+\)(?=\.)", "", file_name)
    if file_name not in FILES and not WEIGHTS.fullmatch(file_name):
        return None
    if parent_folders and PART.fullmatch(parent_folders[-1]):
        return f"{parent_folders[-1]}/{file_name}"
    if file_name == CONFIG and any(key.startswith("pooling_mode") for key in _read_object(content)):
        return f"1_Pooling/{file_name}"  # chosen beside the other files, without its folder
    return file_name


def _encoder_title(config: bytes | memoryview) -> str:
    """Name of the encoder in the content of a config.json; "" if there is none."""
    values = _read_object(config)
    names = (values.get(key) for key in ("_name_or_path", "model_type"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _read_object(content: bytes | memoryview) -> dict:
    """The object that the content of a JSON file holds; empty if the content is damaged.

    Damage is reported later, when the encoder is opened.
    """
    try:
        values = parse_json(bytes(content)) if len(content) < MB else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def delete_process_folder() -> None:
    """Deletes this process's folder with all that is in it; a later upload makes a new one."""
    while _locks:
        folder, lock = _locks.popitem()
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def delete_left_behind() -> None:
    """Deletes the folders of processes that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # of another user, still in use, or deleted by another process at the same time
        with suppress(OSError):
            if fcntl is None or folder.is_symlink():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _make_process_folder() -> None:
    """Makes this process's folder and locks it.

    The folder gets its final name, which begins with `PREFIX`, after it is locked; otherwise another process could delete it.
    """
    unlocked = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
    lock = os.open(unlocked / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    atexit.register(delete_process_folder)
    _locks[unlocked.rename(unlocked.with_name(unlocked.name[1:]))] = lock
