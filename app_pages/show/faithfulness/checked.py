"""What is computed for one map on one input: at once where that is quick, else when it is asked for."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from app_pages.controls.knock_out import about, is_quick, knock_out_answers
from app_pages.subject import state
from app_pages.subject.cache import of
from app_pages.subject.two_sides import Side
from app_pages.toolkit import stoppable
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
from model.experiments.knock_out import Kind, compared, falls
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
    kind: Kind
    positions: tuple[int, ...]  # that were compared
    scores: np.ndarray  # one a position, as the effects
    effects: np.ndarray
    agreement: Agreement
    curves: Curves | None  # None where they are not needed, or have not been asked for

    @property
    def verdict(self) -> Verdict:
        if (curves := self.curves) is None:
            return verdict(self.agreement, self.effects)
        return verdict(self.agreement, self.effects, curves.deletion, curves.perfect, curves.random)


def check(chosen: Side | state.Selection, pattern: np.ndarray, kind: Kind, *, key: str) -> Checked | None:
    """Of the map `pattern` [query, key] over all positions of the input, without curves.

    Where the knock-outs take longer than half a second, a button with that `key` stands here, and until somebody presses it
    None is returned.
    """
    name, given = chosen.checkpoint, chosen.given
    record = state.record(name, given)
    positions = compared(record)
    n_forwards, what = _forwards(positions), ("effects", name, given, kind)
    label = (
        f"Check this map by knocking out {len(positions)} {record.units}, {about(name, given, n_forwards)}"
    )
    if not stoppable.wanted(what, label, key, is_short=is_quick(name, given, n_forwards)):
        return None
    with until_done(what):
        answers = knock_out_answers(chosen, [(at,) for at in positions], kind)
    classified = state.loaded(name).config.pooling == "class"
    scores = scores_under(pattern, record, classified=classified)[list(positions)]
    effect = falls(record, answers)
    return Checked(record, kind, positions, scores, effect, agreement(scores, effect), None)


def with_curves(chosen: Side | state.Selection, checked: Checked, *, key: str, wanted: bool) -> Checked:
    """The same with curves, where the rule needs them or they are `wanted`; where they take long, behind a button."""
    n = len(checked.positions)
    if n < 2 or (n < FEWEST and not wanted):
        return checked
    name, given, kind = chosen.checkpoint, chosen.given, checked.kind
    by_score, by_effect = (
        order_of(dict(zip(checked.positions, values.tolist(), strict=True)), checked.positions)
        for values in (checked.scores, checked.effects)
    )
    what, counts = ("curves", name, given, kind, by_score), steps(n)
    n_forwards = (N_ORDERS + 3) * len(counts)
    label = f"Draw the curves of this map, {about(name, given, n_forwards)}"
    is_short = is_quick(name, given, n_forwards + _forwards(by_score))
    if not stoppable.wanted(what, label, key, is_short=is_short):
        return checked
    orders = (*random_orders(checked.positions), by_score, by_score[::-1], by_effect)
    calls = [partial(of, deletion, name, given, (order,), kind) for order in orders]
    text = "Taking away more and more, in this order and in random ones …"
    with until_done(what):
        drawn = np.concatenate(in_steps(calls, text, what))
    own, reverse, perfect = drawn[N_ORDERS:]
    return checked._replace(curves=Curves(counts, own, reverse[::-1], perfect, drawn[:N_ORDERS]))


def _forwards(positions: Sequence[int]) -> int:
    """Of the knock-outs, of uniform and permuted attention, and of none of these."""
    return len(positions) + N_PERMUTATIONS + 2
