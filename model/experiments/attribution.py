"""Attribution: what each token or patch adds to an answer, by the gradient with respect to the content.

The answer F is one number, as a function of the states behind the last block:

- The log-odds of a class, ln(p_c / Σ_{k≠c} p_k), in nats, for an encoder that chooses one of several classes.
- log P of a word in place of [MASK], in nats (`model.experiments.masked_word`).
- The cosine similarity of the pooled state with that of another input, which stays as it is: what sentence encoders are
  compared by. Without another input it is the similarity with the input's own pooled state, which is 1 at the input, so its
  fall is the cosine distance that other experiments measure for encoders without classes.

Content is what a token or patch brings before positions are added (the hook point
`embedding.content`), so a position's attribution holds all it brings. The baseline x' has zeros at the positions that can be
knocked out (`model.experiments.knock_out.removable_positions`), as Sundararajan et al. propose for text: "the zero embedding
vector" (section 3). Class token, registers and padding keep their content in it and get 0, and so does the [MASK] whose word
is the answer: without it the encoder would not be asked for a word.

- Gradient × input: (x - x') · ∂F/∂x at the input (Shrikumar et al. 2016, "Not Just a Black Box"); with this baseline, x · ∂F/∂x.
- Integrated gradients: (x - x') · ∫ ∂F/∂x (x' + α (x - x')) dα from α = 0 to 1 (Sundararajan, Taly & Yan 2017, "Axiomatic
  Attribution for Deep Networks", equation 1), summed over the components of the content.

Their axiom of completeness (proposition 1) says that integrated gradients sum to F(x) - F(x'). Here it is measured each time.
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
    """The answer "cosine similarity with the pooled state of `other`", from -1 to 1; None: with the input's own, unchanged.

    >>> from loupe import Similarity, integrated_gradients, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> integrated_gradients(encoder, "A gripping film.", Similarity("A dull film.")).values.shape
    (6,)
    """

    other: InputLike | None = None


Explained = int | MaskedWord | Similarity | None  # an int is the number of a class
OfStates = Callable[[Float[Tensor, "input position d_model"], Tensor], Float[Tensor, " input"]]


def explained_answer(loaded: Loaded, model_input: InputLike, answer: Explained = None) -> OfStates:
    """F as a function of the states behind the final norm (`Transformer.encode`) and the inputs that they are of.

    `answer` None means the class that is predicted for the input; for an encoder without classes, `Similarity()`. Raises as
    `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, and ValueError for a class that the encoder
    does not have.
    """
    model, config = loaded.model, loaded.config
    answer = given_answer(config, answer)
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
    followed = (
        int(_without_gradient(loaded, model_input, model.classify).argmax()) if answer is None else answer
    )
    return lambda states, inputs: _log_odds(model.classify(states, inputs), followed)


def given_answer(config: ModelConfig, answer: Explained) -> Explained:
    """The `answer`, or for an encoder without classes `Similarity()` in place of None."""
    return Similarity() if answer is None and not _has_classes(config) else answer


def similarity_falls(
    before: Float[np.ndarray, " d_pooled"],
    answers: Float[np.ndarray, "*interventions d_pooled"],
    other: Float[np.ndarray, " d_pooled"],
) -> Float[np.ndarray, " *interventions"]:
    """Falls of the cosine similarity with the pooled state `other`, from the pooled state `before` to each of `answers`."""
    return cosine_distance(answers, other) - cosine_distance(before, other)


def _has_classes(config: ModelConfig) -> bool:
    return config.chooses_class and config.n_classes > 1


def _without_gradient(
    loaded: Loaded, model_input: InputLike, output: Callable[[Tensor, Tensor], Tensor]
) -> Float[Tensor, "1 output"]:
    """The `output` of one input, which is read off its states."""
    inputs, _ = prepare(loaded, model_input)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(loaded.model):
        return output(loaded.model.encode(inputs), inputs)


def _log_odds(logits: Float[Tensor, "input class"], followed: int) -> Float[Tensor, " input"]:
    others = torch.cat((logits[:, :followed], logits[:, followed + 1 :]), dim=1)
    return logits[:, followed] - others.logsumexp(dim=1)


class OnPath(NamedTuple):
    """The function F at points x' + α (x - x') of the path from the baseline to the input."""

    outputs: Float[np.ndarray, " point"]
    # (x - x') · ∂F/∂x, summed over the components of a position
    products: Float[np.ndarray, "point position"]


Baseline = Literal["zeros", "mask", "padding"]
Path = Callable[[Float[np.ndarray, " point"]], OnPath]  # from values of α


@dataclass(frozen=True)
class Attribution:
    """The attributions of all positions of one input, and the outputs that they explain; in nats, or as cosines."""

    values: Float[np.ndarray, " position"]
    output: float  # F(x)
    baseline_output: float  # F(x')
    n_gradients: int  # that were computed
    least: float = NATS  # the smallest difference of outputs that is told from 0

    @property
    def allowed(self) -> float:
        """The largest gap of complete attributions: 0.001 of F(x) - F(x'), but not less than 0.001 nats, or 0.0001 of a cosine."""
        return TOLERANCE * max(self.least, abs(self.difference))

    @property
    def total(self) -> float:
        """The sum of the attributions."""
        return float(self.values.sum())

    @property
    def difference(self) -> float:
        """F(x) - F(x'), which complete attributions sum to."""
        return self.output - self.baseline_output

    @property
    def gap(self) -> float:
        """How far the sum of the attributions is from F(x) - F(x')."""
        return abs(self.total - self.difference)

    @property
    def is_complete(self) -> bool:
        """Whether the gap is at most what is `allowed`."""
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
    read_answer = given_answer(loaded.config, answer)
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
    False. In the `baseline` x' the explained positions hold no content, or a text's [MASK] or padding token. Raises as
    `model.experiments.attribution.explained_answer` does, and ValueError for an encoder without that token.

    >>> from loupe import integrated_gradients, load
    >>> integrated_gradients(load("checkpoints/imdb-pre-ln"), "A gripping film.").is_complete
    True
    """
    is_cosine = isinstance(given_answer(loaded.config, answer), Similarity)
    path = answer_path(loaded, model_input, answer, baseline)
    return integrate(path, COSINE if is_cosine else NATS)


def explained_positions(positions: Positions, answer: Explained = None) -> tuple[int, ...]:
    """The positions that have no content in the baseline: those that can be knocked out, but for the [MASK] of the answer."""
    kept = answer.position if isinstance(answer, MaskedWord) else None
    return tuple(position for position in removable_positions(positions) if position != kept)


def integrate(path: Path, least: float = NATS) -> Attribution:
    """Integral of the products along the path, refined until its sum is the difference of the outputs.

    Each part of the path is integrated by Gauss and Lobatto's rule, whose points include both ends: so how far the part's
    integral is from complete is known exactly. Parts that are off most are halved until the errors of all parts together are
    at most a tenth of what completeness allows, or MOST_GRADIENTS are used up. (One rule over the whole path, of evenly
    spaced points or Gauss and Legendre's, spends most of its gradients where the output hardly changes.)
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
    """The answer along the path from the baseline to the input, with gradients. Raises as `integrated_gradients` does."""
    model, config = loaded.model, loaded.config
    output_of = explained_answer(loaded, model_input, answer)
    inputs, positions = prepare(loaded, model_input)
    content = activations(loaded, [model_input], ["embedding.content"])["embedding.content"]
    explained = explained_positions(positions, answer)
    baseline = baseline_content(loaded, inputs, content, explained, baseline_kind)
    direction = content - baseline
    n_at_once = max(1, batch_size(config, len(positions)) // config.n_layers)

    def path(alphas: Float[np.ndarray, " point"]) -> OnPath:
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
        return OnPath(np.concatenate(outputs), np.concatenate(products))

    return path


@torch.inference_mode()
def baseline_content(
    loaded: Loaded,
    inputs: Tensor,
    content: Float[Tensor, "1 position d_model"],
    positions: Sequence[int],
    kind: Baseline,
) -> Float[Tensor, "1 position d_model"]:
    """The `content` of the `inputs` with that of the baseline at the `positions`; token types stay.

    Raises ValueError for an encoder without the token of this kind.
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
    return points


class _Part(NamedTuple):
    """A part of the path, from α = `start` to `end`, with the outputs at both ends."""

    start: float
    end: float
    integral: Float[np.ndarray, " position"]
    start_output: float
    end_output: float

    @property
    def error(self) -> float:
        """How far the sum of the integral is from the difference of the outputs at both ends."""
        return abs(float(self.integral.sum()) - (self.end_output - self.start_output))


def _integrate_parts(
    path: Path, starts: Float[np.ndarray, " part"], ends: Float[np.ndarray, " part"]
) -> list[_Part]:
    points, weights = _lobatto(_N_POINTS)
    alphas = starts[:, None] + (ends - starts)[:, None] * points
    outputs, products = path(alphas.ravel())
    outputs = outputs.reshape(alphas.shape)
    integrals = np.einsum("n,pnk,p->pk", weights, products.reshape(*alphas.shape, -1), ends - starts)
    return [
        _Part(float(start), float(end), integral, float(values[0]), float(values[-1]))
        for start, end, integral, values in zip(starts, ends, integrals, outputs, strict=True)
    ]


def _lobatto(n: int) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """Points and weights of the Gauss-Lobatto rule on [0, 1]: the ends and the roots of P'_{n-1}, with 1 / (n (n-1) P²_{n-1})."""
    legendre = np.polynomial.Legendre.basis(n - 1)
    points = np.concatenate(([-1.0], np.sort(legendre.deriv().roots().real), [1.0]))
    return (points + 1) / 2, 1 / (n * (n - 1) * legendre(points) ** 2)


def _total_error(parts: list[_Part]) -> float:
    return sum(part.error for part in parts)
