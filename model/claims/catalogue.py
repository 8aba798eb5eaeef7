"""The claims, in the order of a training run, each with its authors, the figure that tests it, and the rule for the verdict.

For claims about learning, measurements in which post-LN is no better than guessing are left out, since differences between
such runs mean nothing.

Papers are cited only for what their abstracts, theorems and figures state literally. A claim without authors
is a question of our own.

The effect of a claim is the difference between the two placements, or between one and a bound, divided by the standard deviation
over the seeds of one placement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np

from .verdict import (
    FEWEST_SEEDS,
    LEARNED,
    Beyond,
    ClaimOutcome,
    FurtherThanSeeds,
    Judgement,
    Larger,
    Measurement,
    Rule,
    judge,
)

START, LEARNING, TRAINED = "At the start", "While learning", "After training"
XIONG = "Xiong et al. 2020"
ROUNDING = 1e-6  # a spread below this share of the largest value is rounding: nothing can be measured in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim with the figure that tests it, the rule for its verdict, and its text on the page."""

    key: str
    when: str
    says: str  # one sentence
    by: str = ""  # who made it, and where; empty for a question of our own
    figure: str  # `Measurement.figure`
    measured: str  # what the figure is, in words and formulas
    axis: str  # the same in a few words, for the axis
    rule: Rule
    source: str | None = None  # of its measurements, where the figure is measured in several ways
    learns_in: tuple[
        str, ...
    ] = ()  # figures of accuracy, in one of which post-LN must learn for a measurement to count
    log: bool = False  # whether its axis is logarithmic

    def measurements(self, measured: Sequence[Measurement]) -> list[Measurement]:
        """The measurements that test this claim, out of all that are given."""
        return [
            measurement
            for measurement in measured
            if measurement.figure == self.figure and self.source in (None, measurement.source)
        ]

    def judgements(self, measured: Sequence[Measurement]) -> list[Judgement]:
        """Verdict of each measurement that tests this claim, in the order of the measurements."""
        claim_measurements = self.measurements(measured)
        counted_measurements = [
            measurement for measurement in claim_measurements if self._has_learned(measurement, measured)
        ]
        judgement_by_measurement = dict(
            zip(counted_measurements, judge(self.rule, counted_measurements), strict=True)
        )
        return [
            judgement_by_measurement.get(measurement, Judgement(measurement, ClaimOutcome.LEFT_OUT))
            for measurement in claim_measurements
        ]

    def _has_learned(self, measurement: Measurement, measured: Sequence[Measurement]) -> bool:
        """Whether the median post-LN encoder reaches `LEARNED` in one of the accuracies that `learns_in` names."""
        accuracies = [
            other.post
            for other in measured
            if other.figure in self.learns_in
            and (other.where, other.source) == (measurement.where, measurement.source)
        ]
        return not self.learns_in or any(median(values) >= LEARNED for values in accuracies)


