"""Pairs of measurements that seem to contradict each other, with an explanation.

A contradiction is reported only if the numbers of every seed show it; the number of seeds is stated.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..checkpoint.training_history import standard_error
from .catalogue import CLAIMS, XIONG, Claim
from .measurements import Measurement
from .seed_families import ENCODER_NAMES
from .verdict import ClaimOutcome, mean

TOUCHED = 0.05  # smallest difference in accuracy that is reported
FLAT = 0.1  # smallest growth of the residual stream that is reported


class Conflict(NamedTuple):
    """An apparent contradiction and its explanation, in Markdown."""

    seems: str
    because: str


def conflicts(measured: Sequence[Measurement]) -> list[Conflict]:
    """All apparent contradictions among the measurements, in a fixed order of their kinds."""
    return [conflict for find_conflicts in _KINDS for conflict in find_conflicts(measured)]


def _find_last_or_all_parameters(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for last_layer_gradient in _select(measured, "gradient of the last layer"):
        for whole_gradient in _select(measured, "gradient of all parameters", last_layer_gradient.where):
            larger_in_last_layer, larger_overall = (
                _larger_placement(last_layer_gradient),
                _larger_placement(whole_gradient),
            )
            if larger_in_last_layer and larger_overall and larger_in_last_layer != larger_overall:
                yield Conflict(
                    f"In {last_layer_gradient.where} ({_seeds_text(last_layer_gradient)}), the gradient of the last layer is larger in {larger_in_last_layer} "
                    f"({_means_text(last_layer_gradient)}), and that of all parameters in {larger_overall} ({_means_text(whole_gradient)}).",
                    f"The theorem of {XIONG} is about one matrix, at the end of the last block. The norm over all "
                    "parameters counts every block and the embedding too, and says nothing about that matrix.",
                )


def _find_start_or_end_of_training(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for trained in _select(measured, "gradient, trained"):
        for untrained in _select(measured, "gradient, fresh", f"{trained.where}, untrained"):
            for name, start_ratios, end_ratios in (
                ("pre-LN", untrained.pre, trained.pre),
                ("post-LN", untrained.post, trained.post),
            ):
                if {_side_of(1.0, start_ratios), _side_of(1.0, end_ratios)} == {-1, 1}:
                    late, early = ("late", "early") if start_ratios[0] > 1 else ("early", "late")
                    yield Conflict(
                        f"In {trained.where} with {name}, {late} layers have the larger gradient at the start "
                        f"({_seeds_text(untrained)}), {early} ones at the end ({_seeds_text(trained)}). Last block to first: "
                        f"{_beside(mean(start_ratios), 1.0)}, then {_beside(mean(end_ratios), 1.0)}.",
                        "Papers measured it at different moments: at the start (Xiong et al. 2020), or "
                        "during pretraining (Shleifer et al. 2021). Here training reverses the order.",
                    )


def _find_warmup_steps(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    without_warmup_runs = _select(measured, "reached without warm-up", source="runs")
    warmup_runs = _select(measured, "reached with warm-up", source="runs")
    rows_by_encoder: dict[str, list[tuple[str, float, float]]] = {}
    for run_without, run_with in zip(without_warmup_runs, warmup_runs, strict=True):
        encoder, _, steps = run_with.where.rpartition(", ")
        rows_by_encoder.setdefault(encoder, []).append(
            (steps.removesuffix(" of warm-up"), run_without.post[0], run_with.post[0])
        )
    for encoder, rows in rows_by_encoder.items():
        accuracies = [accuracy_after for _, _, accuracy_after in rows]
        if len(rows) > 1 and max(accuracies) - min(accuracies) > TOUCHED:
            accuracies_text = ", ".join(
                f"{_percent(accuracy_after)} with {steps}" for steps, _, accuracy_after in rows
            )
            yield Conflict(
                f"Post-LN ({encoder}, one seed) reaches {_percent(rows[0][1])} of the digits without warm-up, "
                f"{accuracies_text}.",
                "Whether warm-up “helps” depends on its number of steps, and the number needed depends on "
                "the rate. Vaswani et al. 2017 warm up over 4,000.",
            )


def _find_theory_and_training(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for growth in _select(measured, "stream growth", source="trained"):
        grows_or_shrinks = _side_of(1 + FLAT, growth.post) == 1 or _side_of(1 - FLAT, growth.post) == -1
        if not growth.where.endswith("untrained") and grows_or_shrinks:
            yield Conflict(
                f"Post-LN normalises the stream itself, and yet in the trained {growth.where} ({_seeds_text(growth)}) "
                f"the stream after the last block is {mean(growth.post):.2f} times as long as after the first.",
                "Lemma 2 is about untrained encoders, in which each norm gives all vectors one length. The "
                "norms' γ is learned, and differs from block to block.",
            )


def _find_speed_or_accuracy(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for loss in _select(measured, "loss while learning"):
        for accuracy in _select(measured, "accuracy", loss.where):
            slower_placement = _larger_placement(loss)
            better_placement = _larger_placement(accuracy, by=_standard_error_of_difference(accuracy))
            if slower_placement and slower_placement == better_placement:
                faster_placement = "pre-LN" if slower_placement == "post-LN" else "post-LN"
                yield Conflict(
                    f"In {loss.where} ({_seeds_text(loss)}), {faster_placement} learns faster and {better_placement} classifies more "
                    "examples correctly in the end.",
                    "The first is measured over the first phase of the run, the second after all of them, "
                    "when the rate has fallen to zero.",
                )


def _find_optimizers(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    """Yields at most one conflict: the claims on which the review encoders disagree with the small text encoders."""
    agreeing: list[Claim] = []
    disagreeing: list[Claim] = []
    optimizer_pairs: set[tuple[str | None, str | None]] = set()
    for claim in CLAIMS:
        judgement_by_encoders = {
            judgement.measured.where: judgement for judgement in claim.judgements(measured)
        }
        small_text, review = (
            judgement_by_encoders.get(ENCODER_NAMES[name]) for name in ("sentences", "imdb")
        )
        if (
            not small_text
            or not review
            or small_text.outcome not in _CLEAR
            or small_text.measured.across is not None
        ):
            continue
        optimizers = (small_text.measured.optimizer, review.measured.optimizer)
        if optimizers[1] and optimizers[0] != optimizers[1]:
            optimizer_pairs.add(optimizers)
            is_same_side = claim.rule.side(small_text.measured) == claim.rule.side(review.measured)
            (agreeing if is_same_side else disagreeing).append(claim)
    for small_optimizer, reviews_optimizer in optimizer_pairs:
        if disagreeing:
            claims_text = " ".join(f"“{claim.says}”" for claim in disagreeing)
            yield Conflict(
                f"The review encoders (one seed) and the small text encoders disagree on: {claims_text}",
                f"The papers, and the small text encoders here, used Adam ({_optimizer_name(small_optimizer)}); the review "
                "encoders are larger, were trained for longer, with "
                f"{_optimizer_name(reviews_optimizer)}. One pair cannot tell which of these is the cause. Of the "
                f"{len(agreeing) + len(disagreeing)} figures on which all small text encoders agree, {len(agreeing)} point "
                "to the same side in the review encoders.",
            )


_KINDS = (
    _find_last_or_all_parameters,
    _find_start_or_end_of_training,
    _find_warmup_steps,
    _find_theory_and_training,
    _find_speed_or_accuracy,
    _find_optimizers,
)
_CLEAR = (ClaimOutcome.HOLDS, ClaimOutcome.OPPOSITE, ClaimOutcome.AGREE, ClaimOutcome.AGREE_ON_OPPOSITE)


def _optimizer_name(optimizer: str | None) -> str:
    return (optimizer or "an unknown optimiser").replace("adamw", "AdamW").replace("muon", "Muon")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\u2009%")


def _select(
    measured: Sequence[Measurement], figure: str, encoders: str | None = None, source: str | None = None
) -> list[Measurement]:
    return [
        measurement
        for measurement in measured
        if measurement.figure == figure
        and encoders in (None, measurement.where)
        and source in (None, measurement.source)
    ]


def _larger_placement(measured: Measurement, *, by: float = 0.0) -> str | None:
    """Name of the norm placement whose values are larger by more than `by` for every seed; None if neither is."""
    differences = [pre - post for pre, post in zip(measured.pre, measured.post, strict=True)]
    if min(differences) > by:
        return "pre-LN"
    return "post-LN" if max(differences) < -by else None


def _side_of(bound: float, values: Sequence[float]) -> int:
    """1 if all values are above the bound, −1 if all are below it, 0 otherwise."""
    return (min(values) > bound) - (max(values) < bound)


def _standard_error_of_difference(accuracy: Measurement) -> float:
    """Standard error of the difference of two accuracies that is due to the choice of examples."""
    shares = (*accuracy.pre, *accuracy.post)
    return 2**0.5 * max(standard_error(share, accuracy.n) for share in shares)


def _seeds_text(measured: Measurement) -> str:
    n = len(measured.seeds)
    return "one seed" if n == 1 else f"all {n} seeds"


def _means_text(measured: Measurement) -> str:
    pre, post = mean(measured.pre), mean(measured.post)
    return f"pre-LN {_beside(pre, post)}, post-LN {_beside(post, pre)}"


def _beside(value: float, other: float) -> str:
    """The value with three digits, or with as many more as tell it from the `other`."""
    texts = [(f"{value:.{digits}g}", f"{other:.{digits}g}") for digits in range(3, 10)]
    return next((text for text, beside in texts if text != beside), texts[0][0])
