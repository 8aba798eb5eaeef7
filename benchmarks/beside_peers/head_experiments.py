"""Experiments on heads and tokens (ablation, patching, attribution), beside loops over TransformerLens's hooks and
beside captum.
"""

from statistics import median
from typing import Any, NamedTuple

from .encoder_folders import MINI_LM, OTHER_WORDS, Encoders, text
from .readme_tables import difference, ratio, section, table
from .side import Side, both_sides, interleaved

NAMES = {
    "ablation": "each head ablated",
    "patching": "each head's output from another text",
    "knock_out": "each token knocked out",
    "value_zeroing": "value zeroing",
    "rollout": "rollout",
    "relevance": "gradient × attention",
    "integrated_gradients": "integrated gradients",
}
FORWARD = "forward"
MORE = 4  # times as many gradients, with which captum's have converged
SHORT = 20  # tokens for integrated gradients, which take hundreds of forward and backward passes
EXPLAINED = """{name} with its own weights and a random classifier, {n} tokens, {rounds} interleaved rounds; one thread, processor
time. *Forwards* are forward passes of the same side that keep nothing: this project's, or TransformerLens's without hooks. The
peer is a plain loop over TransformerLens's hooks, a forward pass each; for value zeroing it runs the one layer alone; for
knock-out it is the attention mask, since hooks on the scores of BERT have no effect in that version. For integrated gradients
it is captum on {n_short} tokens, with as many gradients as this project chose by itself ({gradients}): what they sum to is then
{theirs:.0e} nats from the change that they explain, and {ours:.0e} here. The last column: the largest difference between both results, of
the range of the peer's; for integrated gradients captum's with {more} times as many. inseq is not here: what it does for encoders is
captum's."""


def measured(peers: str, encoders: Encoders, quick: bool) -> str:
    """The section of this group of measurements, in Markdown; `peers` is the Python of the peers."""
    n, rounds = (20, 1) if quick else (128, 3)
    n_short = 8 if quick else SHORT
    folder = encoders[MINI_LM]
    rows = []
    with both_sides(peers) as sides:
        gradients, gaps = _gradients(*sides, {"folder": folder, "text": text(n_short)})
        read = {"folder": folder, "text": text(n)}
        patched = {**read, "source": text(n, OTHER_WORDS)}
        values = dict.fromkeys(NAMES, Values(read, read, read))
        values |= {"patching": Values(patched, patched, patched), "integrated_gradients": gradients}
        for name, shown in NAMES.items():
            cells = _compared(*sides, name, values[name], rounds)
            rows.append([shown, *cells])
            print(shown, *cells, flush=True)
    columns = [
        "",
        "**forwards**",
        "**ms**",
        "forwards, peer",
        "ms, peer",
        "peer ÷ this project",
        "difference",
    ]
    words = EXPLAINED.format(name=MINI_LM, n=n, n_short=n_short, rounds=rounds, more=MORE, **gaps)
    return section("Experiments", words, table(columns, rows))


def _compared(ours: Side, theirs: Side, name: str, values: "Values", rounds: int) -> list[str]:
    """The cells of the table for one experiment, `name`."""
    own, peer = ours.numbers(name, **values.ours), theirs.numbers(name, **values.converged)
    read = {key: values.ours[key] for key in ("folder", "text")}
    times = interleaved(
        {
            "our forward": lambda: ours.seconds(FORWARD, **read),
            "ours": lambda: ours.seconds(name, **values.ours),
            "their forward": lambda: theirs.seconds(FORWARD, **read),
            "theirs": lambda: theirs.seconds(name, **values.theirs),
        },
        rounds,
        thrown_away=0,  # the numbers above were the first time
    )
    return [
        f"**{ratio(times['ours'], times['our forward']):.1f}**",
        f"{1000 * median(times['ours']):.0f}",
        f"{ratio(times['theirs'], times['their forward']):.1f}",
        f"{1000 * median(times['theirs']):.0f}",
        f"{ratio(times['theirs'], times['ours']):.1f}",
        difference(own["values"], peer["values"]),
    ]


class Values(NamedTuple):
    """The arguments of one call for each side; `converged` are those of a call of ours with more gradients."""

    ours: dict[str, Any]
    theirs: dict[str, Any]
    converged: dict[str, Any]  # theirs, where the results are compared


def _gradients(ours: Side, theirs: Side, read: dict[str, str]) -> tuple[Values, dict[str, float]]:
    """The arguments of integrated gradients, and the numbers that the text quotes: how many gradients, and how far
    their sum is from the change of the log-odds.
    """
    n_gradients, own_gap = ours.numbers("integrated_gradients", **read)["gradients_and_gap"]
    positions = ours.numbers("removable", **read)["positions"].tolist()
    of_captum = {**read, "n_gradients": int(n_gradients), "positions": positions}
    _, gap = theirs.numbers("integrated_gradients", **of_captum)["gradients_and_gap"]
    converged = {**of_captum, "n_gradients": MORE * int(n_gradients)}
    return Values(read, of_captum, converged), {"gradients": int(n_gradients), "ours": own_gap, "theirs": gap}
