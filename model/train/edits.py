"""Sentences that differ between the two versions of an edited review."""

import re
from difflib import SequenceMatcher

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONGEST = 60  # words of a sentence; a longer one is mostly a list or lacks its full stops
ALIKE = 0.4  # smallest similarity of two sentences, by words; below it they are unrelated


def changed_sentences(first: str, second: str) -> list[tuple[str, str]]:
    """Pairs of sentences of the two texts, in order, where one replaces the other.

    Where n sentences replace n others they are paired in order; sentences that were only added or removed are
    left out.
    """
    before, after = (SENTENCE_END.split(text.replace("<br />", " ").strip()) for text in (first, second))
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
