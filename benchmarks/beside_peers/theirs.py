"""The calls of the peers, by name, in an environment of their own: each function prepares one and returns it as a
function without arguments.

The peers are `transformers` with its fused kernel and with its eager attention, TransformerLens, captum and BertViz,
all with the same weights. All calls on a text include tokenization by the `tokenizers` library, as on this project's
side. If a peer has no function for a call, the call is the plain loop over hooks that its user would write.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from bertviz import head_view, model_view
from captum.attr import IntegratedGradients
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformer_lens.model_bridge import TransformerBridge
from transformers import (
    AutoModelForSequenceClassification,
    BertForNextSentencePrediction,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from .random_weights import random_weights, words
from .training_step import CLASSES, VOCABULARY, Sizes, stepper

Arrays = dict[str, np.ndarray]
Hook = Callable[..., Tensor | None]
PATTERN = "hook_pattern"


@lru_cache(maxsize=2)
def of_transformers(folder: str, attention: str) -> PreTrainedModel:
    """The model in the folder, with transformers' `attention` implementation, such as "sdpa"."""
    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation=attention)
    return model.eval()


@lru_cache(maxsize=1)
def bridge(folder: str) -> TransformerBridge:
    """The model in the folder, opened by TransformerLens; as it knows no BERT with a classifier, its next-sentence
    head gets the classifier's weights.
    """
    model = BertForNextSentencePrediction.from_pretrained(folder, attn_implementation="eager").eval()
    model.cls.seq_relationship.load_state_dict(of_transformers(folder, "eager").classifier.state_dict())
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(Path(folder, "tokenizer.json")))
    return TransformerBridge.boot_transformers(folder, hf_model=model, tokenizer=tokenizer, device="cpu")


@lru_cache(maxsize=1)
def tokenizer(folder: str) -> Tokenizer:
    return Tokenizer.from_file(str(Path(folder, "tokenizer.json")))


def token_ids(folder: str, text: str) -> Tensor:
    return torch.tensor([tokenizer(folder).encode(text).ids])


# Capture


def fused(folder: str, text: str) -> Callable[[], object]:
    model = of_transformers(folder, "sdpa")
    return _inference(lambda: model(token_ids(folder, text)))


def transformers_patterns(folder: str, text: str) -> Callable[[], object]:
    model = of_transformers(folder, "eager")
    return _inference(lambda: model(token_ids(folder, text), output_attentions=True))


def transformers_states(folder: str, text: str) -> Callable[[], object]:
    model = of_transformers(folder, "eager")
    return _inference(
        lambda: model(token_ids(folder, text), output_attentions=True, output_hidden_states=True)
    )


def lens_patterns(folder: str, text: str) -> Callable[[], object]:
    model = bridge(folder)
    return _inference(
        lambda: model.run_with_cache(
            token_ids(folder, text), names_filter=lambda name: name.endswith(PATTERN)
        )
    )


def lens_everything(folder: str, text: str) -> Callable[[], object]:
    model = bridge(folder)
    return _inference(lambda: model.run_with_cache(token_ids(folder, text)))


def agreement(folder: str, text: str) -> Callable[[], Arrays]:
    def run() -> Arrays:
        out = of_transformers(folder, "eager")(token_ids(folder, text), output_attentions=True)
        return {
            "patterns": torch.cat(out.attentions).numpy(),
            "answer": out.logits[0].softmax(-1).numpy(),
        }

    return _inference(run)


# Experiments


def forward(folder: str, text: str) -> Callable[[], object]:
    model = bridge(folder)
    return _inference(lambda: model(token_ids(folder, text)))


def ablation(folder: str, text: str) -> Callable[[], Arrays]:
    def zeroed(head: int) -> Hook:
        def hook(z: Tensor, **_: object) -> Tensor:
            z = z.clone()
            z[:, :, head] = 0
            return z

        return hook

    return _each_head(folder, text, lambda _layer, head: zeroed(head))


