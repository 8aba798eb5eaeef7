"""The claims, in the order of a training run, each with its authors, the figure that tests it, and the rule for the verdict.

For claims about learning, measurements in which post-LN is no better than guessing are left out, since differences between
such runs mean nothing.

Papers are cited only for what their abstracts, theorems and figures state literally. A claim without authors
is a question of our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from .verdict import (
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

START, LEARNING, TRAINED = "Before training", "While learning", "After training"
XIONG = "Xiong et al. 2020"


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
        says="With more layers, the gradient at the last one gets smaller in pre-LN; in post-LN it stays the same.",
        by=f"{XIONG}, Theorem 1",
        figure="slope of the last gradient",
        measured="The gradient at the last layer goes with a power of the number of layers L: the slope of log ‖∂ℒ/∂W²‖ over log L. "
        "Power 0: it stays the same; −0.5: it falls like 1/√L. The theorem's bounds have 0 in post-LN and −0.5 in pre-LN. The "
        "verdict compares both: is the power smaller in pre-LN?",
        axis="gradient ∝ number of layers to this power; 0: no change",
        rule=Larger("post"),
    ),
    Claim(
        key="last",
        when=START,
        says="The gradient at the last layer is larger in post-LN.",
        by=f"{XIONG}, abstract and Theorem 1",
        figure="gradient of the last layer",
        measured="How long the gradient is at one matrix, the second of the last feed-forward: ‖∂ℒ/∂W²‖, mean over batches of 32. "
        "ℒ is the loss of the classifier; the encoders are untrained, of the shape of the trained ones.",
        axis="length of the gradient at the last layer",
        rule=Larger("post"),
        log=True,
    ),
    Claim(
        key="whole",
        when=START,
        says="The gradient of all weights together is larger in post-LN, too.",
        figure="gradient of all parameters",
        measured="How long the gradient of all parameters is, taken as one vector; measured like the row above.",
        axis="length of the gradient of all weights",
        rule=Larger("post"),
        log=True,
    ),
    Claim(
        key="toward_output",
        when=START,
        says="In post-LN, the gradient grows from the first layer to the last.",
        by=f"{XIONG}, figure 3; Takase et al. 2022, abstract",
        figure="gradient, fresh",
        measured="How long the gradient of the last layer's parameters is, divided by that of the first layer's. Above 1: it "
        "grows. Xiong et al. measured it in translation models of 6 + 6 layers.",
        axis="gradient, last layer ÷ first (dashed: equal)",
        rule=Beyond("post", 1.0),
        log=True,
    ),
    Claim(
        key="early_update",
        when=LEARNING,
        says="The first training steps change the output more in post-LN.",
        by="Wang et al. 2022 (DeepNet), section 3; Liu et al. 2020",
        figure="early update",
        measured="How far 10 steps of Adam move the output of a position: ‖F(x, θ₁₀) − F(x, θ₀)‖, mean over positions. The "
        "learning rate is 0.0001, without warm-up.",
        axis="how far 10 steps move the output",
        rule=Larger("post"),
    ),
    Claim(
        key="warm_up",
        when=LEARNING,
        says="Without warm-up, a slow rise of the learning rate, post-LN does not learn.",
        by=f"{XIONG}, abstract and section 3.2",
        figure="reached without warm-up",
        measured=f"Share of digits recognised after 120 steps of Adam without warm-up. Not to learn is to stay below "
        f"{100 * LEARNED:.0f} % (guessing gives 10 %; a run that diverged counts as guessing). A learning rate at which most "
        "post-LN encoders do not learn with 30 steps of warm-up either is left out: there it is not the warm-up that "
        "is missing. Pre-LN is drawn for comparison.",
        axis=f"share of digits recognised (dashed: {LEARNED:g})",
        rule=Beyond("post", LEARNED, above=False),
        source="fresh",
        learns_in=("reached with warm-up",),
    ),
    Claim(
        key="warm_up_gain",
        when=LEARNING,
        says="Post-LN gains more from warm-up than pre-LN.",
        by=f"{XIONG}, weaker than the claim above",
        figure="gain by warm-up",
        measured="Share of digits recognised after a short run with warm-up, minus that of the same run without; a run that "
        "diverged counts as guessing. Small encoders: 120 steps of Adam, with 30 of warm-up. Full size: the stored "
        "runs of the Theory page. A learning rate at which most post-LN encoders learn neither with warm-up nor "
        "without is left out: from guessing to guessing nothing can be gained.",
        axis="share of digits gained by warm-up",
        rule=Larger("post"),
        learns_in=("reached with warm-up", "reached without warm-up"),
    ),
    Claim(
        key="rate",
        when=LEARNING,
        says="Pre-LN still learns at larger learning rates.",
        by=f"{XIONG}, abstract: with large ones post-LN is unstable",
        figure="largest learning rate",
        measured="The largest of the rates 0.001, 0.003, 0.01 and 0.03 at which a run of 120 steps with 30 of warm-up "
        "reaches 30 % of the digits (guessing gives 10 %).",
        axis="largest learning rate at which it learns",
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
        axis="mean loss while learning (nats; low: fast)",
        rule=Larger("post"),
    ),
    Claim(
        key="stream",
        when=TRAINED,
        says="From layer to layer, the tokens' vectors get longer in pre-LN, not in post-LN.",
        by=f"{XIONG}, Lemma 2, of untrained encoders",
        figure="stream growth",
        measured="Mean length ‖x‖ of the residual stream after the last layer, divided by that after the first. Where the encoder "
        "is as the theory assumes, x is the state of the lemma, in post-LN the one before the norm. The verdict compares both: is "
        "the growth larger in pre-LN?",
        axis="length after the last layer ÷ after the first",
        rule=Larger("pre"),
        log=True,
    ),
    Claim(
        key="branches",
        when=TRAINED,
        says="In post-LN, what attention and feed-forward add is larger beside what is there already.",
        by="Liu et al. 2020: post-LN depends more on its residual branches",
        figure="share of sublayers",
        measured="‖F‖ / (‖x‖ + ‖F‖), mean over sublayers, positions and examples: F is what attention or feed-forward adds, x what "
        "it is added to. Liu et al. measure shares of the variance; this measure is ours.",
        axis="length of what is added, as a share of both",
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
        says="In pre-LN, the gradient is larger in early layers than in late ones.",
        by="Shleifer et al. 2021 (NormFormer), abstract, during pretraining",
        figure="gradient, trained",
        measured="How long the gradient of the last layer's parameters is, divided by that of the first layer's, at the end of "
        "training, on held-out examples, with the loss of the classifier. Below 1: early layers have more.",
        axis="gradient, last layer ÷ first (dashed: equal)",
        rule=Beyond("pre", 1.0, above=False),
        log=True,
    ),
    Claim(
        key="entropy",
        when=TRAINED,
        says="In pre-LN, a token attends to more tokens at once.",
        figure="entropy",
        measured="Entropy of the attention, 0 (all weight on one key) to 1 (all keys alike), mean over heads, queries and "
        "examples.",
        axis="entropy: 0 one token, 1 all alike",
        rule=Larger("pre"),
    ),
    Claim(
        key="roles",
        when=TRAINED,
        says="Heads differ more between pre-LN and post-LN than between two random starts.",
        figure="distance of heads",
        measured="How differently two heads attend, mean over matched heads (Jensen-Shannon, in nats); the matching has the smallest "
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
