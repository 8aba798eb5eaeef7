"""A mask in words: what it is, and in one sentence what it did to the answer."""

from collections.abc import Sequence

from model.intervention import MaskChoice
from model.record import ForwardRecord
from viz.numbers import percent

AT_MOST = 3  # tokens that are named one by one


def in_words(choice: MaskChoice, before: ForwardRecord, after: ForwardRecord) -> str:
    """Plain text, with tokens as they are: escape it before it is shown as markup."""
    at, then = before.probabilities.argmax(), after.probabilities.argmax()
    was, now = before.class_names[at], before.class_names[then]
    former, latter = share(before.probabilities[at]), share(after.probabilities[then])
    if (what := _what(choice, before)) is None:
        return f"Nothing is masked: the encoder says {was} ({former})."
    if was != now:
        said = f"says {now} ({latter}) instead of {was} ({former})"
    elif latter != former:
        said = f"still says {was} ({latter} instead of {former})"
    else:
        said = f"still says {was} ({latter}, as before)"
    return f"{what}{_where(choice)}, the encoder {said}."


def explained(choice: MaskChoice, record: ForwardRecord) -> str:
    """What a mask of this kind forbids, and what to click; holds no token of the input."""
    config, text = record.config, record.patch_grid is None
    everywhere = choice.layers is None and choice.heads is None
    what, input_ = ("token", "text") if text else ("patch", "digit")
    match choice.kind:
        case "keys":
            apart = ""
            if record.has_class_token and not text:
                apart = " The class token has no patch: block it in the box."
            return (
                f"Click a {what} to block it as a key for every query; a second click frees it.{apart} "
                "What a blocked position knows of itself still goes through its own stream."
            )
        case "cells":
            return "A blocked cell forbids one query one key. A click blocks it, a second one frees it."
        case "causal" if record.has_class_token and everywhere:
            return (
                "A query attends to itself and to what stands before it. The class token stands first and sees "
                f"itself alone, in every layer: the answer is the same for every {input_}."
            )
        case "causal":
            return "A query attends to itself and to what stands before it."
        case "window" if text:
            reach = (
                f" Through {config.n_layers} layers, a position is reached from up to "
                f"{config.n_layers * choice.radius} away."
            )
            return f"A query attends to the keys whose position is at most {choice.radius} away.{reach if everywhere else ''}"
        case "window":
            rows = f"A patch attends to those whose row and column are each at most {choice.radius} away"
            return f"{rows}; the class token sees all and is seen." if record.has_class_token else f"{rows}."
        case "padding" if text:
            return (
                "In a batch, shorter texts are filled up with [PAD]. The encoder sees these tokens and masks them as "
                "keys by itself, in every layer and head: the answer must stay the same."
            )
        case "padding":
            return (
                "Digits have no padding, since every picture has as many patches. Here the last ones, row by row from "
                "the top, are treated as if they were padding."
            )
    return "Every query attends to every key."


def share(part: float) -> str:
    """A share of 1 as a percentage; one that rounds to 0 or 100 % without being it says so."""
    return percent(part, below="under ", above="over ")


def _what(choice: MaskChoice, record: ForwardRecord) -> str | None:
    """None where the choice masks nothing."""
    tokens, n = record.tokens, len(record.tokens)
    text = record.patch_grid is None
    match choice.kind:
        case "keys" if choice.keys:
            return f"Without {_named([tokens[key] for key in choice.keys], n, quoted=text)}"
        case "cells" if len(choice.cells) == 1:
            ((query, key),) = choice.cells
            return f"Where {_quoted(tokens[query], text)} does not see {_quoted(tokens[key], text)}"
        case "cells" if choice.cells:
            return f"Without {len(choice.cells)} of the {n * n:,} cells"
        case "causal":
            return "With a causal mask"
        case "window":
            unit = ("token" if text else "patch") if choice.radius == 1 else ("tokens" if text else "patches")
            return f"With a window of {choice.radius} {unit} to each side"
        case "padding" if choice.n_padding and text:
            return f"With {choice.n_padding} [PAD] appended and masked"
        case "padding" if choice.n_padding:
            return f"With the last {choice.n_padding} patches masked as padding"
    return None


def _where(choice: MaskChoice) -> str:
    """The layers and heads, where these are not all."""
    parts = [
        f"{axis[:-1] if len(some) == 1 else axis} {_listed(list(map(str, some)))}"
        for axis, some in (("layers", choice.layers), ("heads", choice.heads))
        if some is not None
    ]
    return f" in {' and '.join(parts)}" if parts else ""


def _named(tokens: Sequence[str], n: int, *, quoted: bool) -> str:
    if len(tokens) > AT_MOST:
        return f"{len(tokens)} of the {n} {'tokens' if quoted else 'positions'}"
    return _listed([_quoted(token, quoted) for token in tokens])


def _quoted(token: str, quoted: bool) -> str:
    return f"“{token}”" if quoted else token


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
