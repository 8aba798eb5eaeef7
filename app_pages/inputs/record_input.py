"""Opening a record file, or attention weights saved elsewhere; kept until the session ends."""

import streamlit as st

from app_pages.controls.input_controls import CHECKPOINT, KIND, OTHER_KIND, SECOND_PART, TEXT
from app_pages.subject import cache, encoders
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject, open_subject
from app_pages.toolkit.markdown import as_code, plain
from model import checkpoint
from model.inputs import Text
from model.record.record_file import dump, from_bytes

LARGEST_UPLOAD = 200  # MB of an upload: of MiniLM at 512 tokens, a record is 180 MB
LONGEST_NAME = 60
EXAMPLE = "The film is not good."
RECORD_DESCRIPTION = (
    "A record downloaded from this app or written by `python -m model.capture`, or the attention of any model: an `.npz` or "
    "`.safetensors` file with `pattern` [layer, head, query, key] and `tokens`, a string for each position. For cross-attention, "
    "`queries` and `keys` instead of `tokens`; for patches of a picture, `picture` and `patch_grid`."
)


def open_record(name: str, content: bytes) -> None:
    """Callback: opens the file as this session's record, for the pages that show attention.

    Raises ValueError, with a one-sentence message, if it is no record.
    """
    name = name.rpartition("/")[2][-LONGEST_NAME:]
    opened = from_bytes(content, name)
    st.session_state[OPENED] = FileSubject(
        file_name=name, record=opened.record, settings=opened.settings, picture=opened.picture
    )
    st.session_state[OTHER_KIND] = True
    KIND.take(encoders.RECORD)


def record_input() -> FileSubject | None:
    """Draws the description of the open record, with a button to open another; returns it, None if none is open."""
    if (subject := open_subject()) is None:
        return None
    record, attended = subject.record, subject.record.attended
    layers, heads = record.pattern.shape[:2]
    if record.patch_grid is not None:
        size_text = "{} × {} patches".format(*record.patch_grid)
    elif record.keys is None:
        size_text = f"{len(record)} tokens"
    else:
        size_text = f"{len(record)} queries × {len(attended)} keys"
    st.markdown(f"{as_code(subject.file_name)} :gray[{layers} × {heads} heads, {size_text}]", width="content")
    with st.popover("About the record", icon=":material/info:", type="tertiary", key="about_record"):
        _draw_description(subject)
    with st.popover("Open another", key="another_record"):
        _draw_upload()
    return subject


def upload_limit_mb() -> int:
    """Size limit of a record file in megabytes: the app's own, or the server's if that is smaller."""
    return min(LARGEST_UPLOAD, st.get_option("server.maxUploadSize"))


def draw_first_upload() -> None:
    """Draws the upload for a record, and a button that opens an example instead."""
    with st.container(key="open_record", width=640):
        if names := encoders.checkpoints("Text"):
            st.button("Open an example", key="record_example", on_click=_open_example, args=(names[0],))
        _draw_upload()


def _open_example(name: cache.Checkpoint) -> None:
    """Callback: opens this encoder's record of a short text, written to a file's bytes and read back."""
    subject = LiveSubject(name, Text(EXAMPLE))
    open_record(f"{name}.npz", dump(subject.record, subject.settings))


def _draw_upload() -> None:
    round_number, limit_mb = st.session_state.get("uploads", 0), upload_limit_mb()
    st.file_uploader(
        "Open a record file",
        ["npz", "safetensors"],
        key=f"record_upload_{round_number}",
        max_upload_size=limit_mb,
        on_change=_take_upload,
        args=(f"record_upload_{round_number}",),
    )
    if problem := st.session_state.get("record_problem"):
        st.warning(problem)
    hint = f"For files of up to {LARGEST_UPLOAD} MB, start the app with `--server.maxUploadSize {LARGEST_UPLOAD}`."
    st.caption(
        f"{RECORD_DESCRIPTION} Only this session sees it, and only until it ends. {hint if limit_mb < LARGEST_UPLOAD else ''}"
    )


def _take_upload(key: str) -> None:
    if (file := st.session_state[key]) is None:
        return
    # The next run draws another uploader: the file itself need not be kept beside what was read from it.
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
    try:
        open_record(file.name, file.getvalue())
        st.session_state["record_problem"] = None
    except ValueError as error:
        st.session_state["record_problem"] = f"{plain(str(error))}."


def _draw_description(subject: FileSubject) -> None:
    settings = subject.settings
    labels = {
        "text": "text",
        "second_part": "second part",
        "checkpoint": "encoder",
        "intervention": "intervention",
        "version": "written by version",
    }
    lines = [
        f"{label}: {as_code(' '.join(value[:300].split()))}"
        for name, label in labels.items()
        if (value := settings.get(name)) and isinstance(value, str)
    ]
    if isinstance(weights := settings.get("weights_sha256"), str):
        lines.append(f"weights (SHA-256): {as_code(weights[:16])}")
    if subject.limit_sentences:
        lines.append(subject.limit_sentences)
    st.caption("  \n".join(lines))
    name, text = settings.get("checkpoint"), settings.get("text")
    if isinstance(text, str) and isinstance(name, str) and _is_available(name, weights):
        arguments = (name, text, settings.get("second_part"))
        st.button("Run this encoder on the text", key="read_again", on_click=_read_again, args=arguments)
    st.button("Close the record", key="close_record", on_click=_close_record)


def _is_available(name: str, weights: object) -> bool:
    try:
        return name in encoders.checkpoints(encoders.TEXT) and checkpoint.weights_hash(name) == weights
    except OSError:  # one without weights is listed as well
        return False


def _read_again(name: str, text: str, second: object) -> None:
    KIND.take(encoders.TEXT)
    TEXT.take(text)
    SECOND_PART.take(second if isinstance(second, str) else "")
    CHECKPOINT.take(name)


def _close_record() -> None:
    del st.session_state[OPENED]
