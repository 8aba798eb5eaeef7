"""python -m benchmarks.ablation_cost [--rounds 10]

What ablations cost, in plain forward passes of the same encoder on the same input: each head ablated alone
(`model.experiments.ablation.ablate_heads`), beside one forward pass for each head; the importance of all heads; each
head's output patched in from another input; and each token or patch masked out of the keys. Also the time of a
hundred knock-outs of a digit.

Medians of interleaved rounds, in processor time of one thread, so that other work on the machine counts little.
"""

import argparse
from collections.abc import Callable
from statistics import median

import numpy as np
import torch

from benchmarks.capture import CASES, an_encoder, an_input, measure, timed
from model.capture.intervention import without_keys
from model.checkpoint import load
from model.experiments.ablation import ablate_heads, ablated, importance
from model.experiments.patching import patch_heads
from model.experiments.probabilities import probabilities
from model.inputs import InputLike
from model.inputs.digits import examples
from model.loaded import Loaded

MEASURED = (
    "6×4 heads, width 128, 17 tokens",
    "6×4 heads, width 64, 50 patches",
    "4×8 heads, width 128, 256 tokens",
    "6×12 heads, width 384, 128 tokens",
)
FORWARD = "a plain forward"


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in MEASURED:
        config, n = CASES[name]
        loaded, model_input = an_encoder(config), an_input(config, n)
        times = interleaved(timed_calls(loaded, model_input), options.rounds)
        print(f"{name}: a forward takes {1000 * times[FORWARD]:.1f} ms")
        for way, seconds in times.items():
            if way != FORWARD:
                print(f"  {way:<42}{seconds / times[FORWARD]:6.1f} forwards {1000 * seconds:8.0f} ms")
    print_digit_knock_outs(options.rounds)


def timed_calls(loaded: Loaded, model_input: InputLike) -> dict[str, Callable[[], object]]:
    """The calls to time on this encoder and input, by name."""
    config = loaded.config
    heads = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]

    def a_forward_each() -> None:
        """One forward pass for each head, which is ablated in it."""
        for head in heads:
            probabilities(loaded, [model_input], [ablated(heads=(head,))])

    return {
        FORWARD: lambda: probabilities(loaded, [model_input]),
        "each head alone": lambda: ablate_heads(loaded, [model_input]),
        "each head alone, each in its own forward": a_forward_each,
        "importance of all heads": lambda: importance(loaded, [model_input]),
        "each head from another input": lambda: patch_heads(loaded, model_input, model_input),
    }


def print_digit_knock_outs(rounds: int) -> None:
    """Prints the time of a hundred knock-outs: of each of the 50 positions in two digits."""
    loaded = load("mnist-pre-ln")
    images = examples()[0][:2]
    knocked_out = [without_keys(position) for position in range(loaded.config.n_positions)]
    seconds = interleaved(
        {"": lambda: [probabilities(loaded, [np.array(i)], knocked_out) for i in images]}, rounds
    )
    print(f"a hundred knock-outs of a digit ({loaded.name}): {1000 * seconds['']:.0f} ms")


def interleaved(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each of the `calls`, by name, over interleaved `rounds`."""
    times = measure({name: (lambda way=way: timed(way)) for name, way in calls.items()}, rounds)
    return {name: median(seconds) for name, seconds in times.items()}


if __name__ == "__main__":
    main()
