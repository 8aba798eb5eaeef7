"""Links made by earlier versions: options that have another name now open as what they are called today."""

import streamlit as st

# By the key in the address: what an option was called, and what it is called now.
RENAMED = {
    "training": {"film": "Recording", "histories": "Training history"},
    "compare_what": {"two checkpoints": "two encoders"},
    "compare_pairing": {"on this input": "alike on this input", "by number": "of the same number"},
    "compare_stream": {"logits by layer": "answer by layer", "token uniformity": "spread of the tokens"},
    "cost_show": {
        "an encoder, part by part": "An encoder, part by part",
        "published variations": "Table 3 of the paper",
        "four kinds of layer, measured": "Four kinds of layer, measured",
    },
    "digit_order": {"where the two checkpoints disagree": "where the two encoders disagree"},
    "inside": {"Sets": "Order of tokens"},
    "inside_factor": {"free": "another power"},
    "inside_scale": {"this checkpoint": "this encoder"},
    "inside_norm": {
        "of the attention": "LayerNorm of the attention",
        "of the feed-forward layer": "LayerNorm of the feed-forward layer",
    },
    "knock_out": {
        "masked out of the keys": "from every query",
        "read as [MASK]": "behind [MASK]",
        "read as [UNK]": "behind [UNK]",
    },
    "many_order": {"surprising first": "hardest first"},
    "masks_kind": {"Block keys": "Block tokens", "Block cells": "Block pairs", "Key padding": "Padding"},
    "positions": {"Adding": "Add or concatenate", "This checkpoint": "This encoder"},
    "theory_part": {
        "first steps": "First steps",
        "learning rate and warm-up": "Learning rate and warm-up",
    },
    "theory_over": {
        "mean of the norms": "norms first, then their mean",
        "norm of the mean": "mean first, then its norm",
    },
}


def rename_options() -> None:
    """Before any widget is drawn in this session: what the address chose by a former name is chosen."""
    if "former_links" in st.session_state:
        return
    st.session_state["former_links"] = True
    for key, names in RENAMED.items():
        if (former := st.query_params.get(key)) in names:
            st.session_state[key] = names[former]
    if (former := st.query_params.get("compare_pairing", "")).startswith("over "):
        st.session_state["compare_pairing"] = f"alike {former}"
