"""The address at which the app shows the encoder and the input that the command line names."""

from pathlib import Path
from urllib.parse import urlencode

from app_pages.controls import input_controls as controls
from app_pages.controls.compare_controls import COMPARED, TEXTS, TEXTS_ON_PICTURE
from app_pages.controls.pages import COMPARE
from app_pages.inputs import own_picture
from app_pages.inputs.drawing import code, picture
from app_pages.subject import encoders
from model import checkpoint
from model.checkpoint.load_or_download import name_or_download
from model.huggingface.inner_encoders import VISION, inner_names, split_path
from model.sources import locations


def query_of(name: str | None, text: str | None, picture_file: Path | None) -> str:
    """The address, behind the server's, for an encoder (None: the first one that fits) and its input (None: an example). Of a
    folder with an encoder of pictures and one of texts, such as CLIP, it is that of a picture and texts side by side.

    Raises ValueError or OSError, with a one-sentence message, if the input does not fit or cannot be read.
    """
    has_both = name is not None and inner_names(locations.find(name, checkpoint.CHECKPOINTS))
    if has_both:
        kind = encoders.PICTURE
        query = {
            controls.KIND.key: kind,
            controls.CHECKPOINT.key: f"{name}/{VISION}",
            COMPARED.key: TEXTS_ON_PICTURE,
        }
        if text is not None:
            query[TEXTS.key] = text
    elif name is None:
        kind = encoders.DIGIT if picture_file else encoders.TEXT
        query = {controls.KIND.key: kind}
    else:
        kind = encoders.kind_of(name) or encoders.TEXT
        query = {controls.KIND.key: kind, controls.CHECKPOINT.key: name}
    if text is not None and not has_both:
        if kind != encoders.TEXT:
            raise ValueError(f"{name} reads pictures: name one with --picture FILE")
        query[controls.TEXT.key] = text
    if picture_file is not None:
        if kind == encoders.TEXT:
            raise ValueError(f'{name} reads text: give it with --text "..."')
        content = picture_file.read_bytes()
        if kind == encoders.DIGIT:
            query[controls.SOURCE.key] = controls.DRAW
            query[controls.DRAWING.key] = code.to_code(picture.from_file(content))
        else:
            query[controls.SOURCE.key] = controls.OWN_PICTURE
            own_picture.set_first_picture(picture.in_colour(content))
    return f"{COMPARE.name * bool(has_both)}?{urlencode(query)}"


def name_in_app(name_or_path: str, models: Path | None) -> tuple[str, Path | None]:
    """The name by which the app opens an encoder, or a folder with one of pictures and one of texts; and the models folder:
    `models`, or the folder that contains the encoder if the app would not find it otherwise.

    A model of the Hugging Face Hub is downloaded unless it is in the cache. Raises ValueError or FileNotFoundError, with a
    one-sentence message, if the encoder cannot be opened.
    """
    locations.use_models_folder(models)
    name, folder = checkpoint.find_name_and_folder(name_or_download(name_or_path))
    for path in [folder / inner for inner in inner_names(folder)] or [folder]:
        checkpoint.read_config(path)
        checkpoint.weights_hash(path)  # raises where there are no weights; the app asks for it as well
    if _is_named(name, folder):
        return name, models
    folder, inner = split_path(folder.resolve())
    root = folder if models is None else models.expanduser().resolve()
    if not folder.is_relative_to(root):
        raise ValueError(f"{name_or_path} is not in the folder of --models: leave that option out")
    locations.use_models_folder(root)
    parts = folder.relative_to(root).parts or (root.name,)
    name = "/".join(filter(None, (*parts, inner)))
    return name if _is_named(name, folder / (inner or "")) else f"{locations.MODELS}{name}", root


def _is_named(name: str, folder: Path) -> bool:
    """Whether `name` in the app means that `folder`, and not another encoder."""
    try:
        return locations.find(name, checkpoint.CHECKPOINTS).resolve() == folder.resolve()
    except FileNotFoundError:
        return False
