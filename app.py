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

import streamlit as st

from app_pages.shell import frame
from app_pages.shell.file_transfer import hold_uploads_in_memory, keep_downloads

FIRST_PAGE_TIMEOUT = 20  # seconds


@asynccontextmanager
async def importing_ahead(_: st.App) -> AsyncIterator[None]:
    """Lifespan of the server. At its start it imports the modules of the pages while the browser loads, which makes the first
    page a second faster.

    At its end it deletes uploads, since a server that is told to stop does not run Python's exit handlers. Uploads of a server
    that was killed are deleted at the next start.
    """
    hold_uploads_in_memory()
    keep_downloads()
    Thread(target=import_all, daemon=True).start()
    yield
    import_module("model.sources.uploads").delete_all()


def import_all() -> None:
    """Imports what a prediction needs, then the modules of the first page and, once that page is drawn, those of all
    other pages.

    The modules are then frozen (`gc.freeze`): Streamlit collects garbage after every run, which took 0.2 s with all modules to
    scan.
    """
    import_module("app_pages.inputs.first_example").read_first_example()
    import_package(f"app_pages.{frame.FIRST.name}.")
    frame.DRAWN.wait(FIRST_PAGE_TIMEOUT)
    import_package("app_pages.")
    import_module("model.sources.uploads").delete_left_behind()
    gc.freeze()


def import_package(package: str) -> None:
    """Imports all modules of a package."""
    folder = Path(__file__).parent.joinpath(*package.split("."))
    for module in walk_packages([str(folder)], package):
        import_module(module.name)


if __name__ == "__main__":  # the script that each session runs
    frame.draw_page()
else:  # what `streamlit run` serves
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("app_pages").setLevel(logging.INFO)
    app = st.App(__file__, lifespan=importing_ahead)
