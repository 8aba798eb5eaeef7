"""Training tasks on reviews: predicting masked tokens, and classifying the sentiment."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from ..evaluate.__main__ import classification_metrics
from ..transformer import Transformer
from .corpus import Corpus, pad_rows, similar_lengths
from .step import mean_over_processes, world_size
from .task import Batch, device_of, seeded_generator

IGNORED = -100  # target where nothing is masked, as in torch.nn.functional.cross_entropy
PAD, CLS, SEP, MASK, FIRST_WORD = 0, 2, 3, 4, 5  # token ids, as in model.inputs.text.SPECIAL_TOKENS


class TokenMasking:
    """Hides a share of the tokens as in BERT: 80 % of these become [MASK], 10 % a random token, and 10 % are not changed."""

    def __init__(self, vocab_size: int, share: float) -> None:
        self.vocab_size, self.share = vocab_size, share

    def hide(
        self, tokens: Int[Tensor, "batch position"], random: torch.Generator
    ) -> tuple[Int[Tensor, "batch position"], Int[Tensor, "batch position"]]:
        """The token ids with some of them hidden, and the targets: the id of each hidden token, and IGNORED elsewhere."""
        is_hidden = (torch.rand(tokens.shape, generator=random) < self.share) & (tokens >= FIRST_WORD)
        action = torch.rand(tokens.shape, generator=random)
        random_tokens = torch.randint(FIRST_WORD, self.vocab_size, tokens.shape, generator=random)
        replacements = torch.where(action < 0.8, MASK, torch.where(action < 0.9, random_tokens, tokens))
        return torch.where(is_hidden, replacements, tokens), torch.where(is_hidden, tokens, IGNORED)


class MaskedTokens:
    """Masked-token pre-training (Devlin et al. 2019) on a random window of each review."""

    n_glance, n_check, drop_last = 50, 200, True

    def __init__(self, train: Corpus, held_out: Corpus, masking: TokenMasking, *, window: int) -> None:
        self.train, self.held_out, self.masking, self.window = train, held_out, masking, window
        self.n_examples = len(train)
        self._batches = EpochBatches(np.minimum(train.lengths, window - 2))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        random = np.random.default_rng((seed, step))
        rows = [self._window(self.train[index], random) for index in self._batches(seed, step, size)]
        return self.masking.hide(pad_rows(rows, PAD), seeded_generator(seed, step, 2))

    def _window(self, ids: np.ndarray, random: np.random.Generator) -> np.ndarray:
        start = random.integers(max(0, len(ids) - (self.window - 2)) + 1)
        return with_class_and_separator(ids[start : start + self.window - 2])

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        return masked_loss(model, model.encode(batch[0]), batch[1])

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        """Results on the beginnings of held-out reviews, in which the same tokens are masked every time."""
        logits, targets = [], []
        n = min(max_examples, len(self.held_out))
        for start in range(0, n, 50):
            rows = [
                with_class_and_separator(self.held_out[index][: self.window - 2])
                for index in range(start, min(start + 50, n))
            ]
            tokens, hidden = self.masking.hide(pad_rows(rows, PAD), seeded_generator(start))
            states = model.encode(tokens.to(device_of(model)))[(hidden != IGNORED).to(device_of(model))]
            logits.append(model.predict_tokens(states).float().cpu())
            targets.append(hidden[hidden != IGNORED])
        return classification_metrics(torch.cat(logits), torch.cat(targets))


class Sentiment:
    """Classification of reviews by sentiment; masked tokens are predicted as well, so that this is not forgotten.

    The training labels are probabilities of being positive.
    """

    n_glance, n_check, drop_last = 200, 500, True

    def __init__(
        self,
        train: tuple[Corpus, Float[Tensor, " train"]],
        held_out: tuple[Corpus, Int[Tensor, " held_out"]],
        masking: TokenMasking,
        *,
        n_positions: int,
        masked_token_weight: float,
    ) -> None:
        (self.corpus, self.labels), self.held_out, self.masking = train, held_out, masking
        self.n_positions, self.masked_token_weight = n_positions, masked_token_weight
        self.n_examples = len(self.corpus)
        self._batches = EpochBatches(np.minimum(self.corpus.lengths, n_positions - 2))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        indices = self._batches(seed, step, size)
        tokens = pad_ends([self.corpus[index] for index in indices], self.n_positions)
        return *self.masking.hide(tokens, seeded_generator(seed, step, 3)), self.labels[indices]

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        tokens, hidden, labels = batch
        states = model.encode(tokens)
        targets = torch.stack((1 - labels, labels), dim=-1)
        loss = functional.cross_entropy(model.classify(states, tokens).float(), targets)
        if not self.masked_token_weight:
            return loss
        return loss + self.masked_token_weight * masked_loss(model, states, hidden)

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        pad = partial(pad_ends, n_positions=self.n_positions)
        return classify_reviews(model, *self.held_out, pad, max_examples)


class TrueLabels:
    """Classification of reviews by their true labels, from the beginning of each review, without special tokens.

    It is evaluated on held-out reviews of other films and, as in the article, on a random tenth of the reviews; other reviews of
    their films are in the training data.
    """

    n_glance, n_check, drop_last = 200, 2500, True

    def __init__(
        self,
        train: tuple[Corpus, Int[Tensor, " train"]],
        held_out: tuple[Corpus, Int[Tensor, " held_out"]],
        random_tenth: tuple[Corpus, Int[Tensor, " held_out"]],
        *,
        n_positions: int,
    ) -> None:
        self.train, self.held_out, self.random_tenth = train, held_out, random_tenth
        self.n_positions = n_positions
        self.n_examples = len(train[0])
        self._batches = EpochBatches(np.minimum(train[0].lengths, n_positions))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        indices = self._batches(seed, step, size)
        return self._pad([self.train[0][index] for index in indices]), self.train[1][indices]

    def _pad(self, rows: Sequence[np.ndarray]) -> Int[Tensor, "batch position"]:
        return pad_rows([ids[: self.n_positions] for ids in rows], PAD)

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        tokens, labels = batch
        return functional.cross_entropy(model(tokens).float(), labels)

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        figures, of_random_tenth = (
            classify_reviews(model, *reviews, self._pad, max_examples)
            for reviews in (self.held_out, self.random_tenth)
        )
        return figures | {"accuracy, a random tenth": of_random_tenth["accuracy"]}


def classify_reviews(
    model: Transformer,
    corpus: Corpus,
    labels: Int[Tensor, " review"],
    pad: Callable[[Sequence[np.ndarray]], Int[Tensor, "batch position"]],
    max_examples: int,
) -> dict[str, int | float]:
    """Number of reviews `n`, `accuracy` and `loss` (nats per review) of `model` on the first `max_examples` reviews.

    `pad` makes a padded batch from the token ids of several reviews.
    """
    order = np.argsort(
        corpus.lengths[:max_examples], kind="stable"
    )  # batches of similar length need little padding
    batches = [order[start : start + 50] for start in range(0, len(order), 50)]
    logits = [
        model(pad([corpus[index] for index in batch]).to(device_of(model))).float().cpu() for batch in batches
    ]
    return classification_metrics(torch.cat(logits), labels[order])


class EpochBatches:
    """Returns the indices of the examples in the batch of a step; lengths in a batch are similar, and each epoch's order is random."""

    def __init__(self, lengths: np.ndarray) -> None:
        self.n_examples = len(lengths)
        self._epoch_batches = lru_cache(maxsize=1)(partial(similar_lengths, lengths))

    def __call__(self, seed: int, step: int, size: int) -> np.ndarray:
        epoch, index = divmod(step, self.n_examples // size)
        return self._epoch_batches(size, (seed, epoch))[index]


def masked_loss(
    model: Transformer,
    states: Float[Tensor, "batch position d_model"],
    targets: Int[Tensor, "batch position"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy in nats over the hidden tokens of all processes; 0 if no token is hidden."""
    is_hidden = targets != IGNORED
    logits = model.predict_tokens(states[is_hidden]).float()
    total_loss = functional.cross_entropy(logits, targets[is_hidden], reduction="sum")
    return total_loss / mean_over_processes(is_hidden.sum()).clamp(min=1 / world_size())


def pad_ends(rows: Sequence[np.ndarray], n_positions: int) -> Int[Tensor, "batch position"]:
    """Token ids of reviews as a padded batch with [CLS] and [SEP]; of long reviews only the end is kept (`end_of_review`)."""
    return pad_rows([with_class_and_separator(end_of_review(ids, n_positions - 2)) for ids in rows], PAD)


def end_of_review(ids: np.ndarray, n_tokens: int) -> np.ndarray:
    """The last `n_tokens` token ids of a review, since its verdict is mostly at the end; the tokenizer truncates in the same way."""
    return ids[-n_tokens:]


def with_class_and_separator(ids: np.ndarray) -> np.ndarray:
    """The token ids with [CLS] before and [SEP] after."""
    return np.concatenate(([CLS], ids, [SEP]))
