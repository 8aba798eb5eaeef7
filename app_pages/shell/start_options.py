"""Options of the app, read once when it starts: arguments after `--`, or environment variables.

attention-loupe --models DIR --hub --uploads 500
streamlit run app.py -- --models DIR --hub --uploads 500
LOUPE_MODELS=DIR LOUPE_HUB=1 LOUPE_UPLOADS_MB=500 streamlit run app.py
"""

import os
import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app_pages.toolkit.markdown import sentence
from model.sources import locations

APP = "app.py"
MOST_MB = 100_000
# Installed, the app lies in the package `loupe`, whose command starts it.
IS_INSTALLED = (Path(__file__).parents[2] / "__init__.py").is_file()
START = "attention-loupe" if IS_INSTALLED else "python -m loupe"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the app; `problems` are sentences about values that cannot be used."""

    models: Path | None = None  # the folder below which encoders are found
    hub: bool = False  # whether visitors may download from the Hugging Face Hub
    uploads_mb: int = 0  # how much a session may upload; 0: nothing
    problems: tuple[str, ...] = ()


def read_options(arguments: Sequence[str], environment: Mapping[str, str]) -> Options:
    """Options from arguments, or else from environment variables; values that cannot be used are listed in `problems`."""
    parser = ArgumentParser(APP, add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--models", default=environment.get(locations.VARIABLE, ""))
    parser.add_argument("--hub", action="store_true")
    parser.add_argument("--uploads", default=environment.get("LOUPE_UPLOADS_MB", "0") or "0")
    problems = []
    try:
        parsed, unknown = parser.parse_known_args(arguments)
    except ArgumentError as error:
        (parsed, _), unknown = parser.parse_known_args([]), []
        problems.append(f"The options after `--` cannot be read, {_plain(error)}: all of them are ignored.")
    if unknown:
        options = "`--models DIR`, `--hub` and `--uploads MB`"
        problems.append(f"Unknown option {_plain(' '.join(unknown))}; the options are {options}.")
    uploads = _megabytes(parsed.uploads)
    if uploads is None:
        problems.append(
            f"`--uploads` takes a number of megabytes up to {MOST_MB:,}, not {_plain(parsed.uploads)}."
        )
    models = Path(parsed.models) if parsed.models else None
    try:
        locations.use_models_folder(models)
    except ValueError as error:
        problems.append(sentence(error))
        models = None
    return Options(
        models=models,
        hub=parsed.hub or environment.get("LOUPE_HUB", "").lower() in ("1", "true", "yes", "on"),
        uploads_mb=uploads or 0,
        problems=tuple(problems),
    )


def _megabytes(text: str) -> int | None:
    is_valid = text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MOST_MB
    return int(text) if is_valid else None


def _plain(value: object) -> str:
    """The text with every path reduced to its last part, since pages must not show paths of this machine."""
    return " ".join(word.rpartition("/")[2] for word in locations.printable_name(str(value)).split())


def options_at_start() -> Options:
    """Options of the running app; defaults in a test or another program, whose arguments are not meant for the app."""
    is_app = Path(sys.argv[0]).name == APP if sys.argv else False
    return read_options(sys.argv[1:] if is_app else (), os.environ)


OPTIONS = options_at_start()
