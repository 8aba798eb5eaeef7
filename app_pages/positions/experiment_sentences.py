"""Sentences under the experiments with positions, worded for the kinds of position encoding that the encoder has."""

from collections.abc import Collection, Sequence

from app_pages.toolkit.markdown import plain
from model.experiments.position_kinds import PositionKind
from model.record import ForwardRecord
from model.theory.permutation_equivariance import FIXED_ROLES

_LEFT_OUT: dict[PositionKind, str] = {
    "added": "zeros are added in place of the position vectors",
    "rotated": "queries and keys are not rotated",
    "biased": "no bias by distance is added to the scores",
    "disentangled": "the terms with relative positions are left out of the scores, whose divisor stays",
}
_STAYS: dict[PositionKind, str] = {
    "rotated": "The product of a rotated query and a rotated key follows their distance alone, so it stays.",
    "biased": "The bias on a score follows the distance alone, so it stays.",
    "disentangled": "The relative position of query and key stays.",
}


def permutation_sentences(
    record: ForwardRecord, kinds: Collection[PositionKind], *, sees_all: bool
) -> tuple[str, str]:
    """Two sentences: what is permuted, and what the order still changes once positions are left out.

    `sees_all` is whether the encoder's masks let every token attend to all others.
    """
    permuted = (
        r"What is permuted is the content: at position $i$ stands $x_{\pi(i)} + p_i$, so each position keeps its vector"
        if "added" in kinds
        else r"What is permuted is the content: at position $i$ stands $x_{\pi(i)}$, and the positions stay where they are"
    )
    permuted = f"{permuted}. That is the same as {_equivalent_input(record)}."
    if not sees_all:
        return permuted, (
            "Even without positions the order counts in this encoder: masks that depend on the positions stay, and in this input they "
            "hide some tokens from others."
        )
    return permuted, (
        "Without positions, attention, feed-forward and norm treat all positions alike, so only rows and columns change places. "
        "The small differences that remain are rounding: the sums are taken in another order."
    )


def _equivalent_input(record: ForwardRecord) -> str:
    """Phrase for the input to which reading the permuted vectors is equivalent."""
    equivalent = (
        "typing the tokens in that order"
        if record.unit == "token"
        else "a picture with its patches in other places"
    )
    fixed_tokens = list(
        dict.fromkeys(record.tokens[position] for position in record.positions_with_role(*FIXED_ROLES))
    )
    names = [plain(token) for token in fixed_tokens]
    if record.positions_with_role("register"):
        names.append("the registers")
    if not names:
        return equivalent
    return f"{equivalent}; {' and '.join(names)} {'stay' if len(names) > 1 else 'stays'}"


def _has_masks(kinds: Collection[PositionKind]) -> bool:
    """Whether the encoder's architecture has masks, windows or a causal one."""
    return not {"windowed", "causal"}.isdisjoint(kinds)


def left_out_sentences(kinds: Sequence[PositionKind]) -> str:
    """Sentences on what is removed when positions are left out, and what the result shows."""
    clauses = [_LEFT_OUT[kind] for kind in kinds if kind in _LEFT_OUT]
    stays = " Masks stay: which layers see how far is as before." if _has_masks(kinds) else ""
    if not clauses:
        return f"This encoder has nothing to leave out.{stays}"
    beginning = " and ".join(clauses)
    return (
        f"{beginning[0].upper()}{beginning[1:]}; every weight stays as it was trained, with positions.{stays} So this shows what this "
        "encoder lacks without them, not what an encoder trained without any would do."
    )


def shift_sentences(record: ForwardRecord, kinds: Sequence[PositionKind], k: int) -> str:
    """Sentences on what a shift of all positions by `k` changes, and what it leaves unchanged."""
    sentences = [_shifted_vectors(record, k)] if "added" in kinds else []
    relative = [kind for kind in kinds if kind in _STAYS]
    if relative and not sentences:
        sentences.append(
            "Every patch counts as one $k$ rows further down."
            if record.patch_grid is not None
            else "Every token counts as one that stands $k$ positions later."
        )
    sentences += [_STAYS[kind] for kind in relative]
    if record.patch_grid is not None and "rotated" in relative:
        sentences.append("Class token and registers are not rotated: their scores with patches change.")
    elif relative and "added" not in kinds:
        sentences.append("Any change is rounding in single precision.")
    if _has_masks(kinds):
        sentences.append("Which tokens see which stays, too.")
    return " ".join(sentences)


def _shifted_vectors(record: ForwardRecord, k: int) -> str:
    config = record.config
    if config.positions == "sinusoidal":
        last_position = k + len(record) - 1
        remark = f" The table ends at {config.n_positions - 1}; what lies beyond was never met in training."
        return (
            rf"Position $t$ gets $p_{{t+k}}$: the input stands at positions {k} to {last_position}. The dot products of the "
            "position vectors with each other depend on offsets alone and stay what they were; the vectors do not."
            + (remark if last_position >= config.n_positions else "")
        )
    if record.patch_grid is None:
        return (
            rf"Position $t$ gets $p_{{t+k}}$ of the learned table, which begins again after its last row, "
            f"{config.n_positions - 1}."
        )
    return (
        "Each patch gets the learned position of the patch that comes $k$ later, row by row: "
        f"{record.patch_grid[1]} is a whole row, and the last ones get those at the beginning. A class "
        "token keeps its own."
    )
