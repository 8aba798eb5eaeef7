"""Attribution: what each token or patch adds to an answer, by the gradient with respect to the content.

The answer F is one number, as a function of the states behind the last block:

- The log-odds of a class, ln(p_c / Σ_{k≠c} p_k), in nats, for an encoder that chooses one of several classes.
- log P of a word in place of [MASK], in nats (`model.experiments.masked_word`).
- The cosine similarity of the pooled state with that of another input, which is held constant. Without another input it is
  the similarity with the input's own unchanged pooled state: 1 at the input, so that its fall is the cosine distance that
  other experiments measure for encoders without classes.

Content x is the embedding of a token or patch before positions are added (the hook point `embedding.content`). The baseline
x' has zeros at the positions that can be knocked out (`model.experiments.knock_out.removable_positions`), as Sundararajan et
al. propose for text: "the zero embedding vector" (section 3). Class token, registers, padding, and the [MASK] whose word is
the answer, have the same content in x and x', so their attribution is 0.

- Gradient × input: (x - x') · ∂F/∂x at the input (Shrikumar et al. 2016, "Not Just a Black Box"); with this baseline, x · ∂F/∂x.
- Integrated gradients: (x - x') · ∫ ∂F/∂x (x' + α (x - x')) dα from α = 0 to 1 (Sundararajan, Taly & Yan 2017, "Axiomatic
  Attribution for Deep Networks", equation 1), summed over the components of the content.

By the axiom of completeness (proposition 1) integrated gradients sum to F(x) - F(x'). Here the difference is measured each time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..capture import activations, evaluation_mode
from ..config import ModelConfig
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import cosine_distance
from ..record import Positions
from .batching import batch_size, repeated
from .knock_out import removable_positions, replacement_token_id
from .masked_word import MaskedWord, check_answer, log_probability

TOLERANCE = 1e-3  # of F(x) - F(x'), or of the smallest difference that is told from 0 where that is larger
NATS, COSINE = 1.0, 0.1  # these smallest differences
_REFINED = 1e-4  # the same: a part is halved until then, since errors of positions can cancel in the sum
MOST_GRADIENTS = 512
_N_PARTS = 4  # into which the path is cut at first
_N_POINTS = 8  # of the quadrature in each part, its ends included


@dataclass(frozen=True)
class Similarity:
    """The answer "cosine similarity with the pooled state of `other`", from -1 to 1; None means the input's own pooled state.

    >>> from loupe import Similarity, integrated_gradients, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> integrated_gradients(encoder, "A gripping film.", Similarity("A dull film.")).values.shape
    (6,)
    """

    other: InputLike | None = None


Explained = int | MaskedWord | Similarity | None  # an int is the number of a class
AnswerOfStates = Callable[[Float[Tensor, "input position d_model"], Tensor], Float[Tensor, " input"]]


def explained_answer(loaded: Loaded, model_input: InputLike, answer: Explained = None) -> AnswerOfStates:
    """The answer F as a function of the states after the final norm (`Transformer.encode`) and of their inputs.

    `answer` None means the class that is predicted for the input; for an encoder without classes, `Similarity()`. Raises as
    `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, and ValueError for a class that the encoder
    does not have.
    """
    model, config = loaded.model, loaded.config
    answer = answer_or_similarity(config, answer)
    if isinstance(answer, MaskedWord):
        word = answer
        check_answer(loaded, [model_input], word)
        return lambda states, _inputs: log_probability(model, states, word)[:, 0]
    if isinstance(answer, Similarity):
        other = model_input if answer.other is None else answer.other
        pooled = _without_gradient(loaded, other, model.pool)
        return lambda states, inputs: functional.cosine_similarity(model.pool(states, inputs), pooled, dim=-1)
    if not _has_classes(config):
        raise ValueError(f"{loaded.name} does not choose one of several classes: it has no class to explain")
    if answer is not None and answer not in range(config.n_classes):
        raise ValueError(f"{loaded.name} has the classes 0 to {config.n_classes - 1}, got {answer}")
    class_index = (
        int(_without_gradient(loaded, model_input, model.classify).argmax()) if answer is None else answer
    )
    return lambda states, inputs: _log_odds(model.classify(states, inputs), class_index)


def answer_or_similarity(config: ModelConfig, answer: Explained) -> Explained:
    """The `answer`; if it is None and the encoder has no classes, `Similarity()`."""
    return Similarity() if answer is None and not _has_classes(config) else answer


def similarity_falls(
    before: Float[np.ndarray, " d_pooled"],
    answers: Float[np.ndarray, "*interventions d_pooled"],
    other: Float[np.ndarray, " d_pooled"],
) -> Float[np.ndarray, " *interventions"]:
    """By how much the pooled states `answers` are less similar (cosine) to the pooled state `other` than `before` is."""
    return cosine_distance(answers, other) - cosine_distance(before, other)


def _has_classes(config: ModelConfig) -> bool:
    return config.chooses_class and config.n_classes > 1


def _without_gradient(
    loaded: Loaded, model_input: InputLike, output: Callable[[Tensor, Tensor], Tensor]
) -> Float[Tensor, "1 output"]:
    """`output(states, inputs)` for one input, computed without gradients and detached."""
    inputs, _ = prepare(loaded, model_input)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(loaded.model):
        return output(loaded.model.encode(inputs), inputs)


def _log_odds(logits: Float[Tensor, "input class"], class_index: int) -> Float[Tensor, " input"]:
    others = torch.cat((logits[:, :class_index], logits[:, class_index + 1 :]), dim=1)
    return logits[:, class_index] - others.logsumexp(dim=1)


class PathPoints(NamedTuple):
    """The answer F at points x' + α (x - x') of the path from the baseline to the input.

    `outputs` are the values of F, `products` is (x - x') · ∂F/∂x, summed over the components of each position.
    """

    outputs: Float[np.ndarray, " point"]
    products: Float[np.ndarray, "point position"]


Baseline = Literal["zeros", "mask", "padding"]
Path = Callable[[Float[np.ndarray, " point"]], PathPoints]  # from values of α


@dataclass(frozen=True)
class Attribution:
    """Attributions of all positions of one input (`values`), in nats or, of a similarity, in units of the cosine.

    `output` is F(x) and `baseline_output` F(x'). `least` is the unit: 1 nat, or 0.1 of a cosine; it bounds `allowed`.
    """

    values: Float[np.ndarray, " position"]
    output: float  # F(x)
    baseline_output: float  # F(x')
    n_gradients: int  # that were computed
    least: float = NATS  # the smallest difference of outputs that is told from 0

    @property
    def allowed(self) -> float:
        """The `gap` up to which attributions count as complete: 0.001 |F(x) - F(x')|, at least 0.001 nats, or 0.0001 of a cosine."""
        return TOLERANCE * max(self.least, abs(self.difference))

    @property
    def total(self) -> float:
        """The sum of the attributions."""
        return float(self.values.sum())

    @property
    def difference(self) -> float:
        """F(x) - F(x'), the sum of complete attributions."""
        return self.output - self.baseline_output

    @property
    def gap(self) -> float:
        """|sum of the attributions - (F(x) - F(x'))|."""
        return abs(self.total - self.difference)

    @property
    def is_complete(self) -> bool:
        """Whether the `gap` is at most `allowed`."""
        return self.gap <= self.allowed


def gradient_times_input(loaded: Loaded, model_input: InputLike, answer: Explained = None) -> Attribution:
    """Gradient × input of each position for the `answer`: the number of a class, a `MaskedWord` or a `Similarity`; None
    means the predicted class.

    In general its sum is not F(x) - F(x'). Raises as `model.experiments.attribution.explained_answer` does, and
    ValueError for the similarity with the input's own pooled state, whose gradient at the input is 0.

    >>> from loupe import gradient_times_input, load
    >>> gradient_times_input(load("checkpoints/imdb-pre-ln"), "A gripping film.").values.shape
    (6,)
    """
    read_answer = answer_or_similarity(loaded.config, answer)
    if isinstance(read_answer, Similarity) and read_answer.other is None:
        raise ValueError(
            "at the input the similarity with its own pooled state is largest, so its gradient is 0: "
            "compare with another input, or use integrated gradients"
        )
    outputs, products = answer_path(loaded, model_input, answer)(np.array([0.0, 1.0]))
    return Attribution(products[1], float(outputs[1]), float(outputs[0]), n_gradients=1)


def integrated_gradients(
    loaded: Loaded, model_input: InputLike, answer: Explained = None, *, baseline: Baseline = "zeros"
) -> Attribution:
    """Integrated gradients of each position for the `answer`: the number of a class, a `MaskedWord` or a `Similarity`; None
    means the predicted class, or for an encoder without classes the similarity with its own unchanged pooled state.

    Their sum is F(x) - F(x') up to the result's `gap`. Where MOST_GRADIENTS are not enough for completeness, `is_complete` is
    False. In the `baseline` x' the content of the explained positions is zero ("zeros"), or the embedding of the text's [MASK]
    ("mask") or padding token ("padding"). Raises as `model.experiments.attribution.explained_answer` does, and ValueError for an
    encoder without that token.

    >>> from loupe import integrated_gradients, load
    >>> integrated_gradients(load("checkpoints/imdb-pre-ln"), "A gripping film.").is_complete
    True
    """
    is_cosine = isinstance(answer_or_similarity(loaded.config, answer), Similarity)
    path = answer_path(loaded, model_input, answer, baseline)
    return integrate_along_path(path, COSINE if is_cosine else NATS)


def explained_positions(positions: Positions, answer: Explained = None) -> tuple[int, ...]:
    """The positions whose content is replaced in the baseline: all that can be knocked out except the [MASK] of the answer."""
    kept = answer.position if isinstance(answer, MaskedWord) else None
    return tuple(position for position in removable_positions(positions) if position != kept)


def integrate_along_path(path: Path, least: float = NATS) -> Attribution:
    """Attribution by the integral of `PathPoints.products` along the path, refined until the values sum to F(x) - F(x').

    Each interval of α is integrated by the Gauss-Lobatto rule, whose points include both ends, so that the error of the
    interval's sum is known. The intervals with the largest errors are halved until all errors together are at most a tenth
    of `Attribution.allowed`, or MOST_GRADIENTS are used up. (One rule over the whole path, with evenly spaced or
    Gauss-Legendre points, spends most of its gradients where the output hardly changes.) `least` is that of `Attribution`.
    """
    edges = np.linspace(0, 1, _N_PARTS + 1)
    parts = _integrate_parts(path, edges[:-1], edges[1:])
    n_gradients = _N_PARTS * _N_POINTS
    while True:
        first, last = min(parts, key=lambda part: part.start), max(parts, key=lambda part: part.end)
        total_error = _total_error(parts)
        allowed = _REFINED * max(least, abs(last.end_output - first.start_output))
        parts.sort(key=lambda part: part.error)
        n_most = (MOST_GRADIENTS - n_gradients) // (2 * _N_POINTS)
        n_kept = len(parts)
        while (
            n_kept
            and len(parts) - n_kept < n_most
            and _total_error(parts[:n_kept]) > max(allowed / 2, total_error / 4)
        ):
            n_kept -= 1
        halved = parts[n_kept:]
        if total_error <= allowed or not halved:
            values = np.sum([part.integral for part in parts], axis=0)
            return Attribution(values, last.end_output, first.start_output, n_gradients, least)
        starts, ends = (np.array([getattr(part, edge) for part in halved]) for edge in ("start", "end"))
        middles = (starts + ends) / 2
        parts = parts[:n_kept] + _integrate_parts(path, np.append(starts, middles), np.append(middles, ends))
        n_gradients += 2 * _N_POINTS * len(halved)


def answer_path(
    loaded: Loaded, model_input: InputLike, answer: Explained = None, baseline_kind: Baseline = "zeros"
) -> Path:
    """A function that computes `PathPoints` at given values of α, from 0 (baseline) to 1 (input). Raises as `integrated_gradients`."""
    model, config = loaded.model, loaded.config
    output_of = explained_answer(loaded, model_input, answer)
    inputs, positions = prepare(loaded, model_input)
    content = activations(loaded, [model_input], ["embedding.content"])["embedding.content"]
    explained = explained_positions(positions, answer)
    baseline = baseline_content(loaded, inputs, content, explained, baseline_kind)
    direction = content - baseline
    n_at_once = max(1, batch_size(config, len(positions)) // config.n_layers)

    def path(alphas: Float[np.ndarray, " point"]) -> PathPoints:
        shares = torch.tensor(alphas, dtype=content.dtype, device=content.device)[:, None, None]
        outputs, products = [], []
        with torch.inference_mode(False), torch.enable_grad(), evaluation_mode(model):
            for chunk in shares.split(n_at_once):
                points = (baseline + chunk * direction).clone().requires_grad_()
                batch = repeated(inputs, len(points))
                with watch(model, {"embedding.content": partial(_replaced_by, points)}):
                    output = output_of(model.encode(batch), batch)
                # The points do not see each other, so the gradient of the sum is each one's own.
                (gradient,) = torch.autograd.grad(output.sum(), points)
                outputs.append(output.detach().double().cpu().numpy())
                products.append((gradient.double() * direction.double()).sum(dim=-1).cpu().numpy())
        return PathPoints(np.concatenate(outputs), np.concatenate(products))

    return path


@torch.inference_mode()
def baseline_content(
    loaded: Loaded,
    inputs: Tensor,
    content: Float[Tensor, "1 position d_model"],
    positions: Sequence[int],
    kind: Baseline,
) -> Float[Tensor, "1 position d_model"]:
    """The `content` of the `inputs`, with the baseline of this `kind` at the `positions`; token types stay the same.

    Raises ValueError if the encoder has no [MASK] or padding token for this kind.
    """
    if kind not in get_args(Baseline):
        raise ValueError(f"the baseline must be one of {', '.join(get_args(Baseline))}, got {kind!r}")
    vocab_size, replaced = loaded.config.vocab_size, list(positions)
    token_ids = {"mask": replacement_token_id(loaded, "mask"), "padding": loaded.config.padding_id}
    baseline = content.clone()
    if kind == "zeros":
        baseline[:, replaced] = 0
    elif vocab_size is None or (token_id := token_ids[kind]) is None:
        raise ValueError(f"{loaded.name} has no token for the baseline {kind!r}")
    else:
        other = inputs.clone()
        other[:, replaced] += token_id - inputs[:, replaced] % vocab_size
        baseline[:, replaced] = loaded.model.embedding.look_up(other)[:, replaced]
    return baseline


def _replaced_by(points: Tensor, _content: Tensor) -> Tensor:
    """Watcher that puts `points` in place of the content."""
    return points


class _Part(NamedTuple):
    """An interval of the path, from α = `start` to `end`: the integral of the products over it, and F at both ends."""

    start: float
    end: float
    integral: Float[np.ndarray, " position"]
    start_output: float
    end_output: float

    @property
    def error(self) -> float:
        """|sum of the integral - (`end_output` - `start_output`)|."""
        return abs(float(self.integral.sum()) - (self.end_output - self.start_output))


def _integrate_parts(
    path: Path, starts: Float[np.ndarray, " part"], ends: Float[np.ndarray, " part"]
) -> list[_Part]:
    points, weights = _gauss_lobatto_rule(_N_POINTS)
    alphas = starts[:, None] + (ends - starts)[:, None] * points
    outputs, products = path(alphas.ravel())
    outputs = outputs.reshape(alphas.shape)
    integrals = np.einsum("n,pnk,p->pk", weights, products.reshape(*alphas.shape, -1), ends - starts)
    return [
        _Part(float(start), float(end), integral, float(values[0]), float(values[-1]))
        for start, end, integral, values in zip(starts, ends, integrals, outputs, strict=True)
    ]


def _gauss_lobatto_rule(n: int) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """The `n` points and weights of the Gauss-Lobatto rule on [0, 1]: 0, 1 and the roots of P'_{n-1}; 1 / (n (n-1) P²_{n-1})."""
    legendre = np.polynomial.Legendre.basis(n - 1)
    points = np.concatenate(([-1.0], np.sort(legendre.deriv().roots().real), [1.0]))
    return (points + 1) / 2, 1 / (n * (n - 1) * legendre(points) ** 2)


def _total_error(parts: list[_Part]) -> float:
    return sum(part.error for part in parts)
