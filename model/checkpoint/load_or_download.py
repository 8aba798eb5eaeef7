"""Opens the encoder that a script or a command names: one on this machine, or a model of the Hugging Face Hub, downloaded first.

The app never calls this: in it, only `--hub` allows downloads.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm.auto import tqdm

from ..device import OutOfMemory
from ..files.errors import exit_on_refusal
from ..huggingface.inner_encoders import split_name
from ..loaded import Loaded
from ..sources import hub, locations
from ..sources.names import HUB, printable_name
from . import find_name_and_folder, load

_OWNER_AND_NAME = re.compile(r"[^/]+/[^/]+(/vision_model|/text_model)?")


def load_or_download(
    name_or_path: str | Path, device: str = "auto", *, revision: str | None = None
) -> Loaded:
    """The encoder called `name_or_path`, on a `device` ("auto", "cpu", "cuda", ...).

    The name is that of a trained encoder which comes with the project (`available`), the path of a folder, such as
    `save_pretrained` of transformers writes, or `owner/name` of a model on the Hugging Face Hub. Such a model is read from the
    Hub's cache on this machine, and downloaded into it if it is not there: only safetensors, the configuration and the tokenizer,
    no pickle and no code. `revision` is a branch, a tag or a commit of it.

    Raises FileNotFoundError if there is no such encoder here, and ValueError, with a one-sentence message, if it is damaged,
    cannot be opened, or cannot be downloaded.

    >>> from loupe import load
    >>> load("imdb-pre-ln", device="cpu")
    Loaded('imdb-pre-ln', text encoder, 4 layers × 4 heads, 2,359,660 parameters, cpu)
    """
    return load(name_or_download(name_or_path, revision), device)


def name_or_download(name_or_path: str | Path, revision: str | None = None) -> str | Path:
    """The name or path with which `load` opens the encoder; a model of the Hub that is not on this machine is downloaded first.

    Raises FileNotFoundError and ValueError as `load_or_download` does.
    """
    name = str(name_or_path)
    is_of_hub = revision is not None or name.startswith(HUB)
    if revision is None:
        try:
            find_name_and_folder(name_or_path)
        except FileNotFoundError:
            if not is_of_hub and (not _OWNER_AND_NAME.fullmatch(name) or Path(name).exists()):
                raise
        else:
            return name_or_path
    outer_name, inner = split_name(name)
    try:
        model, branch = hub.parse_name(outer_name if revision is None else f"{outer_name}@{revision}")
        name_here = hub.cached_name(model, branch) or _download(model, branch)
    except ValueError as error:
        if is_of_hub:
            raise
        raise ValueError(f"there is no folder {printable_name(name)}, and {error}") from error
    return name_here if inner is None else f"{name_here}/{inner}"


def _download(model: str, revision: str | None) -> str:
    """Downloads the model with a progress bar, and returns its name. Raises ValueError as `hub.download` does."""
    with tqdm(desc=model, unit="B", unit_scale=True, delay=0.5) as bar:

        def report(_file: str, n_done: int, n_bytes: int) -> None:
            bar.total = n_bytes or None
            bar.update(n_done - bar.n)

        return hub.download(model, revision, report=report)


GPU_TOO_SMALL = "the memory of the GPU is too small for this; --device cpu takes the CPU"
CHECKPOINT = (
    "the name of an encoder that comes with the project, the path of a folder, or a name below the folder LOUPE_MODELS; or owner/name "
    "of a model on the Hugging Face Hub, which is downloaded unless it is in the cache"
)


def load_checkpoint(name_or_path: str, device: str) -> Loaded:
    """Loads a checkpoint by its name or path; a model of the Hugging Face Hub that is not in the cache is downloaded.

    Encoders in the folder given by the environment variable `LOUPE_MODELS` can be named, too. Raises FileNotFoundError if
    there is no such checkpoint, and ValueError if the checkpoint or that folder cannot be read.
    """
    locations.use_environment_variable(os.environ)
    return load_or_download(name_or_path, device)


@contextmanager
def exit_with_one_sentence(program: str) -> Iterator[None]:
    """Context manager like `model.files.errors.exit_on_refusal`, which also ends the program when the GPU's memory is full."""
    with exit_on_refusal(program):
        try:
            yield
        except OutOfMemory as error:
            raise ValueError(GPU_TOO_SMALL) from error
