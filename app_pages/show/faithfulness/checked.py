"""Knock-out effects and deletion curves of one map on one input; computed on request if they take long."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from app_pages.controls.estimated_work import NOT_YET, Wanted, is_wanted
from app_pages.controls.knock_out_choice import knock_out_answers
from app_pages.subject.answer import Answer
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.stoppable import in_steps, until_done
from model.experiments import faithfulness as rule
from model.experiments.attribution import explained_positions
from model.experiments.knock_out import KnockOutKind


class Curves(NamedTuple):
    """Deletion and insertion curves: how far the answer has fallen after `counts` tokens are knocked out, or put back, in order
    of the map's scores, in the best possible order, and in random orders.
    """

    counts: tuple[int, ...]
    deletion: np.ndarray  # [step], in the order of the map
    insertion: np.ndarray
    perfect: np.ndarray  # [step], of deletion in the order of the effects
    random: np.ndarray  # [order, step], of deletion; read backwards, of insertion


class Checked(NamedTuple):
    """Comparison of one map with knock-outs on one input: the map's score of each of `positions`, the effect of hiding it, and
    how well the two agree.
    """

    answer: Answer
    kind: KnockOutKind
    positions: tuple[int, ...]  # that were knocked out, one at a time
    scores: np.ndarray  # one a position, as the effects
    effects: np.ndarray
    agreement: rule.Agreement
    curves: Curves | None  # None where they are not needed, or have not been asked for

    @property
    def verdict(self) -> rule.Verdict:
        if (curves := self.curves) is None:
            return rule.verdict(self.agreement, self.effects)
        return rule.verdict(self.agreement, self.effects, curves.deletion, curves.perfect, curves.random)


def check_map(
    subject: LiveSubject,
    pattern: np.ndarray,
    kind: KnockOutKind,
    answer: Answer,
    *,
    key: str,
    title: str = "",
    wanted: Wanted = NOT_YET,
) -> Checked | None:
    """Compares the map `pattern` [query, key], over all positions of the input, with the effects of knock-outs on the `answer`;
    without curves, which `with_curves` adds.

    If the knock-outs take longer than half a second and are not `wanted` already, draws a button with this `key` and returns None
    until it is pressed. `title` is what the progress bar calls the encoder, by default its name.
    """
    record = subject.record
    positions = explained_positions(record, answer.word)
    work_key = ("effects", subject, kind, answer.word)
    label = f"Check this map by knocking out {len(positions):,} {record.units}"
    if not is_wanted(subject, work_key, _n_forwards(positions), label, key, wanted=wanted):
        return None
    with until_done(work_key):
        sets = [(position,) for position in positions]
        answers = knock_out_answers(subject, sets, kind, title, answer.for_experiments)
    scores = rule.map_scores(pattern, record, read_at=read_position(subject, answer))[list(positions)]
    effects = rule.rounded_effects(answer.falls(answers), in_nats=answer.is_signed)
    return Checked(answer, kind, positions, scores, effects, rule.agreement(scores, effects), None)


def read_position(subject: LiveSubject, answer: Answer) -> int | None:
    """The position whose state the answer is read from; None if it is pooled from all."""
    if answer.word is not None:
        return answer.word.position
    return 0 if subject.loaded.config.reads_class_token else None


def with_scores(checked: Checked, scores: np.ndarray) -> Checked:
    """Compares other `scores`, one for each position of the input, with the knock-out effects in `checked`; without curves."""
    scores = scores[list(checked.positions)]
    agreement = rule.agreement(scores, checked.effects)
    return checked._replace(scores=scores, agreement=agreement, curves=None)


def with_curves(
    subject: LiveSubject,
    checked: Checked,
    *,
    key: str,
    are_shown: bool,
    what: str = "map",
    wanted: Wanted = NOT_YET,
) -> Checked:
    """`checked` with its curves, if the verdict needs them or they `are_shown`; `what` names the judged object, such as "map".

    If the curves take long and are not `wanted` already, draws a button and returns `checked` unchanged until it is pressed.
    """
    n = len(checked.positions)
    if n < 2 or (n < rule.FEWEST and not are_shown):
        return checked
    by_score, by_effect = (
        rule.sort_by_score(dict(zip(checked.positions, values.tolist(), strict=True)), checked.positions)
        for values in (checked.scores, checked.effects)
    )
    work_key, counts = (
        ("curves", subject, checked.kind, checked.answer.word, by_score),
        rule.removal_counts(n),
    )
    n_forwards = (rule.N_ORDERS + 3) * len(counts)
    label = f"Draw the curves of this {what}"
    other_forwards = _n_forwards(by_score)
    if not is_wanted(subject, work_key, n_forwards, label, key, other_forwards=other_forwards, wanted=wanted):
        return checked
    orders = (*rule.random_orders(checked.positions), by_score, by_score[::-1], by_effect)
    calls = [
        partial(subject.compute, rule.deletion, (order,), checked.kind, checked.answer.word)
        for order in orders
    ]
    text = "Taking away more and more, in this order and in random ones …"
    with until_done(work_key):
        curve_values = np.concatenate(in_steps(calls, text, work_key))
    map_curve, reversed_curve, perfect = curve_values[rule.N_ORDERS :]
    return checked._replace(
        curves=Curves(counts, map_curve, reversed_curve[::-1], perfect, curve_values[: rule.N_ORDERS])
    )


def _n_forwards(positions: Sequence[int]) -> int:
    """Number of forward passes: one for each position, one each for uniform and permuted attention, and one unchanged."""
    return len(positions) + rule.N_PERMUTATIONS + 2
