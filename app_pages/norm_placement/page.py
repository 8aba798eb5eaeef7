"""Norm placement: what is claimed of pre-LN and post-LN, who claims it, and what it comes to in the encoders here."""

from pathlib import Path

import streamlit as st

from app_pages.cache import cached
from app_pages.norm_placement.row import WIDTHS, row
from app_pages.widgets.show import show
from app_pages.widgets.spelling import sentence
from model import checkpoint
from model.theory.claims.conflicts import conflicts
from model.theory.claims.declared import CLAIMS
from model.theory.claims.stored import CLAIMS as STORED
from model.theory.claims.stored import COMMAND, Measurement, read
from model.theory.claims.verdict import FEWEST_SEEDS, by_chance
from viz.norm_placement.seed_strip import placement_key


@cached
def _read(path: Path, _changed: int) -> list[Measurement]:
    """`_changed` is when the file was, in ns: what is measured while the app runs is read too."""
    return read(path)


def _stored() -> list[Measurement]:
    """Stops the page, with a sentence that says why, where there is nothing to show."""
    path = checkpoint.CHECKPOINTS / STORED
    try:
        found = _read(path, path.stat().st_mtime_ns if path.exists() else 0)
    except (ValueError, OSError) as error:
        st.info(f"{sentence(error)} `{COMMAND}` writes it again.", icon=":material/info:")
        st.stop()
    if not found:
        st.info(f"Nothing is measured yet: run `{COMMAND}`.", icon=":material/info:")
        st.stop()
    return found


measured = _stored()
st.markdown(
    f"Three seeds are few. Even if the place of the norm changed nothing, all {FEWEST_SEEDS} encoders of "
    f"one kind would lie on one side of the other {FEWEST_SEEDS} in one of "
    f"{1 / by_chance(FEWEST_SEEDS):.0f} comparisons: some differences here are chance.",
    help="A claim holds where every pair with the same seed agrees, and the means of the two placements are further apart than any "
    f"two seeds of one placement. With fewer than {FEWEST_SEEDS} seeds it is shown but not counted.",
)
with st.container(key="claims"):
    heads = st.columns(WIDTHS, gap="medium", vertical_alignment="bottom")
    heads[0].markdown("**Claim**")
    with heads[1]:
        show(placement_key(), key="placements")
    heads[2].markdown("**Verdict**")
    for when in dict.fromkeys(claim.when for claim in CLAIMS):
        st.subheader(when, divider="gray")
        for claim in (claim for claim in CLAIMS if claim.when == when):
            row(claim, measured)

if found := conflicts(measured):
    st.subheader("Where two of our figures seem to contradict each other", divider="gray")
    for because in dict.fromkeys(each.because for each in found):
        one, other = st.columns(2, gap="medium")
        one.markdown("\n\n".join(each.seems for each in found if each.because == because))
        other.markdown(because)
st.caption(f"Measured by `{COMMAND}`; the verdicts are computed from the stored values.")
