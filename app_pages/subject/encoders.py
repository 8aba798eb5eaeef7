"""Which encoders there are to choose from: by the kind of their input, in pairs of norm placements, and what is known of each."""

import numpy as np

from app_pages.subject import session_encoders
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.shipped_inputs import test_digits
from app_pages.subject.stored_results import States, file_state
from model import checkpoint, inputs
from model.checkpoint.seeds import seed_of
from model.config import DIGITS, ModelConfig

TEXT, DIGIT, RECORD = "Text", "Digit", "Record"  # kinds of input


def checkpoints(kind: str) -> list[str]:
    """Those that take this kind of input, pairs first, then what the session has opened.

    Damaged ones too, which say what is wrong when chosen.
    """
    names = checkpoint.available()
    paired = {name: _paired(name, names) or (name,) for name in names}
    shipped = sorted(names, key=lambda name: (len(paired[name]) == 1, paired[name], paired[name].index(name)))
    return [name for name in (*shipped, *session_encoders.opened()) if kind_of(name) in (kind, None)]


def kind_of(name: str) -> str | None:
    """Of the input that an encoder takes; None where its configuration is damaged.

    Asked of every encoder in each run, so of its files only the configuration is looked at.
    """
    return _kind(name, file_state(name, "config.json", of_weights=False))


@cached
def _kind(name: str, _state: States) -> str | None:
    try:
        return TEXT if checkpoint.read_config(name).is_text else DIGIT
    except ValueError:
        return None


@cached
def _config(name: Checkpoint) -> ModelConfig | None:
    """None where the configuration is damaged."""
    try:
        return checkpoint.read_config(name)
    except (ValueError, OSError):
        return None


def config_of(name: str | None) -> ModelConfig | None:
    """What an encoder is, without its weights; None where there is none, or where its configuration is damaged."""
    return None if name is None else _config(name)


def reads_pairs(name: Checkpoint) -> bool:
    """Whether the encoder reads a second text behind the first; not where it cannot be opened."""
    if (config := config_of(name)) is None or not config.is_imported:
        return False  # known without its weights
    try:
        return inputs.reads_pairs(loaded(name))
    except (ValueError, OSError):
        return False


@cached
def predictions(name: Checkpoint) -> dict[str, np.ndarray] | None:
    """As `model.checkpoint.predictions`, but a file that is damaged or of other digits counts as none."""
    try:
        stored = checkpoint.predictions(name)
    except ValueError:
        return None
    return stored if stored and stored["loss"].shape == test_digits()[1].shape else None


def label_for(name: str | None, label: int | None) -> int | None:
    """The right class of a test digit; None where digits are not what the encoder tells apart.

    The project's own may call them as they like; of encoders from elsewhere the names alone say it.
    """
    config = config_of(name)
    return label if config is None or not config.is_imported or config.class_names == DIGITS else None


def pair(name: str) -> tuple[str, str] | None:
    """The pre-LN and the post-LN checkpoint that `name` is one of, None where either is missing."""
    return _paired(name, checkpoint.available())


def _paired(name: str, names: list[str]) -> tuple[str, str] | None:
    seedless = seed_of(name)[0]
    stem, seed = seedless.removesuffix("-pre-ln").removesuffix("-post-ln"), name.removeprefix(seedless)
    both = (f"{stem}-pre-ln{seed}", f"{stem}-post-ln{seed}")
    return both if name in both and set(both) <= set(names) else None
