"""Relations between words in words: the names of Universal Dependencies, such as `nsubj`, are abbreviations."""

# By the name of the relation: the word that depends, and the word that it depends on.
_WORDS = {
    "acl": ("clause", "noun"),
    "advcl": ("side clause", "verb"),
    "advmod": ("adverb", "verb"),
    "amod": ("adjective", "noun"),
    "appos": ("apposition", "noun"),
    "aux": ("auxiliary", "verb"),
    "case": ("preposition", "noun"),
    "cc": ("“and” or “or”", "joined word"),
    "ccomp": ("object clause", "verb"),
    "compound": ("part of a compound", "its noun"),
    "conj": ("joined word", "first word"),
    "cop": ("“is” or “was”", "what is said"),
    "csubj": ("subject clause", "verb"),
    "det": ("determiner", "noun"),
    "expl": ("“it” or “there”", "verb"),
    "fixed": ("next word of a phrase", "first word"),
    "flat": ("next word of a name", "first word"),
    "iobj": ("indirect object", "verb"),
    "mark": ("“that”, “if” or “to”", "verb"),
    "nmod": ("noun", "noun that it describes"),
    "nsubj": ("subject", "verb"),
    "nummod": ("number", "noun"),
    "obj": ("object", "verb"),
    "obl": ("noun", "verb that it describes"),
    "parataxis": ("inserted clause", "verb"),
    "punct": ("punctuation", "word"),
    "vocative": ("person addressed", "verb"),
    "xcomp": ("open clause", "verb"),
}


def linked_words(relation: str, direction: str) -> str:
    """From the word that looks to the word that it looks at: "noun → determiner" for `det` and "to dependent".

    A relation that is not known here, and its kinds after a colon, keep their names.
    """
    words = _WORDS.get(relation.partition(":")[0])
    if words is None:
        return f"{relation}, {direction}"
    return " → ".join(words if direction == "to head" else words[::-1])
