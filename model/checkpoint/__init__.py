"""Trained encoders on disk: a folder each, with `config.json`, `model.safetensors` and mostly `history.json`.

Folders in Hugging Face's layout are read by `model.huggingface`. Text encoders bring `tokenizer.json` as well; `film.safetensors.gz` is what the run recorded of itself,
`predictions.safetensors` what a digit encoder makes of the test digits. Nothing is ever unpickled.
"""

import gzip
import hashlib
import json
import math
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as deserialize
from safetensors.numpy import load_file
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_model, save_model
from safetensors.torch import save as serialize
from tokenizers import Tokenizer
from torch import Tensor

from .. import huggingface
from ..config import ModelConfig
from ..device import find_device
from ..files.content import content_of
from ..files.errors import why
from ..files.tokenizer_file import open_tokenizer
from ..files.writing import new_folder, replacing
from ..huggingface.weights import AT_MOST, LARGEST_FILE, LARGEST_JSON
from ..inputs.text import encode, guarded
from ..loaded import Loaded
from ..sources import locations
from ..torch_seed import torch_seed
from ..transformer import Transformer
from .training_history import check_history

READ = ("config.json", "model.safetensors", "tokenizer.json", "history.json")  # by `load`
BESIDE = ("film.safetensors.gz", "predictions.safetensors")  # by `film_arrays` and `predictions`
IMPORTED = ("*.json", "*.txt", "*.safetensors", "*/config.json", "*/*.safetensors")  # by `model.huggingface`
CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
LARGEST_FILM = 2**28  # bytes
# numbers; a few bytes of config.json could ask for all the memory there is
LARGEST_POSITION_TABLE = 2**26
LARGEST_PATTERNS = 2**26  # of all heads for an input as long as the encoder reads; BERT-base has 2**25
# what safetensors raises on numbers that numpy does not have
UNREADABLE = (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError)


def available() -> list[str]:
    """Names of the checkpoints that come with the project."""
    return locations.shipped(CHECKPOINTS)


def read_config(name_or_path: str | Path) -> ModelConfig:
    """What a checkpoint is, without its weights. Raises ValueError, in one sentence, where it is damaged."""
    folder = _folder(name_or_path)
    path = folder / "config.json"
    if huggingface.is_foreign(folder):
        with _refused(folder, "cannot be read", ValueError):
            return huggingface.find(folder).config
    values = _read_json(path)
    with _refused(path, "is damaged", ValueError):
        return ModelConfig.from_json(values)


def predictions(name: str) -> dict[str, np.ndarray] | None:
    """What a digit checkpoint makes of every test digit, None where that was never written down.

    "predicted" holds the class (uint8), "loss" the cross-entropy in nats (float32), one a digit.
    Raises ValueError, in one sentence, where the file is damaged.
    """
    path = _folder(name) / "predictions.safetensors"
    if not path.is_file():
        return None
    with _refused(path, "cannot be read", *UNREADABLE):
        arrays = load_file(path)
        if set(arrays) != {"predicted", "loss"} or arrays["predicted"].shape != arrays["loss"].shape:
            raise ValueError("it must hold `predicted` and `loss`, one of each a digit")
    return arrays


def film_arrays(folder: Path) -> dict[str, np.ndarray] | None:
    """What a run recorded of itself, by the names of `model.train.snapshot.shot`; None where there is none.

    Raises ValueError, in one sentence, where the file is damaged, or larger than any film.
    """
    path = folder / "film.safetensors.gz"
    if not path.is_file():
        return None
    with _refused(path, "cannot be read", *UNREADABLE, EOFError, zlib.error):
        with gzip.open(path) as file:
            content = file.read(LARGEST_FILM + 1)  # a few kilobytes can unpack to all the memory there is
        if len(content) > LARGEST_FILM:
            raise ValueError(f"it unpacks to more than {LARGEST_FILM >> 20} MB")
        return deserialize(content)


