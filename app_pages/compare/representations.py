"""How alike two checkpoints represent many examples: linear CKA, stage by stage."""

from functools import partial

import numpy as np
import streamlit as st

from app_pages import state
from app_pages.compare.in_steps import in_steps
from app_pages.widgets.contrast import Side
from app_pages.widgets.show import show
from model.measures import similarity
from model.text import encode
from viz.compare.stage_similarity import stage_similarity

N_DIGITS, AT_ONCE = 300, 50


def representations(first: Side, second: Side) -> None:
    st.markdown(
        r"**Linear CKA**: $\lVert Y^\top X \rVert_F^2 \,/\, (\lVert X^\top X \rVert_F \, \lVert Y^\top Y \rVert_F)$, with the "
        "states of all examples at a stage of either checkpoint as the centred rows of $X$ and $Y$. 1: equal up to rotation and "
        "scale (Kornblith et al. 2019). States are those carried in the stream, before the norm at the end of pre-LN."
    )
    if first.is_text:
        texts = tuple(dict.fromkeys((*state.sentences().values(), first.given.text, second.given.text)))
        if _cut_differently(first.checkpoint, second.checkpoint, texts):
            st.info(
                f"{first.checkpoint} and {second.checkpoint} cut texts into different tokens: no states correspond."
            )
            return
        reads = [partial(_text_states, side.checkpoint, text) for side in (first, second) for text in texts]
    else:
        texts = ()
        starts = range(0, N_DIGITS, AT_ONCE)
        reads = [
            partial(_digit_states, side.checkpoint, start) for side in (first, second) for start in starts
        ]
    if first.checkpoint == second.checkpoint:
        st.caption(
            "One checkpoint beside itself: which of its stages are alike. "
            + ("The two texts only add their tokens." if texts else "The two digits play no part in it.")
        )
    in_steps(reads, "Reading the states of the examples …")  # from here on they are cached
    found, by_chance, n = _cka(first.checkpoint, second.checkpoint, texts)
    chart = stage_similarity(
        found,
        first.record.stages,
        second.record.stages,
        names=_names(first, second),
        what="CKA",
        signed=False,
        side=480,
        undefined="all examples have the same state here",
    )
    show(chart, key="cka", width="content")
    if np.isnan(found).any():
        st.caption("A dash: all examples have the same state at that stage, and nothing can be compared.")
    _what_was_used(first, second, n, by_chance)


@st.cache_data(max_entries=64, show_spinner=False)
def _digit_states(name: str, start: int) -> np.ndarray:
    images, _ = state.test_digits()
    return similarity.digit_states(state.loaded(name), images[start : start + AT_ONCE])


@st.cache_data(max_entries=64, show_spinner=False)
def _text_states(name: str, text: str) -> np.ndarray:
    return similarity.text_states(state.loaded(name), text)


@st.cache_data(max_entries=16, show_spinner="Comparing the stages …")
def _cka(one: str, other: str, texts: tuple[str, ...]) -> tuple[np.ndarray, float, int]:
    """CKA [stage, other stage]; the largest with the examples of one side shuffled; how many examples."""
    states = [
        np.concatenate(
            [_text_states(name, text) for text in texts]
            if texts
            else [_digit_states(name, start) for start in range(0, N_DIGITS, AT_ONCE)],
            axis=1,
        )
        for name in (one, other)
    ]
    n = states[0].shape[1]
    shuffled = states[1][:, np.random.default_rng(0).permutation(n)]
    return similarity.linear_cka(*states), float(np.nanmax(similarity.linear_cka(states[0], shuffled))), n


@st.cache_data(max_entries=64, show_spinner=False)
def _cut_differently(one: str, other: str, texts: tuple[str, ...]) -> bool:
    first, second = (state.loaded(name).tokenizer for name in (one, other))
    return any(encode(first, text).tokens != encode(second, text).tokens for text in texts)


def _what_was_used(first: Side, second: Side, n: int, by_chance: float) -> None:
    if first.is_text:
        used = f"the {n:,} tokens of the {len(state.sentences())} example sentences and of what was typed, a state each"
    else:
        pooled = dict.fromkeys(
            "class token" if side.record.has_class_token else "mean over the patches"
            for side in (first, second)
        )
        used = f"the first {n} test digits, the {' and the '.join(pooled)} of each"
    widths = sorted({side.record.config.d_model for side in (first, second)})
    st.caption(
        f"Used: {used}, of width {' and '.join(map(str, widths))}. With the examples of one side shuffled, the largest of "
        f"these numbers is {by_chance:.2f}: so much is chance."
    )


def _names(first: Side, second: Side) -> tuple[str, str]:
    if first.checkpoint == second.checkpoint:
        return first.checkpoint, f"{first.checkpoint}, again"
    return first.checkpoint, second.checkpoint
