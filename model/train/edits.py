"""Finds the sentences in which the two versions of an edited review differ."""

import re
from difflib import SequenceMatcher

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONGEST = 60  # words of a sentence; a longer one is mostly a list or lacks its full stops
ALIKE = 0.4  # smallest similarity of two sentences, by words; below it they are unrelated


def changed_sentences(first: str, second: str) -> list[tuple[str, str]]:
    """Pairs of a sentence of the first text and the sentence that replaces it in the second, in order.

    If n sentences replace n others, they are paired in order; sentences that were only added or removed are left out.
    """
    old_sentences, new_sentences = (
        SENTENCE_END.split(text.replace("<br />", " ").strip()) for text in (first, second)
    )
    pairs: list[tuple[str, str]] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, old_sentences, new_sentences, autojunk=False
    ).get_opcodes():
        if kind == "replace" and end - start == new_end - new_start:
            pairs += zip(old_sentences[start:end], new_sentences[new_start:new_end], strict=True)
    return [(old, new) for old, new in pairs if _is_edit(old.split(), new.split())]


def _is_edit(old: list[str], new: list[str]) -> bool:
    are_short = max(len(old), len(new)) <= LONGEST
    return are_short and SequenceMatcher(None, old, new, autojunk=False).ratio() >= ALIKE
