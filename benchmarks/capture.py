"""python -m benchmarks.capture [--rounds 30] [--against FOLDER] [--device cuda]

The cost of captures and of other forward passes, each as a ratio to the plain forward pass of the same encoder:
`model.capture.capture`, which keeps everything; `model.capture.activations` of the patterns alone; the same encoder
with torch's fused attention kernel, which keeps nothing; torch's own fused encoder; and torch's attention when it
also returns its weights. All go from one text or image to the logits. With --against, also the capture of another
version of this project, in that FOLDER; it runs in a process of its own, turn by turn with this one, and the median
of the ratios of this version's capture to the other's is printed.

Medians of interleaved rounds, in processor time of one thread, so that other work on the machine counts little:
compare the ratios, since the times drift.

With --device, the shapes of BERT-base and ModernBERT on that device instead, in wall-clock time, each as a ratio to
`transformers` with its eager attention and its weights copied to the CPU, which is what its user gets.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import thread_time

import numpy as np
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from torch import Tensor, nn

from model.capture import capture
from model.config import ModelConfig, preset
from model.loaded import Loaded
from model.transformer import Attention, Transformer

# Without padding there is no mask, in ours as in torch's.
_TEXT = replace(preset("imdb-pre-ln"), n_positions=512)
_MINI_LM = replace(_TEXT, d_model=384, n_layers=6, n_heads=12, d_ff=1536)
_EIGHT_HEADS = replace(_TEXT, n_layers=4, n_heads=8, d_k=16, d_v=16)
_SIX_LAYERS = replace(_TEXT, n_layers=6)
CASES: dict[str, tuple[ModelConfig, int]] = {
    "6×4 heads, width 128, 17 tokens": (_SIX_LAYERS, 17),
    "6×4 heads, width 64, 50 patches": (preset("mnist-pre-ln"), 50),
    "4×4 heads, width 128, 256 tokens": (_TEXT, 256),
    "4×8 heads, width 128, 256 tokens": (_EIGHT_HEADS, 256),
    "6×12 heads, width 384, 128 tokens": (_MINI_LM, 128),
    "6×12 heads, width 384, 512 tokens": (_MINI_LM, 512),
}
THROWN_AWAY = 3  # rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--against", type=Path, metavar="FOLDER")
    parser.add_argument("--device", help="such as cuda")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device:
        from benchmarks.capture_on_device import print_ratios  # it needs transformers

        return print_ratios(options.device, options.rounds)
    torch.set_num_threads(1)
    if options.serve:
        return serve()
    other = Other(options.against) if options.against else None
    for number, (case, (config, n)) in enumerate(CASES.items()):
        calls = variants(config, n)
        seconds = {name: (lambda call=call: timed(call)) for name, call in calls.items()}
        if other:
            seconds["other capture"] = lambda number=number: other.seconds(number)
        times = measure(seconds, options.rounds)
        if not number:
            print(f"{'':35}{'plain':>9}" + "".join(f"{name:>15}" for name in list(times)[1:]))
        ratios = "".join(f"{ratio(times, name, 'plain'):15.2f}" for name in list(times)[1:])
        compared = f"  capture ÷ other {ratio(times, 'capture', 'other capture'):.3f}" if other else ""
        fused = f"  patterns ÷ fused {ratio(times, 'patterns', 'fused'):.2f}"
        print(f"{case:35}{median(times['plain']) * 1e3:6.1f} ms{ratios}{fused}{compared}", flush=True)
    return None


def timed(call: Callable[[], object]) -> float:
    """The processor time of one call in seconds."""
    start = thread_time()
    call()
    return thread_time() - start


def measure(seconds: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """The seconds of each call in each of the interleaved rounds, by name, without the first `THROWN_AWAY` rounds."""
    taken: dict[str, list[float]] = {name: [] for name in seconds}
    for _ in range(rounds + THROWN_AWAY):
        for name, run in seconds.items():
            taken[name].append(run())
    return {name: rounds_of_one[THROWN_AWAY:] for name, rounds_of_one in taken.items()}


def ratio(times: dict[str, list[float]], name: str, to: str) -> float:
    """The median over rounds of the times of `name` divided by those of `to`."""
    return median(one / other for one, other in zip(times[name], times[to], strict=True))


class Other:
    """A process that runs this file with the `model` package of another folder, and measures captures on request."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, __file__, "--serve"]
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve())}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, cwd=folder, **pipes)

    def seconds(self, case: int) -> float:
        """The seconds of one capture of the case with this number."""
        print(case, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def serve() -> None:
    """Runs in the process of `Other`: for each case number on standard input, prints the seconds of one capture."""
    captures: dict[int, Callable[[], object]] = {}
    for line in sys.stdin:
        case = int(line)
        if case not in captures:
            config, n = list(CASES.values())[case]
            loaded, model_input = an_encoder(config), an_input(config, n)
            captures[case] = lambda loaded=loaded, model_input=model_input: capture(loaded, model_input)
        print(timed(captures[case]), flush=True)


def an_encoder(config: ModelConfig) -> Loaded:
    """An encoder of this shape with random weights."""
    tokenizer = _one_word_tokenizer() if config.is_text else None
    model = Transformer(config).eval()
    return Loaded(name="random", model=model, tokenizer=tokenizer, history={}, device=torch.device("cpu"))


def an_input(config: ModelConfig, n: int) -> str | np.ndarray:
    """An input of `n` positions for an encoder of this shape."""
    return "film " * n if config.is_text else np.zeros((28, 28), np.uint8)


def variants(config: ModelConfig, n: int) -> dict[str, Callable[[], object]]:
    """The calls that are measured for an encoder of this shape on `n` positions, by name."""
    from model.capture import activations  # another version may not have it
    from model.inputs import prepare

    loaded, model_input, theirs = an_encoder(config), an_input(config, n), torchs_encoder(config)
    model, fused = loaded.model, an_encoder(config).model
    for block in fused.blocks:
        block.attention.__class__ = Fused
    patterns = [f"blocks.{layer}.attention.pattern" for layer in range(config.n_layers)]

    @torch.inference_mode()
    def run(encode: Callable[[Tensor], Tensor]) -> Tensor:
        inputs, tokens = prepare(loaded, model_input)
        assert len(tokens) == n
        return encode(inputs)

    def torch_fused(layers: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
        return model.classify(layers(model.embedding(inputs)), inputs)

    return {
        "plain": lambda: run(model),
        "capture": lambda: capture(loaded, model_input),
        "patterns": lambda: activations(loaded, [model_input], patterns),
        "fused": lambda: run(fused),
        "torch fused": lambda: run(lambda inputs: torch_fused(theirs, inputs)),
        "torch weights": lambda: run(
            lambda inputs: torch_fused(lambda x: weights_asked_for(theirs, x), inputs)
        ),
    }


class Fused(Attention):
    """Attention by torch's fused kernel, which keeps no pattern."""

    def forward(self, x: Tensor, mask: None = None) -> Tensor:
        assert mask is None
        q, k, v = (self._split_heads(w(x)) for w in (self.w_q, self.w_k, self.w_v))
        z = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.w_o(z.transpose(1, 2).flatten(2))


def torchs_encoder(config: ModelConfig) -> nn.TransformerEncoder:
    """torch's own encoder of this shape."""
    layer = nn.TransformerEncoderLayer(
        config.d_model, config.n_heads, config.d_ff, 0, config.activation, batch_first=True, norm_first=True
    )
    norm = nn.LayerNorm(config.d_model)
    return nn.TransformerEncoder(layer, config.n_layers, norm, enable_nested_tensor=False).eval()


def weights_asked_for(encoder: nn.TransformerEncoder, x: Tensor) -> Tensor:
    """A forward pass through torch's layers one by one that also computes the attention weights, which torch's
    encoder itself discards.
    """
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
