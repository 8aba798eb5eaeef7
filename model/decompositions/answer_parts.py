"""`answer_parts`: one number of an encoder's answer, such as a logit, as a sum over the parts of the residual stream."""

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..capture import evaluation_mode
from ..experiments.attribution import AnswerOfStates, Explained, Similarity
from ..experiments.masked_word import MaskedWord, check_answer
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .state_parts import POOLING_FEED_FORWARD, divide_among_parts, forward_pass, parts_frame


@dataclass(frozen=True, slots=True, eq=False)
class AnswerParts:
    """One number of an answer, such as a logit, as a sum over the parts of the residual stream."""

    quantity: str  # what the number is: "logit of positive minus negative"
    frame: pd.DataFrame  # a row for each part: part (its name), kind, layer, head, read_from, value
    recorded: float  # the number, as the forward pass computed it

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return float(self.frame["value"].sum())

    @property
    def gap(self) -> float:
        """|`total` - `recorded`|: how far the sum of the parts is from the number that the forward pass computed."""
        return abs(self.total - self.recorded)

    @property
    def early_share(self) -> float:
        """Share, 0 to 1, that the first half of the L layers (those below ⌊L / 2⌋) has in the sum of |value| over all
        heads and feed-forwards.
        """
        sublayer_rows = self.frame.dropna(subset="layer")
        sizes = sublayer_rows.groupby(["layer", "kind", "head"], dropna=False)["value"].sum().abs()
        is_early = sizes.index.get_level_values("layer") < (sublayer_rows["layer"].max() + 1) // 2
        return float(sizes[is_early].sum() / (sizes.sum() or 1.0))


def answer_parts(
    loaded: Loaded, model_input: InputLike, answer: Explained = None, *, by_token: bool = False
) -> AnswerParts:
    """One number y of the answer as a sum over the parts p of the final states: y = Σ_p value_p, up to rounding (the result's `gap`).

    value_p = Σ_i g_i · x_i^p, where x_i^p is part p of the state at position i, and g_i the gradient of y with respect to that state.
    For it the following is held constant, so that y is linear: the σ of every norm (of RMSNorm the root mean square), the positions
    that maximum pooling chose, the weights of attention pooling, the length by which a vector is divided, and, for activation
    functions after the last layer, each unit's ratio a(u) / u (of tanh 1 at 0).

    - `answer` is the index of a class, or None for that with the largest logit. For two classes y is its logit minus the other's, for
      more its logit minus the mean of the others; for independent classes it is the logit, for a regression the number.
    - For a `MaskedWord` y is its logit minus the mean of the logits of the whole vocabulary.
    - For a `Similarity` y is u · v / (‖u‖ ‖v‖), where u and v are the pooled states of this input and of the other; both lengths and
      v are held constant.
    - For None and an encoder without classes, y is ‖u‖ = u · u / ‖u‖; the direction u / ‖u‖ is held constant.

    A head's part is z_h W_O^h, b_V included; a feed-forward's part is its whole output, also of the feed-forward of attention pooling.
    The part `biases` is the sum of those of norms, W_O, the patch projection and the layers after the last block. With `by_token` a
    head has a row for each position whose value it sums (`read_from`). For sources see `model.decompositions`.

    Raises ValueError as `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, and for a class that the encoder
    does not have.

    >>> from loupe import answer_parts, load
    >>> parts = answer_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.")
    >>> parts.quantity, list(parts.frame["part"][:3]), parts.gap < 1e-5
    ('logit of positive minus negative', ['token', 'position', 'L0 H0'], True)
    """
    model, n_layers = loaded.model, loaded.config.n_layers
    forward = forward_pass(loaded, model_input, n_layers, [POOLING_FEED_FORWARD], by_token=by_token)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        states = model.final_norm(forward.states(n_layers))[None]
        quantity, number = answer_number(loaded, model_input, states, answer)
        recorded = float(number(states, forward.inputs))
        parts, values = divide_among_parts(
            forward, n_layers, lambda x: number(model.final_norm(x)[None], forward.inputs)
        )
    return AnswerParts(
        quantity, parts_frame(parts, forward.positions, values[:, 0].cpu().double().numpy()), recorded
    )


def answer_number(
    loaded: Loaded, model_input: InputLike, states: Float[Tensor, "1 position d_model"], answer: Explained
) -> tuple[str, AnswerOfStates]:
    """Name of the number y of `answer_parts`, and y as a function of the states after the final norm and their input tensors.

    `states` are those of `model_input`. Raises ValueError as `answer_parts` does.
    """
    model, config = loaded.model, loaded.config
    inputs, _ = prepare(loaded, model_input)
    if isinstance(answer, MaskedWord):
        check_answer(loaded, [model_input], answer)
        return _answer_number_of_word(loaded, answer)
    if config.n_classes and not isinstance(answer, Similarity):
        return _answer_number_of_class(loaded, model.classify(states, inputs)[0], answer)
    if answer is None:
        # the gradient of a length is the direction, as if that were held
        return "length of the pooled state", lambda *arguments: model.pool(*arguments).double().norm(dim=-1)
    if not isinstance(answer, Similarity):
        raise ValueError(f"{loaded.name} has no classes, got class {answer}")
    if answer.other is not None:
        inputs, _ = prepare(loaded, answer.other)
        states = model.encode(inputs)
    v = functional.normalize(model.pool(states, inputs)[0].double(), dim=-1)
    return (
        "cosine similarity",
        lambda *arguments: functional.normalize(model.pool(*arguments).double(), dim=-1) @ v,
    )


def _answer_number_of_word(loaded: Loaded, word: MaskedWord) -> tuple[str, AnswerOfStates]:
    """The result of `answer_number` for a masked word."""
    assert loaded.tokenizer is not None, "the answer was checked"
    token = loaded.tokenizer.id_to_token(word.token_id)

    def number(states: Tensor, _inputs: Tensor) -> Float[Tensor, " input"]:
        logits = loaded.model.predict_tokens(states[:, word.position]).double()
        return logits[:, word.token_id] - logits.mean(dim=-1)

    return f"logit of “{token}” minus the mean over the vocabulary", number


def _answer_number_of_class(
    loaded: Loaded, logits: Float[Tensor, " class"], answer: int | None
) -> tuple[str, AnswerOfStates]:
    """The result of `answer_number` for the class `answer`, or for that with the largest of `logits`."""
    config = loaded.config
    index = int(logits.argmax()) if answer is None else answer
    if index not in range(config.n_classes):
        raise ValueError(f"{loaded.name} has the classes 0 to {config.n_classes - 1}, got {answer}")
    name = config.class_names[index]
    quantity = name if config.family.answers == "numbers" else f"logit of {name}"
    weights = torch.zeros_like(logits, dtype=torch.double)
    if config.chooses_class and config.n_classes > 1:
        weights -= 1 / (config.n_classes - 1)
        others = "the mean of the others" if config.n_classes > 2 else config.class_names[1 - index]
        quantity = f"{quantity} minus {others}"
    weights[index] = 1.0
    return quantity, lambda *arguments: loaded.model.classify(*arguments).double() @ weights
