"""Your own: the encoders that can be opened, their descriptions, and how to add one."""

import streamlit as st

from app_pages.inputs import linked_encoders
from app_pages.shell import start_options
from app_pages.your_own import adding
from app_pages.your_own.rows import draw_list, encoders_in_cache, encoders_in_root, uploaded_encoders
from model.sources import locations


def draw() -> None:
    linked_encoders.say_gone(None)
    with st.container(horizontal=True, gap="medium", key="own"):
        here, more = st.container(key="own_here"), st.container(key="own_more")
    with here:
        if locations.root() is not None:
            draw_list("In your models folder", encoders_in_root(), key="root", empty=adding.EMPTY_ROOT)
        if (mine := uploaded_encoders()).names:
            draw_list("Uploaded in this session", mine, key="uploads")
        draw_list(
            "Installed on this computer",
            locations.encoders_in_packages(),
            key="installed",
            empty=adding.NO_MINILM,
        )
        draw_list(
            adding.CACHED,
            encoders_in_cache(),
            key="cache",
            empty=adding.EMPTY_CACHE,
        )
    with more:
        adding.heading("Add one")
        adding.draw_upload_form(start_options.OPTIONS.uploads_mb)
        adding.draw_hub_form(start_options.OPTIONS.hub)
        if locations.root() is None:
            adding.explain_option(
                "List all that are in a folder of this computer",
                ":material/folder_open:",
                "`DIR` is the folder; nothing outside it is read.",
                adding.WITH_MODELS,
            )
        adding.heading("Will mine open?")
        adding.explain_supported()
