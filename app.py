"""Attention Loupe: look inside a trained Transformer encoder.

streamlit run app.py
"""

import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread
from time import sleep

import streamlit as st

from app_pages.shell import frame, server_start
from app_pages.shell.file_transfer import hold_uploads_in_memory, keep_downloads

AT_MOST = 20  # seconds that the first page is waited for
REST = 3  # seconds after it in which the browser draws it


@asynccontextmanager
async def importing_ahead(_: st.App) -> AsyncIterator[None]:
    """At the server's start: imports the modules of the pages while the browser loads, which saves the first page a second.

    At its end: deletes uploads, since a server that is told to stop does not run Python's exit handlers. Those of one that was
    killed are deleted by the next that starts.
    """
    hold_uploads_in_memory()
    keep_downloads()
    server_start.send_at_once()
    Thread(target=import_all, daemon=True).start()
    yield
    import_module("model.sources.uploads").delete_all()


def import_all() -> None:
    """First what a prediction needs, then the modules of the first page; those of the other pages after it is drawn.

    The garbage collector is off meanwhile: it would find next to nothing and take a third of the time. Modules are then
    frozen (`gc.freeze`): Streamlit collects garbage after every run, which took 0.2 s with all of them to look through.
    """
    gc.disable()
    with server_start.taking_turns():
        server_start.link_torch()
        server_start.defer_rest_of_torch()
        import_module("app_pages.inputs.first_example").read_first_example()
        import_parts(f"app_pages.{frame.FIRST.name}.")
        gc.freeze()
        frame.DRAWN.wait(AT_MOST)
    sleep(REST)
    server_start.import_rest_of_torch()
    import_parts("app_pages.")
    import_module("model.sources.upload_folders").delete_left_behind()
    gc.freeze()
    gc.enable()


def import_parts(package: str) -> None:
    """Imports all modules of a package except the pages themselves, which are scripts that run when they are opened."""
    folder = Path(__file__).parent.joinpath(*package.split("."))
    for module in walk_packages([str(folder)], package):
        if not module.name.endswith(".page"):
            import_module(module.name)


if __name__ == "__main__":  # the script that each session runs
    frame.draw_page()
else:  # what `streamlit run` serves
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("app_pages").setLevel(logging.INFO)
    app = st.App(__file__, lifespan=importing_ahead)
