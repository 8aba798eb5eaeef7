"""Downloading a model from the Hugging Face Hub by its name, where the app was started with `--hub`."""

import streamlit as st

from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import begin_anew, progress, stopped_at
from app_pages.your_own.describe import look_again
from app_pages.your_own.instructions import WITH_HUB, heading

_SAID = "hub_said"


def from_hub(is_allowed: bool) -> None:
    heading("Download from the Hugging Face Hub")
    if not is_allowed:
        st.markdown("Downloads are off. To download models by name, start the app with:")
        st.code(WITH_HUB, language="bash", wrap_lines=True)
        return
    with st.form("hub", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        said = st.text_input(
            "Model name", placeholder="owner/name, or owner/name@revision", key="hub_name", width=420
        )
        asked = st.form_submit_button("Download")
    if asked:
        begin_anew(_what(said))
        _download(said)
    elif stopped_at(_what(said)) is not None:
        st.info("The download was stopped before its end. Download goes on with it.")
    if found := st.session_state.get(_SAID):
        st.success(
            f"{found} was downloaded. Open it in the list of the Hugging Face cache.", icon=":material/check:"
        )


def _what(said: str) -> tuple[str, str]:
    return "download", said


def _download(said: str) -> None:
    from model.sources import hub  # as late as this: it takes a third of a second

    st.session_state.pop(_SAID, None)
    place = st.empty()
    place.progress(0.0, "Asking the Hub …")
    try:
        with progress("Downloading", _what(said), place) as move:

            def report(file: str, done: int, total: int) -> None:
                if total:
                    move(done / total, f"{file}: {done / hub.MB:,.0f} of {total / hub.MB:,.0f} MB")

            st.session_state[_SAID] = hub.download(*hub.parse_name(said), report=report)
    except ValueError as error:
        st.error(plain(sentence(error)))
        return
    look_again()
    st.rerun()
