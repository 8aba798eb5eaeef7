"""How pages write what is not their own: a reader's words, placements of the norm."""

PLACEMENTS = {"pre": "pre-LN", "post": "post-LN", "deepnorm": "DeepNorm", "b2t": "B2T"}  # by norm_placement


def as_code(words: str) -> str:
    """As code, so that asterisks, dollar signs and brackets stay what they are."""
    return f"`{words.replace('`', 'ˋ')}`"


def sentence(error: Exception) -> str:
    """What the error says, beginning with a capital; names in it keep theirs."""
    return f"{str(error)[:1].upper()}{str(error)[1:]}."