def load(name_or_path: str | Path, device: str = "auto") -> Loaded:
    """A checkpoint by name, or by the path of its folder; `device` is as in `model.device.find_device`.

    Raises FileNotFoundError where there is none, ValueError, in one sentence, where it is damaged.
    """
    name, folder = _found(name_or_path)
    device = find_device(device)
    if huggingface.is_foreign(folder):
        with _refused(folder, "cannot be read", ValueError, RuntimeError):
            model, tokenizer = huggingface.open_encoder(folder)
        return Loaded(
            name=name, model=model.to(device), tokenizer=tokenizer, history={}, device=device, folder=folder
        )
    config = read_config(folder)
    return Loaded(
        name=name,
        model=_read_weights(folder / "model.safetensors", config).to(device).eval(),
        tokenizer=_read_tokenizer(folder / "tokenizer.json", config) if config.is_text else None,
        history=_read_history(folder),
        device=device,
        folder=folder,
    )


def fingerprint(name_or_path: str | Path) -> str:
    """A hash of all files that are read here: another one where a checkpoint, its film or its predictions were replaced.

    Files are hashed once, and again when size, time of change or inode are others. Raises FileNotFoundError where there is
    no such checkpoint.
    """
    folder = _folder(name_or_path)
    names = (*READ, *BESIDE)
    if huggingface.is_foreign(folder):
        names = sorted(str(path.relative_to(folder)) for kind in IMPORTED for path in folder.glob(kind))
    known = {
        name: _hash(path, found.st_size, found.st_mtime_ns, found.st_ino)
        for name in names
        if (path := folder / name).is_file() and (found := path.stat())
    }
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def weights_hash(name_or_path: str | Path) -> str:
    """Of the weights alone, by which what was stored about them is told from what was stored about others.

    Raises FileNotFoundError where there is no such checkpoint.
    """
    paths = [path for path in sorted(_folder(name_or_path).glob("*.safetensors")) if path.name not in BESIDE]
    if not paths:
        raise FileNotFoundError(f"{name_or_path!r} has no weights")
    each = [_hash(path, at.st_size, at.st_mtime_ns, at.st_ino) for path in paths if (at := path.stat())]
    return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


@lru_cache(maxsize=1024)
def _hash(path: Path, size: int, *state: int) -> str:
    """Of the content. A file that is too large to be opened is not read: a sparse one can claim terabytes."""
    if size > LARGEST_FILE:
        return json.dumps([size, *state])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save(
    folder: Path,
    model: Transformer,
    history: dict,
    tokenizer: Tokenizer | None = None,
    film: dict[str, Tensor] | None = None,
) -> None:
    """Writes a checkpoint beside `folder` and then moves it there: a kill, or a full disk, leaves the old one or the new.

    Raises OSError where it cannot be written.
    """
    with new_folder(folder) as new:
        save_model(model, str(new / "model.safetensors"))
        _write_json(new / "config.json", model.config.to_json())
        _write_json(new / "history.json", history)
        if film is not None:
            # Patterns are mostly zeros. Without the time of writing, the same film is the same file.
            (new / "film.safetensors.gz").write_bytes(gzip.compress(serialize(film), mtime=0))
        if tokenizer is not None:
            tokenizer.save(str(new / "tokenizer.json"))
        # safetensors lets nobody but the owner read what it wrote
        shutil.copymode(new / "config.json", new / "model.safetensors")
        old = _old(folder)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            old.parent.mkdir(exist_ok=True)
            folder.replace(old)
        new.replace(folder)
        shutil.rmtree(old.parent, ignore_errors=True)


def record_figures(
    name_or_path: str | Path, figures: dict, by_example: dict[str, np.ndarray] | None = None
) -> None:
    """Writes what was measured into `history.json`, and beside it what `predictions` reads.

    The data measured first have the name `figures`; others come after them, under `also_measured`, or in the place of
    what was measured on the same data before. Raises OSError where they cannot be written.
    """
    folder = _folder(name_or_path)
    if by_example is not None:
        with replacing(folder / "predictions.safetensors") as beside:
            save_arrays(by_example, beside)
            shutil.copymode(folder / "config.json", beside)
    history = _read_history(folder)
    first, others = history.get("figures", figures), history.get("also_measured", [])
    if first.get("data") == figures.get("data"):
        first = figures
    else:
        others = [other for other in others if other.get("data") != figures.get("data")] + [figures]
    with replacing(folder / "history.json") as beside:
        _write_json(beside, history | {"figures": first} | ({"also_measured": others} if others else {}))


def _old(folder: Path) -> Path:
    """Where `save` puts the checkpoint that it replaces, until the new one stands in its place."""
    return folder.parent / f".{folder.name}-old" / folder.name


def _folder(name_or_path: str | Path) -> Path:
    return _found(name_or_path)[1]


