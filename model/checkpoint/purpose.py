"""What an encoder does, as a phrase: by the data that it was trained on, or else by its outputs."""

import re

from ..config import DIGITS, SENTIMENTS, ModelConfig
from ..loaded import Loaded

MAX_CLASS_NAMES = 4  # that a phrase lists
# Of encoders that were trained in this project, by the name of the data set.
_PURPOSES_BY_DATA = {
    ("IMDB", SENTIMENTS): "judges film reviews",
    ("MNIST", DIGITS): "recognises handwritten digits",
}
# By the names of the classes, in small letters and without signs.
_PURPOSES_BY_CLASSES = {
    frozenset(("negative", "positive")): "judges whether a text is positive or negative",
    frozenset(("negative", "neutral", "positive")): "judges whether a text is positive, neutral or negative",
    frozenset(("notequivalent", "equivalent")): "decides whether two texts say the same",
    frozenset(("notparaphrase", "paraphrase")): "decides whether two texts say the same",
    frozenset(("notduplicate", "duplicate")): "decides whether two questions ask the same",
    frozenset(("entailment", "notentailment")): "decides whether a second text follows from the first",
    frozenset(
        ("entailment", "neutral", "contradiction")
    ): "decides whether a second text follows from the first",
    frozenset(("follows", "doesnotfollow")): "decides whether a second text goes on with the first",
}
# Names that only number the class, such as "LABEL_1".
_NUMBERED_CLASS = re.compile(r"(class|label)?[ _]?\d+", re.IGNORECASE)


def purpose(loaded: Loaded) -> str:
    """What the encoder does, as a phrase that follows “This encoder”: "judges film reviews".

    If nothing tells what it was trained for, its outputs are named: classes, masked words, or an embedding.
    """
    config = loaded.config
    data = loaded.history.get("data")
    name = data.get("name") if isinstance(data, dict) else None
    if (
        isinstance(name, str)
        and (known_purpose := _PURPOSES_BY_DATA.get((name, config.class_names))) is not None
    ):
        return known_purpose
    return _purpose_from_outputs(config)


def _purpose_from_outputs(config: ModelConfig) -> str:
    """Phrase with a verb for the first output that the encoder has, such as "guesses masked words"."""
    family, names = config.family, config.class_names
    input_noun = "a text" if config.is_text else "a picture"
    if names:
        return _purpose_from_classes(config, input_noun)
    if family.token_class_names:
        classes = family.token_class_names
        if len(classes) == 1:
            return f"says of each token whether it is “{classes[0]}”"
        return f"gives each token one of {len(classes):,} classes{_names_in_brackets(classes)}"
    if config.masked_token_output:
        return "guesses masked words"
    return f"turns {input_noun} into a vector of {config.d_pooled:,} numbers, its embedding"


def _purpose_from_classes(config: ModelConfig, input_noun: str) -> str:
    """Phrase with a verb for the classes that the encoder gives to an input: to `input_noun`, "a text" or "a picture"."""
    names, n = config.class_names, config.n_classes
    if config.family.answers == "numbers":
        return f"gives {input_noun} {n:,} number{'s' * (n > 1)}{_names_in_brackets(names)}"
    if config.family.answers == "each":
        if n == 1:
            return (
                f"says whether {input_noun} is “{names[0]}”"
                if _names_in_brackets(names)
                else f"says yes or no to {input_noun}"
            )
        return f"says for each of {n:,} labels whether it fits {input_noun}{_names_in_brackets(names)}"
    if not config.is_text and names == DIGITS:
        return "recognises digits"
    plain_names = frozenset(re.sub(r"[^a-z]", "", name.lower()) for name in names)
    if config.is_text and (known_purpose := _PURPOSES_BY_CLASSES.get(plain_names)) is not None:
        return known_purpose
    return f"puts {input_noun} into one of {n:,} classes{_names_in_brackets(names)}"


def _names_in_brackets(names: tuple[str, ...]) -> str:
    """The first names of classes in brackets, " (negative, positive)"; "" if all names only number the classes."""
    if all(_NUMBERED_CLASS.fullmatch(name) for name in names):
        return ""
    return f" ({', '.join(names[:MAX_CLASS_NAMES])}{', …' * (len(names) > MAX_CLASS_NAMES)})"
