"""Verdicts on the claims about pre-LN and post-LN: reads the stored measurements and writes the verdicts as sentences."""

from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from app_pages.subject.cache import cached
from app_pages.toolkit.markdown import counted
from model import checkpoint
from model.claims import verdict as claims
from model.claims.catalogue import CLAIMS
from model.claims.verdict import (
    FEWEST_SEEDS,
    SIGNIFICANT,
    ClaimOutcome,
    Judgement,
    Measurement,
    Overall,
    Rule,
    chance_of_separation,
    overall_verdict,
)
from viz.builders.number_format import format_distinct

_OUTCOMES = list(ClaimOutcome)
_WORDS = {
    ClaimOutcome.HOLDS: ":material/check_circle: **Holds**",
    ClaimOutcome.OPPOSITE: ":material/cancel: **Does not hold**, the opposite does",
    ClaimOutcome.AGREE: ":material/done_all: **All {n} seeds agree**",
    ClaimOutcome.AGREE_ON_OPPOSITE: ":material/remove_done: **All {n} seeds say the opposite**",
    ClaimOutcome.NO_CLEAR_DIFFERENCE: ":material/help: **No clear difference in {n} seeds**",
    ClaimOutcome.TOO_FEW: "No verdict from fewer than {fewest} seeds",
    ClaimOutcome.LEFT_OUT: "Left out, post-LN only guesses there",
}
_SIGNS = {
    Overall.HOLDS: "✓",
    Overall.SEEDS_AGREE: "✓",
    Overall.OPPOSITE: "✗",
    Overall.SEEDS_AGREE_ON_OPPOSITE: "✗",
    Overall.MIXED: "±",
    Overall.NOT_CONFIRMED: "?",
    Overall.TOO_FEW: "–",
    Overall.NOT_MEASURED: "–",
}
NOT_MEASURED = "**Not measured**"
LEGEND = f"""
- **Holds** or **does not hold**: the difference is as claimed, or the other way round, and chance alone would make one
  like it in fewer than 1 of {1 / SIGNIFICANT:.0f} cases (p < {SIGNIFICANT:g}).
- **No clear difference**: what there is could be chance. That does not mean that there is none; more seeds might show one.
- **Mixed**: as claimed in some kinds of encoders, not in others. **Not confirmed**: as claimed in none, and in at least one
  without a clear difference.
- **Seems to hold**: all {FEWEST_SEEDS} seeds agree, but {FEWEST_SEEDS} are too few for p < {SIGNIFICANT:g}. Every encoder of one placement lies on the
  claimed side of every one of the other. If the norm's place changed nothing, that would still happen
  in 1 of {1 / chance_of_separation(FEWEST_SEEDS):.0f} comparisons: some of these may be chance.
"""
TEST = (
    "The two encoders of a pair begin with the same seed. p is that of a two-sided exact sign-flip test of the differences "
    "within pairs, corrected after Holm for the measurements of the same claim. “14 of 16 pairs”: in so many the "
    "difference is as claimed. Some claims compare one placement with a fixed value; then seeds are counted, and "
    f"{FEWEST_SEEDS} of {FEWEST_SEEDS} agree by chance in 1 of {2 ** (FEWEST_SEEDS - 1)} comparisons."
)


def stored_measurements() -> list[Measurement]:
    """The stored measurements; empty if there is no file. Raises ValueError if the file is damaged, OSError if it
    cannot be read.
    """
    path = checkpoint.CHECKPOINTS / claims.CLAIMS_FILE
    return _read_measurements(path, path.stat().st_mtime_ns if path.exists() else 0)


@cached
def _read_measurements(path: Path, _changed: int) -> list[Measurement]:
    """The measurements in a file; `_changed`, its modification time in ns, makes the cache notice a new version."""
    return claims.read_measurements(path)


def stored_verdict(key: str) -> str:
    """Markdown sentence with the claim `key`, its source, and its verdict from the stored measurements; empty without them."""
    (claim,) = (claim for claim in CLAIMS if claim.key == key)
    try:
        verdict = overall_verdict(claim.judgements(stored_measurements())).verdict
    except (ValueError, OSError):
        return ""
    if verdict is Overall.NOT_MEASURED:
        return ""
    return f"“{claim.says.rstrip('.')}” ({claim.by}): **{verdict.value}**, over all encoders on [Norm placement](norm_placement)."


def verdict_html(judgements: Sequence[Judgement]) -> str:
    """HTML of the overall verdict on a claim with its symbol, and below it the number of kinds of encoders with each outcome."""
    overall = overall_verdict(judgements)
    counts = {
        "as claimed": overall.n_as_claimed,
        "the opposite": overall.n_opposite,
        "no clear difference": overall.n_unclear,
        "too few seeds or only guesses": overall.n_undecided,
    }
    parts = [f"{name} in {n}" for name, n in counts.items() if n]
    if parts:
        parts[0] += f" of {counted(len(judgements), 'kind')} of encoders"
    kind = overall.verdict.name.lower().replace("_", "-")
    sign = _SIGNS[overall.verdict]
    return (
        f'<div class="claim-verdict"><span class="chip {kind}"><b aria-hidden="true">{sign}</b> '
        f"{escape(overall.verdict.value)}</span><small>{escape(' · '.join(parts))}</small></div>"
    )


def verdict_lines(judgements: Sequence[Judgement], rule: Rule) -> str:
    """Markdown with a paragraph for each outcome: the verdict, the encoders it applies to, and the numbers."""

    def heading(judgement: Judgement) -> str:
        words = _WORDS[judgement.outcome]
        return words.format(n=len(judgement.measured.seeds), fewest=FEWEST_SEEDS)

    in_order = sorted(judgements, key=lambda judgement: _OUTCOMES.index(judgement.outcome))
    paragraphs = [
        f"{words}: {'; '.join(_numbers_text(judgement, rule) for judgement in group)}"
        for words, group in groupby(in_order, key=heading)
    ]
    return "\n\n".join(paragraphs) or NOT_MEASURED


def _numbers_text(judgement: Judgement, rule: Rule) -> str:
    """The encoders that were measured, with the number of pairs that agree with the claim and the p-value."""
    measured = judgement.measured
    if judgement.n_as_claimed is None:
        return measured.where
    n_seeds = len(measured.seeds)
    text = f"{judgement.n_as_claimed} of {n_seeds} {rule.counted_noun if n_seeds > 1 else rule.counted_noun[:-1]}"
    if judgement.p is not None:
        text += f", p\u00a0=\u00a0{format_distinct(judgement.p, SIGNIFICANT, '.1g')[0]}"
    return f"{measured.where} ({text})"
