"""The options of the app, read once at its start: arguments after `--`, or environment variables.

streamlit run app.py -- --models DIR --hub --uploads 500
LOUPE_MODELS=DIR LOUPE_HUB=1 LOUPE_UPLOADS_MB=500 streamlit run app.py
"""

import os
import sys
from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.sources import locations

APP = "app.py"
MOST_MB = 100_000
START = "streamlit run app.py"


@dataclass(frozen=True, kw_only=True)
class Options:
    """`problems` are sentences about what was given and cannot be used."""

    models: Path | None = None  # the folder below which encoders are found
    hub: bool = False  # whether visitors may download from the Hugging Face Hub
    uploads_mb: int = 0  # how much a session may upload; 0: nothing
    problems: tuple[str, ...] = ()


def read(arguments: Sequence[str], environment: Mapping[str, str]) -> Options:
    """An option overrides its variable. One that cannot be used is left out, and a sentence says so."""
    parser = ArgumentParser(APP, add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--models", default=environment.get(locations.VARIABLE, ""))
    parser.add_argument("--hub", action="store_true")
    parser.add_argument("--uploads", default=environment.get("LOUPE_UPLOADS_MB", "0") or "0")
    problems = []
    try:
        given, unknown = parser.parse_known_args(arguments)
    except ArgumentError as error:
        (given, _), unknown = parser.parse_known_args([]), []
        problems.append(f"The options after `--` cannot be read, {_plain(error)}: all of them are ignored.")
    if unknown:
        known = "`--models DIR`, `--hub` and `--uploads MB`"
        problems.append(f"Unknown option {_plain(' '.join(unknown))}; the options are {known}.")
    uploads = _megabytes(given.uploads)
    if uploads is None:
        problems.append(
            f"`--uploads` takes a number of megabytes up to {MOST_MB:,}, not {_plain(given.uploads)}."
        )
    models = Path(given.models) if given.models else None
    try:
        locations.use(models)
    except ValueError as error:
        problems.append(f"{str(error)[0].upper()}{str(error)[1:]}.")
        models = None
    return Options(
        models=models,
        hub=given.hub or environment.get("LOUPE_HUB", "").lower() in ("1", "true", "yes", "on"),
        uploads_mb=uploads or 0,
        problems=tuple(problems),
    )


def _megabytes(said: str) -> int | None:
    fits = said.isascii() and said.isdigit() and len(said) < 10 and int(said) <= MOST_MB
    return int(said) if fits else None


def _plain(said: object) -> str:
    """No path of this machine on a page: of each word, what stands behind its last slash."""
    return " ".join(word.rpartition("/")[2] for word in locations.as_shown(str(said)).split())


def at_start() -> Options:
    """Of the app, whose arguments begin behind `app.py`; a test run, or another program, has none for it."""
    is_app = Path(sys.argv[0]).name == APP if sys.argv else False
    return read(sys.argv[1:] if is_app else (), os.environ)


OPTIONS = at_start()
