"""The app, in which some work stays at its first step until its Stop is clicked, once in each session.

Whoever clicks on Stop cannot come too late, on a machine of any speed.
"""

from collections.abc import Hashable
from pathlib import Path

import streamlit as st

from app import importing_ahead
from app_pages.toolkit import stoppable

# How the labels of the bars of this work begin.
ENDLESS = "Leaving out one value", "Patching in one position", "Patching one pair"
WAS_STOPPED = "work was stopped"  # in the session


class EndlessBar(stoppable._Bar):
    def move(self, share: float, text: str = "") -> None:
        super().move(share, text)
        while self._text.startswith(ENDLESS) and WAS_STOPPED not in st.session_state:
            super().move(share, text)  # Streamlit ends a run where it draws: here, after the click


def stop(what: Hashable, stop_work=stoppable._stop) -> None:
    stop_work(what)
    st.session_state[WAS_STOPPED] = True


stoppable._Bar, stoppable._stop = EndlessBar, stop
app = st.App(Path(__file__).parents[2] / "app.py", lifespan=importing_ahead)
