"""Where a list comes from: pasted, from a file, from pictures; or one to try it with."""

from collections.abc import Callable

import streamlit as st

from app_pages import state
from app_pages.inputs import several
from app_pages.inputs.several import Item, Listed
from app_pages.inputs.text_input import LONGEST
from app_pages.many_inputs import pictures, reading
from app_pages.widgets.spelling import plain
from model.inputs import Text

LARGEST = 10  # MB of a file
TOGETHER = 100  # MB of all pictures
EXAMPLES = 100  # test digits
_ROUND, _PROBLEM = "several_round", "several_problem"
_TABLE = (
    "A table (CSV, with commas, semicolons or tabs) has a line of names first, with `text` among them; `label` is the right "
    "class, by name or by number, and `second` the other part for encoders of pairs. Without such a line, each line is a "
    "text, and behind a tab its label."
)
_PICTURES = (
    "A CSV file among them, with the columns `file` and `label`, says what they show. A grey digit is brought to the size and "
    "place that the training digits have, as where you draw one."
)


def bring(kind: str) -> None:
    """The ways to a list of this kind of input."""
    made = st.session_state.setdefault(
        _ROUND, 0
    )  # another one empties the widgets, and closes what they stand in
    if kind == state.TEXT:
        _texts(made)
    else:
        _pictures(made)
    if problem := st.session_state.get(_PROBLEM):
        st.warning(problem, icon=":material/warning:")
    st.caption(
        "Only this session sees the list, and it is gone with it. The address of this page does not hold it."
    )


def round_number() -> int:
    return st.session_state.get(_ROUND, 0)


def _texts(made: int) -> None:
    key = f"several_paste_{made}"
    with st.form("several_texts", border=False):
        st.text_area(
            f"Texts, one a line (up to {reading.MOST:,})",
            key=key,
            height=170,
            placeholder="The film is not bad at all.\ttext and label may be parted by a tab",
            help=f"{_TABLE} Of a text the first {LONGEST:,} characters are read.",
        )
        st.form_submit_button("Read these", type="primary", on_click=_take, args=(_pasted, state.TEXT, key))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _upload(
            ("csv", "tsv", "txt"), "Or a CSV or text file", made, _from_file, several=False, kind=state.TEXT
        )
        st.button(
            "Try it with the examples", key="several_examples", on_click=_take, args=(_sentences, state.TEXT)
        )


def _pictures(made: int) -> None:
    types = ("png", "jpg", "jpeg", "webp", "bmp", "csv")
    said = f"Pictures (up to {pictures.MOST:,}, {TOGETHER} MB together)"
    _upload(types, said, made, _from_files, several=True, kind=state.DIGIT)
    name = f"Try it with {EXAMPLES} test digits"
    st.button(name, key="several_examples", on_click=_take, args=(_test_digits, state.DIGIT))


def _upload(
    types: tuple[str, ...], label: str, made: int, read: Callable[[str], Listed], *, several: bool, kind: str
) -> None:
    key = f"several_file_{made}"
    st.file_uploader(
        label,
        types,
        accept_multiple_files=several,
        key=key,
        max_upload_size=LARGEST,
        on_change=_take,
        args=(read, kind, key),
        help=_PICTURES if several else _TABLE,
    )


def _take(read: Callable[..., Listed], kind: str, *keys: str) -> None:
    """For callbacks."""
    try:
        listed = read(*keys)
    except ValueError as error:
        st.session_state[_PROBLEM] = plain(str(error))
        return
    st.session_state[_PROBLEM] = None
    several.hold(kind, listed)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _pasted(key: str) -> Listed:
    return reading.from_text(st.session_state[key] or "")


def _from_file(key: str) -> Listed:
    if (file := st.session_state[key]) is None:
        raise ValueError("There is no file.")
    return reading.from_file(file.name, file.getvalue())


def _from_files(key: str) -> Listed:
    files = st.session_state[key] or []
    if (size := sum(file.size for file in files)) > TOGETHER * 2**20:
        raise ValueError(
            f"These files have {size / 2**20:,.0f} MB together; at most {TOGETHER} MB can be read."
        )
    with st.spinner("Reading the pictures …"):
        return pictures.from_files([(file.name, file.getvalue) for file in files])


def _sentences() -> Listed:
    return Listed(items=tuple(Item(text=Text(text)) for text in state.sentences().values()))


def _test_digits() -> Listed:
    labels = state.test_digits()[1][:EXAMPLES].tolist()
    items = (Item(name=f"test digit {at}", digit=at, label=str(label)) for at, label in enumerate(labels))
    return Listed(items=tuple(items))
