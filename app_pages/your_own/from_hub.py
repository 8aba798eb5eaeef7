"""Download of a model from the Hugging Face Hub by its name, if the app was started with `--hub`."""

import streamlit as st

from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import begin_anew, progress, stopped_at
from app_pages.your_own.instructions import WITH_HUB, heading

_DOWNLOADED = "hub_said"  # in the session: the name of the model


def draw_hub_form(is_allowed: bool) -> None:
    """Draws the form for a model's name; if downloads are off, how to start the app with them."""
    heading("Download from the Hugging Face Hub")
    if not is_allowed:
        st.markdown("Downloads are off. To download models by name, start the app with:")
        st.code(WITH_HUB, language="bash", wrap_lines=True)
        return
    with st.form("hub", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Model name", placeholder="owner/name, or owner/name@revision", key="hub_name", width=420
        )
        is_submitted = st.form_submit_button("Download")
    if is_submitted:
        begin_anew(_work_key(name))
        _download(name)
    elif stopped_at(_work_key(name)) is not None:
        st.info("The download was stopped before its end. Download goes on with it.")
    if downloaded := st.session_state.get(_DOWNLOADED):
        st.success(
            f"{downloaded} was downloaded. Open it in the list of the Hugging Face cache.",
            icon=":material/check:",
        )


def _work_key(name: str) -> tuple[str, str]:
    """Identifier of the download for `app_pages.toolkit.stoppable`."""
    return "download", name


def _download(name: str) -> None:
    from model.sources import hub  # as late as this: it takes a third of a second

    st.session_state.pop(_DOWNLOADED, None)
    bar = st.empty()
    bar.progress(0.0, "Asking the Hub …")
    try:
        with progress("Downloading", _work_key(name), bar) as move:

            def report(file: str, done: int, total: int) -> None:
                if total:
                    move(done / total, f"{file}: {done / hub.MB:,.0f} of {total / hub.MB:,.0f} MB")

            st.session_state[_DOWNLOADED] = hub.download(*hub.parse_name(name), report=report)
    except ValueError as error:
        st.error(plain(sentence(error)))
        return
    st.cache_data.clear()  # which encoders there are
    st.rerun()
