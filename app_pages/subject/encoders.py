"""The encoders to choose from: by kind of input, in pre-LN/post-LN pairs, with their configuration and stored predictions."""

from collections.abc import Iterable

import numpy as np

from app_pages.subject import session_encoders
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.file_states import FileState, file_state
from app_pages.subject.shipped_inputs import test_digits
from model import checkpoint, inputs
from model.config import DIGITS, ModelConfig
from model.huggingface import inner_encoders
from model.sources.names import split_seed

TEXT, DIGIT, PICTURE, RECORD = "Text", "Digit", "Picture", "Record"  # kinds of input


def checkpoints(kind: str) -> list[str]:
    """Names of the encoders that read this kind of input: pre-LN/post-LN pairs first, then single encoders, then those opened in
    this session.

    Includes damaged ones, whose error is shown when they are chosen.
    """
    return [*shipped(kind), *_of_kind(kind, session_encoders.opened_encoders())]


def shipped(kind: str) -> list[str]:
    """Names of the encoders that come with the app and read this kind of input, in the order of `checkpoints`."""
    names = checkpoint.available()
    paired = {name: _pair_among(name, names) or (name,) for name in names}
    order = sorted(names, key=lambda name: (len(paired[name]) == 1, paired[name], paired[name].index(name)))
    return _of_kind(kind, order)


def _of_kind(kind: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if kind_of(name) in (kind, None)]


def kind_of(name: str) -> str | None:
    """Kind of input that an encoder takes, `TEXT`, `DIGIT` or `PICTURE`; None if its configuration is damaged.

    Called for every encoder in every run, so it reads only the configuration.
    """
    return _kind(name, file_state(name, "config.json", of_weights=False))


@cached
def _kind(name: str, _state: FileState) -> str | None:
    try:
        config = checkpoint.read_config(name)
    except ValueError:
        return None
    if config.is_text:
        return TEXT
    return PICTURE if config.is_imported and config.n_channels == 3 else DIGIT


@cached
def _config(name: Checkpoint) -> ModelConfig | None:
    """Configuration of an encoder; None if it is damaged."""
    try:
        return checkpoint.read_config(name)
    except (ValueError, OSError):
        return None


def config_of(name: str | None) -> ModelConfig | None:
    """Configuration of an encoder, read without its weights; None without a name or if it is damaged."""
    return None if name is None else _config(name)


def reads_pairs(name: Checkpoint) -> bool:
    """Whether the encoder takes a pair of texts; False if it cannot be opened."""
    if (config := config_of(name)) is None or not config.is_imported:
        return False  # known without its weights
    try:
        return inputs.reads_pairs(loaded(name))
    except (ValueError, OSError):
        return False


@cached
def predictions(name: Checkpoint) -> dict[str, np.ndarray] | None:
    """Stored predictions of the test digits, as `model.checkpoint.predictions`; None if damaged or of other digits."""
    try:
        stored = checkpoint.predictions(name)
    except ValueError:
        return None
    return stored if stored and stored["loss"].shape == test_digits()[1].shape else None


def label_for(name: str | None, label: int | None) -> int | None:
    """The label of a test digit, if it is one of the encoder's classes; else None.

    The project's own digit encoders have all ten classes; for encoders from elsewhere the class names decide.
    """
    config = config_of(name)
    return label if config is None or not config.is_imported or config.class_names == DIGITS else None


def pair(name: str) -> tuple[str, str] | None:
    """Names of the pre-LN and the post-LN checkpoint of the pair that `name` belongs to; None if either is missing."""
    return _pair_among(name, checkpoint.available())


def _pair_among(name: str, names: list[str]) -> tuple[str, str] | None:
    seedless = split_seed(name)[0]
    stem, seed = seedless.removesuffix("-pre-ln").removesuffix("-post-ln"), name.removeprefix(seedless)
    pair_names = (f"{stem}-pre-ln{seed}", f"{stem}-post-ln{seed}")
    return pair_names if name in pair_names and set(pair_names) <= set(names) else None


def picture_and_texts(name: str | None) -> tuple[str, str] | None:
    """Names of the picture encoder and the text encoder in the folder to which `name` belongs, such as one of CLIP; None unless
    both are there.
    """
    folder, inner = inner_encoders.split_name(name or "")
    names = f"{folder}/{inner_encoders.VISION}", f"{folder}/{inner_encoders.TEXT}"
    return names if inner and [*map(kind_of, names)] == [PICTURE, TEXT] else None
