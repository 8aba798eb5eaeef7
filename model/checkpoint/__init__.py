"""Trained encoders on disk: a folder each, with `config.json`, `model.safetensors` and mostly `history.json`.

Folders in Hugging Face's layout are read by `model.huggingface`. Text encoders have `tokenizer.json` as well;
`film.safetensors.gz` is what the run recorded of itself, `predictions.safetensors` what a digit encoder answers to each
test digit. Nothing is ever unpickled.
"""

import gzip
import hashlib
import json
import math
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load as deserialize
from safetensors.numpy import load_file
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_model, save_model
from safetensors.torch import save as serialize
from tokenizers import Tokenizer
from torch import Tensor

from .. import huggingface
from ..config import MOST_PATTERNS, ModelConfig
from ..device import find_device
from ..files.encoder_files import CONFIG, HISTORY, PREDICTIONS, RECORDING, TOKENIZER, WEIGHTS
from ..files.errors import one_sentence
from ..files.json_file import folder_and_name, read_object
from ..files.tokenizer_file import open_tokenizer
from ..files.writing import new_folder, replacing
from ..huggingface.weights import LARGEST_FILE, MOST_NUMBERS
from ..inputs.text import encode
from ..loaded import Loaded
from ..schema import convert_closed
from ..sources import locations
from ..torch_seed import torch_seed
from ..transformer import Transformer
from .training_history import check_history

OWN_FILES = (CONFIG, WEIGHTS, TOKENIZER, HISTORY, RECORDING, PREDICTIONS)
FOREIGN_FILES = (
    "*.json",
    "*.txt",
    "*.safetensors",
    "*/config.json",
    "*/*.safetensors",
)  # of Hugging Face's layout
CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
LARGEST_RECORDING = 2**28  # bytes
# numbers; a few bytes of config.json could ask for all the memory there is
LARGEST_POSITION_TABLE = 2**26


def available() -> list[str]:
    """Names of the checkpoints that come with the project.

    >>> from loupe import available
    >>> "imdb-pre-ln" in available()
    True
    """
    return locations.shipped(CHECKPOINTS)


def read_config(name_or_path: str | Path) -> ModelConfig:
    """The configuration of a checkpoint; its weights are not read. Raises ValueError, in one sentence, where it is damaged."""
    folder = _folder(name_or_path)
    if huggingface.is_foreign(folder):
        with one_sentence(f"{folder.name} cannot be read"):
            return huggingface.find(folder).config
    path = folder / CONFIG
    values = read_object(path, folder_and_name(path))
    with one_sentence(f"{folder_and_name(path)} is damaged"):
        return convert_closed(values, ModelConfig)


def predictions(name: str) -> dict[str, np.ndarray] | None:
    """The answers of a digit checkpoint to all test digits, None where they were never stored.

    "predicted" holds the class (uint8), "loss" the cross-entropy in nats (float32), each of shape [digit].
    Raises ValueError, in one sentence, where the file is damaged.
    """
    path = _folder(name) / PREDICTIONS
    if not path.is_file():
        return None
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        arrays = load_file(path)
        if set(arrays) != {"predicted", "loss"} or arrays["predicted"].shape != arrays["loss"].shape:
            raise ValueError("it must hold `predicted` and `loss`, one of each a digit")
    return arrays


def recording_arrays(folder: Path) -> dict[str, np.ndarray] | None:
    """The arrays that a training run recorded, by the names of `model.train.snapshot.take_snapshot`; None where there are none.

    Raises ValueError, in one sentence, where the file is damaged, or larger than any recording.
    """
    path = folder / RECORDING
    if not path.is_file():
        return None
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        with gzip.open(path) as file:
            content = file.read(
                LARGEST_RECORDING + 1
            )  # a few kilobytes can unpack to all the memory there is
        if len(content) > LARGEST_RECORDING:
            raise ValueError(f"it unpacks to more than {LARGEST_RECORDING >> 20} MB")
        return deserialize(content)


