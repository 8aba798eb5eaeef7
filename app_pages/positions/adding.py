"""Adding positions to the content compared with concatenating them, on the embeddings of the current input."""

import streamlit as st

from app_pages.controls.head_choice import choose_head
from app_pages.controls.positions_controls import SECOND_HALF, TIED, UNTIED
from app_pages.inputs.row import choose_input, stop
from app_pages.positions.notation import format_scientific
from app_pages.show.show import show
from model.config import ModelConfig
from model.experiments.embeddings import embedding_parts
from model.theory.add_or_concatenate import position_sums, query_key_weights
from viz.builders.number_format import head_name
from viz.positions.sum_of_maps import sum_of_maps


def draw_adding() -> None:
    """Draws two products with weight matrices, of content + positions and of both concatenated, and how far they
    differ; above them the choice of the input and of the head whose weights are taken.
    """
    subject, slots = choose_input(with_answer=False)
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    loaded = subject.loaded
    if (width := loaded.config.d_embedding) != loaded.config.d_model:
        stop(
            f"In {subject.checkpoint} token and position embeddings have width {width}, and a linear layer maps their sum to width "
            f"{loaded.config.d_model} before any head reads it, so no $W_Q$ can be applied to them directly."
        )
    parts = subject.compute(embedding_parts)
    head = head_name(chosen.layer, chosen.head)
    with slots.controls:
        options = (TIED,) if loaded.config.shared_qkv else (TIED, UNTIED)
        is_tied = SECOND_HALF.choose(options) == TIED
    w_q, w_k = query_key_weights(loaded.model, chosen.layer, chosen.head)
    n, d_model = parts.content.shape
    d_k = w_q.shape[1]
    sums = position_sums(parts.content, parts.positions, w_q, w_q if is_tied else w_k)
    maps = {"X W₁": sums.content, "+ P W₂": sums.positions, "= Concat[X, P] W": sums.whole}
    show(sum_of_maps(maps, parts.tokens), key="positions_sum")
    with st.container(
        horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="large"
    ):
        st.latex(
            rf"\underbrace{{\left[ X \,|\, P \right]}}_{{{n} \times {2 * d_model}}} "
            rf"\underbrace{{\begin{{bmatrix}} W_1 \\ W_2 \end{{bmatrix}}}}_{{{2 * d_model} \times {d_k}}} = "
            rf"\underbrace{{X}}_{{{n} \times {d_model}}} \underbrace{{W_1}}_{{{d_model} \times {d_k}}} + "
            rf"\underbrace{{P}}_{{{n} \times {d_model}}} \underbrace{{W_2}}_{{{d_model} \times {d_k}}}",
            width="content",
        )
        st.latex(r"W_1 = W_2 = W: \quad X W + P W = (X + P)\, W", width="content")
    st.markdown(
        "A matrix that reads the concatenation of content $X$ and positions $P$ has one half, $W_1$, for the "
        "content and another, $W_2$, for the positions. Adding is concatenating with both halves tied to be the "
        "same: it needs half the rows, and gives up reading the two with different weights."
    )
    if loaded.config.shared_qkv:
        st.caption(
            f"In {subject.checkpoint} one matrix serves as $W_Q$, $W_K$ and $W_V$: there is no second one to take."
        )
    st.markdown(
        f"All {sums.whole.size:,} numbers, the largest {sums.largest:.2f} in size, computed by either "
        f"way:\n- $\\text{{Concat}}[X, P]\\, W$ and $X W_1 + P W_2$ differ by at most "
        f"**${format_scientific(sums.from_sum)}$**\n- $\\text{{Concat}}[X, P]\\, W$ and $(X + P)\\, W_1$ differ "
        f"by at most **${format_scientific(sums.from_adding)}$**"
        + ("" if is_tied else ": with untied weights it is not the same as adding")
    )
    st.caption(_head_input_sentence(loaded.config, chosen.layer, head))


def _head_input_sentence(config: ModelConfig, layer: int, head: str) -> str:
    """Sentence on whether X + P is what the head multiplies by its W_Q."""
    if layer:
        return (
            f"{head} itself reads the state after layer {layer - 1}, not $X + P$: here its $W_Q$ is an "
            "example of trained weights. The sum enters layer 0."
        )
    bias = "" if "w_q" in config.family.parts.without_bias else ", plus a bias"
    n_norms = config.embedding_norm + (config.norm_placement == "pre" and config.family.parts.first_norm)
    if n_norms:
        beginning, ends = rf"\text{{{config.norm_name}}}(" * n_norms, ")" * n_norms
        return f"{head} itself reads the sum after a norm: its $q$ is ${beginning}X + P{ends}\\, W_Q${bias}."
    return f"$(X + P)\\, W_Q${bias} is the very $q$ of {head}."
