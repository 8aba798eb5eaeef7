"""A second text for comparison: the first one with one word changed, so that positions correspond."""

import re

_PAIRS = [
    ("not", "very"),
    ("never", "always"),
    ("good", "bad"),
    ("great", "awful"),
    ("beautifully", "badly"),
    ("wonderful", "dreadful"),
    ("best", "worst"),
    ("funny", "boring"),
    ("dull", "gripping"),
    ("hardly", "really"),
]
OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}


def one_word_changed(text: str) -> str:
    """The text with the first word that has an opposite here replaced by it; if none has, the longest word is masked."""
    words = re.findall(r"\w+", text)
    for word in words:
        if (opposite := OPPOSITES.get(word.lower())) is not None:
            return re.sub(rf"\b{word}\b", opposite, text, count=1)
    return text.replace(max(words, key=len), "[MASK]", 1) if words else text
