"""A list of encoders: what each of them is, or what is wrong with it, and a button that opens it."""

import re
from html import escape

import streamlit as st

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.pages import ATTENTION, go_to
from app_pages.subject import cache, encoders, session_encoders
from app_pages.toolkit.markdown import PLACEMENTS, plain
from app_pages.your_own.describe import description
from app_pages.your_own.instructions import heading
from model import checkpoint
from model.huggingface import Description
from model.sources import locations
from model.sources.names import Listing
from model.sources.uploads import UPLOAD

PAGE = 12


def rows(title: str, listing: Listing, *, key: str, empty: str = "") -> None:
    """A place: its encoders, `PAGE` at a time, and what is not among them; `empty` is said where there are none."""
    heading(title)
    names = _searched(listing.names, key) if len(listing.names) > PAGE else listing.names
    n_pages = max(1, -(-len(names) // PAGE))
    page = st.pagination(n_pages, key=f"{key}_page") if n_pages > 1 else 1
    for name in names[(page - 1) * PAGE : page * PAGE]:
        _row(name)
    if not listing.names and empty:
        st.markdown(empty)
    elif not names:
        st.caption("No name matches.")
    if listing.refused:
        with st.expander(f"{len(listing.refused):,} not listed"):
            st.markdown("\n".join(f"- {why}." for why in listing.refused[:50]))


def shown(name: str) -> str:
    """A name without what tells one upload from another."""
    return name.removeprefix(UPLOAD).rpartition("-")[0] if name.startswith(UPLOAD) else name


def _searched(names: tuple[str, ...], key: str) -> tuple[str, ...]:
    said = st.text_input(f"Search {len(names):,} names", key=f"{key}_search", width=320)
    return tuple(name for name in names if said.strip().lower() in name.lower())


def _row(name: str) -> None:
    found = description(name)
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{_as_key(name)}"):
        st.html(_words(name, found))
        if found.summary or found.left_out:
            with st.popover("Details", type="tertiary"):
                _details(found)
        if name in session_encoders.opened():
            st.button("Look inside", key=f"look_{name}", on_click=_look, args=(name,), type="primary")
            said = (
                "Deletes the upload."
                if name.startswith(UPLOAD)
                else "Removes it from the list of encoders; its files stay."
            )
            st.button(
                "Remove", key=f"remove_{name}", on_click=session_encoders.remove, args=(name,), help=said
            )
        else:
            if name.startswith(UPLOAD):
                st.button("Delete", key=f"remove_{name}", on_click=session_encoders.remove, args=(name,))
            if st.button("Open", key=f"open_{name}", disabled=found.problem is not None):
                _open(name)


def _words(name: str, found: Description) -> str:
    said, facts = dict(found.summary), [found.family]
    if found.config is not None:
        facts += [
            f"{found.config.n_layers} × {found.config.n_heads} heads",
            PLACEMENTS[found.config.norm_placement],
        ]
        facts.append(re.split(" of a vocabulary|;", said["input"])[0])
    facts += [said[what] for what in ("output", "memory") if what in said]
    lines = [" · ".join(escape(each) for each in facts if each), *map(escape, found.notes)]
    if found.left_out:
        several = "1 tensor" if len(found.left_out) == 1 else f"{len(found.left_out):,} tensors"
        lines.append(
            f"{several} of the file {'is' if len(found.left_out) == 1 else 'are'} not needed here: {escape(_few(found.left_out))}"
        )
    wrong = f'<p class="wrong">{escape(_ended(found.problem))}</p>' if found.problem else ""
    told = "".join(f"<p>{line}</p>" for line in lines if line)
    return f'<div class="encoder"><b>{escape(shown(name))}</b>{told}{wrong}</div>'


def _ended(said: str) -> str:
    return said if said.endswith(".") else f"{said}."


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _details(found: Description) -> None:
    table = "".join(
        f"<tr><th>{escape(what)}</th><td>{escape(said)}</td></tr>" for what, said in found.summary
    )
    st.html(f'<table class="encoder">{table}</table>', width=560)
    if found.left_out:
        st.caption("In the file, but not needed here:")
        st.code("\n".join(found.left_out[:200]), language=None, height=160)


def _open(name: str) -> None:
    try:
        with st.spinner("Reading its files …"):
            checkpoint.fingerprint(name)  # hashes them, once
        cache.loaded(name)
    except (ValueError, OSError) as error:
        st.error(f"{shown(name)} cannot be opened: {plain(_ended(str(error)))}")
        return
    session_encoders.open_(name)
    _look(name)
    st.rerun()


def _look(name: str) -> None:
    """To the first page, with this encoder chosen."""
    kind = encoders.kind_of(name) or encoders.TEXT
    KIND.take(kind)
    CHECKPOINT.take(name)
    LAYER.take(0)
    HEAD.take(0)
    go_to(ATTENTION, CHECKPOINT.to(name), *([KIND.to(kind)] if kind == encoders.DIGIT else []))


def _as_key(name: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in locations.as_shown(name))
