"""The Transformer variations of table 3 of "Attention Is All You Need" (Vaswani et al. 2017).

The printed results are those of the whole Transformer, encoder and decoder, on the development set newstest2013, English to
German; perplexities are per word piece.
"""

from dataclasses import dataclass, replace
from typing import Any

from ..config import ModelConfig, preset

COLUMNS = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "ε_ls", "steps", "PPL", "BLEU", "params")
_VARIED = COLUMNS[:8]  # settings in which a row differs from the base model; the other columns are results
_FIELDS = {"N": "n_layers", "d_model": "d_model", "d_ff": "d_ff", "h": "n_heads", "d_k": "d_k", "d_v": "d_v"}

# As printed; a dot is an empty cell, whose value is that of the base model.
_TABLE = """
base  6   512  2048   8   64   64  0.1  0.1  100K  4.92  25.8   65
(A)   .     .     .   1  512  512    .    .     .  5.29  24.9    .
(A)   .     .     .   4  128  128    .    .     .  5.00  25.5    .
(A)   .     .     .  16   32   32    .    .     .  4.91  25.8    .
(A)   .     .     .  32   16   16    .    .     .  5.01  25.4    .
(B)   .     .     .   .   16    .    .    .     .  5.16  25.1   58
(B)   .     .     .   .   32    .    .    .     .  5.01  25.4   60
(C)   2     .     .   .    .    .    .    .     .  6.11  23.7   36
(C)   4     .     .   .    .    .    .    .     .  5.19  25.3   50
(C)   8     .     .   .    .    .    .    .     .  4.88  25.5   80
(C)   .   256     .   .   32   32    .    .     .  5.75  24.5   28
(C)   .  1024     .   .  128  128    .    .     .  4.66  26.0  168
(C)   .     .  1024   .    .    .    .    .     .  5.12  25.4   53
(C)   .     .  4096   .    .    .    .    .     .  4.75  26.2   90
(D)   .     .     .   .    .    .  0.0    .     .  5.77  24.6    .
(D)   .     .     .   .    .    .  0.2    .     .  4.95  25.5    .
(D)   .     .     .   .    .    .    .  0.0     .  4.67  25.3    .
(D)   .     .     .   .    .    .    .  0.2     .  5.47  25.7    .
(E)   .     .     .   .    .    .    .    .     .  4.92  25.7    .
big   6  1024  4096  16    .    .  0.3    .  300K  4.33  26.4  213
"""
_LEARNED = "(E)"  # "positional embedding instead of sinusoids", written across the empty cells


@dataclass(frozen=True, slots=True)
class Variation:
    """A row of table 3 of Vaswani et al. 2017, with the configuration of its encoder."""

    name: str  # the row's letter and its changes
    group: str  # "base", "(A)" to "(E)", "big"
    printed: dict[str, str]  # by `COLUMNS`, empty where the cell is
    config: ModelConfig  # of the encoder half


def variations() -> tuple[Variation, ...]:
    """All rows of table 3 of "Attention Is All You Need", in its order.

    The encoder of row (E) has learned position embeddings.
    """
    return tuple(_parse_row(*line.split()) for line in _TABLE.strip().splitlines())


def _parse_row(group: str, *cells: str) -> Variation:
    printed_cells = {column: cell.strip(".") for column, cell in zip(COLUMNS, cells, strict=True)}
    varied_cells = {column: printed_cells[column] for column in _VARIED if printed_cells[column]}
    changes: dict[str, Any] = {
        _FIELDS[column]: int(value) for column, value in varied_cells.items() if column in _FIELDS
    }
    if dropout := varied_cells.get("P_drop"):
        changes |= dict.fromkeys(("dropout_embedding", "dropout_sublayer"), float(dropout))
    if group == _LEARNED:
        changes["positions"] = "learned"
    config = replace(preset("base"), **changes)
    if group in ("base", "big"):
        return Variation(group, group, printed_cells, config)
    changes_text = (
        ", ".join(f"{column} = {value}" for column, value in varied_cells.items()) or "learned positions"
    )
    return Variation(f"{group} {changes_text}", group, printed_cells, config)
