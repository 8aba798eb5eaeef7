"""Upload of an encoder's files, if the app was started with `--uploads`; only this session sees them."""

import streamlit as st

from app_pages.shell.start_options import START
from app_pages.subject import session_encoders
from app_pages.toolkit.markdown import plain, sentence
from app_pages.your_own.instructions import CONVERT, heading
from model.sources.uploads import MB, upload

TYPES = ("json", "txt", "model", "safetensors", "bin", "pt")
WITH_UPLOADS = f"{START} --server.maxUploadSize 500 -- --uploads 500"
FILES, FOLDER = "Files", "A folder"
_WHICH = (
    "`config.json`, `model.safetensors` and `tokenizer.json` (or `vocab.txt`, or `vocab.json` and `merges.txt`, or "
    "SentencePiece's `.model`); for pictures `preprocessor_config.json`; of a sentence-transformers folder all of its "
    "files, since they change the answer (`modules.json`, `1_Pooling/config.json`, …). Other files are ignored."
)
_ROUND = "upload_round"  # another one empties the widget, and with it the memory that its files take


def draw_upload_form(at_most_mb: int) -> None:
    """Draws the upload form; `at_most_mb` is the limit of the session, 0 if uploads are off."""
    heading("Upload")
    if not at_most_mb:
        st.markdown("Uploads are off. To allow up to 500 MB, start the app with:")
        st.code(WITH_UPLOADS, language="bash", wrap_lines=True)
        return
    file_limit = min(at_most_mb, st.get_option("server.maxUploadSize"))
    st.markdown(
        "The files of one encoder, or its folder. Only this session sees them; they are deleted when it ends.",
        help=_WHICH,
    )
    selection = st.segmented_control(
        "What", (FILES, FOLDER), default=FILES, required=True, label_visibility="collapsed"
    )
    round_number = st.session_state.setdefault(_ROUND, 0)
    with st.form("upload_form", border=False):
        files = st.file_uploader(
            f"Up to {at_most_mb:,} MB in all, {file_limit:,} MB per file",
            TYPES,
            accept_multiple_files="directory" if selection == FOLDER else True,
            key=f"own_files_{selection}_{round_number}",
            max_upload_size=file_limit,
        )
        is_submitted = st.form_submit_button("Use these files")
    if file_limit < at_most_mb:
        st.caption(
            f"Larger files also need the server's own option `--server.maxUploadSize {at_most_mb}`; in the start command it stands to the left of the lone `--`."
        )
    if is_submitted:
        _save(files or [], at_most_mb * MB)


def _save(files: list, at_most: int) -> None:
    if not files:
        st.info("Choose the files first.", icon=":material/info:")
        return
    free_bytes = at_most - sum(uploaded.n_bytes for uploaded in session_encoders.uploads().values())
    try:
        with st.spinner("Writing the files …"):
            new_upload = upload(((file.name, file.getbuffer()) for file in files), free_bytes)
    except ValueError as error:
        st.error(plain(sentence(error)))
        if "pickle" in str(error):
            st.code(CONVERT.strip(), language="python")
        return
    session_encoders.uploaded(new_upload)
    st.session_state[_ROUND] += 1
    st.rerun()
