"""The answers of two sides as sums over parts of the encoder, on one axis; on demand also the effect of ablating each head."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app_pages.controls.compare_controls import WITHOUT_HEADS
from app_pages.controls.estimated_work import is_wanted
from app_pages.show.show import show
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import first_names, plain
from app_pages.toolkit.stoppable import progress, until_done
from model.decompositions.answer_effects import AnswerEffects, answer_effects
from model.decompositions.answer_parts import AnswerParts, answer_parts
from model.experiments.attribution import Explained, Similarity
from model.experiments.masked_word import MaskedWord
from model.inputs import Picture
from viz.builders.number_format import format_number, percent
from viz.builders.palette import side_colours
from viz.compare.answer_bars import EMBEDDING, answer_bars

MEANING = (
    "The answer is a sum of what was written into the residual stream: token and position, each head, each feed-forward, and "
    "biases (Elhage et al. 2021). A norm divides each part by the number by which it divided their sum (Kobayashi et al. 2021)."
)
_MOST_CLASSES = 4  # that are named
_VISIBLE = 0.01  # of the largest bar: shorter ones are not seen


def common_answers(
    first: Side, second: Side, class_name: str | None = None
) -> tuple[Explained, Explained] | str:
    """For each side the argument `answer` of `answer_parts`, chosen so that both divide the same quantity; or a sentence
    (Markdown) on why there is none.

    The class is `class_name` or, without it, the second of two classes (so that the sign is the same for all inputs), of more
    classes the first side's prediction. Two inputs without classes are compared by their similarity.
    """
    one, other = (side.subject.loaded.config for side in (first, second))
    if not one.n_classes and not other.n_classes:
        if first.checkpoint != second.checkpoint:
            return None, None
        return Similarity(second.model_input), Similarity(first.model_input)
    if one.family.answers != other.family.answers or set(one.class_names) != set(other.class_names):
        return f"There is no number that both answer: {'; '.join(map(_classes_clause, (first, second)))}."
    if class_name is None:
        is_one_of_two = one.n_classes == 2 and one.chooses_class
        class_name = one.class_names[1 if is_one_of_two else int(first.record.logits.argmax())]
    return one.class_names.index(class_name), other.class_names.index(class_name)


def draw_parts_of_answer(
    sides: tuple[Side, Side],
    class_name: str | None = None,
    *,
    words: tuple[MaskedWord, MaskedWord] | None = None,
    height: int = 240,
) -> None:
    """Draws the parts of both answers, below them their sums and what stands out, and a switch for the effects of heads.

    The answers are the masked `words`, or else those of `common_answers`.
    """
    answers = words or common_answers(*sides, class_name)
    if isinstance(answers, str):
        st.info(answers)
        return
    sources = [
        _result_expression(answer_parts, side.subject, answer)
        for side, answer in zip(sides, answers, strict=True)
    ]
    try:
        parts: list[AnswerParts] = [source() for source in sources]
    except ValueError as error:
        st.info(f"The answers cannot be divided: {plain(str(error))}.")
        return
    frames = {side.title: source.frame for side, source in zip(sides, sources, strict=True)}
    figure = st.container()
    sentences = (
        _early_layers_sentence(sides, parts),
        _small_embedding_sentence(sides, parts),
        _sums_sentence(sides, parts),
    )
    st.caption(" ".join(filter(None, sentences)), help=MEANING)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("A part is what was written, not what would change without it.", width="content")
        is_measured = WITHOUT_HEADS.choose()
    if is_measured and len(effects := _effects_of_heads(sides, answers)) == len(sides):
        for side, source in zip(sides, effects, strict=True):
            of_heads = source.frame[["part", "effect"]]
            frames[side.title] = call(frames[side.title].merge, of_heads, "left", "part")
        st.caption(_agreement_sentence(sides, [source() for source in effects]))
    placements = [side.subject.loaded.config.norm_placement for side in sides]
    # Of words, two tokenizers have two.
    quantity = " · ".join(dict.fromkeys(result.quantity for result in parts))
    colours = side_colours(placements)
    options = {"quantity": quantity, "colours": colours, "height": height} | _class_options(sides, answers)
    with figure:
        show(call(answer_bars, frames, **options), key="answer_parts")


def _class_options(sides: tuple[Side, Side], answers: tuple[Explained, Explained]) -> dict[str, Any]:
    """Options of `answer_bars`: the class that each side predicts, and names for both ends of the axis; {} if the answers are no
    classes.
    """
    config, number = sides[0].subject.loaded.config, answers[0]
    predicted = [side.predicted_class_name for side in sides]
    if not isinstance(number, int) or not config.chooses_class or None in predicted:
        return {}
    names = config.class_names
    other = names[1 - number] if len(names) == 2 else "the other classes"
    return {"answers": predicted, "ends": (other, names[number])}


def _result_expression(function: Callable[..., Any], subject: LiveSubject, answer: Explained) -> Expression:
    """The result of `function(encoder, input, answer)`, as an expression."""
    explained: Any = answer
    if isinstance(answer, Similarity) and isinstance(answer.other, Picture):
        explained = call(Similarity, as_python.input_expression(answer.other))
    source = as_python.computed(subject, function, explained)
    return source.with_value(partial(subject.compute, function, answer))


def _classes_clause(side: Side) -> str:
    names = side.subject.loaded.config.class_names
    answers = f"answers {first_names(names, _MOST_CLASSES)}" if names else "has no classes"
    return plain(f"{side.title} {answers}")


def _early_layers_sentence(sides: tuple[Side, Side], parts: list[AnswerParts]) -> str:
    """Sentence on how much of all heads' and feed-forwards' parts belongs to the first half of the layers on each side, and on
    the largest part.
    """
    clauses = []
    for side, result in zip(sides, parts, strict=True):
        of_layers = result.frame.dropna(subset="layer")
        sizes = of_layers["value"].abs().fillna(0)  # of weights that overflow
        largest = sizes.idxmax()
        clauses.append(
            f"{plain(side.title)} {percent(result.early_share)} in the first half of the layers, "
            f"{percent(sizes[largest] / (sizes.sum() or 1))} in {of_layers['part'][largest]} alone"
        )
    return f"Of the lengths of all bars of heads and feed-forwards: {'; '.join(clauses)}."


def _small_embedding_sentence(sides: tuple[Side, Side], parts: list[AnswerParts]) -> str:
    """Sentence on the sides whose embedding parts are too small for a visible bar, and why that is so in post-LN; "" if there are
    none.
    """
    clauses, is_post = [], False
    for side, result in zip(sides, parts, strict=True):
        values = result.frame.groupby(result.frame["kind"].isin(EMBEDDING))["value"]
        largest = values.agg(lambda value: value.abs().max())
        if largest[True] < _VISIBLE * largest[False]:
            clauses.append(f"{plain(side.title)} (at most {format_number(largest[True], '.1g')})")
            is_post |= side.subject.loaded.config.norm_placement == "post"
    if not clauses:
        return ""
    reason = "; in post-LN each LayerNorm divides all that came before it" * is_post
    return f"Token and position are too small to be seen in {' and '.join(clauses)}{reason}."


def _sums_sentence(sides: tuple[Side, Side], parts: list[AnswerParts]) -> str:
    clauses = []
    for side, result in zip(sides, parts, strict=True):
        recorded = format_number(result.recorded, "+.4f")
        gap = format_number(result.gap, ".1g").replace(" ", "\u00a0")  # no line ends within it
        clauses.append(f"{plain(side.title)} {recorded} (difference\u00a0{gap})")
    return f"The encoder's own number: {'; '.join(clauses)}."


def _effects_of_heads(sides: tuple[Side, Side], answers: tuple[Explained, Explained]) -> list[Expression]:
    """Effects of ablating each head, as an expression for each side; a side is left out as long as its button has to be clicked."""
    effects = []
    for number, (side, answer) in enumerate(zip(sides, answers, strict=True)):
        n_heads = int(np.prod(side.record.pattern.shape[:2]))
        work_key = ("answer effects", side.subject, answer)
        label = f"Take away each of the {n_heads} heads of {side.title}"
        key = f"answer_effects_{number}"
        if is_wanted(side.subject, work_key, -(-n_heads // 2), label, key):
            source = _result_expression(answer_effects, side.subject, answer)
            effects.append(source.with_value(partial(_head_effects, side.subject, answer)))
            with until_done(work_key):
                effects[-1]()
    return effects


@cached
def _head_effects(subject: LiveSubject, answer: Explained) -> AnswerEffects:
    with progress("Taking away one head after the other …", ("answer effects", subject, answer)) as step:
        return answer_effects(subject.loaded, subject.model_input, answer, progress=step)


def _agreement_sentence(sides: tuple[Side, Side], effects: list[AnswerEffects]) -> str:
    """Sentence on how well heads' parts and their ablation effects agree, for each side."""
    clauses = [
        f"{plain(side.title)} **cannot be told** ({result.not_compared})"
        if result.spearman is None
        else f"{plain(side.title)} **Spearman {format_number(result.spearman, '.2f')}** over {result.n} heads"
        for side, result in zip(sides, effects, strict=True)
    ]
    return f"Does the number fall further without heads that add more? {'; '.join(clauses)}; ranks are compared, not sizes."
