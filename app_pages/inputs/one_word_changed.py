"""A second text to compare with: the first one with one word changed, so that the two line up."""

import re

_PAIRS = (
    *(("not", "very"), ("never", "always"), ("good", "bad"), ("great", "awful"), ("beautifully", "badly")),
    *(
        ("wonderful", "dreadful"),
        ("best", "worst"),
        ("funny", "boring"),
        ("dull", "gripping"),
        ("hardly", "really"),
    ),
)
OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}


def one_word_changed(text: str) -> str:
    """The first word of `text` that has an opposite here is that; where none has, its longest word is hidden."""
    words = re.findall(r"\w+", text)
    for word in words:
        if (other := OPPOSITES.get(word.lower())) is not None:
            return re.sub(rf"\b{word}\b", other, text, count=1)
    return text.replace(max(words, key=len), "[MASK]", 1) if words else text
