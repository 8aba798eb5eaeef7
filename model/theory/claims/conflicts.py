"""Where two of our own figures seem to contradict each other, and why they do not: told where the numbers do so."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .declared import CLAIMS, XIONG, Claim
from .families import WHERE
from .stored import Measurement
from .verdict import Outcome, mean

TOUCHED = 0.05  # of accuracy: less is not told of
FLAT = 0.1  # of the growth of the stream: less counts as none


class Conflict(NamedTuple):
    """What seems to contradict what, and what resolves it; Markdown."""

    seems: str
    because: str


def conflicts(measured: Sequence[Measurement]) -> list[Conflict]:
    found: list[Conflict] = []
    for tell in (_one_matrix, _moments, _warmup_steps, _theory_and_training, _sooner, _optimizers):
        found += tell(measured)
    return found


def _one_matrix(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for last in _of(measured, "gradient of the last layer"):
        for whole in _of(measured, "gradient of all parameters", last.where):
            if _more(last) != _more(whole):
                yield Conflict(
                    f"In {last.where}, the gradient of the last layer is larger under {_more(last)} "
                    f"({_both(last)}), and that of all parameters under {_more(whole)} ({_both(whole)}).",
                    f"The theorem of {XIONG} is about one matrix, at the end of the last block. The norm over all "
                    "parameters counts every block and the embedding too, and says nothing about that matrix.",
                )


def _moments(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for trained in _of(measured, "gradient, trained"):
        for fresh in _of(measured, "gradient, fresh", f"{trained.where}, fresh"):
            for name, before, after in (
                ("pre-LN", fresh.pre, trained.pre),
                ("post-LN", fresh.post, trained.post),
            ):
                if (mean(before) > 1) != (mean(after) > 1):
                    late, early = ("late", "early") if mean(before) > 1 else ("early", "late")
                    yield Conflict(
                        f"In {trained.where} with {name}, {late} layers have the larger gradient at the "
                        f"start, {early} ones at the end (last block to first: {mean(before):.2g}, then "
                        f"{mean(after):.2g}).",
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
    for each in _of(measured, "stream growth", source="trained"):
        if not each.where.endswith("fresh") and abs(mean(each.post) - 1) > FLAT:
            yield Conflict(
                f"Post-LN normalises the stream itself, and yet in the trained {each.where} the stream "
                f"after the last block is {mean(each.post):.2f} times as long as after the first.",
                "Lemma 2 is about fresh encoders, in which each norm gives all vectors one length. The "
                "norms' γ is learned, and differs from block to block.",
            )


def _sooner(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    for speed in _of(measured, "loss while learning"):
        for end in _of(measured, "accuracy", speed.where):
            sooner = "pre-LN" if _more(speed) == "post-LN" else "post-LN"
            if sooner != _more(end):
                yield Conflict(
                    f"In {speed.where}, {sooner} learns faster and {_more(end)} classifies more examples "
                    "correctly in the end.",
                    "The first is measured over the first phase of the run, the second after all of them, "
                    "when the rate has fallen to zero. Look at the verdicts: either difference may be "
                    "chance.",
                )


def _optimizers(measured: Sequence[Measurement]) -> Iterator[Conflict]:
    """Reviews were learned with another optimiser than the small text encoders: where do both point to the same side?"""
    same: list[Claim] = []
    other: list[Claim] = []
    used: set[tuple[str | None, str | None]] = set()
    for claim in CLAIMS:
        by_where = {each.where: each for each in claim.of(measured)}
        small, reviews = (by_where.get(WHERE[name]) for name in ("sentences", "imdb"))
        if not small or not reviews or not reviews.optimizer or small.optimizer == reviews.optimizer:
            continue
        if small.across is None and claim.outcome(small) in (Outcome.HOLDS, Outcome.OPPOSITE):
            used.add((small.optimizer, reviews.optimizer))
            (same if _side(claim, small) == _side(claim, reviews) else other).append(claim)
    for small, reviews in used:
        if other:
            listed = " ".join(f"“{claim.says}”" for claim in other)
            yield Conflict(
                f"The review encoders and the small text encoders disagree on: {listed}",
                f"The papers, and the small text encoders here, used Adam ({_spelt(small)}); the review "
                f"encoders are larger, were trained for longer, with {_spelt(reviews)}. One pair cannot "
                f"tell which of these is the cause. {len(same)} of {len(same) + len(other)} clear figures "
                "agree.",
            )


def _side(claim: Claim, measured: Measurement) -> bool:
    """On which side of what the claim compares with the means are."""
    than, of = getattr(claim.rule, "than", None), getattr(claim.rule, "of", None)
    if than is None:
        return mean(measured.pre) > mean(measured.post)
    return mean(measured.pre if of == "pre" else measured.post) > than


def _spelt(optimizer: str | None) -> str:
    return (optimizer or "an unknown optimiser").replace("adamw", "AdamW").replace("muon", "Muon")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\u2009%")


def _of(
    measured: Sequence[Measurement], figure: str, where: str | None = None, source: str | None = None
) -> list[Measurement]:
    return [
        each
        for each in measured
        if each.figure == figure and where in (None, each.where) and source in (None, each.source)
    ]


def _more(measured: Measurement) -> str:
    return "pre-LN" if mean(measured.pre) > mean(measured.post) else "post-LN"


def _both(measured: Measurement) -> str:
    return f"pre-LN {mean(measured.pre):.3g}, post-LN {mean(measured.post):.3g}"