def patching(folder: str, text: str, source: str) -> Callable[[], Arrays]:
    model = bridge(folder)

    def run() -> Arrays:
        _, cache = model.run_with_cache(
            token_ids(folder, source), names_filter=lambda name: name.endswith("hook_z")
        )

        def patched(layer: int, head: int) -> Hook:
            def hook(z: Tensor, **_: object) -> Tensor:
                z = z.clone()
                z[:, :, head] = cache[f"blocks.{layer}.attn.hook_z"][:, :, head]
                return z

            return hook

        return _each_head(folder, text, patched)()

    return _inference(run)


def knock_out(folder: str, text: str) -> Callable[[], Arrays]:
    """Each position masked out of the keys by the attention mask, since in this version of TransformerLens a hook
    that changes the scores has no effect on BERT.
    """
    model = bridge(folder)

    def run() -> Arrays:
        ids = token_ids(folder, text)
        numbers = torch.arange(ids.shape[1])[None]  # or they would follow the mask
        answers = []
        for position in range(1, ids.shape[1]):
            mask = torch.ones_like(ids)
            mask[0, position] = 0
            answers.append(model(ids, attention_mask=mask, position_ids=numbers))
        return _answers(answers)

    return _inference(run)


def value_zeroing(folder: str, text: str) -> Callable[[], Arrays]:
    """Value zeroing of each position in each layer, running only that layer of the encoder."""
    model = bridge(folder)

    def run() -> Arrays:
        ids = token_ids(folder, text)
        states = _kept(model, ids, "hook_resid_pre")
        return {"values": np.stack([changes(layer, state) for layer, state in enumerate(states)])}

    def changes(layer: int, state: Tensor) -> np.ndarray:
        block = model.blocks[layer]
        (before, *_), after = block(state), []
        for position in range(state.shape[1]):

            def hook(v: Tensor, position: int = position, **_: object) -> Tensor:
                v = v.clone()
                v[:, position] = 0
                return v

            with model.hooks(fwd_hooks=[(f"blocks.{layer}.attn.hook_v", hook)]):
                after.append(block(state)[0])
        zeroed = torch.cat(after).double()
        change = (1 - functional.cosine_similarity(before.double(), zeroed, dim=-1)).T.numpy()
        return change / change.sum(axis=1, keepdims=True)

    return _inference(run)


def rollout(folder: str, text: str) -> Callable[[], Arrays]:
    model = bridge(folder)

    def run() -> Arrays:
        products: list[np.ndarray] = []
        for pattern in _kept(model, token_ids(folder, text), PATTERN):
            mean = pattern[0].double().mean(dim=0).numpy()
            factor = (mean + np.eye(len(mean))) / 2
            products.append(factor @ products[-1] if products else factor)
        return {"values": np.stack(products)}

    return _inference(run)


def relevance(folder: str, text: str) -> Callable[[], Arrays]:
    model = bridge(folder)

    def run() -> Arrays:
        patterns: list[Tensor] = []
        names = [f"blocks.{layer}.attn.{PATTERN}" for layer in range(len(model.blocks))]
        hooks = [(name, lambda pattern, **_: patterns.append(pattern)) for name in names]
        answer = model.run_with_hooks(token_ids(folder, text), fwd_hooks=hooks)[0]
        gradients = torch.autograd.grad(answer[answer.argmax()], patterns)
        maps, gained = [], torch.eye(patterns[0].shape[-1], dtype=torch.float64)
        for pattern, gradient in zip(patterns, gradients, strict=True):
            step = (pattern.detach() * gradient).clamp(min=0).mean(dim=1)[0].double()
            gained = gained + step @ gained
            shown = gained - torch.eye(len(gained))
            maps.append((shown / shown.max()).numpy())
        return {"values": np.stack(maps)}

    return run


