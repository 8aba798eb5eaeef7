"""python -m tests.model.on_device DEVICE

Runs every experiment, lens and measure of a forward pass on a device and on the CPU, and compares their numbers. Prints each
with its largest difference, and exits with 1 if one is larger than it may be, or with 77 where the device is not there.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

from loupe import (
    LENSES,
    Loaded,
    MaskChoice,
    Similarity,
    ablate_heads,
    ablated,
    activations,
    at_temperature,
    capture,
    gradient_times_input,
    guess_masked,
    importance,
    integrated_gradients,
    knock_out,
    load,
    masked,
    masked_word,
    masked_word_by_layer,
    patch_feed_forwards,
    patch_heads,
    patch_pairs,
    patch_positions,
    probabilities,
    prune_heads,
    repositioned,
    through,
    without_keys,
)
from model.device import find_device
from model.experiments.embeddings import embedding_parts, position_cosines
from model.experiments.faithfulness import deletion, random_orders
from model.experiments.knock_out import removable_positions
from model.experiments.residual_stream import sublayer_shares
from model.inputs.digits import examples

NO_DEVICE = 77
# Of sums of a few hundred float32, whose order differs; relative to the largest number of an array
CLOSE = 1e-5
# Where a difference of that size grows: on an H100 to 6.8e-5, 1.8e-5 and 1.7e-5
LESS_CLOSE = {
    "capture, padding": 1e-4,  # a softmax of scores up to 103, in which 1e-5 of the largest is a thousandth
    "patch_pairs": 5e-5,  # a test of two effects, whose spread is small
    "lens ALTI": 5e-5,  # the small difference of two lengths
    "lens ALTI, rolled out": 5e-5,
    # an integral is computed as exactly as `Attribution.allowed` says, of which the gap is a part
    "integrated_gradients": 2e-3,
    "similarity": 2e-3,
}
TEXT, OTHER, MASKED = "It is not a bad film.", "It is not a good film.", "The film is [MASK] bad."
Call = Callable[[Loaded], Any]


def calls(name: str) -> dict[str, Call]:
    """Calls by name for the encoder of this name, each of one argument: the encoder on some device."""
    digits, labels = examples()
    is_text = not name.startswith("mnist")
    one, other = (TEXT, OTHER) if is_text else (digits[0], digits[1])
    interventions = {
        "causal": masked(MaskChoice(kind="causal")),
        "added": masked(MaskChoice(kind="causal"), "added", -1e4),
        "without key": without_keys(2),
        "uniform": at_temperature(float("inf"), layer=1),
        "hardened": at_temperature(0, layer=1),
        "no positions": repositioned(zeroed=True),
        "ablated": ablated([(0, 1)]),
    }
    of_any: dict[str, Call] = {
        "capture": lambda encoder: capture(encoder, one),
        **{
            f"capture, {change}": lambda encoder, change=change: capture(encoder, one, interventions[change])
            for change in interventions
        },
        "activations": lambda encoder: activations(encoder, [one, one], ["blocks.0.resid_post", "logits"]),
        "probabilities": lambda encoder: probabilities(encoder, [one, one]),
        **{f"lens {lens}": lambda encoder, lens=lens: through(lens, encoder, one) for lens in LENSES},
        "ablate_heads": lambda encoder: ablate_heads(encoder, [one]),
        "importance": lambda encoder: importance(encoder, [one, other]),
        "knock_out": lambda encoder: knock_out(encoder, one),
        **{
            f"patch_heads, {part}": lambda encoder, part=part: patch_heads(encoder, one, other, part=part)
            for part in ("z", "q", "k", "v")
        },
        "patch_feed_forwards": lambda encoder: patch_feed_forwards(encoder, one, other),
        "patch_positions": lambda encoder: patch_positions(encoder, one, other),
        "patch_pairs": lambda encoder: patch_pairs(encoder, [(one, other), (other, one)]),
        "prune_heads": lambda encoder: list(
            islice(prune_heads(encoder, [one, other], [1, 0] if is_text else list(map(int, labels[:2]))), 2)
        ),
        "gradient_times_input": lambda encoder: gradient_times_input(encoder, one),
        "integrated_gradients": lambda encoder: integrated_gradients(encoder, one),
        "similarity": lambda encoder: integrated_gradients(encoder, one, Similarity(other)),
        "deletion": lambda encoder: deletion(
            encoder, one, random_orders(removable_positions(capture(encoder, one)), 2)
        ),
        "embedding_parts": lambda encoder: embedding_parts(encoder, one),
        "position_cosines": position_cosines,
        "sublayer_shares": lambda encoder: sublayer_shares(encoder, one),
    }
    if not name.startswith("imdb") or name == "imdb-article":
        return of_any

    def word(encoder: Loaded) -> Any:
        return masked_word(encoder, MASKED, "not")

    return of_any | {
        "capture, padding": lambda encoder: capture(
            encoder, TEXT, masked(MaskChoice(kind="padding", n_padding=3), "ignored")
        ),
        "guess_masked": lambda encoder: guess_masked(encoder, MASKED),
        "masked_word_by_layer": lambda encoder: masked_word_by_layer(encoder, MASKED, word(encoder)),
        "ablate_heads, masked word": lambda encoder: ablate_heads(encoder, [MASKED], answer=word(encoder)),
        "knock_out, [UNK]": lambda encoder: knock_out(encoder, TEXT, "unknown"),
    }


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All arrays and numbers in a result, with the way to each."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from numbers(part, f"{path}.{name}")
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from numbers(part, f"{path}[{index}]")
    elif hasattr(value, "cpu"):
        yield path, value.cpu().numpy()
    elif isinstance(value, np.ndarray | float | np.floating) and not isinstance(value, bool):
        yield path, np.asarray(value)


def differences(device: str, names: tuple[str, ...]) -> Iterator[tuple[str, float, float]]:
    """Name of each call, the largest difference relative to the largest number of its array, and what is allowed."""
    for name in names:
        by_device = [load(name, on) for on in ("cpu", device)]
        for what, call in calls(name).items():
            pairs = zip(*(list(numbers(call(encoder))) for encoder in by_device), strict=True)
            largest = 0.0
            for (path, expected), (_, value) in pairs:
                assert expected.shape == value.shape, f"{name}, {what}{path}"
                largest = max(largest, _difference(expected, value))
            yield f"{name}, {what}", largest, LESS_CLOSE.get(what, CLOSE)


def _difference(expected: np.ndarray, value: np.ndarray) -> float:
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(expected, value) else np.inf
    if not np.array_equal(np.isfinite(expected), np.isfinite(value)):
        return np.inf
    finite = np.isfinite(expected)
    scale = max(1.0, float(np.abs(expected[finite]).max(initial=0)))
    return float(np.abs(expected - value)[finite].max(initial=0)) / scale


def main() -> None:
    device = sys.argv[1]
    try:
        find_device(device)
    except ValueError as error:
        print(error)
        sys.exit(NO_DEVICE)
    is_wrong = False
    for name, difference, allowed in differences(device, ("mnist-pre-ln", "imdb-post-ln")):
        print(f"{difference:.1e}  {name}", flush=True)
        is_wrong |= difference > allowed
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
