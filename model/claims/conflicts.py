"""Where two of our own figures seem to contradict each other, and why they do not.

A contradiction is told only where the numbers of every seed show it, and with how many seeds these are.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..checkpoint.training_history import standard_error
from .catalogue import CLAIMS, XIONG, Claim
from .measurements import Measurement
from .seed_families import ENCODER_NAMES
from .verdict import ClaimOutcome, mean

TOUCHED = 0.05  # of accuracy: less is not told of
FLAT = 0.1  # of the growth of the stream: less counts as none


class Conflict(NamedTuple):
    """What seems to contradict what, and what resolves it; Markdown."""

    seems: str
    because: str


def conflicts(measured: Sequence[Measurement]) -> list[Conflict]:
    return [conflict for look_for in _KINDS for conflict in look_for(measured)]


def _one_matrix(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for last in _of(measured, "gradient of the last layer"):
        for whole in _of(measured, "gradient of all parameters", last.where):
            larger_last, larger_whole = _larger(last), _larger(whole)
            if larger_last and larger_whole and larger_last != larger_whole:
                yield Conflict(
                    f"In {last.where} ({_seeds(last)}), the gradient of the last layer is larger in {larger_last} "
                    f"({_both(last)}), and that of all parameters in {larger_whole} ({_both(whole)}).",
                    f"The theorem of {XIONG} is about one matrix, at the end of the last block. The norm over all "
                    "parameters counts every block and the embedding too, and says nothing about that matrix.",
                )


def _moments(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for trained in _of(measured, "gradient, trained"):
        for untrained in _of(measured, "gradient, fresh", f"{trained.where}, untrained"):
            for name, before, after in (
                ("pre-LN", untrained.pre, trained.pre),
                ("post-LN", untrained.post, trained.post),
            ):
                if {_side_of(1.0, before), _side_of(1.0, after)} == {-1, 1}:
                    late, early = ("late", "early") if before[0] > 1 else ("early", "late")
                    yield Conflict(
                        f"In {trained.where} with {name}, {late} layers have the larger gradient at the start "
                        f"({_seeds(untrained)}), {early} ones at the end ({_seeds(trained)}). Last block to first: "
                        f"{mean(before):.2g}, then {mean(after):.2g}.",
                        "Papers measured it at different moments: at the start (Xiong et al. 2020), or "
                        "during pretraining (Shleifer et al. 2021). Here training reverses the order.",
                    )


def _warmup_steps(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    without = _of(measured, "reached without warm-up", source="runs")
    with_warmup = _of(measured, "reached with warm-up", source="runs")
    by_rate: dict[str, list[tuple[str, float, float]]] = {}
    for bare, warmed in zip(without, with_warmup, strict=True):
        which, _, steps = warmed.where.rpartition(", ")
        by_rate.setdefault(which, []).append(
            (steps.removesuffix(" of warm-up"), bare.post[0], warmed.post[0])
        )
    for which, rows in by_rate.items():
        reached = [after for _, _, after in rows]
        if len(rows) > 1 and max(reached) - min(reached) > TOUCHED:
            listed = ", ".join(f"{_percent(after)} with {steps}" for steps, _, after in rows)
            yield Conflict(
                f"Post-LN ({which}, one seed) reaches {_percent(rows[0][1])} of the digits without warm-up, "
                f"{listed}.",
                "Whether warm-up “helps” depends on its number of steps, and the number needed depends on "
                "the rate. Vaswani et al. 2017 warm up over 4,000.",
            )


def _theory_and_training(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for growth in _of(measured, "stream growth", source="trained"):
        grows_or_shrinks = _side_of(1 + FLAT, growth.post) == 1 or _side_of(1 - FLAT, growth.post) == -1
        if not growth.where.endswith("untrained") and grows_or_shrinks:
            yield Conflict(
                f"Post-LN normalises the stream itself, and yet in the trained {growth.where} ({_seeds(growth)}) "
                f"the stream after the last block is {mean(growth.post):.2f} times as long as after the first.",
                "Lemma 2 is about untrained encoders, in which each norm gives all vectors one length. The "
                "norms' γ is learned, and differs from block to block.",
            )


def _sooner(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for loss in _of(measured, "loss while learning"):
        for accuracy in _of(measured, "accuracy", loss.where):
            slower, better = _larger(loss), _larger(accuracy, by=_chance(accuracy))
            if slower and slower == better:
                faster = "pre-LN" if slower == "post-LN" else "post-LN"
                yield Conflict(
                    f"In {loss.where} ({_seeds(loss)}), {faster} learns faster and {better} classifies more "
                    "examples correctly in the end.",
                    "The first is measured over the first phase of the run, the second after all of them, "
                    "when the rate has fallen to zero.",
                )


def _optimizers(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    """Reviews were learned with another optimiser than the small text encoders: where do both point to the same side?"""
    same: list[Claim] = []
    other: list[Claim] = []
    used: set[tuple[str | None, str | None]] = set()
    for claim in CLAIMS:
        by_where = {judgement.measured.where: judgement for judgement in claim.judged(measured)}
        small, reviews = (by_where.get(ENCODER_NAMES[name]) for name in ("sentences", "imdb"))
        if not small or not reviews or small.outcome not in _CLEAR or small.measured.across is not None:
            continue
        optimizers = (small.measured.optimizer, reviews.measured.optimizer)
        if optimizers[1] and optimizers[0] != optimizers[1]:
            used.add(optimizers)
            agree = claim.rule.side(small.measured) == claim.rule.side(reviews.measured)
            (same if agree else other).append(claim)
    for small_optimizer, reviews_optimizer in used:
        if other:
            listed = " ".join(f"“{claim.says}”" for claim in other)
            yield Conflict(
                f"The review encoders (one seed) and the small text encoders disagree on: {listed}",
                f"The papers, and the small text encoders here, used Adam ({_spelt(small_optimizer)}); the review "
                "encoders are larger, were trained for longer, with "
                f"{_spelt(reviews_optimizer)}. One pair cannot tell which of these is the cause. Of the "
                f"{len(same) + len(other)} figures on which all small text encoders agree, {len(same)} point "
                "to the same side in the review encoders.",
            )


_KINDS = (_one_matrix, _moments, _warmup_steps, _theory_and_training, _sooner, _optimizers)
_CLEAR = (ClaimOutcome.HOLDS, ClaimOutcome.OPPOSITE, ClaimOutcome.AGREE, ClaimOutcome.AGREE_ON_OPPOSITE)


def _spelt(optimizer: str | None) -> str:
    return (optimizer or "an unknown optimiser").replace("adamw", "AdamW").replace("muon", "Muon")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\u2009%")


def _of(
    measured: Sequence[Measurement], figure: str, where: str | None = None, source: str | None = None
) -> list[Measurement]:
    return [
        measurement
        for measurement in measured
        if measurement.figure == figure
        and where in (None, measurement.where)
        and source in (None, measurement.source)
    ]


def _larger(measured: Measurement, *, by: float = 0.0) -> str | None:
    """The placement whose figure is larger, by more than `by`, in every pair; None where there is none."""
    differences = [pre - post for pre, post in zip(measured.pre, measured.post, strict=True)]
    if min(differences) > by:
        return "pre-LN"
    return "post-LN" if max(differences) < -by else None


def _side_of(bound: float, values: Sequence[float]) -> int:
    """1 where all values are above the bound, −1 where all are below it, 0 otherwise."""
    return (min(values) > bound) - (max(values) < bound)


def _chance(accuracy: Measurement) -> float:
    """The standard error of the difference between two accuracies, by the choice of the examples."""
    shares = (*accuracy.pre, *accuracy.post)
    return 2**0.5 * max(standard_error(share, accuracy.n) for share in shares)


def _seeds(measured: Measurement) -> str:
    n = len(measured.seeds)
    return "one seed" if n == 1 else f"all {n} seeds"


def _both(measured: Measurement) -> str:
    return f"pre-LN {mean(measured.pre):.3g}, post-LN {mean(measured.post):.3g}"
