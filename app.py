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

from app_pages import frame

AT_MOST = 20  # seconds that the first page is waited for
REST = 3  # seconds after it in which the browser draws it


@asynccontextmanager
async def importing_ahead(_: st.App) -> AsyncIterator[None]:
    """What the pages need is imported while the browser still loads: the first page stands a second sooner.

    At the end uploads are deleted: a server that is told to stop ends without Python's own tidying up.
    """
    Thread(target=import_all, daemon=True).start()
    yield
    import_module("model.uploads").delete_all()


def import_all() -> None:
    """First what the first page needs; what the others need once it is drawn, which it would slow down.

    No garbage is collected meanwhile: there is next to none, and looking for it takes a third of the time. Streamlit
    looks for it after each run, 0.2 s; through what is frozen it does not.
    """
    gc.disable()
    import_parts(f"app_pages.{frame.FIRST}.")
    gc.freeze()
    frame.DRAWN.wait(AT_MOST)
    sleep(REST)
    import_parts("app_pages.")
    gc.freeze()
    gc.enable()


def import_parts(package: str) -> None:
    """All modules but the pages themselves, which are scripts and run when they are opened."""
    folder = Path(__file__).parent.joinpath(*package.split("."))
    for module in walk_packages([str(folder)], package):
        if not module.name.endswith(".page"):
            import_module(module.name)


if __name__ == "__main__":  # the script that each session runs
    frame.draw()
else:  # what `streamlit run` serves
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("app_pages").setLevel(logging.INFO)
    app = st.App(__file__, lifespan=importing_ahead)
