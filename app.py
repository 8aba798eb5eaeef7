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

FRAME = "app_pages.frame"


@asynccontextmanager
async def importing_ahead(_: st.App) -> AsyncIterator[None]:
    """torch is imported while the browser still loads: the first page stands a second sooner.

    At the end uploads are deleted: a server that is told to stop ends without Python's own tidying up.
    """
    Thread(target=import_all, daemon=True).start()
    yield
    import_module("model.uploads").delete_all()


def import_all() -> None:
    """The frame, then what the pages draw with; the pages themselves are scripts and run when they are opened.

    Streamlit collects garbage after each run, and would look through all that was imported: 0.2 s. What is frozen is
    looked through no more.
    """
    import_module(FRAME)
    for module in walk_packages([str(Path(__file__).parent / "app_pages")], "app_pages."):
        if not module.name.endswith(".page"):
            import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":  # the script that each session runs
    import_module(FRAME).draw()
else:  # what `streamlit run` serves
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("app_pages").setLevel(logging.INFO)
    app = st.App(__file__, lifespan=importing_ahead)