def load(name_or_path: str | Path, device: str = "auto") -> Loaded:
    """The encoder of a checkpoint, by its name or by the path of its folder; `device` as for `model.device.find_device`.

    Raises FileNotFoundError where there is none, ValueError, in one sentence, where it is damaged.

    >>> from loupe import load
    >>> load("checkpoints/imdb-pre-ln", device="cpu")
    Loaded('imdb-pre-ln', text encoder, 4 layers × 4 heads, 2,359,660 parameters, cpu)
    """
    name, folder = _name_and_folder(name_or_path)
    torch_device = find_device(device)
    model: Transformer
    history: dict[str, Any] = {}
    if huggingface.is_foreign(folder):
        with one_sentence(f"{folder.name} cannot be read"):
            model, tokenizer = huggingface.open_encoder(folder)
    else:
        config = read_config(folder)
        model = _read_weights(folder / WEIGHTS, config).eval()
        tokenizer = _read_tokenizer(folder / TOKENIZER, config) if config.is_text else None
        history = _read_history(folder)
    return Loaded(
        name=name,
        model=model.to(torch_device),
        tokenizer=tokenizer,
        history=history,
        device=torch_device,
        folder=folder,
    )


def fingerprint(name_or_path: str | Path) -> str:
    """A hash of all files that are read of a checkpoint, its recorded training and predictions included.

    Files are hashed once, and again when their size, time of change or inode differ. Raises FileNotFoundError where there
    is no such checkpoint.
    """
    folder = _folder(name_or_path)
    names = list(OWN_FILES)
    if huggingface.is_foreign(folder):
        names = sorted(str(path.relative_to(folder)) for kind in FOREIGN_FILES for path in folder.glob(kind))
    hashes = {name: _hash_of(folder / name) for name in names if (folder / name).is_file()}
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


