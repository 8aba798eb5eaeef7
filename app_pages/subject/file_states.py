"""States of an encoder's files (time, size, hash), by which the cache notices that a file has changed."""

from pathlib import Path

from model import checkpoint
from model.files.encoder_files import CONFIG
from model.huggingface.inner_encoders import split_path
from model.sources import locations

# Time, size and hashes of files, which differ once a file has changed; () where one is missing.
FileState = tuple[int | str, ...]


def state_of_path(path: Path, *names: str) -> FileState:
    """Modification time and size of the file at `path`, and hashes of the weights of the encoders called `names`; () if
    the file or some of the weights cannot be read.
    """
    try:
        stat = path.stat()
        return stat.st_mtime_ns, stat.st_size, *map(checkpoint.weights_hash, names)
    except (OSError, ValueError):
        return ()


def file_state(name: str, file: str, *, of_weights: bool = True) -> FileState:
    """State of one file of an encoder, and of its weights: it changes whenever either of them does."""
    return state_of_path(path_of(name, file), *([name] if of_weights else []))


def path_of(name: str, file: str) -> Path:
    """Path of an encoder's file, whether the file exists or not."""
    try:
        folder = locations.find(name, checkpoint.CHECKPOINTS)
        # two encoders of one folder have one configuration, and results of their own
        return (split_path(folder)[0] if file == CONFIG else folder) / file
    except (OSError, ValueError):  # an encoder that is gone is said elsewhere
        return checkpoint.CHECKPOINTS / name / file
