"""The command `attention-loupe`, in a clone `python -m loupe`: opens the app in the browser.

    attention-loupe
    attention-loupe FOLDER --text "A gripping film."
    attention-loupe owner/name --picture cat.jpg

`attention-loupe capture`, `evaluate`, `atlas`, `export` and `convert` work without the app; each has a --help of its own.
Where something cannot be done, one sentence says why, and the exit code is 2.
"""

import os
import socket
import sys
import webbrowser
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

PROGRAM = "attention-loupe"
COMMANDS = {
    "capture": "model.capture",
    "evaluate": "model.evaluate",
    "atlas": "model.atlas",
    "export": "viz.export",
    "convert": "model.convert",
}
# Installed, app.py lies beside this file, and so do app_pages, model and viz; in a clone one folder above.
ROOT = next(folder for folder in Path(__file__).parents if (folder / "app.py").is_file())
MAX_RECORD_MB = 80  # of a file with a record, as .streamlit/config.toml says
INTERRUPTED_EXIT_CODE = 130  # after Ctrl-C


def main() -> None:
    """Runs the subcommand or opens the app, as the command line says; an error is printed as one sentence."""
    sys.path.insert(0, str(ROOT))
    command, *arguments = sys.argv[1:] or [""]
    from model.files.errors import exit_on_refusal  # which is found from here on

    with exit_on_refusal(PROGRAM):
        try:
            if command in COMMANDS:
                import_module(f"{COMMANDS[command]}.__main__").main(arguments, f"{PROGRAM} {command}")
            else:
                _open_app(command_line(sys.argv[1:]))
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED_EXIT_CODE)
        except ModuleNotFoundError as error:
            raise ValueError(f"{error.name} is not installed: pip install 'attention-loupe[app]'") from error


def command_line(arguments: Sequence[str]) -> Namespace:
    """The parsed options of the command that serves the app."""
    parser = ArgumentParser(PROGRAM, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "encoder",
        nargs="?",
        metavar="ENCODER",
        help="its folder, owner/name of a model on the Hugging Face Hub, which is downloaded, or one that comes with the app",
    )
    model_input = parser.add_mutually_exclusive_group()
    model_input.add_argument("--text", help="what the encoder reads")
    model_input.add_argument("--picture", type=Path, metavar="FILE", help="the picture that it reads")
    models = os.environ.get("LOUPE_MODELS") or None
    parser.add_argument(
        "--models", type=Path, default=models, metavar="DIR", help="a folder whose encoders can be opened"
    )
    parser.add_argument("--hub", action="store_true", help="visitors may download models by their names")
    parser.add_argument(
        "--uploads", metavar="MB", default="", help="visitors may upload encoders, up to MB each"
    )
    parser.add_argument("--port", type=int, metavar="N", help="else 8501, or the next one that is free")
    parser.add_argument("--address", metavar="IP", help="0.0.0.0 serves to others, else only to this machine")
    return parser.parse_args(arguments)


def _open_app(options: Namespace) -> None:
    """Serves the app until it is interrupted, and opens the browser at the encoder and the input that `options` name."""
    if options.port is not None:
        _check_port(options.port)
    models, query = options.models, ""
    if options.encoder or options.text is not None or options.picture:
        opening = import_module("app_pages.shell.opening")
        name = None
        if options.encoder:
            name, models = opening.name_in_app(options.encoder, models)
        query = opening.query_of(name, options.text, options.picture)
    sys.argv = [str(ROOT / "app.py")]  # then the app's own options, as after `streamlit run app.py --`
    sys.argv += [f"--models={models}"] if models else []
    sys.argv += ["--hub"] if options.hub else []
    sys.argv += [f"--uploads={options.uploads}"] if options.uploads else []
    start = import_module("app_pages.shell.start_options").OPTIONS
    if start.problems:
        raise ValueError(start.problems[0])
    settings = {"server.port": options.port, "server.address": options.address}
    settings["server.maxUploadSize"] = max(start.uploads_mb, MAX_RECORD_MB)
    _serve(query, {name: value for name, value in settings.items() if value is not None})


def _check_port(port: int) -> None:
    """Raises ValueError if nothing can be served on this port."""
    try:
        if not 0 < port < 2**16:
            raise ValueError("no port has this number")
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, ValueError) as error:
        raise ValueError(f"port {port} is taken or not allowed: choose another one with --port") from error


def _serve(query: str, settings: dict[str, Any]) -> None:
    """Serves the app with these settings of Streamlit; all others are read from .streamlit/config.toml beside app.py."""
    import streamlit as st

    importing_ahead = import_module("app").importing_ahead

    @asynccontextmanager
    async def with_browser(app: st.App) -> AsyncIterator[None]:
        async with importing_ahead(app):
            host = st.get_option("server.address").replace("0.0.0.0", "127.0.0.1")
            address = f"http://{host}:{st.get_option('server.port')}/{query}"
            print(f"Attention Loupe: {address}\nCtrl-C ends it.", flush=True)
            if not st.get_option("server.headless"):  # where there is no screen
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            yield

    app = st.App(ROOT / "app.py", lifespan=with_browser)
    with suppress(KeyboardInterrupt):
        app.run(config={"logger.hideWelcomeMessage": True, **settings})
    os._exit(
        INTERRUPTED_EXIT_CODE
    )  # at once: the thread that still imports modules would complain about Python's end


if __name__ == "__main__":
    main()