def weights_hash(name_or_path: str | Path) -> str:
    """A hash of the weights alone, which says whether stored measurements are of these weights.

    Raises FileNotFoundError where there is no such checkpoint.
    """
    paths = [path for path in sorted(_folder(name_or_path).glob("*.safetensors")) if path.name != PREDICTIONS]
    if not paths:
        raise FileNotFoundError(f"{name_or_path!r} has no weights")
    hashes = [_hash_of(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _hash_of(path: Path) -> str:
    state = path.stat()
    return _hash(path, state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=1024)
def _hash(path: Path, size: int, *state: int) -> str:
    """SHA-256 of the content; size and state instead of a file that is too large to be opened: a sparse one can claim terabytes."""
    if size > LARGEST_FILE:
        return json.dumps([size, *state])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save(
    folder: Path,
    model: Transformer,
    history: dict[str, Any],
    tokenizer: Tokenizer | None = None,
    recording: dict[str, Tensor] | None = None,
) -> None:
    """Writes a checkpoint beside `folder`, then moves it there: after a kill or on a full disk, the old or the new is there.

    Raises OSError where it cannot be written.
    """
    with new_folder(folder) as new:
        save_model(model, str(new / WEIGHTS))
        _write_json(new / CONFIG, model.config.to_json())
        _write_json(new / HISTORY, history)
        if recording is not None:
            # Patterns are mostly zeros. Without the time of writing, the same recording is the same file.
            (new / RECORDING).write_bytes(gzip.compress(serialize(recording), mtime=0))
        if tokenizer is not None:
            tokenizer.save(str(new / TOKENIZER))
        # safetensors lets nobody but the owner read what it wrote
        shutil.copymode(new / CONFIG, new / WEIGHTS)
        old = _replaced(folder)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            old.parent.mkdir(exist_ok=True)
            folder.replace(old)
        new.replace(folder)
        shutil.rmtree(old.parent, ignore_errors=True)


def record_figures(
    name_or_path: str | Path, figures: dict[str, Any], by_example: dict[str, np.ndarray] | None = None
) -> None:
    """Adds the `figures` of an evaluation to `history.json`; `by_example` becomes the file that `predictions` reads.

    The first data set's figures are kept under `figures`, those of others in the list `also_measured`; new ones replace
    old ones of the same data. Raises OSError where they cannot be written.
    """
    folder = _folder(name_or_path)
    if by_example is not None:
        with replacing(folder / PREDICTIONS) as new:
            save_arrays(by_example, new)
            shutil.copymode(folder / CONFIG, new)
    history = _read_history(folder)
    first, others = history.get("figures", figures), history.get("also_measured", [])
    if first.get("data") == figures.get("data"):
        first = figures
    else:
        others = [other for other in others if other.get("data") != figures.get("data")] + [figures]
    with replacing(folder / HISTORY) as new:
        _write_json(new, history | {"figures": first} | ({"also_measured": others} if others else {}))


def _replaced(folder: Path) -> Path:
    """Where `save` puts the checkpoint that it replaces, until the new one stands in its place."""
    return folder.parent / f".{folder.name}-old" / folder.name


def _folder(name_or_path: str | Path) -> Path:
    return _name_and_folder(name_or_path)[1]


def _name_and_folder(name_or_path: str | Path) -> tuple[str, Path]:
    """A name (`model.sources.locations`) goes before any path; a path need not lie in the project."""
    name = str(name_or_path)
    try:
        folder = locations.find(name, CHECKPOINTS)
    except FileNotFoundError:
        if name.startswith((locations.HUB, locations.PACKAGE, locations.MODELS, locations.UPLOAD)):
            raise  # no path: the sentence says what is missing
        folder = Path(name_or_path)
        name = folder.name
    for candidate in (folder, _replaced(folder)):
        if candidate.is_dir():
            return name, candidate
    known = f"there are {', '.join(available())}"
    if not CHECKPOINTS.is_dir():  # installed as loupe.model
        known = (
            "the trained encoders are not installed with the library: name the path of a checkpoint's folder"
        )
    raise FileNotFoundError(f"no checkpoint {str(name_or_path)!r}; {known}")


def _read_history(folder: Path) -> dict[str, Any]:
    path = folder / HISTORY
    values = read_object(path, folder_and_name(path)) if path.exists() else {}
    with one_sentence(f"{folder_and_name(path)} is damaged"):
        check_history(values)
    return values


def _read_weights(path: Path, config: ModelConfig) -> Transformer:
    with one_sentence(f"the weights of {path.parent.name} cannot be read"):
        with safe_open(path, "pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        _check_sizes(config, len(shapes), sum(map(math.prod, shapes.values())))  # before anything is built
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
        return model


def _check_sizes(config: ModelConfig, n_tensors: int, n_numbers: int) -> None:
    """Raises ValueError where the stored tensors cannot be those of such an encoder, or it is too large to be shown."""
    if n_numbers > MOST_NUMBERS:
        raise ValueError(f"they are more than {MOST_NUMBERS:,} numbers, too many to be shown")
    if config.n_layers > n_tensors or config.least_size > n_numbers:
        raise ValueError(f"{n_numbers:,} numbers are too few for the encoder that config.json describes")
    n = config.n_positions
    if n * config.d_model > LARGEST_POSITION_TABLE or config.n_layers * config.n_heads * n**2 > MOST_PATTERNS:
        raise ValueError(f"{n:,} positions are too many for an encoder of this size to be shown")


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")


def _read_tokenizer(path: Path, config: ModelConfig) -> Tokenizer:
    assert config.vocab_size is not None  # an encoder of texts
    name = folder_and_name(path)
    values = read_object(path, name)
    with one_sentence(f"{name} cannot be read"):
        tokenizer = open_tokenizer(values)
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= config.vocab_size:
        known = f"{path.parent.name} knows {config.vocab_size} tokens"
        raise ValueError(f"{known}, its tokenizer numbers them up to {largest}")
    truncation = values.get("truncation")
    is_left = isinstance(truncation, dict) and truncation.get("direction") == "Left"
    tokenizer.enable_truncation(config.n_positions, direction="left" if is_left else "right")
    with one_sentence(f"{name} cannot be used"):
        added = encode(tokenizer, "").ids
    if max(added, default=0) >= config.vocab_size or len(added) >= config.n_positions:
        raise ValueError(f"{name} adds tokens {added} for which there is no place")
    return tokenizer
