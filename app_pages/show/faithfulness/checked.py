"""What is computed for one map on one input: at once where that is quick, else when it is asked for."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from app_pages.controls.estimated_work import wanted
from app_pages.controls.knock_out_choice import knock_out_answers
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.stoppable import in_steps, until_done
from model.experiments.faithfulness import (
    FEWEST,
    N_ORDERS,
    N_PERMUTATIONS,
    Agreement,
    Verdict,
    agreement,
    deletion,
    order_of,
    random_orders,
    scores_under,
    steps,
    verdict,
)
from model.experiments.knock_out import KnockOutKind, falls, removable_positions
from model.record import ForwardRecord


class Curves(NamedTuple):
    """How far the answer has fallen over `counts`, see `model.experiments.faithfulness.deletion`."""

    counts: tuple[int, ...]
    deletion: np.ndarray  # [step], in the order of the map
    insertion: np.ndarray
    perfect: np.ndarray  # [step], of deletion in the order of the effects
    random: np.ndarray  # [order, step], of deletion; read backwards, of insertion


class Checked(NamedTuple):
    record: ForwardRecord
    kind: KnockOutKind
    positions: tuple[int, ...]  # that were removable_positions
    scores: np.ndarray  # one a position, as the effects
    effects: np.ndarray
    agreement: Agreement
    curves: Curves | None  # None where they are not needed, or have not been asked for

    @property
    def verdict(self) -> Verdict:
        if (curves := self.curves) is None:
            return verdict(self.agreement, self.effects)
        return verdict(self.agreement, self.effects, curves.deletion, curves.perfect, curves.random)


def check(
    subject: LiveSubject, pattern: np.ndarray, kind: KnockOutKind, *, key: str, title: str = ""
) -> Checked | None:
    """Of the map `pattern` [query, key] over all positions of the input, without curves.

    Where the knock-outs take longer than half a second, a button with that `key` stands here, and until somebody presses it
    None is returned.
    """
    record = subject.record
    positions = removable_positions(record)
    what = ("effects", subject, kind)
    label = f"Check this map by knocking out {len(positions)} {record.units}"
    if not wanted(subject, what, _forwards(positions), label, key):
        return None
    with until_done(what):
        answers = knock_out_answers(subject, [(position,) for position in positions], kind, title)
    classified = subject.loaded.config.pooling == "class"
    scores = scores_under(pattern, record, classified=classified)[list(positions)]
    effect = falls(record, answers)
    return Checked(record, kind, positions, scores, effect, agreement(scores, effect), None)


def with_curves(subject: LiveSubject, checked: Checked, *, key: str, are_shown: bool) -> Checked:
    """The same with curves, where the rule needs them or they `are_shown`; where they take long, behind a button."""
    n = len(checked.positions)
    if n < 2 or (n < FEWEST and not are_shown):
        return checked
    by_score, by_effect = (
        order_of(dict(zip(checked.positions, values.tolist(), strict=True)), checked.positions)
        for values in (checked.scores, checked.effects)
    )
    what, counts = ("curves", subject, checked.kind, by_score), steps(n)
    n_forwards = (N_ORDERS + 3) * len(counts)
    label = "Draw the curves of this map"
    if not wanted(subject, what, n_forwards, label, key, besides=_forwards(by_score)):
        return checked
    orders = (*random_orders(checked.positions), by_score, by_score[::-1], by_effect)
    calls = [partial(subject.compute, deletion, (order,), checked.kind) for order in orders]
    text = "Taking away more and more, in this order and in random ones …"
    with until_done(what):
        drawn = np.concatenate(in_steps(calls, text, what))
    own, reverse, perfect = drawn[N_ORDERS:]
    return checked._replace(curves=Curves(counts, own, reverse[::-1], perfect, drawn[:N_ORDERS]))


def _forwards(positions: Sequence[int]) -> int:
    """Of the knock-outs, of uniform and permuted attention, and of none of these."""
    return len(positions) + N_PERMUTATIONS + 2
