"""The part of `python -m benchmarks.capture --device DEVICE` that runs on a GPU, against `transformers` on the same GPU."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from transformers import AutoModelForSequenceClassification

from model.capture import activations, capture
from model.checkpoint import load
from model.device import find_device

from .beside_peers.encoder_folders import BERT_BASE, MODERN_BERT, Encoders, text

LENGTHS = (20, 128, 512)
WARM_UP = 3  # rounds


def print_ratios(device_name: str, rounds: int) -> None:
    """Prints for each shape and length the milliseconds of `transformers`, and the ratios of plain forward pass,
    patterns and everything to it.

    Results of the calls are kept, as the app keeps them: otherwise the next call would reuse their memory, which for
    the attentions of 512 tokens takes only a fifth of the time. A second line gives the times without keeping
    results.
    """
    device = find_device(device_name)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    print(f"on {name}: `transformers` eager with its attentions on the CPU in ms, and ratios to it")
    print(f"{'':36}{'transformers':>14}{'plain':>10}{'patterns':>10}{'capture':>10}")
    with tempfile.TemporaryDirectory() as folder:
        encoders = Encoders(Path(folder))
        for shape in (BERT_BASE, MODERN_BERT):
            for n in LENGTHS:
                timed = calls(encoders[shape], text(n), device)
                for is_kept in (True, False):
                    times = interleaved(timed, device, rounds, is_kept)
                    peer = times.pop("transformers")
                    ratios = "".join(f"{median(of_call) / median(peer):10.2f}" for of_call in times.values())
                    name = f"{shape}, {n} tokens" if is_kept else "  results not kept"
                    print(f"{name:36}{median(peer) * 1e3:14.1f}{ratios}", flush=True)


def calls(folder: str, words: str, device: torch.device) -> dict[str, Callable[[], object]]:
    """The calls that are timed, by name; each ends with its results in the memory of the CPU."""
    encoder = load(folder, str(device))
    peer = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    peer = peer.eval().to(device)
    tokenizer = encoder.tokenizer
    assert tokenizer is not None
    patterns = [f"blocks.{layer}.attention.pattern" for layer in range(encoder.config.n_layers)]

    @torch.inference_mode()
    def of_peer() -> object:
        ids = torch.tensor([tokenizer.encode(words).ids], device=device)
        output = peer(ids, output_attentions=True)
        return output.logits.cpu(), [weights.cpu() for weights in output.attentions]

    @torch.inference_mode()
    def plain() -> object:
        return encoder.model(torch.tensor([tokenizer.encode(words).ids], device=device)).cpu()

    def of_patterns() -> object:
        return [weights.cpu() for weights in activations(encoder, [words], patterns).values()]

    return {
        "transformers": of_peer,
        "plain": plain,
        "patterns": of_patterns,
        "capture": lambda: capture(encoder, words),
    }


def interleaved(
    calls: dict[str, Callable[[], object]], device: torch.device, rounds: int, is_kept: bool
) -> dict[str, list[float]]:
    """The seconds of each call in each round, by name, without the first rounds; results are kept to the end if
    `is_kept`.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    kept = []
    for _ in range(rounds + WARM_UP):
        for name, call in calls.items():
            wait_for(device)
            start = perf_counter()
            result = call()
            wait_for(device)
            times[name].append(perf_counter() - start)
            if is_kept:
                kept.append(result)
            del result
    return {name: seconds[WARM_UP:] for name, seconds in times.items()}


def wait_for(device: torch.device) -> None:
    """Waits until the device has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
