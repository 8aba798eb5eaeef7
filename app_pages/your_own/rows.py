"""Lists of encoders, with a description or an error for each, and buttons to open them.

Lists and descriptions are refreshed after some seconds, not at every click.
"""

import re
from dataclasses import replace
from html import escape
from pathlib import Path

import streamlit as st

from app_pages.controls.compare_controls import COMPARED, TEXTS_ON_PICTURE
from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.pages import ATTENTION, COMPARE, go_to
from app_pages.controls.tour_controls import TOUR, current_stop
from app_pages.subject import cache, encoders, session_encoders
from app_pages.subject.cache import cached
from app_pages.toolkit.markdown import PLACEMENTS, first_names, plain
from app_pages.your_own.adding import heading
from model import checkpoint
from model.config import ModelConfig
from model.huggingface import Description, describe, is_foreign
from model.huggingface.inner_encoders import split_name, split_path, with_inner_names
from model.sources import locations
from model.sources.names import Listing
from model.sources.uploads import UPLOAD

PAGE = 12
SECONDS, SECONDS_OF_CACHE = 10, 60  # all that is in the cache is looked through, data sets as well


def draw_list(title: str, listing: Listing, *, key: str, empty: str = "") -> None:
    """Draws a list of encoders in pages of `PAGE`, and the names that were refused; the text `empty` if there are none."""
    heading(title)
    names = listing.names
    if len(names) > PAGE:
        words = st.text_input(f"Search {len(names):,} names", key=f"{key}_search", width=320).strip().lower()
        names = tuple(name for name in names if words in name.lower())
    n_pages = max(1, -(-len(names) // PAGE))
    page = st.pagination(n_pages, key=f"{key}_page") if n_pages > 1 else 1
    for name in names[(page - 1) * PAGE : page * PAGE]:
        _draw_row(name)
    if not listing.names and empty:
        st.markdown(empty)
    elif not names:
        st.caption("No name matches.")
    if listing.refused:
        with st.expander(f"{len(listing.refused):,} not listed"):
            st.markdown("\n".join(f"- {reason}." for reason in listing.refused[:50]))


def shown_name(name: str) -> str:
    """Name of an encoder as users see it: an upload's name without its random suffix."""
    if not name.startswith(UPLOAD):
        return name
    upload_name, inner = split_name(name)
    shown = upload_name.removeprefix(UPLOAD).rpartition("-")[0]
    return f"{shown}/{inner}" if inner else shown


def _draw_row(name: str) -> None:
    info = description(name)
    key = re.sub(r"\W", "_", locations.printable_name(name))
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{key}"):
        st.html(_as_html(name, info))
        if info.summary or info.left_out:
            with st.popover("Details", type="tertiary"):
                _draw_details(info)
        if name in session_encoders.opened_encoders():
            st.button(
                "Look inside", key=f"look_{name}", on_click=_open_in_attention, args=(name,), type="primary"
            )
            st.button(
                "Remove",
                key=f"remove_{name}",
                on_click=session_encoders.remove,
                args=(name,),
                help="Deletes the upload."
                if name.startswith(UPLOAD)
                else "Removes it from the list of encoders; its files stay.",
            )
        else:
            if name.startswith(UPLOAD):
                st.button("Delete", key=f"remove_{name}", on_click=session_encoders.remove, args=(name,))
            if st.button("Open", key=f"open_{name}", disabled=info.problem is not None):
                _open(name)
        names = encoders.picture_and_texts(name)
        if names is not None and name == names[0] and info.problem is None:
            st.button(
                "A picture and texts",
                key=f"texts_{name}",
                on_click=_open_both_encoders,
                args=names,
                help="Opens both encoders of the folder: how well texts fit a picture, and which patches speak for each.",
            )


def _as_html(name: str, info: Description) -> str:
    """HTML that describes an encoder in a few lines, with the reason if it cannot be opened."""
    summary, facts = dict(info.summary), [info.family]
    if info.config is not None:
        facts += [
            f"{info.config.n_layers} layers × {info.config.n_heads} heads",
            PLACEMENTS[info.config.norm_placement],
            re.split(" of a vocabulary|;", summary["input"])[0],
        ]
        facts.append(summary.get("output", "").partition(":")[0])
    lines = [" · ".join(escape(fact) for fact in facts if fact), *map(escape, info.notes)]
    problem = f'<p class="wrong">{escape(info.problem.removesuffix("."))}.</p>' if info.problem else ""
    paragraphs = "".join(f"<p>{line}</p>" for line in lines if line)
    return f'<div class="encoder"><b>{escape(shown_name(name))}</b>{paragraphs}{problem}</div>'


def _draw_details(info: Description) -> None:
    rows_html = "".join(
        f"<tr><th>{escape(title)}</th><td>{escape(fact)}</td></tr>" for title, fact in info.summary
    )
    st.html(f'<table class="encoder">{rows_html}</table>', width=560)
    if info.left_out:
        n = len(info.left_out)
        st.caption(f"{'1 tensor' if n == 1 else f'{n:,} tensors'} in the file, but not read:")
        st.code("\n".join(info.left_out[:200]), language=None, height=160)


def _open(name: str) -> None:
    try:
        with st.spinner("Reading its files …"):
            checkpoint.fingerprint(name)  # hashes them, once
        cache.loaded(name)
    except (ValueError, OSError) as error:
        st.error(f"{shown_name(name)} cannot be opened: {plain(str(error).removesuffix('.'))}.")
        return
    session_encoders.add_opened(name)
    _open_in_attention(name)
    st.rerun()


def _open_in_attention(name: str) -> None:
    """Callback: opens the page Attention with this encoder."""
    kind = encoders.kind_of(name) or encoders.TEXT
    KIND.take(kind)
    CHECKPOINT.take(name)
    LAYER.take(0)
    HEAD.take(0)
    if current_stop() is not None:
        TOUR.take("1")  # which begins again with this encoder
    go_to(ATTENTION, CHECKPOINT.to(name), *([KIND.to(kind)] if kind != encoders.TEXT else []))


def _open_both_encoders(name: str, text_encoder: str) -> None:
    """Callback: opens the picture encoder `name` and the text encoder `text_encoder` of one folder on the page Side by side."""
    for opened in (text_encoder, name):
        session_encoders.add_opened(opened)
    KIND.take(encoders.PICTURE)
    CHECKPOINT.take(name)
    choices = CHECKPOINT.to(name), KIND.to(encoders.PICTURE), COMPARED.to(TEXTS_ON_PICTURE)
    go_to(COMPARE, *choices)


# Which encoders there are


@st.cache_data(ttl=SECONDS, show_spinner="Looking through the folder …")
def encoders_in_root() -> Listing:
    """Encoders in the folder given by `--models`."""
    return locations.encoders_in_models_folder(checkpoint.CHECKPOINTS)


@st.cache_data(ttl=SECONDS_OF_CACHE, show_spinner="Looking through the Hugging Face cache …")
def encoders_in_cache() -> Listing:
    """Encoders in this machine's Hugging Face cache."""

    from model.sources.hub import cached_models  # imported late: it takes a third of a second

    return cached_models()


def uploaded_encoders() -> Listing:
    """Encoders that were uploaded in this session."""
    uploads = session_encoders.uploads().items()
    return Listing(
        names=tuple(inner for name, upload in uploads for inner in with_inner_names(name, upload.folder))
    )


def description(name: str) -> Description:
    """Description of an encoder; its field `problem` says why it cannot be opened, if so."""
    try:
        folder = locations.find(name, checkpoint.CHECKPOINTS)
        return _description_of_folder(folder, _folder_state(folder))
    except (ValueError, OSError) as error:
        return Description(family="", config=None, problem=str(error))


@cached
def _description_of_folder(folder: Path, _folder_state: tuple) -> Description:
    if is_foreign(folder):
        return describe(folder)
    try:
        return _description_of_own(checkpoint.read_config(folder))
    except ValueError as error:
        about = describe(folder)
        # what it lacks to be one of Hugging Face's, unless it was meant as one of these
        return replace(about, problem=str(error)) if (folder / "history.json").is_file() else about


def _description_of_own(config: ModelConfig) -> Description:
    """Description of an encoder that `model.checkpoint.save` has written; for others see `model.huggingface.describe`."""
    classes = first_names(config.class_names, 4)
    input_text = f"text, up to {config.n_positions:,} tokens"
    if not config.is_text:
        height, width = config.image_sides
        input_text = f"pictures of {height} × {width}, as {config.n_patches:,} patches"
    summary = (
        ("layers × heads", f"{config.n_layers} × {config.n_heads}"),
        ("width", f"{config.d_model:,}, {config.d_k} per head, {config.d_ff:,} in the feed-forward"),
        ("LayerNorm", PLACEMENTS[config.norm_placement]),
        ("input", input_text),
        (
            "answers",
            f"one of {config.n_classes} classes ({classes})" if config.n_classes else "its pooled state",
        ),
    )
    return Description(family="an encoder of this project", config=config, summary=summary)


def _folder_state(folder: Path) -> tuple:
    """Size and modification time of each file in the folder, by which a change is noticed without reading the weights."""
    folder, _ = split_path(folder)
    files = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files)
