"""Two download buttons: the record as a file, and a web page of all heads that opens without the app."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import streamlit as st

from app_pages.attention.all_heads_view import sentences_about_heads
from app_pages.attention.sentence_links import NO_OUTLINES, Outlines
from app_pages.attention.shown_head import ShownHead
from app_pages.inputs.record_input import upload_limit_mb
from app_pages.subject.cache import MB, one_run
from app_pages.subject.subject import Subject
from model.inputs import preprocessed_picture
from model.record import AttentionRecord, ForwardRecord
from model.record.from_arrays import attention_alone
from model.record.record_file import dump, fits_half_precision, n_bytes
from viz.builders.number_format import format_number
from viz.export.offline_page import offline_page
from viz.export.safe_text import file_name
from viz.export.save import MIME

_HELP = (
    "Everything that this forward pass computed, as an .npz file: arrays by name, tokens, and the settings with the hash of the "
    "weights. It opens again here as the input “Record”, and in a notebook with numpy."
)
_PAGE = (
    "All heads, with the input, the prediction and the settings, in one HTML file that any browser opens offline, without "
    "this app. It answers the pointer as the figures here do."
)
_HALF_PRECISION = (
    "Half precision rounds every number to about three digits, and the measures made of it with them."
)


class Part(NamedTuple):
    """How much of a record is saved: `attention_alone` leaves out all other arrays, `half` stores float16."""

    label: str
    attention_alone: bool
    half: bool

    def of(self, record: AttentionRecord) -> AttentionRecord:
        """The record with the arrays that are saved, still in single precision."""
        return attention_alone(record) if self.attention_alone else record


PARTS = ALL, ALL_HALF, ATTENTION, ATTENTION_HALF = (
    Part("all", False, False),
    Part("all, in half precision", False, True),
    Part("attention and tokens alone", True, False),
    Part("attention and tokens alone, in half precision", True, True),
)


def save_buttons(shown: ShownHead, outlined: Outlines | None) -> None:
    """Draws the two download buttons; the web page opens at the chosen head and query, with the links in `outlined` framed."""
    subject = shown.subject
    with st.container(horizontal=True, gap="small", key="downloads"):
        if n_bytes(subject.record) <= upload_limit_mb() * MB:
            name = file_name(subject.name, suffix="npz")
            _draw_button("Save record", partial(record_file_content, subject), name, "record", help=_HELP)
        else:
            _draw_save_menu(subject)
        name = file_name(subject.name, "heads", suffix="html")
        _draw_button("Save as web page", partial(page, shown, outlined), name, "view", help=_PAGE)


def _draw_save_menu(subject: Subject) -> None:
    """Draws, for a record too large to be opened in the app again, a menu that chooses how much of it is saved."""
    with st.popover(
        "Save record",
        key="large_record",
        help=_HELP,
        type="tertiary",
        icon=":material/download:",
        on_change="rerun",
    ) as menu:
        if not menu.open:
            return
        sizes = _sizes_mb(subject.record)
        default = next((index for index, size in enumerate(sizes.values()) if size <= upload_limit_mb()), 0)

        def label(part: Part) -> str:
            remark = "" if sizes[part] <= upload_limit_mb() else ", too large to be opened here"
            return f"{part.label}: {format_number(sizes[part], '.0f')} MB{remark}"

        part = st.radio("What the file holds", tuple(sizes), default, format_func=label, key="record_part")
        st.caption(f"Files of up to {upload_limit_mb()} MB can be opened here again. {_HALF_PRECISION}")
        words = "attention" * part.attention_alone, "half" * part.half
        name = file_name(subject.name, *filter(None, words), suffix="npz")
        _draw_button("Download", partial(record_file_content, subject, part), name, "record")


def _sizes_mb(record: AttentionRecord) -> dict[Part, float]:
    """Size in MB of each part that can be saved; half precision only where no number overflows float16."""
    return {
        part: n_bytes(part.of(record), half=part.half) / MB
        for part in (PARTS if isinstance(record, ForwardRecord) else (ALL, ALL_HALF))
        if not part.half or fits_half_precision(part.of(record))
    }


def _draw_button(
    label: str, make: Callable[[], bytes], name: str, key: str, *, help: str | None = None
) -> None:
    """Draws a button that downloads the file called `name`, whose content `make` returns."""
    st.download_button(
        label,
        one_run()(make),  # all of it of one encoder
        name,
        MIME.get(name.rpartition(".")[2], "application/octet-stream"),
        key=f"download_{key}",
        help=help,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def record_file_content(subject: Subject, part: Part = ALL) -> bytes:
    """Content of the .npz file with `part` of the record."""
    return dump(part.of(subject.record), subject.settings, subject.picture, half=part.half)


def page(shown: ShownHead, outlined: Outlines | None) -> bytes:
    """HTML page of the shown view in UTF-8, opened at the chosen head and query, with the links in `outlined` framed."""
    subject, view = shown.subject, shown.view
    links, note = outlined or NO_OUTLINES
    return offline_page(
        view.record,
        title=f"Attention of {subject.name}",
        settings=subject.settings,
        picture=None if subject.picture is None else preprocessed_picture(subject.picture, subject.record),
        chosen=(*shown.head, shown.query),
        notes=[*view.notes, *filter(None, [note])],
        what=shown.lens.quantity,
        measures=view.measures,
        about=sentences_about_heads(shown),
        by_layer=not shown.lens.has_heads,
        links=links or None,
    )