CLAIMS = (
    Claim(
        key="last_depth",
        when=START,
        says="The more layers, the smaller the gradient of the last one in pre-LN, but not in post-LN.",
        by=f"{XIONG}, Theorem 1",
        figure="slope of the last gradient",
        measured="Slope of log ‖∂ℒ/∂W²‖ of the last feed-forward over log L, the number of layers. For norms "
        "that follow the theorem's bounds it is −0.5 in pre-LN and 0 in post-LN.",
        axis="slope of the last gradient over depth",
        rule=Larger("post"),
    ),
    Claim(
        key="last",
        when=START,
        says="The gradient of the last layer is larger in post-LN.",
        by=f"{XIONG}, abstract and Theorem 1",
        figure="gradient of the last layer",
        measured="‖∂ℒ/∂W²‖ at the second matrix of the last feed-forward, mean over batches of 32. ℒ is the loss of the "
        "classifier; the encoders are untrained, of the shape of the trained ones.",
        axis="gradient of the last layer",
        rule=Larger("post"),
        log=True,
    ),
    Claim(
        key="whole",
        when=START,
        says="The gradient of all parameters together is larger in post-LN, too.",
        figure="gradient of all parameters",
        measured="Norm of the gradient of all parameters as one vector, measured like the row above.",
        axis="gradient of all parameters",
        rule=Larger("post"),
        log=True,
    ),
    Claim(
        key="toward_output",
        when=START,
        says="In post-LN the gradient grows from layer to layer towards the output.",
        by=f"{XIONG}, figure 3; Takase et al. 2022, abstract",
        figure="gradient, fresh",
        measured="Norm of the gradient of the last block's parameters, divided by that of the first block's. Above 1: it "
        "grows. Xiong et al. measured it in translation models of 6 + 6 layers.",
        axis="gradient, last layer / first (dashed: equal)",
        rule=Beyond("post", 1.0),
        log=True,
    ),
    Claim(
        key="early_update",
        when=LEARNING,
        says="The first steps of training move the output further in post-LN.",
        by="Wang et al. 2022 (DeepNet), section 3; Liu et al. 2020",
        figure="early update",
        measured="‖F(x, θ₁₀) − F(x, θ₀)‖ after 10 steps of Adam at a rate of 0.0001 without warm-up, mean over "
        "positions.",
        axis="how far 10 steps move the output",
        rule=Larger("post"),
    ),
    Claim(
        key="warm_up",
        when=LEARNING,
        says="Without learning-rate warm-up, post-LN does not learn.",
        by=f"{XIONG}, abstract and section 3.2",
        figure="reached without warm-up",
        measured=f"Accuracy after a short run without warm-up: 120 steps of Adam on digits. Not to learn is to stay below "
        f"{100 * LEARNED:.0f} % (guessing gives 10 %; a run that diverged counts as guessing). A learning rate at which most "
        "post-LN encoders do not learn with 30 steps of warm-up either is left out: there it is not the warm-up that "
        "is missing. Pre-LN is drawn for comparison.",
        axis=f"accuracy without warm-up (dashed: {LEARNED:g})",
        rule=Beyond("post", LEARNED, above=False),
        source="fresh",
        learns_in=("reached with warm-up",),
    ),
    Claim(
        key="warm_up_gain",
        when=LEARNING,
        says="Post-LN gains more from learning-rate warm-up than pre-LN.",
        by=f"Weaker than the claim above, which is that of {XIONG}",
        figure="gain by warm-up",
        measured="Accuracy after a short run with warm-up, minus that of the same run without; a run that "
        "diverged counts as guessing. Small encoders: 120 steps of Adam, with 30 of warm-up. Full size: the stored "
        "runs of the Theory page. A learning rate at which most post-LN encoders learn neither with warm-up nor "
        "without is left out: from guessing to guessing nothing can be gained.",
        axis="accuracy gained by warm-up",
        rule=Larger("post"),
        learns_in=("reached with warm-up", "reached without warm-up"),
    ),
    Claim(
        key="rate",
        when=LEARNING,
        says="Pre-LN tolerates larger learning rates.",
        by=f"{XIONG}, abstract: with large ones post-LN is unstable",
        figure="largest learning rate",
        measured="The largest of the rates 0.001, 0.003, 0.01 and 0.03 at which a run of 120 steps with 30 of warm-up "
        "reaches 30 % of the digits (guessing gives 10 %).",
        axis="largest learning rate that works",
        rule=Larger("pre"),
        log=True,
    ),
    Claim(
        key="speed",
        when=LEARNING,
        says="Pre-LN learns faster.",
        by=f"{XIONG}, section 4",
        figure="loss while learning",
        measured="Mean training loss over the first phase of the run, in nats: smaller if the loss falls "
        "sooner. The claim: it is larger in post-LN. Both placements see the same batches at the same rate.",
        axis="mean loss while learning (nats)",
        rule=Larger("post"),
    ),
    Claim(
        key="stream",
        when=TRAINED,
        says="The residual stream grows with depth in pre-LN, not in post-LN.",
        by=f"{XIONG}, Lemma 2, of untrained encoders",
        figure="stream growth",
        measured="Mean ‖x‖ after the last block divided by that after the first. Where the encoder is as the theory assumes, x "
        "is the state of the lemma, in post-LN the one before the norm.",
        axis="length of the states, last layer / first",
        rule=Larger("pre"),
        log=True,
    ),
    Claim(
        key="branches",
        when=TRAINED,
        says="In post-LN, attention and feed-forward add more to the residual stream, relative to its length.",
        by="Liu et al. 2020: post-LN depends more on its residual branches",
        figure="share of sublayers",
        measured="‖F‖ / (‖x‖ + ‖F‖), mean over sublayers, positions and examples: F is what a sublayer adds, x what it is "
        "added to. Liu et al. measure shares of the variance; this measure is ours.",
        axis="what is added, as a share of the length",
        rule=Larger("post"),
    ),
    Claim(
        key="early_parts",
        when=TRAINED,
        says="In pre-LN, the first half of the layers writes a larger share of the answer.",
        figure="share of early layers",
        measured="Σ|parts| of the heads and feed-forwards in the first half of the layers, divided by that in all layers; mean over "
        "examples. A part is what a head or feed-forward adds to the logit of the predicted class minus the mean of the "
        "others, with the σ of every norm held. It says what reaches the answer directly, not what later layers make of it.",
        axis="share of the first half of the layers",
        rule=Larger("pre"),
    ),
    Claim(
        key="early_layers",
        when=TRAINED,
        says="In pre-LN the gradient is larger in early layers than in late ones.",
        by="Shleifer et al. 2021 (NormFormer), abstract, during pretraining",
        figure="gradient, trained",
        measured="Norm of the gradient of the last block's parameters divided by that of the first block's, at the end of "
        "training, on held-out examples, with the loss of the classifier. Below 1: early layers have more.",
        axis="gradient, last layer / first (dashed: equal)",
        rule=Beyond("pre", 1.0, above=False),
        log=True,
    ),
    Claim(
        key="entropy",
        when=TRAINED,
        says="Attention is spread over more keys in pre-LN.",
        figure="entropy",
        measured="Entropy of the attention, 0 (one key) to 1 (all keys alike), mean over heads, queries and "
        "examples.",
        axis="entropy of the attention, 0 to 1",
        rule=Larger("pre"),
    ),
    Claim(
        key="roles",
        when=TRAINED,
        says="Heads differ more between pre-LN and post-LN than between two seeds.",
        figure="distance of heads",
        measured="Mean head distance (Jensen-Shannon, in nats) of matched heads; the matching has the smallest "
        "sum of distances. Grey: a pre-LN and a post-LN encoder; in colour: two seeds of one.",
        axis="distance between heads (nats)",
        rule=FurtherThanSeeds(),
    ),
    Claim(
        key="accuracy",
        when=TRAINED,
        says="With few layers, post-LN performs better in the end.",
        by="Takase et al. 2022, abstract: of six layers or fewer",
        figure="accuracy",
        measured="Share of held-out examples classified correctly. Takase et al. measured text generation.",
        axis="share classified correctly",
        rule=Larger("post"),
    ),
)