def _found(name_or_path: str | Path) -> tuple[str, Path]:
    """Name and folder: a name (`model.sources.locations`) goes before any path; a path need not lie in the project."""
    name = str(name_or_path)
    try:
        folder = locations.find(name, CHECKPOINTS)
    except FileNotFoundError:
        if name.startswith((locations.HUB, locations.PACKAGE, locations.MODELS, locations.UPLOAD)):
            raise  # no path: the sentence says what is missing
        folder = Path(name_or_path)
        name = folder.name
    for standing in (folder, _old(folder)):
        if standing.is_dir():
            return name, standing
    there_are = f"there are {', '.join(available())}"
    if not CHECKPOINTS.is_dir():  # installed as loupe.model
        there_are = (
            "the trained encoders are not installed with the library: name the path of a checkpoint's folder"
        )
    raise FileNotFoundError(f"no checkpoint {str(name_or_path)!r}; {there_are}")


@contextmanager
def _refused(path: Path, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Any of these `errors` inside the `with` becomes a ValueError of one sentence that names the file."""
    try:
        yield
    except errors as error:
        name = path.name if path.is_dir() else f"{path.parent.name}/{path.name}"
        raise ValueError(f"{name} {what}: {why(error)}") from error


def _read_history(folder: Path) -> dict:
    path = folder / "history.json"
    values = _read_json(path) if path.exists() else {}
    with _refused(path, "is damaged", ValueError):
        check_history(values)
    return values


def _read_weights(path: Path, config: ModelConfig) -> Transformer:
    try:
        with safe_open(path, "pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        n_numbers = sum(map(math.prod, shapes.values()))  # looked at before anything is built
        if n_numbers > AT_MOST:
            raise ValueError(f"they are more than {AT_MOST:,} numbers, too many to be shown")
        if config.n_layers > len(shapes) or config.least_size > n_numbers:
            raise ValueError(f"{n_numbers:,} numbers are too few for the encoder that config.json describes")
        n = config.n_positions
        table, patterns = n * config.d_model, config.n_layers * config.n_heads * n**2
        if table > LARGEST_POSITION_TABLE or patterns > LARGEST_PATTERNS:
            raise ValueError(f"{n:,} positions are too many for an encoder of this size to be shown")
        with torch_seed(0):  # weights that are written over, but not with the numbers of somebody else's seed
            model = Transformer(config)
        expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
        for name in shapes:
            if shapes[name] != expected.get(name):
                raise ValueError(f"{name} is {shapes[name]}, but config.json asks for {expected.get(name)}")
        missing, _ = load_model(model, path, strict=False)
        if missing:
            raise ValueError(f"{min(missing)} is missing, but config.json asks for it")
        for name, value in model.named_parameters():
            if not value.isfinite().all():
                raise ValueError(f"{name} holds numbers that are not finite")
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"the weights of {path.parent.name} cannot be read: {why(error)}") from error
    return model


def _read_json(path: Path) -> dict:
    with _refused(path, "cannot be read", OSError, ValueError, RecursionError):
        values = json.loads(content_of(path, LARGEST_JSON).decode())
        json.dumps(values, ensure_ascii=False).encode()  # an escaped half of a character is no text
    if not isinstance(values, dict):
        raise ValueError(f"{path.parent.name}/{path.name} must hold a JSON object")
    return values


def _write_json(path: Path, values: dict) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")


def _read_tokenizer(path: Path, config: ModelConfig) -> Tokenizer:
    values = _read_json(path)
    with guarded(f"{path.parent.name}/{path.name} cannot be read"):
        tokenizer = open_tokenizer(values)
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= config.vocab_size:
        known = f"{path.parent.name} knows {config.vocab_size} tokens"
        raise ValueError(f"{known}, its tokenizer numbers them up to {largest}")
    truncation = values.get("truncation")
    is_left = isinstance(truncation, dict) and truncation.get("direction") == "Left"
    tokenizer.enable_truncation(config.n_positions, direction="left" if is_left else "right")
    with _refused(path, "cannot be used", ValueError):
        added = encode(tokenizer, "").ids
    if max(added, default=0) >= config.vocab_size or len(added) >= config.n_positions:
        raise ValueError(f"{path.parent.name}/tokenizer.json adds tokens {added} for which there is no place")
    return tokenizer
