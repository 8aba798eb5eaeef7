"""What an edit of a review changed: the sentences in which its two versions differ."""

import re
from difflib import SequenceMatcher

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONGEST = 60  # words of a sentence; a longer one is mostly a list or lacks its full stops
ALIKE = 0.4  # of the words of two sentences; below it they say different things


def changed_sentences(one: str, other: str) -> list[tuple[str, str]]:
    """The sentences of `one` that `other` words differently, each beside its counterpart, in order.

    Where as many sentences were replaced as came in their place, they are taken in order; what was only added
    or left out has no counterpart.
    """
    before, after = (SENTENCE_END.split(text.replace("<br />", " ").strip()) for text in (one, other))
    pairs: list[tuple[str, str]] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if kind == "replace" and end - start == new_end - new_start:
            pairs += zip(before[start:end], after[new_start:new_end], strict=True)
    return [(old, new) for old, new in pairs if _is_edit(old.split(), new.split())]


def _is_edit(old: list[str], new: list[str]) -> bool:
    short_enough = max(len(old), len(new)) <= LONGEST
    return short_enough and SequenceMatcher(None, old, new, autojunk=False).ratio() >= ALIKE
