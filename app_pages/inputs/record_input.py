"""Opening a record file, or attention from elsewhere: kept until the session ends."""

import streamlit as st

from app_pages.controls.head_choice import OTHER_KIND
from app_pages.controls.input_controls import CHECKPOINT, KIND, SECOND_PART, TEXT
from app_pages.controls.map_controls import QUERY
from app_pages.subject import encoders
from app_pages.subject.subject import OPENED, FileSubject, open_subject
from app_pages.toolkit.markdown import as_code, plain
from model import checkpoint
from model.record.record_file import from_bytes

LARGEST = 200  # MB of an upload: of MiniLM at 512 tokens, a record is 180 MB
LONGEST_NAME = 60
WHAT = (
    "A record downloaded from this app or written by `python -m model.capture`, or the attention of any model: an `.npz` or "
    "`.safetensors` file with `pattern` [layer, head, query, key] and `tokens`, a string for each position. For cross-attention, "
    "`queries` and `keys` instead of `tokens`; for patches of a picture, `picture` and `patch_grid`."
)


def open_record(name: str, content: bytes) -> None:
    """For callbacks: from now on that file is what pages of attention show in this session.

    Raises ValueError, in one sentence, where it is no record.
    """
    name = name.rpartition("/")[2][-LONGEST_NAME:]
    read = from_bytes(content, name)
    st.session_state[OPENED] = FileSubject(
        file_name=name, record=read.record, settings=read.settings, picture=read.picture
    )
    st.session_state[OTHER_KIND] = True
    KIND.take(encoders.RECORD)
    QUERY.take(0)


def record_input() -> FileSubject | None:
    """What is open, with a button to open something else; None where nothing is."""
    if (subject := open_subject()) is None:
        return None
    read, attended = subject.record, subject.record.attended
    layers, heads = read.pattern.shape[:2]
    if read.patch_grid is not None:
        size = "{} × {} patches".format(*read.patch_grid)
    elif read.keys is None:
        size = f"{len(read)} tokens"
    else:
        size = f"{len(read)} queries × {len(attended)} keys"
    st.markdown(f"{as_code(subject.file_name)} :gray[{layers} × {heads} heads, {size}]", width="content")
    with st.popover("", icon=":material/info:", type="tertiary", key="about_record"):
        _describe(subject)
    with st.popover("Open another", key="another_record"):
        _upload()
    return subject


def most_mb() -> int:
    """The megabytes of the largest file that can be opened, as the server was started."""
    return min(LARGEST, st.get_option("server.maxUploadSize"))


def invite() -> None:
    """Where nothing is open: how to open something."""
    with st.container(key="open_record", width=640):
        _upload()


def _upload() -> None:
    number, at_most = st.session_state.get("uploads", 0), most_mb()
    st.file_uploader(
        "Open a record file",
        ["npz", "safetensors"],
        key=f"record_upload_{number}",
        max_upload_size=at_most,
        on_change=_take_upload,
        args=(f"record_upload_{number}",),
    )
    if problem := st.session_state.get("record_problem"):
        st.warning(problem)
    larger = f"For files of up to {LARGEST} MB, start the app with `--server.maxUploadSize {LARGEST}`."
    st.caption(
        f"{WHAT} Only this session sees it, and only until it ends. {larger if at_most < LARGEST else ''}"
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


def _describe(subject: FileSubject) -> None:
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
    if subject.limits:
        lines.append(subject.limits)
    st.caption("  \n".join(lines))
    name, text = settings.get("checkpoint"), settings.get("text")
    if isinstance(text, str) and isinstance(name, str) and _is_here(name, weights):
        again = (name, text, settings.get("second_part"))
        st.button("Run this encoder on the text", key="read_again", on_click=_read_again, args=again)
    st.button("Close the record", key="close_record", on_click=_close)


def _is_here(name: str, weights: object) -> bool:
    try:
        return name in encoders.checkpoints(encoders.TEXT) and checkpoint.weights_hash(name) == weights
    except OSError:  # one without weights is listed as well
        return False


def _read_again(name: str, text: str, second: object) -> None:
    KIND.take(encoders.TEXT)
    TEXT.take(text)
    SECOND_PART.take(second if isinstance(second, str) else "")
    CHECKPOINT.take(name)


def _close() -> None:
    del st.session_state[OPENED]
