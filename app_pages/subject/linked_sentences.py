"""The project's sentences with annotated links between words: a part of a treebank, and pronouns with their antecedents."""

from functools import cache

from model.atlas.linked_inputs import LinkedText, read_conllu, read_texts
from model.inputs import Text
from model.inputs.digits import EXAMPLES

TREEBANK = "examples/relations/pud_250.conllu"
COREFERENCE = "examples/relations/coreference.csv"


@cache
def treebank_sentences() -> tuple[LinkedText, ...]:
    """The sentences of the treebank that comes with the project, with their links."""
    return tuple(read_conllu(EXAMPLES.parent / TREEBANK))


def linked_sentence(text: Text) -> LinkedText | None:
    """The annotated sentence with exactly this text; None for other texts, and for pairs of texts."""
    return None if text.second is not None else _sentences_by_text().get(text.text.strip())


@cache
def _sentences_by_text() -> dict[str, LinkedText]:
    sentences = (*treebank_sentences(), *read_texts(EXAMPLES.parent / COREFERENCE))
    return {sentence.text: sentence for sentence in sentences}
