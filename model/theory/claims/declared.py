"""The claims, in the order of a training run: who made them, which measurement is about them, and by which rule.

What the papers say is given as far as their abstracts, theorems and figures say it in so many words. Where nobody is
named, it is a question of our own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .stored import Measurement
from .verdict import Beyond, FurtherThanSeeds, Larger, Outcome, Rule, together

START, LEARNING, TRAINED = "At the start", "While learning", "After training"
XIONG = "Xiong et al. 2020"

# A page by its folder, and what its address holds: `figure` says where on it.
Link = tuple[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    key: str
    when: str
    says: str  # one sentence
    by: str = ""  # who made it, and where; empty for a question of our own
    figure: str  # `Measurement.figure`
    measured: str  # what the figure is, in words and formulas
    rule: Rule
    depends_on: str = "the encoders"  # in what its measurements differ
    source: str | None = None  # of its measurements, where the figure is measured in several ways
    link: Link
    log: bool = False  # whether its axis is logarithmic

    def of(self, measured: Iterable[Measurement]) -> list[Measurement]:
        """The measurements that are about this claim."""
        return [
            each for each in measured if each.figure == self.figure and self.source in (None, each.source)
        ]

    def verdict(self, measured: Iterable[Measurement]) -> str:
        outcomes = [(each.where, self.outcome(each)) for each in self.of(measured)]
        return together(outcomes, self.depends_on) if outcomes else "not measured"

    def outcome(self, measured: Measurement) -> Outcome:
        return self.rule.outcome(measured)


_TEXT = {"kind": "Text", "checkpoint": "sentences-pre-ln-seed0"}
_PAIR = _TEXT | {"compare_with": "sentences-post-ln-seed0"}
_AT_START = {"theory_part": "before training"}
_AS_TRAINED = _AT_START | {"theory_start": "Xavier", "theory_ff": "4 d"}

CLAIMS = (
    Claim(
        key="last_depth",
        when=START,
        says="The more layers, the smaller the gradient of the last one under pre-LN, but not under post-LN.",
        by=f"{XIONG}, Theorem 1",
        figure="slope of the last gradient",
        measured="Slope of log ‖∂ℒ/∂W²‖ of the last feed-forward over log L, the number of layers. For norms "
        "that follow the theorem's bounds it is −0.5 in pre-LN and 0 in post-LN.",
        rule=Larger("post"),
        link=("theory", _AT_START | {"figure": "theory_last"}),
    ),
    Claim(
        key="last",
        when=START,
        says="The gradient of the last layer is larger under post-LN.",
        by=f"{XIONG}, abstract and Theorem 1",
        figure="gradient of the last layer",
        measured="‖∂ℒ/∂W²‖ at the second matrix of the last feed-forward, mean over batches of 32. ℒ is the loss of the "
        "classifier; the encoders are fresh, of the shape of the trained ones.",
        rule=Larger("post"),
        link=("theory", _AS_TRAINED | {"figure": "theory_last"}),
        log=True,
    ),
    Claim(
        key="whole",
        when=START,
        says="The gradient of all parameters is larger under post-LN, too.",
        figure="gradient of all parameters",
        measured="Norm of the gradient of all parameters as one vector, measured like the row above.",
        rule=Larger("post"),
        link=("training", {"training": "histories", "figure": "shown_history_gradient_norm"} | _TEXT),
        log=True,
    ),
    Claim(
        key="toward_output",
        when=START,
        says="Under post-LN the gradient grows from layer to layer towards the output.",
        by=f"{XIONG}, figure 3; Takase et al. 2022, abstract",
        figure="gradient, fresh",
        measured="Norm of the gradient of the last block's parameters, divided by that of the first block's. Above 1: it "
        "grows. Xiong et al. measured it in translation models of 6 + 6 layers.",
        rule=Beyond("post", 1.0),
        link=("theory", _AS_TRAINED | {"figure": "theory_by_layer"}),
        log=True,
    ),
    Claim(
        key="early_update",
        when=LEARNING,
        says="The first steps of training move the output further under post-LN.",
        by="Wang et al. 2022 (DeepNet), section 3; Liu et al. 2020",
        figure="early update",
        measured="‖F(x, θ₁₀) − F(x, θ₀)‖ after 10 steps of Adam at a rate of 0.0001 without warm-up, mean over "
        "positions.",
        rule=Larger("post"),
        depends_on="the depth",
        link=(
            "theory",
            {
                "theory_part": "first steps",
                "theory_start": "Xavier",
                "theory_ff": "4 d",
                "theory_depth": "18",
                "theory_seeds": "3",
                "figure": "theory_updates",
            },
        ),
    ),
    Claim(
        key="warm_up",
        when=LEARNING,
        says="Post-LN needs learning-rate warm-up; pre-LN does not.",
        by=f"{XIONG}, abstract",
        figure="gain by warm-up",
        measured="Accuracy after a short run with warm-up, minus that of the same run without; a run that "
        "diverged counts as guessing. The claim: post-LN gains more.",
        rule=Larger("post"),
        depends_on="the learning rate",
        link=("theory", {"theory_part": "learning rate and warm-up", "figure": "theory_stored_runs"}),
    ),
    Claim(
        key="rate",
        when=LEARNING,
        says="Pre-LN tolerates larger learning rates.",
        by=f"{XIONG}, abstract: with large ones post-LN is unstable",
        figure="largest learning rate",
        measured="The largest of the rates 0.001, 0.003, 0.01 and 0.03 at which a run of 120 steps with 30 of warm-up "
        "reaches 30 % of the digits (guessing gives 10 %).",
        rule=Larger("pre"),
        link=("theory", {"theory_part": "learning rate and warm-up", "figure": "theory_stored_runs"}),
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
        rule=Larger("post"),
        depends_on="the encoders and what they learn",
        link=("training", {"training": "histories", "figure": "shown_history_loss"} | _TEXT),
    ),
    Claim(
        key="stream",
        when=TRAINED,
        says="The residual stream grows with depth under pre-LN, not under post-LN.",
        by=f"{XIONG}, Lemma 2, of fresh encoders",
        figure="stream growth",
        measured="Mean ‖x‖ after the last block divided by that after the first. In the theory's setting x is "
        "the state of the lemma, in post-LN the one before the norm.",
        rule=Larger("pre"),
        link=("compare", _PAIR | {"compare_part": "Stream", "figure": "shown_stream_mean"}),
        log=True,
    ),
    Claim(
        key="branches",
        when=TRAINED,
        says="Under post-LN the sublayers add more, relative to the residual stream.",
        by="Liu et al. 2020: post-LN depends more on its residual branches",
        figure="share of sublayers",
        measured="‖F‖ / (‖x‖ + ‖F‖), mean over sublayers, positions and examples: F is what a sublayer adds, x what it is "
        "added to. Liu et al. measure shares of the variance; this measure is ours.",
        rule=Larger("post"),
        link=(
            "compare",
            _PAIR | {"compare_part": "Stream", "compare_stream": "shares", "figure": "shown_stream_shares"},
        ),
    ),
    Claim(
        key="early_layers",
        when=TRAINED,
        says="Under pre-LN the gradient is larger in early layers than in late ones.",
        by="Shleifer et al. 2021 (NormFormer), abstract, during pretraining",
        figure="gradient, trained",
        measured="Norm of the gradient of the last block's parameters divided by that of the first block's, at the end of "
        "training, on held-out examples, with the loss of the classifier. Below 1: early layers have more.",
        rule=Beyond("pre", 1.0, above=False),
        link=(
            "training",
            {
                "training": "film",
                "training_curves": "gradient norms",
                "kind": "Digit",
                "figure": "shown_curves",
            },
        ),
        log=True,
    ),
    Claim(
        key="entropy",
        when=TRAINED,
        says="Attention is spread over more keys under pre-LN.",
        figure="entropy",
        measured="Entropy of the attention, 0 (one key) to 1 (all keys alike), mean over heads, queries and "
        "examples.",
        rule=Larger("pre"),
        link=("attention", _TEXT | {"figure": "overview"}),
    ),
    Claim(
        key="roles",
        when=TRAINED,
        says="Heads differ more between pre-LN and post-LN than between two seeds.",
        figure="distance of heads",
        measured="Mean head distance (Jensen-Shannon, in nats) of matched heads; the matching has the smallest "
        "sum of distances. Grey: a pre-LN and a post-LN encoder; in colour: two seeds of one.",
        rule=FurtherThanSeeds(),
        link=(
            "compare",
            _PAIR
            | {"compare_part": "Heads", "compare_view": "distances of all heads", "figure": "distances"},
        ),
    ),
    Claim(
        key="accuracy",
        when=TRAINED,
        says="With few layers, post-LN performs better in the end.",
        by="Takase et al. 2022, abstract: of six layers or fewer",
        figure="accuracy",
        measured="Share of held-out examples classified correctly. Takase et al. measured text generation.",
        rule=Larger("post"),
        link=("compare", _PAIR),
    ),
)
