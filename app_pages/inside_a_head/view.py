"""The numbers of one query that the figures of the steps show, the key that is shown in detail, and the symbols of formulas for
this encoder.
"""

from dataclasses import dataclass

from app_pages.controls.chosen_word import keep_word
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.inside_a_head_controls import ALL_KEYS, KEY, STRONGEST
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from model.config import ModelConfig
from model.experiments.head_steps import HeadSteps, head_steps, unrecorded_activations
from model.family_options import LinearMap
from model.record import ForwardRecord
from viz.builders.number_format import head_name
from viz.builders.token_label import label

MOST_KEYS, N_STRONGEST_KEYS = 64, 48  # up to so many keys all are drawn, of more the strongest
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU", "silu": "SiLU", "quick_gelu": "QuickGELU"}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The computation of one query in one head, the keys that are drawn, and the key that is shown in detail."""

    subject: LiveSubject
    chosen: HeadChoice
    record: ForwardRecord
    steps: HeadSteps
    query: int
    key: int
    keys: tuple[int, ...]  # those that are drawn, in the order of their positions

    @property
    def source(self) -> Expression:
        """The `steps`, as an expression."""
        layer, head = self.chosen.layer, self.chosen.head
        return steps_expression(self.subject, layer, head, self.query)

    @property
    def n(self) -> int:
        return len(self.record)

    @property
    def head(self) -> str:
        return head_name(self.chosen.layer, self.chosen.head)

    @property
    def n_hidden(self) -> int:
        """Number of keys that are not drawn."""
        return self.n - len(self.keys)

    def name(self, position: int, longest: int = 14) -> str:
        """Label of a position, with a token of more than `longest` letters shortened."""
        token = self.record.tokens[position]
        return self.record.labels[position].removesuffix(token) + label(token, longest)

    def ordered(self, *, by_weight: bool) -> list[int]:
        """The drawn keys in order of position or, `by_weight`, with the largest weight first."""
        return (
            sorted(self.keys, key=lambda key: -self.steps.attention.pattern[key])
            if by_weight
            else [*self.keys]
        )


def choose_view(subject: LiveSubject, chosen: HeadChoice, query: int) -> View:
    """Draws the list that chooses the key and, if there are many keys, the switch that shows all; returns the view.

    Raises the ValueError of `model.experiments.head_steps.head_steps`.
    """
    record = subject.record
    steps = steps_of(subject, chosen.layer, chosen.head, query)
    n = len(record)
    labels: dict[int | str, str] = {STRONGEST: STRONGEST, **dict(enumerate(record.labels))}
    # Streamlit keeps the function: it must not refer to the record.
    keep_word(KEY, record, STRONGEST)
    option = KEY.choose(labels, format_func=labels.__getitem__)
    key = option if isinstance(option, int) else steps.attention.strongest(1)[0]
    show_all = n > MOST_KEYS and ALL_KEYS.choose(label=f"All {n} keys")
    keys = range(n) if show_all or n <= MOST_KEYS else {key, *steps.attention.strongest(N_STRONGEST_KEYS)}
    return View(
        subject=subject,
        chosen=chosen,
        record=record,
        steps=steps,
        query=query,
        key=key,
        keys=tuple(sorted(keys)),
    )


@cached
def steps_of(subject: LiveSubject, layer: int, head: int, query: int) -> HeadSteps:
    """Every intermediate result of one query in one head, recomputed. Raises the errors of
    `model.experiments.head_steps.head_steps`.
    """
    activations = subject.compute(unrecorded_activations, layer)
    return head_steps(subject.loaded, subject.record, activations, layer=layer, head=head, query=query)


def steps_expression(subject: LiveSubject, layer: int, head: int, query: int) -> Expression:
    """The result of `steps_of`, as an expression."""
    loaded, record = as_python.encoder(subject.checkpoint), as_python.record(subject)
    activations = as_python.computed(subject, unrecorded_activations, layer)
    steps = call(head_steps, loaded, record, activations, layer=layer, head=head, query=query)
    return named("steps", steps, lambda: steps_of(subject, layer, head, query))


def bias_tex(config: ModelConfig, linear_map: LinearMap, symbol: str) -> str:
    """LaTeX " + `symbol`" for the bias of this linear map; "" if it has none."""
    return "" if linear_map in config.family.parts.without_bias else f" + {symbol}"


def query_and_key_tex(view: View) -> tuple[str, str]:
    """LaTeX symbols of the query and key vectors that are multiplied, with a tilde if they are rotated first."""
    is_rotated = view.steps.attention.rotation is not None
    return (r"\tilde{q}", r"\tilde{k}") if is_rotated else ("q", "k")


def query_and_key_text(view: View) -> tuple[str, str]:
    """The symbols of `query_and_key_tex` as plain text, without indices."""
    return ("q̃", "k̃") if view.steps.attention.rotation is not None else ("q", "k")


def division_text(config: ModelConfig) -> str:
    """The division of the dot products as text: "÷ √d_k", "÷ √(3 d_k)" or "not divided"."""
    if not config.family.parts.scaled:
        return "not divided"
    return "÷ √d_k" if config.n_score_maps == 1 else f"÷ √({config.n_score_maps} d_k)"