class SeedEffect(NamedTuple):
    """Difference between the placements, in units of the standard deviation over seeds: mean, smallest and largest over the seeds."""

    mean: float
    least: float
    largest: float


def seed_effect(measured: Measurement, rule: Rule, *, log: bool = False) -> SeedEffect | None:
    """The effect (pre − post) / s of a measurement, positive where pre-LN has the larger values.

    s = √((s_pre² + s_post²) / 2), where s_pre and s_post are the standard deviations (n − 1) over the seeds of one
    placement. By a rule `Beyond`, which compares one placement with a bound, it is (value − bound) / s with that placement's
    own s. With `log`, all of it is computed on natural logarithms. None with fewer than `FEWEST_SEEDS` seeds, for distances
    between encoders, where s is zero, and where a logarithm does not exist.
    """
    if len(measured.seeds) < FEWEST_SEEDS or measured.across is not None:
        return None
    first, second = measured.pre, measured.post
    if isinstance(rule, Beyond):
        first = measured.pre if rule.placement == "pre" else measured.post
        second = (rule.than,) * len(first)
    compared = np.array([first, second], float)
    if log:
        if compared.min() <= 0:
            return None
        compared = np.log(compared)
    variances = compared.var(axis=1, ddof=1)  # that of a bound is 0
    spread = float(np.sqrt(variances.sum() if isinstance(rule, Beyond) else variances.mean()))
    if spread <= ROUNDING * max(float(np.abs(compared).max()), ROUNDING):
        return None
    in_spreads = (compared[0] - compared[1]) / spread
    return SeedEffect(float(in_spreads.mean()), float(in_spreads.min()), float(in_spreads.max()))


@dataclass(frozen=True, slots=True)
class EncoderEffect:
    """A judgement with the effect in the encoders that were measured for it."""

    judgement: Judgement
    effect: SeedEffect


def effects_of_claim(claim: Claim, judgements: Sequence[Judgement]) -> list[EncoderEffect]:
    """Effects of the claim's `judgements`, in their order, without judgements that are left out or have no `seed_effect`."""
    effects = (
        (judgement, seed_effect(judgement.measured, claim.rule, log=claim.log))
        for judgement in judgements
        if judgement.outcome is not ClaimOutcome.LEFT_OUT
    )
    return [EncoderEffect(judgement, effect) for judgement, effect in effects if effect is not None]
