"""Fine-tunes an imported encoder on reviews and sentences: `python -m model.train.fine_tune ENCODER --data FOLDER`.

The result teaches the small review encoders (`model.train.reading_teacher`) and is not a checkpoint of this project. If
the command is stopped, the same command resumes the run.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW
from tqdm import tqdm

from ..checkpoint.cli import exit_with_one_sentence
from ..theory.learning_rate import learning_rate
from .corpus import Corpus, tokenize
from .datasets import edited_reviews, phrases
from .edits import changed_sentences
from .negation import negation_sentences
from .prepare_reviews import Reviews, split_reviews, without_held_out_pairs
from .prepare_sentences import POSITIVE, held_out_sets, select_phrases
from .reading_teacher import LONGEST, ReadingTeacher, rows_of, state_file
from .run_state import load_state, save_state
from .step import PRECISIONS, Precision, autocast
from .task_reviews import EpochBatches

LEARNING_RATE, WARMUP, WEIGHT_DECAY = 8e-5, 0.06, 0.01
STEPS = 1000
SURE = 0.98  # probability of a true label; certainty would only be learned by heart
MADE_SENTENCES = 40_000
SAVE_EVERY, CHECK_EVERY = 50, 250  # steps
CHECKED = 300  # texts of each held-out set, during the run


@dataclass(frozen=True, slots=True)
class Part:
    """Texts of one kind with the probability of being positive of each; every step takes `size` of them."""

    corpus: Corpus
    positive: Float[np.ndarray, " text"]
    size: int
    are_pairs: bool = (
        False  # texts 2i and 2i + 1 are the negative and the positive version of one; `size` counts pairs
    )

    def batches(self) -> EpochBatches:
        """Indices of the texts, or pairs, of each step."""
        lengths = np.minimum(self.corpus.lengths, LONGEST)
        return EpochBatches(lengths.reshape(-1, 2).max(axis=1) if self.are_pairs else lengths)

    def loss(self, teacher: ReadingTeacher, indices: np.ndarray) -> Float[Tensor, ""]:
        """Cross-entropy in nats; of pairs also, half as much, that of telling the positive version by the difference."""
        if self.are_pairs:
            indices = (indices[:, None] * 2 + np.arange(2)).ravel()
        log_odds = teacher.model(teacher.pad(rows_of(self.corpus, indices)))
        targets = torch.from_numpy(self.positive[indices])
        loss = functional.binary_cross_entropy_with_logits(log_odds, targets)
        if not self.are_pairs:
            return loss
        negative, positive = log_odds.unflatten(0, (-1, 2)).unbind(1)
        return loss + 0.5 * functional.softplus(negative - positive).mean()


def training_parts(
    teacher: ReadingTeacher, reviews: Reviews, treebank: pd.DataFrame, edited: pd.DataFrame
) -> list[Part]:
    """What each step learns from: reviews, short texts, edited sentences, edited reviews."""
    training = treebank[treebank.split == "train"]
    selected, sentences = select_phrases(training), training[training.whole == 1]
    made = negation_sentences(MADE_SENTENCES, training, seed=0)
    rated = pd.concat([selected, sentences, sentences])
    labelled = np.flatnonzero(reviews.labels >= 0)
    versions = edited[edited.split == "train"].pivot(index="pair", columns="label", values="text")
    pairs = list(zip(versions[0], versions[1], strict=True))
    edits = [sentences for texts in pairs for sentences in changed_sentences(*texts)]

    def part(texts: list[str], positive: np.ndarray, size: int) -> Part:
        return Part(tokenize(teacher.tokenizer, texts), positive.astype(np.float32), size)

    def of_pairs(pairs: list[tuple[str, str]], size: int) -> Part:
        corpus = tokenize(teacher.tokenizer, [text for pair in pairs for text in pair])
        positive = np.tile([1 - SURE, SURE], len(pairs)).astype(np.float32)
        return Part(corpus, positive, size, are_pairs=True)

    return [
        part(
            [reviews.texts[index] for index in labelled],
            np.where(reviews.labels[labelled] > 0, SURE, 1 - SURE),
            16,
        ),
        part(
            [*rated.text, *(text for text, _ in made)],
            np.concatenate([POSITIVE[rated.rating], [positive for _, positive in made]]),
            112,
        ),
        of_pairs(edits, 6),
        of_pairs(pairs, 1),
    ]


def evaluate(
    teacher: ReadingTeacher, held_out: dict[str, pd.DataFrame], precision: Precision
) -> dict[str, float]:
    """Accuracy on each held-out set, by its name."""
    return {
        name: float(np.mean((teacher.log_odds(table.text.tolist(), precision) > 0) == table.label))
        for name, table in held_out.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.train.fine_tune", description=__doc__.splitlines()[0]
    )
    parser.add_argument("encoder", type=Path, help="folder of the imported encoder, such as MiniLM")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of unfinished runs")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="fp32", help="bf16 is faster on processors that support it"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    with exit_with_one_sentence("model.train.fine_tune"):
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Prepares the data, trains or resumes, and prints the accuracy on the held-out sets."""
    torch.manual_seed(0)
    teacher = ReadingTeacher.untrained(arguments.encoder)
    edited, treebank = edited_reviews(arguments.data), phrases(arguments.data)
    reviews = split_reviews(arguments.data, arguments.runs, excluded=edited.text[edited.split == "dev"])
    held_out = held_out_sets(treebank, edited)
    held_out["reviews"] = pd.DataFrame({"text": reviews.held_out_texts, "label": reviews.held_out_labels})
    parts = training_parts(teacher, reviews, treebank, without_held_out_pairs(edited, reviews))
    train(teacher, parts, held_out, state_file(arguments.runs), arguments)
    print(evaluate(teacher, held_out, arguments.precision))


def train(
    teacher: ReadingTeacher,
    parts: list[Part],
    held_out: dict[str, pd.DataFrame],
    state: Path,
    arguments: argparse.Namespace,
) -> None:
    """Trains the teacher for `arguments.steps` steps, from the step that `state` holds."""
    n_steps, precision = arguments.steps, arguments.precision
    parameters = list(teacher.model.parameters())
    optimizer = AdamW(
        [
            {"params": [values for values in parameters if values.ndim > 1], "weight_decay": WEIGHT_DECAY},
            {"params": [values for values in parameters if values.ndim < 2], "weight_decay": 0.0},
        ],
        fused=True,
    )
    progress = load_state(state, teacher.model, [optimizer], {"steps": n_steps})
    batches = [part.batches() for part in parts]
    steps = tqdm(range(progress.step, n_steps), initial=progress.step, total=n_steps, mininterval=10)
    for step in steps:
        rate = learning_rate(step, n_steps, LEARNING_RATE, int(WARMUP * n_steps), falls=True)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        losses = []
        for seed, (part, indices) in enumerate(zip(parts, batches, strict=True)):
            with autocast(torch.device("cpu"), precision):
                loss = part.loss(teacher, indices(seed, step, part.size))
            loss.backward()
            losses.append(loss.item())
        clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        progress.step = step + 1
        steps.set_postfix(loss=f"{sum(losses):.3f}")
        if progress.step % SAVE_EVERY == 0 or progress.step == n_steps:
            save_state(state, progress, teacher.model, [optimizer])
        if progress.step % CHECK_EVERY == 0 and progress.step < n_steps:
            few = {name: table.head(CHECKED) for name, table in held_out.items()}
            steps.write(str(evaluate(teacher, few, precision)))


if __name__ == "__main__":
    main()
