"""A teacher that reads: an imported encoder, fine-tuned on reviews and sentences by `python -m model.train.fine_tune`.

Its answers are labels for the small review encoders (knowledge distillation, Hinton et al. 2015). It reads word order and
negation, which a classifier of single words (`model.train.teacher`) does not.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float, Int
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm

from ..checkpoint import load
from ..inputs.text import CLASS, PADDING, SEPARATOR
from ..transformer import Transformer
from .corpus import Corpus, pad_rows, tokenize
from .step import PRECISIONS, Precision, autocast
from .task_reviews import end_of_review

LONGEST = 256  # tokens of a review that are read, its last ones
TOKENS_AT_ONCE = 8192


class TeacherModel(nn.Module):
    """An encoder with a linear classifier of its pooled states into negative and positive."""

    def __init__(self, encoder: Transformer) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.config.d_model, 2)

    def forward(self, tokens: Int[Tensor, "batch position"]) -> Float[Tensor, " batch"]:
        """Log-odds that each text is positive."""
        states = self.encoder.encode(tokens)
        logits = self.output(self.encoder.pool(states, tokens)).float()
        return logits[:, 1] - logits[:, 0]


@dataclass(frozen=True, slots=True)
class ReadingTeacher:
    """The model and its tokenizer."""

    model: TeacherModel
    tokenizer: Tokenizer

    @classmethod
    def untrained(cls, encoder: Path) -> "ReadingTeacher":
        """The imported encoder in the folder `encoder`, with a random classifier.

        Raises ValueError if it does not read text.
        """
        loaded = load(encoder, "cpu")
        if loaded.tokenizer is None:
            raise ValueError(f"{encoder} reads no text: it cannot teach review encoders")
        return cls(TeacherModel(loaded.model).requires_grad_(True), loaded.tokenizer)

    @classmethod
    def trained(cls, encoder: Path, state: Path) -> "ReadingTeacher":
        """The fine-tuned teacher, from the imported encoder's folder and the `state` that the fine-tuning wrote."""
        teacher = cls.untrained(encoder)
        prefix = "model."
        weights = {
            name.removeprefix(prefix): value
            for name, value in load_file(state).items()
            if name.startswith(prefix)
        }
        parameters = dict(teacher.model.named_parameters())
        with torch.no_grad():
            for name, value in weights.items():
                parameters[name].copy_(value)
        return teacher

    def pad(self, rows: list[np.ndarray]) -> Int[Tensor, "batch position"]:
        """Token ids of texts as a padded batch with [CLS] and [SEP]; of long texts the end."""
        padding, first, last = map(self._id_of, (PADDING, CLASS, SEPARATOR))
        cut_rows = [np.array([first, *end_of_review(row, LONGEST - 2), last]) for row in rows]
        return pad_rows(cut_rows, padding)

    def _id_of(self, token: str) -> int:
        """Id of a special token. Raises ValueError if the tokenizer has none of that name."""
        token_id = self.tokenizer.token_to_id(token)
        if token_id is None:
            raise ValueError(f"the teacher's tokenizer has no {token}; an encoder of BERT's family is needed")
        return token_id

    def log_odds(
        self, texts: list[str], precision: Precision = "fp32", *, announced: bool = False
    ) -> Float[np.ndarray, " text"]:
        """Log-odds ln(p / (1 - p)) of the probability p that each text is positive."""
        corpus = tokenize(self.tokenizer, texts)
        lengths = np.minimum(corpus.lengths, LONGEST)
        order = np.argsort(lengths, kind="stable")  # batches of similar length need little padding
        result, start = np.empty(len(corpus), np.float32), 0
        with (
            torch.inference_mode(),
            autocast(torch.device("cpu"), precision),
            tqdm(total=len(corpus), disable=not announced, mininterval=5) as progress_bar,
        ):
            while start < len(order):
                batch = order[start : start + max(1, TOKENS_AT_ONCE // int(lengths[order[start]] + 8))]
                result[batch] = self.model(self.pad(rows_of(corpus, batch))).numpy()
                start += len(batch)
                progress_bar.update(len(batch))
        return result

    def faster_precision(self) -> Precision:
        """The precision in which a batch is read in less time."""
        texts = ["a film that is worth its time " * 16] * 16
        seconds = dict.fromkeys(PRECISIONS, float("inf"))
        for _ in range(2):  # the first round also loads kernels
            for precision in PRECISIONS:
                start = perf_counter()
                self.log_odds(texts, precision)
                seconds[precision] = min(seconds[precision], perf_counter() - start)
        return min(PRECISIONS, key=seconds.__getitem__)


def state_file(runs: Path) -> Path:
    """Where the fine-tuning keeps the teacher, in the folder of runs."""
    return runs / "teacher" / "state.safetensors"


def rows_of(corpus: Corpus, indices: np.ndarray) -> list[np.ndarray]:
    """Token ids of some texts of the corpus."""
    return [corpus[index] for index in indices]
