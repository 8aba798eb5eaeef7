"""Attention Loupe: look inside a trained Transformer encoder.

streamlit run app.py
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Thread

import streamlit as st

FRAME = "app_pages.frame"


@asynccontextmanager
async def importing_ahead(_: st.App) -> AsyncIterator[None]:
    """torch is imported while the browser still loads: the first page stands a second sooner."""
    Thread(target=import_module, args=(FRAME,), daemon=True).start()
    yield


if __name__ == "__main__":  # the script that each session runs
    import_module(FRAME).draw()
else:  # what `streamlit run` serves
    app = st.App(__file__, lifespan=importing_ahead)
