"""Measures the accuracy and loss of a checkpoint: `python -m model.evaluate NAME [--csv FILE]`.

Prints one JSON line with n, accuracy and loss (mean cross-entropy in nats). Digits are measured on the
MNIST test digits in `examples/`; text on a CSV with the columns text and label (0 or 1, or a class name).
`--record DATA` writes the figures into the checkpoint's history, where the app reads them.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from ..checkpoint import record_figures
from ..checkpoint.load_or_download import CHECKPOINT, exit_with_one_sentence, load_checkpoint
from ..device import release_memory
from ..experiments.batching import batch_size
from ..files.table_file import table_rows
from ..inputs.digits import examples, to_input, to_labels
from ..loaded import Loaded
from ..measures.predicted_classes import class_index_of

WINDOW = 4096  # texts in memory at the same time
BATCH = 64
LENGTHS = 32  # batches are padded to a multiple of it: many different lengths would fragment the memory


def classification_metrics(
    logits: Float[Tensor, "example class"], labels: Int[Tensor, " example"]
) -> dict[str, int | float]:
    """Number of examples `n`, `accuracy` from 0 to 1, and `loss`, the mean cross-entropy in nats."""
    return {
        "n": len(labels),
        "accuracy": (logits.argmax(dim=-1) == labels).double().mean().item(),
        "loss": functional.cross_entropy(logits.double(), labels).item(),
    }


def evaluate(
    loaded: Loaded, csv: Path | None = None
) -> tuple[Float[Tensor, "example class"], Int[Tensor, " example"]]:
    """Logits and labels of all examples, in the order of the data. Raises ValueError if the data do not suit the encoder."""
    if loaded.config.is_text and csv is None:
        raise ValueError(f"{loaded.name} reads text: name a CSV with the columns text and label")
    if not loaded.config.is_text and csv is not None:
        raise ValueError(f"{loaded.name} reads digits, which a CSV does not hold")
    if not loaded.config.n_classes:
        raise ValueError(f"{loaded.name} has no classes: there is no answer that could be right")
    batches, labels = _read_digits(loaded) if csv is None else _read_texts(loaded, csv)
    if labels.max() >= loaded.config.n_classes:
        n_classes, largest_label = loaded.config.n_classes, labels.max()
        raise ValueError(f"{loaded.name} has {n_classes} classes, the labels go up to {largest_label}")
    logits = torch.empty(len(labels), loaded.config.n_classes)
    with torch.inference_mode(), tqdm(total=len(labels), desc=loaded.name, disable=None) as progress_bar:
        for indices, inputs in batches:
            logits[indices] = loaded.model(inputs.to(loaded.device)).float().cpu()
            progress_bar.update(len(indices))
    return logits, labels


Batches = Iterator[tuple[Tensor, Tensor]]  # indices of some examples, and the encoder's input for them


def _read_digits(loaded: Loaded) -> tuple[Batches, Int[Tensor, " digit"]]:
    images, labels = examples()
    batches = torch.arange(len(images)).split(BATCH)
    return ((indices, to_input(images[indices], loaded.config)) for indices in batches), to_labels(labels)


def _read_texts(loaded: Loaded, csv: Path) -> tuple[Batches, Int[Tensor, " text"]]:
    """Batches of texts from a CSV, and the class indices of all texts.

    The labels are checked at once; the texts are read later, `WINDOW` at a time, with the batches.
    """
    labels = [
        class_index_of(row["label"], loaded.config.class_names) for _, row in table_rows(csv, "text", "label")
    ]
    if not labels:
        raise ValueError(f"{csv.name} holds no text")
    return _text_batches(loaded, csv), torch.tensor(labels)


def _text_batches(loaded: Loaded, csv: Path) -> Batches:
    """Yields batches of texts of similar length; batches of a single text if the encoder has no padding."""
    assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
    config, encode = loaded.config, loaded.tokenizer.encode
    texts, first = (row["text"] for _, row in table_rows(csv, "text", "label")), 0
    # a list of Python's numbers takes ten times as much
    while ids := [np.array(encode(text).ids, np.int32) for text in islice(texts, WINDOW)]:
        if not all(map(len, ids)):
            raise ValueError(
                f"{csv.name}: in text {first + list(map(len, ids)).index(0) + 1} there is no token"
            )
        lengths = np.array([len(row) for row in ids])
        # The longest first: the memory that it takes is enough for the rest.
        remaining_indices = np.argsort(-lengths, kind="stable")
        while len(remaining_indices):
            length, n = int(lengths[remaining_indices[0]]), 1
            if config.padding_id is not None:
                length = min(-(-length // LENGTHS) * LENGTHS, config.n_positions)
                n = min(batch_size(config, length), BATCH)
            batch_indices, remaining_indices = remaining_indices[:n], remaining_indices[n:]
            inputs = torch.full((len(batch_indices), length), config.padding_id or 0)
            for row, index in enumerate(batch_indices):
                inputs[row, : lengths[index]] = torch.from_numpy(ids[index])
            yield torch.from_numpy(first + batch_indices), inputs
        first += len(ids)
        release_memory()


def main(words: Sequence[str] | None = None, program: str = f"python -m {__package__}") -> None:
    parser = argparse.ArgumentParser(prog=program, description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", help=CHECKPOINT)
    parser.add_argument("--csv", type=Path, help="reviews, with the columns text and label")
    parser.add_argument(
        "--record", metavar="DATA", help="write the figures into the checkpoint, as measured on DATA"
    )
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args(words)
    torch.set_num_threads(os.cpu_count() or 1)  # the app's single thread would leave cores idle here
    with exit_with_one_sentence(program):
        loaded = load_checkpoint(arguments.checkpoint, arguments.device)
        logits, labels = evaluate(loaded, arguments.csv)
        figures = classification_metrics(logits, labels)
        print(json.dumps({"checkpoint": loaded.name, **figures}), flush=True)
        if arguments.record:
            # What the app sorts digits by: the class predicted, and the loss in nats.
            losses = functional.cross_entropy(logits, labels, reduction="none").numpy()
            by_example = {"predicted": logits.argmax(dim=-1).to(torch.uint8).numpy(), "loss": losses}
            figures["data"] = arguments.record
            record_figures(arguments.checkpoint, figures, None if loaded.config.is_text else by_example)


if __name__ == "__main__":
    main()
