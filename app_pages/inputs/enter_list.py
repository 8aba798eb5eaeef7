"""Ways to enter a list of inputs: pasted texts, a file, pictures, or the examples."""

from collections.abc import Callable, Collection
from functools import partial

import streamlit as st

from app_pages.controls.address import LONGEST
from app_pages.controls.input_controls import EXAMPLE_PICTURES
from app_pages.inputs import parse_texts, pictures
from app_pages.inputs.drawing import PICTURES
from app_pages.inputs.input_list import InputList, Item, keep_list
from app_pages.subject import encoders, shipped_inputs
from app_pages.toolkit.markdown import plain
from model.inputs import Picture, Text

LARGEST_FILE = 10  # MB of a file
LARGEST_PICTURES = 100  # MB of all pictures
N_EXAMPLE_DIGITS = 100  # test digits
_ROUND_KEY, _PROBLEM_KEY = "several_round", "several_problem"
_TABLE_HELP = (
    "A table (CSV, separated by commas, semicolons or tabs) begins with a header row that names a column `text`; `label` is "
    "the right class, by name or by number, and `second` the second text for encoders of sentence pairs. Without a header, "
    "each line is one text, and may end in a tab and its label."
)
_PICTURES_HELP = (
    "For labels, add a CSV file with the columns `file` and `label`. For encoders of digits each picture is centred and scaled "
    "like the training digits."
)


def draw_list_entry(kind: str, classes: Collection[str], most_texts: int = parse_texts.MOST_TEXTS) -> None:
    """Draws the ways to enter a list of this kind of input: paste, upload, or examples. `classes` is as in `example_list`;
    `most_texts` is the number of texts that are read at most.
    """
    if kind == encoders.TEXT:
        _draw_text_entry(classes, most_texts)
    else:
        _draw_picture_entry(kind)
    if problem := st.session_state.get(_PROBLEM_KEY):
        st.warning(problem, icon=":material/warning:")
    st.caption(
        "Only this session sees the list, and only until it ends. A link to this page does not contain it."
    )


def example_list(kind: str, classes: Collection[str] = ()) -> InputList:
    """The list that the page opens with: the example texts (with labels if those are among the encoder's `classes`), the example
    pictures in colour, or the first test digits.
    """
    if kind == encoders.TEXT:
        return _sentence_list(classes)
    return _picture_list() if kind == encoders.PICTURE else _digit_list()


def round_number() -> int:
    """Number of lists entered in this session, a part of the keys of widgets, so that these start empty after each list."""
    return st.session_state.get(_ROUND_KEY, 0)


def _draw_text_entry(classes: Collection[str], most_texts: int) -> None:
    key = f"several_paste_{round_number()}"
    with st.form("several_texts", border=False):
        st.text_area(
            f"Texts, one per line (up to {most_texts:,})",
            key=key,
            height=170,
            placeholder="One text per line; a tab may separate it from its label",
            help=f"{_TABLE_HELP} Only the first {LONGEST:,} characters of a text are read.",
        )
        st.form_submit_button(
            "Use these texts",
            type="primary",
            on_click=_take_list,
            args=(_list_from_paste, encoders.TEXT, key),
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _draw_upload(("csv", "tsv", "txt"), "Or a CSV or text file", _list_from_file, encoders.TEXT)
        st.button(
            "Try it with the examples",
            key="several_examples",
            on_click=_take_list,
            args=(partial(_sentence_list, classes), encoders.TEXT),
        )


def _draw_picture_entry(kind: str) -> None:
    label = f"Pictures (up to {pictures.MOST_PICTURES:,}, {LARGEST_PICTURES} MB in all)"
    _draw_upload((*PICTURES, "csv"), label, _list_from_pictures, kind)
    name = f"Try it with {N_EXAMPLE_DIGITS} test digits"
    st.button(name, key="several_examples", on_click=_take_list, args=(_digit_list, kind))


def _draw_upload(types: tuple[str, ...], label: str, read: Callable[[str], InputList], kind: str) -> None:
    key = f"several_file_{round_number()}"
    st.file_uploader(
        label,
        types,
        accept_multiple_files=kind != encoders.TEXT,
        key=key,
        max_upload_size=LARGEST_FILE,
        on_change=_take_list,
        args=(read, kind, key),
        help=_PICTURES_HELP if kind != encoders.TEXT else _TABLE_HELP,
    )


def _take_list(read: Callable[..., InputList], kind: str, *keys: str) -> None:
    """Callback: keeps the list that `read` returns for the values under `keys`, or the message of its ValueError."""
    try:
        listed = read(*keys)
    except ValueError as error:
        st.session_state[_PROBLEM_KEY] = plain(str(error))
        return
    st.session_state[_PROBLEM_KEY] = None
    keep_list(kind, listed)
    st.session_state[_ROUND_KEY] = round_number() + 1


def _list_from_paste(key: str) -> InputList:
    return parse_texts.from_text(st.session_state[key] or "")


def _list_from_file(key: str) -> InputList:
    if (file := st.session_state[key]) is None:
        raise ValueError("No file was chosen.")
    return parse_texts.from_file(file.name, file.getvalue())


def _list_from_pictures(key: str) -> InputList:
    files = st.session_state[key] or []
    if (size := sum(file.size for file in files)) > LARGEST_PICTURES * 2**20:
        raise ValueError(
            f"These files are {size / 2**20:,.0f} MB in all; at most {LARGEST_PICTURES} MB can be read."
        )
    with st.spinner("Reading the pictures …"):
        return pictures.from_files([(file.name, file.getvalue) for file in files])


def _sentence_list(classes: Collection[str]) -> InputList:
    texts = shipped_inputs.sentences().values()
    labels = shipped_inputs.right_answers() if texts else {}
    known = {text: label for text, label in labels.items() if label in classes}
    items = tuple(Item(text=Text(text), label=known.get(text, "")) for text in texts)
    return InputList(items=items, is_ours=True)


def _picture_list() -> InputList:
    return InputList(
        items=tuple(
            Item(name=name, colours=Picture.of(shipped_inputs.example_picture(name)))
            for name in EXAMPLE_PICTURES
        ),
        is_ours=True,
    )


def _digit_list() -> InputList:
    labels = shipped_inputs.test_digits()[1][:N_EXAMPLE_DIGITS].tolist()
    return InputList(
        items=tuple(
            Item(name=f"test digit {number}", digit=number, label=str(label))
            for number, label in enumerate(labels)
        ),
        is_ours=True,
    )
