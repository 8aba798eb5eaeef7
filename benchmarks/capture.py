"""python -m benchmarks.capture [--rounds 30]

What it costs to look: `model.capture.capture`, torch's fused encoder, and torch's attention with its weights
asked for, each as a ratio to the plain forward of the same encoder. All go from one text or image to the
logits. Medians of interleaved rounds, in processor time of the one thread, so that other work on the machine
counts little: read the ratios, the times drift.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import thread_time

import numpy as np
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from torch import Tensor, nn

from model.capture import capture
from model.checkpoint import Loaded
from model.config import ModelConfig, preset
from model.inputs import prepare
from model.transformer import Transformer

# Without padding there is no mask, in ours as in torch's.
_TEXT = replace(preset("imdb-pre-ln"), n_positions=512)
_MINI_LM = replace(_TEXT, d_model=384, n_layers=6, n_heads=12, d_ff=1536)
CASES: dict[str, tuple[ModelConfig, int]] = {
    "6×4 heads, width 64, 50 patches": (preset("mnist-pre-ln"), 50),
    "4×4 heads, width 128, 32 tokens": (_TEXT, 32),
    "4×4 heads, width 128, 256 tokens": (_TEXT, 256),
    "6×12 heads, width 384, 128 tokens": (_MINI_LM, 128),
    "6×12 heads, width 384, 512 tokens": (_MINI_LM, 512),
}
COLUMNS = ("plain", "capture", "torch fused", "torch weights")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{'':35}{'plain':>9}" + "".join(f"{name:>15}" for name in COLUMNS[1:]))
    for case, (config, n) in CASES.items():
        times = measure(variants(config, n), rounds)
        ratios = "".join(f"{times[name] / times['plain']:15.2f}" for name in COLUMNS[1:])
        print(f"{case:35}{times['plain'] * 1e3:6.1f} ms{ratios}")


def measure(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each call; the rounds are interleaved, and the first ones are thrown away."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 3):
        for name, call in calls.items():
            start = thread_time()
            call()
            seconds[name].append(thread_time() - start)
    return {name: median(taken[3:]) for name, taken in seconds.items()}


def variants(config: ModelConfig, n: int) -> dict[str, Callable[[], object]]:
    model = Transformer(config).eval()
    tokenizer = _one_word_tokenizer() if config.is_text else None
    loaded = Loaded(name="random", model=model, tokenizer=tokenizer, history={}, device=torch.device("cpu"))
    given = "film " * n if config.is_text else np.zeros((28, 28), np.uint8)
    theirs = torchs_encoder(config)

    @torch.inference_mode()
    def run(encode: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        inputs, tokens = prepare(loaded, given)
        assert len(tokens) == n
        return model.classify(encode(model.embedding(inputs)), inputs) if encode else model(inputs)

    return {
        "plain": run,
        "capture": lambda: capture(loaded, given),
        "torch fused": lambda: run(theirs),
        "torch weights": lambda: run(lambda x: weights_asked_for(theirs, x)),
    }


def torchs_encoder(config: ModelConfig) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        config.d_model, config.n_heads, config.d_ff, 0, config.activation, batch_first=True, norm_first=True
    )
    norm = nn.LayerNorm(config.d_model)
    return nn.TransformerEncoder(layer, config.n_layers, norm, enable_nested_tensor=False).eval()


def weights_asked_for(encoder: nn.TransformerEncoder, x: Tensor) -> Tensor:
    """torch's layers run by hand, because they throw the weights of their attention away."""
    patterns = []
    for layer in encoder.layers:
        h = layer.norm1(x)
        out, pattern = layer.self_attn(h, h, h, need_weights=True, average_attn_weights=False)
        patterns.append(pattern[0].numpy())
        x = x + out
        x = x + layer.linear2(layer.activation(layer.linear1(layer.norm2(x))))
    return encoder.norm(x)


def _one_word_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "film": 4}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(512)
    return tokenizer


if __name__ == "__main__":
    main()