def integrated_gradients(
    folder: str, text: str, n_gradients: int, positions: list[int]
) -> Callable[[], Arrays]:
    """captum's integrated gradients of the log-odds of the predicted class; at the start of the path, word and
    segment embeddings at `positions` are zero.
    """
    model = of_transformers(folder, "eager")
    segment = model.bert.embeddings.token_type_embeddings.weight[0].detach()

    def run() -> Arrays:
        words = model.get_input_embeddings()(token_ids(folder, text)).detach()
        baseline = words.clone()
        baseline[:, positions] = -segment  # which the model adds
        chosen = int(model(inputs_embeds=words).logits.argmax())

        def log_odds(embedded: Tensor) -> Tensor:
            logits = model(inputs_embeds=embedded).logits
            return logits[:, chosen] - logits[:, 1 - chosen]

        result, gap = IntegratedGradients(log_odds).attribute(
            words, baseline, n_steps=n_gradients, internal_batch_size=8, return_convergence_delta=True
        )
        values = result.sum(dim=-1)[0].detach().numpy()
        return {"values": values, "gradients_and_gap": np.array([n_gradients, abs(float(gap))])}

    return run


def _each_head(folder: str, text: str, hook_of: Callable[[int, int], Hook]) -> Callable[[], Arrays]:
    """A call that returns the answers [layer, head, answer] with one head's output z replaced at a time by
    `hook_of(layer, head)`, a forward pass each.
    """
    model = bridge(folder)

    def run() -> Arrays:
        ids = token_ids(folder, text)
        n_layers, n_heads = len(model.blocks), model.cfg.n_heads
        answers = [
            model.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", hook_of(layer, head))])
            for layer in range(n_layers)
            for head in range(n_heads)
        ]
        return {"values": _answers(answers)["values"].reshape(n_layers, n_heads, -1)}

    return _inference(run)


def _kept(model: TransformerBridge, ids: Tensor, name: str) -> Iterator[Tensor]:
    """The activation called `name` of each layer, in a forward pass on `ids`."""
    names = [
        f"blocks.{layer}.{'attn.' if name == PATTERN else ''}{name}" for layer in range(len(model.blocks))
    ]
    _, cache = model.run_with_cache(ids, names_filter=lambda hook: hook in names)
    return (cache[hook] for hook in names)


def _answers(logits: list[Tensor]) -> Arrays:
    """The class probabilities of each of these logits."""
    return {"values": torch.cat(logits).softmax(dim=-1).numpy()}


def _inference(call: Callable[[], object]) -> Callable[[], object]:
    """The call without gradients."""
    return torch.inference_mode()(call)


# Training


class TorchEncoder(nn.Module):
    """A pre-LN `torch.nn.TransformerEncoder` between an embedding and a classifier of the first token's state."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, sizes.width)
        self.positions = nn.Parameter(torch.zeros(sizes.tokens, sizes.width))
        layer = nn.TransformerEncoderLayer(
            sizes.width, sizes.heads, 4 * sizes.width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(sizes.width)
        self.encoder = nn.TransformerEncoder(layer, sizes.layers, norm, enable_nested_tensor=False)
        self.classifier = nn.Linear(sizes.width, CLASSES)

    def forward(self, ids: Tensor) -> Tensor:
        return self.classifier(self.encoder(self.words(ids) + self.positions)[:, 0])


def training_step(sizes: list[int], precision: str) -> Callable[[], None]:
    """A call that makes one training step of `TorchEncoder`; `sizes` are those of `Sizes`."""
    return stepper(TorchEncoder(Sizes(*sizes)), Sizes(*sizes), precision)


# Pages


def page(view: str, size: str, path: str) -> Callable[[], object]:
    """A call that writes BertViz's page of random weights, as the `view` "head" or "model", to the file `path`."""

    def run() -> None:
        weights = random_weights(size)
        attention = [torch.from_numpy(layer)[None] for layer in weights]
        draw = {"head view": head_view, "model view": model_view}[view]
        made = draw(attention, words(weights.shape[-1]), html_action="return")
        Path(path).write_text(made.data, encoding="utf-8")

    return run
