"""A mask in words: what it forbids, and the beginning of a sentence about its effect."""

from collections.abc import Sequence

from model.capture.intervention import MaskChoice
from model.record import ForwardRecord
from viz.builders.token_label import patch_in_words

AT_MOST = 3  # tokens that are named one by one


NOTHING = "Without any mask"


def without_or_with(choice: MaskChoice, record: ForwardRecord) -> str:
    """Beginning of a sentence that names the mask, such as "With a causal mask in head 1"; plain text."""
    parts = [
        f"{axis[:-1] if len(indices) == 1 else axis} {_joined_with_and(list(map(str, indices)))}"
        for axis, indices in (("layers", choice.layers), ("heads", choice.heads))
        if indices is not None
    ]
    beginning = _hidden_clause(choice, record)
    return f"{beginning} in {' and '.join(parts)}" if beginning and parts else beginning or NOTHING


def _hidden_clause(choice: MaskChoice, record: ForwardRecord) -> str | None:
    """Beginning of a sentence that names the tokens or pairs that the mask hides; None if it hides none."""
    n, is_text = len(record), record.unit == "token"
    names = [named(record, position) for position in range(n)]
    match choice.kind:
        case "keys" if len(choice.keys) > AT_MOST:
            return f"Without {len(choice.keys)} of the {n} {'tokens' if is_text else 'positions'}"
        case "keys" if choice.keys:
            return f"Without {_joined_with_and([names[key] for key in choice.keys])}"
        case "cells" if len(choice.cells) == 1:
            ((query, key),) = choice.cells
            return f"Where {names[query]} does not see {names[key]}"
        case "cells" if choice.cells:
            return f"Without {len(choice.cells)} of the {n * n:,} cells"
        case "causal":
            return "With a causal mask"
        case "window":
            unit = record.unit if choice.radius == 1 else record.units
            return f"With a window of {choice.radius} {unit} to each side"
        case "padding" if choice.n_padding and is_text:
            return f"With {choice.n_padding} [PAD] appended and masked"
        case "padding" if choice.n_padding:
            return f"With the last {choice.n_padding} patches masked as padding"
    return None


def named(record: ForwardRecord, position: int) -> str:
    """The token in quotation marks, with its position if it occurs more than once; a patch by its row and column."""
    token = record.tokens[position]
    if record.unit != "token":
        return patch_in_words(token)
    return f"“{token}”" if record.tokens.count(token) == 1 else f"“{token}” at position {position}"


def _joined_with_and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def explained(choice: MaskChoice, record: ForwardRecord) -> str:
    """Sentence on what this kind of mask forbids and what a click does; names no token of the input."""
    is_text, n_layers = record.unit == "token", record.config.n_layers
    everywhere = all(
        indices is None or len(set(indices)) == count
        for indices, count in ((choice.layers, n_layers), (choice.heads, record.config.n_heads))
    )
    match choice.kind:
        case "keys":
            of_class_token = ""
            if record.begins_with_class_token and not is_text:
                of_class_token = " The class token has no patch: hide it under View."
            where = "" if everywhere else " in the chosen layers and heads; the others still do"
            return (
                f"No {record.unit} reads from a hidden one any more{where}. It is not taken out: the encoder still computes its "
                f"state.{of_class_token}"
            )
        case "cells":
            return "A cell is a pair of a query (row) and a key (column); where it is blocked, that query does not see that key. A click blocks it, a second one unblocks it."
        case "causal":
            own = " This encoder has that mask anyway." if record.config.family.parts.causal else ""
            return f"A query attends to itself and to the positions before it.{own}"
        case "window" if is_text:
            reach = f" Through {n_layers} layers, information reaches a position from up to {n_layers * choice.radius} away."
            return f"A query attends to the keys whose position is at most {choice.radius} away.{reach if everywhere else ''}"
        case "window":
            of_class_token = "; the class token attends to all, and all attend to it"
            return (
                f"A patch attends to those whose row and column are each at most {choice.radius} away"
                f"{of_class_token if record.begins_with_class_token else ''}."
            )
        case "padding" if is_text:
            return (
                "In a batch, shorter texts are filled up with [PAD]. The encoder masks these tokens as keys "
                "in every layer and head, so the prediction must not change."
            )
        case "padding":
            return (
                "Digits have no padding, since every picture has as many patches. Here the last ones, row "
                "by row from the top, are treated as if they were padding."
            )
    return f"Every query attends to every key{' that the encoder itself allows' if has_own_mask(record) else ''}."


def has_own_mask(record: ForwardRecord) -> bool:
    """Whether the encoder's architecture masks keys: a causal mask, or attention windows."""
    parts = record.config.family.parts
    return parts.causal or any(window is not None for window in parts.windows)
