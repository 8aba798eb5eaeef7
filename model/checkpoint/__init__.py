"""Trained encoders on disk, each a folder with `config.json`, `model.safetensors` and usually `history.json`.

Folders in Hugging Face's layout are read by `model.huggingface`. Text encoders have `tokenizer.json` as well;
`film.safetensors.gz` is the recording of the training run, `predictions.safetensors` holds what a digit encoder predicts
for each test digit. Nothing is ever unpickled.
"""

import gzip
import hashlib
import json
import math
import shutil
from contextlib import suppress
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
from ..device import find_device, torch_seed
from ..files.content import file_state, folder_and_name, new_folder, read_object, replacement_file
from ..files.encoder_files import CONFIG, HISTORY, PREDICTIONS, READ, RECORDING, TOKENIZER, WEIGHTS
from ..files.errors import errors_in_one_sentence
from ..files.tokenizer_check import open_tokenizer
from ..huggingface.inner_encoders import folder_name, split_path
from ..huggingface.weights import LARGEST_FILE, MOST_NUMBERS
from ..inputs.text import encode
from ..loaded import Loaded
from ..schema import convert_closed
from ..sources import locations
from ..transformer import Transformer
from .training_history import check_history

OWN_FILES = (CONFIG, WEIGHTS, TOKENIZER, HISTORY, RECORDING, PREDICTIONS)
# of Hugging Face's layout
FOREIGN_FILE_PATTERNS = ("*.json", "*.txt", "*.safetensors", "*/*.json", "*/*.safetensors")
CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
MAX_RECORDING_BYTES = 2**28  # when unpacked
# numbers; a few bytes of config.json could ask for all the memory there is
LARGEST_POSITION_TABLE = 2**26


def available() -> list[str]:
    """Names of the checkpoints that come with the project, sorted.

    >>> from loupe import available
    >>> "imdb-pre-ln" in available()
    True
    """
    return locations.shipped_names(CHECKPOINTS)


def read_config(name_or_path: str | Path) -> ModelConfig:
    """The configuration of a checkpoint, without reading its weights.

    Raises ValueError, with a one-sentence message, if it is damaged.
    """
    folder = _find_folder(name_or_path)
    if huggingface.is_foreign(folder):
        with errors_in_one_sentence(f"{folder_name(folder)} cannot be read"):
            return huggingface.find(folder).config
    path = folder / CONFIG
    values = read_object(path, folder_and_name(path))
    with errors_in_one_sentence(f"{folder_and_name(path)} is damaged"):
        return convert_closed(values, ModelConfig)


