"""The sidebar: what goes in, through which checkpoint, and what that checkpoint is."""

from collections.abc import Sequence

import streamlit as st

from app_pages import address, state
from app_pages.inputs import drawing
from app_pages.inputs.digit_input import digit_input
from app_pages.inputs.text_input import text_input
from app_pages.widgets.spelling import PLACEMENTS
from model.checkpoint import Loaded
from model.history import measured
from model.seeds import by_seed, seed_of
from viz.numbers import percent

INVITATION = {
    state.TEXT: "Type a sentence in the sidebar, or choose an example there, and every head shows itself here.",
    state.DIGIT: "Draw a digit in the sidebar, or upload a picture of one, and every head shows itself here.",
}


def sidebar() -> tuple[str, state.Input, int | None] | str:
    """Draws the widgets. What they hold: checkpoint, input and its label; or why not, in one sentence."""
    kinds = (state.TEXT, state.DIGIT)
    kind = address.row("Input", kinds, key="kind", on_change=_change_kind, width="stretch")
    above = st.container()  # the orders of the digits depend on the checkpoint, which stands below them
    name = _choose_checkpoint(kind)
    with above:
        given, label = text_input() if kind == state.TEXT else digit_input(name)
    if name is None:
        return f"There is no checkpoint for this input: none in `checkpoints/` takes a {kind.lower()}."
    try:
        loaded = state.loaded(name)
        _describe(loaded)
        n_read = state.encoded_text(name, given).n_read if kind == state.TEXT and given else None
    except (ValueError, OSError) as error:
        return f"The checkpoint {name} cannot be used, choose another one: {error}."
    if given is None or n_read == 0:
        return INVITATION[kind]
    return name, given, label


def _choose_checkpoint(kind: str) -> str | None:
    """Those that differ in their seed alone stand once in the box, with a second box for the seed."""
    seeds, held = (
        by_seed(state.checkpoints(kind)),
        address.held("checkpoint") or st.query_params.get("checkpoint"),
    )
    shown = [held if held in names else names[0] for names in seeds.values()]
    # Not by a shorter name: the address holds what stands in the box, and must say the seed.
    name = address.box("Checkpoint", shown, key="checkpoint", gone=_alike)
    if name is not None and len(names := seeds[seed_of(name)[0]]) > 1:
        st.session_state["seed"] = name
        st.selectbox(
            "Seed",
            names,
            key="seed",
            format_func=lambda name: str(seed_of(name)[1]),
            on_change=_take_seed,
            help="Trained by the same recipe from other random numbers: what differs between two seeds is chance.",
        )
    return name


def _take_seed() -> None:
    address.take("checkpoint", st.session_state["seed"])


def _change_kind() -> None:
    """A token's position means nothing on a digit, nor a patch in a text."""
    address.take("query", 0)
    drawing.leave()


def _alike(held: str | None, names: Sequence[str]) -> str | None:
    """After a change of the input kind, the checkpoint with the same norm placement, or else the first."""
    alike = [name for name in names if held and _after_kind(name) == _after_kind(held)]
    return next(iter([*alike, *names]), None)


def _after_kind(name: str) -> str:
    """Of "mnist-pre-ln-seed1" this is "pre-ln"."""
    return seed_of(name)[0].partition("-")[2]


def _describe(loaded: Loaded) -> None:
    config = loaded.config
    right = [
        f"accuracy {percent(each['accuracy'], 2)} on {each['n']:,} {each['data']}, loss {each['loss']:.3f}"
        for each in measured(loaded.history)
    ]
    published = loaded.history.get("recipe", {}).get("published")
    st.caption(
        f"{loaded.n_parameters:,} parameters  \n"
        f"{PLACEMENTS[config.norm_placement]}, {_several(config.n_layers, 'layer')} × {_several(config.n_heads, 'head')}  \n"
        + "".join(f"{line}  \n" for line in right or ["accuracy not measured"])
        + (f"published: {published}  \n" if published else "")
        + f"runs on {loaded.device.type.upper()}"
    )


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