def predictions(name: str) -> dict[str, np.ndarray] | None:
    """A digit checkpoint's predictions for all test digits; None if they were never stored.

    "predicted" holds the class (uint8), "loss" the cross-entropy in nats (float32), each of shape [digit].
    Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    path = _find_folder(name) / PREDICTIONS
    if not path.is_file():
        return None
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        arrays = load_file(path, backend=READ)
        if set(arrays) != {"predicted", "loss"} or arrays["predicted"].shape != arrays["loss"].shape:
            raise ValueError("it must hold `predicted` and `loss`, one of each a digit")
    return arrays


def recording_arrays(folder: Path) -> dict[str, np.ndarray] | None:
    """The arrays that `model.train.snapshot.take_snapshot` recorded during training, by name; None if there is no recording.

    Raises ValueError, with a one-sentence message, if the file is damaged or unpacks to more than
    `MAX_RECORDING_BYTES`.
    """
    path = folder / RECORDING
    if not path.is_file():
        return None
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        with gzip.open(path) as file:
            # a few kilobytes can unpack to all the memory there is
            content = file.read(MAX_RECORDING_BYTES + 1)
        if len(content) > MAX_RECORDING_BYTES:
            raise ValueError(f"it unpacks to more than {MAX_RECORDING_BYTES >> 20} MB")
        return deserialize(content)


def load(name_or_path: str | Path, device: str = "auto") -> Loaded:
    """The encoder of a checkpoint, by its name or the path of its folder, on a `device` ("auto", "cpu", "cuda", ...).

    Raises FileNotFoundError if there is no such checkpoint, and ValueError, with a one-sentence message, if it is damaged.
    """
    name, folder = find_name_and_folder(name_or_path)
    torch_device = find_device(device)
    model: Transformer
    history: dict[str, Any] = {}
    n_stored: int | None = None
    notes: tuple[str, ...] = ()
    if huggingface.is_foreign(folder):
        with errors_in_one_sentence(f"{folder_name(folder)} cannot be read"):
            model, tokenizer, n_stored, notes = huggingface.open_encoder(folder)
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
        notes=notes,
        n_stored=n_stored,
    )


def fingerprint(name_or_path: str | Path) -> str:
    """SHA-256, in hexadecimal, of all files of a checkpoint that may be read, including training recording and predictions.

    The hash of a file is cached until its state changes (`model.files.content.file_state`). Raises FileNotFoundError if
    there is no such checkpoint.
    """
    folder, inner = split_path(_find_folder(name_or_path))
    names = list(OWN_FILES)
    if huggingface.is_foreign(folder):
        names = sorted(
            str(path.relative_to(folder))
            for pattern in FOREIGN_FILE_PATTERNS
            for path in folder.glob(pattern)
        )
    hashes: dict[str, str] = {}
    for name in names:
        with suppress(FileNotFoundError):  # it may be deleted at this moment
            if (folder / name).is_file():
                hashes[name] = _cached_file_hash(folder / name, file_state(folder / name))
    return hashlib.sha256(json.dumps([hashes, inner] if inner else hashes).encode()).hexdigest()


def weights_hash(name_or_path: str | Path) -> str:
    """SHA-256, in hexadecimal, of a checkpoint's weights alone; stored results hold it to show with which weights they were measured.

    Raises FileNotFoundError if there is no such checkpoint.
    """
    folder, inner = split_path(_find_folder(name_or_path))
    paths = [path for path in sorted(folder.glob("*.safetensors")) if path.name != PREDICTIONS]
    if not paths:
        raise FileNotFoundError(f"{name_or_path!r} has no weights")
    hashes = [_cached_file_hash(path, file_state(path)) for path in paths]
    hashes += [inner] if inner else []  # two encoders have one file
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


@lru_cache(maxsize=1024)
def _cached_file_hash(path: Path, state: tuple[int, ...]) -> str:
    """SHA-256 of a file's content; for a file larger than `LARGEST_FILE`, its `state`, which begins with its size, as JSON.

    A sparse file can claim terabytes, which would take hours to read.
    """
    if state[0] > LARGEST_FILE:
        return json.dumps(state)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save(
    folder: Path,
    model: Transformer,
    history: dict[str, Any],
    tokenizer: Tokenizer | None = None,
    recording: dict[str, Tensor] | None = None,
) -> None:
    """Writes a checkpoint to a temporary folder and then moves it to `folder`, so that a crash never leaves an incomplete one.

    `history` is the content of history.json, `recording` the snapshots of the training by name (`model.train.snapshot`). Raises
    OSError if the checkpoint cannot be written.
    """
    with new_folder(folder) as new_path:
        save_model(model, str(new_path / WEIGHTS))
        _write_json(new_path / CONFIG, model.config.to_json())
        _write_json(new_path / HISTORY, history)
        if recording is not None:
            # Patterns are mostly zeros. Without the time of writing, the same recording is the same file.
            (new_path / RECORDING).write_bytes(gzip.compress(serialize(recording), mtime=0))
        if tokenizer is not None:
            tokenizer.save(str(new_path / TOKENIZER))
        # safetensors lets nobody but the owner read what it wrote
        shutil.copymode(new_path / CONFIG, new_path / WEIGHTS)
        old_path = _backup_folder(folder)
        if folder.exists():
            shutil.rmtree(old_path, ignore_errors=True)
            old_path.parent.mkdir(exist_ok=True)
            folder.replace(old_path)
        new_path.replace(folder)
        shutil.rmtree(old_path.parent, ignore_errors=True)


def record_figures(
    name_or_path: str | Path, figures: dict[str, Any], by_example: dict[str, np.ndarray] | None = None
) -> None:
    """Adds the `figures` of an evaluation to `history.json`, and writes the predictions `by_example`, if given, to their file.

    `by_example` holds the arrays that `predictions` reads. Figures of the first data set are kept under `figures`, those of
    other data sets in the list `also_measured`; new figures replace old ones of the same data. Raises OSError if writing
    fails.
    """
    folder = _find_folder(name_or_path)
    if by_example is not None:
        with replacement_file(folder / PREDICTIONS) as new_path:
            save_arrays(by_example, new_path)
            shutil.copymode(folder / CONFIG, new_path)
    history = _read_history(folder)
    first_figures, other_figures = history.get("figures", figures), history.get("also_measured", [])
    if first_figures.get("data") == figures.get("data"):
        first_figures = figures
    else:
        kept_figures = [entry for entry in other_figures if entry.get("data") != figures.get("data")]
        history["also_measured"] = [*kept_figures, figures]
    with replacement_file(folder / HISTORY) as new_path:
        _write_json(new_path, history | {"figures": first_figures})


def _backup_folder(folder: Path) -> Path:
    """The path to which `save` moves an old checkpoint in `folder` until the new one is in place."""
    return folder.parent / f".{folder.name}-old" / folder.name


def _find_folder(name_or_path: str | Path) -> Path:
    return find_name_and_folder(name_or_path)[1]


def find_name_and_folder(name_or_path: str | Path) -> tuple[str, Path]:
    """The name and the folder of a checkpoint: looked up by name (`model.sources.locations`), or else as a path.

    Raises FileNotFoundError if it is neither.
    """
    name = str(name_or_path)
    try:
        folder = locations.find(name, CHECKPOINTS)
    except FileNotFoundError:
        if name.startswith((locations.HUB, locations.PACKAGE, locations.MODELS, locations.UPLOAD)):
            raise  # no path: the sentence says what is missing
        folder = Path(name_or_path)
        name = folder_name(folder)
    for candidate in (folder, _backup_folder(folder)):
        if candidate.is_dir() or split_path(candidate)[1]:
            return name, candidate
    raise FileNotFoundError(f"no checkpoint {str(name_or_path)!r}; there are {', '.join(available())}")


def _read_history(folder: Path) -> dict[str, Any]:
    path = folder / HISTORY
    values = read_object(path, folder_and_name(path)) if path.exists() else {}
    with errors_in_one_sentence(f"{folder_and_name(path)} is damaged"):
        check_history(values)
    return values


def _read_weights(path: Path, config: ModelConfig) -> Transformer:
    with errors_in_one_sentence(f"the weights of {path.parent.name} cannot be read"):
        with safe_open(path, "pt", backend=READ) as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        _check_sizes(config, len(shapes), sum(map(math.prod, shapes.values())))  # before anything is built
        with torch_seed(0):  # weights that are written over, but not with the numbers of somebody else's seed
            model = Transformer(config)
        expected_shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
        for name in shapes:
            if shapes[name] != expected_shapes.get(name):
                raise ValueError(
                    f"{name} is {shapes[name]}, but config.json asks for {expected_shapes.get(name)}"
                )
        missing_names, _ = load_model(model, path, strict=False, backend=READ)
        if missing_names:
            raise ValueError(f"{min(missing_names)} is missing, but config.json asks for it")
        for name, value in model.named_parameters():
            if not value.isfinite().all():
                raise ValueError(f"{name} holds numbers that are not finite")
        return model


def _check_sizes(config: ModelConfig, n_tensors: int, n_numbers: int) -> None:
    """Raises ValueError if the stored tensors do not fit the configuration, or the encoder is too large to be shown."""
    if n_numbers > MOST_NUMBERS:
        raise ValueError(f"they are more than {MOST_NUMBERS:,} numbers, too many to be shown")
    if config.n_layers > n_tensors or config.min_parameters > n_numbers:
        raise ValueError(f"{n_numbers:,} numbers are too few for the encoder that config.json describes")
    n_positions = config.n_positions
    if (
        n_positions * config.d_model > LARGEST_POSITION_TABLE
        or config.n_layers * config.n_heads * n_positions**2 > MOST_PATTERNS
    ):
        raise ValueError(f"{n_positions:,} positions are too many for an encoder of this size to be shown")


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")


def _read_tokenizer(path: Path, config: ModelConfig) -> Tokenizer:
    assert config.vocab_size is not None  # an encoder of texts
    name = folder_and_name(path)
    values = read_object(path, name)
    with errors_in_one_sentence(f"{name} cannot be read"):
        tokenizer = open_tokenizer(values)
    largest_id = max(tokenizer.get_vocab().values(), default=0)
    if largest_id >= config.vocab_size:
        message = f"{path.parent.name} knows {config.vocab_size} tokens"
        raise ValueError(f"{message}, its tokenizer numbers them up to {largest_id}")
    truncation = values.get("truncation")
    is_left_truncated = isinstance(truncation, dict) and truncation.get("direction") == "Left"
    tokenizer.enable_truncation(config.n_positions, direction="left" if is_left_truncated else "right")
    with errors_in_one_sentence(f"{name} cannot be used"):
        added_ids = encode(tokenizer, "").ids
    if max(added_ids, default=0) >= config.vocab_size or len(added_ids) >= config.n_positions:
        raise ValueError(f"{name} adds tokens {added_ids} for which there is no place")
    return tokenizer
