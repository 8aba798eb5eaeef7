"""Output layers of text encoders: recognised by the names of their weights, whatever the architecture is called."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..family_options import Act, Answers, Family
from .tensor_map import Layout, Source

# Stored beside the token embedding although it is the same: tied weights.
TIED = ("decoder.weight", "vocab_projector.weight", "generator_lm_head.weight")


class MaskedTokenLayers(NamedTuple):
    """Stored names of the layers that predict masked tokens."""

    transform: str
    norm: str
    biases: tuple[str, ...]  # possible names, the usual one first
    act: Act  # between transform and norm


LM_HEAD = MaskedTokenLayers(
    "lm_head.dense", "lm_head.layer_norm", ("lm_head.bias", "lm_head.decoder.bias"), "gelu"
)


@dataclass(slots=True)
class Outputs:
    """Fields of a `ModelConfig` and its `Family` that say which output layers an encoder has."""

    class_names: tuple[str, ...] = ()
    masked_token_output: bool = False
    family: Family = Family()  # noqa: RUF009  # frozen


def read_outputs(
    layout: Layout,
    *,
    pooler: str | None = None,
    hidden: tuple[str, Act] | None = None,
    masked: MaskedTokenLayers | None = None,
) -> Outputs:
    """Maps the tensors of all output layers that are stored, and returns which they are.

    `pooler` names the encoder's own linear layer before a tanh, `hidden` one that belongs to a classifier of whole texts,
    with the activation after it, `masked` the layers that predict masked tokens.
    """
    outputs = Outputs()
    if masked is not None:
        _read_masked_token_output(layout, outputs, masked)
    # Some older files hold a pooler beside a classifier of tokens that never used it.
    classifies_tokens = "TokenClassification" in str(layout.values.get("architectures"))
    token_classifier = layout.output_name("classifier.weight")
    if hidden and layout.output_name(f"{hidden[0]}.weight") and not classifies_tokens:
        layout.map_output_linear("pooler", hidden[0])
        outputs.family = replace(outputs.family, pooler=hidden[1])
        final = "classifier.out_proj" if hidden[0] == "classifier.dense" else "classifier"
        _read_classifier(layout, outputs, final)
    elif pooler and layout.has_tensor(f"{pooler}.weight") and not classifies_tokens:
        layout.map_linear("pooler", pooler)
        outputs.family = replace(outputs.family, pooler="tanh")
        for final in ("classifier", *_pair_classifiers(layout)):
            if layout.output_name(f"{final}.weight"):
                _read_classifier(layout, outputs, final)
                break
    elif token_classifier is not None:
        names = layout.class_labels(layout.n_output_rows(token_classifier))
        layout.map_output_linear("token_classifier", "classifier")
        outputs.family = replace(outputs.family, token_class_names=names)
    return outputs


def _pair_classifiers(layout: Layout) -> tuple[str, ...]:
    """Names of the layer that says whether a second sentence follows the first.

    Empty unless the architecture is named for that task: most files hold the layer and never use it.
    """
    architecture = str(layout.values.get("architectures", ""))
    for_pairs = any(word in architecture for word in ("PreTraining", "NextSentence", "SentenceOrder"))
    return ("cls.seq_relationship", "sop_classifier.classifier") if for_pairs else ()


def _read_classifier(layout: Layout, outputs: Outputs, final: str) -> None:
    name = layout.output_name(f"{final}.weight")
    if name is None:
        raise ValueError(f"{final}.weight is missing")
    n = layout.n_output_rows(name)
    layout.map_output_linear("classifier", final)
    is_of_pairs = final in _pair_classifiers(layout) and n == 2
    outputs.class_names = ("follows", "does not follow") if is_of_pairs else layout.class_labels(n)
    outputs.family = replace(outputs.family, answers=answers_of(layout, n))


def answers_of(layout: Layout, n: int) -> Answers:
    """How the numbers of `n` classes are read, as `transformers` does: one choice of several unless config.json says otherwise."""
    problem = layout.values.get("problem_type")
    if problem == "multi_label_classification":
        return "each"
    if problem == "regression" or n == 1:
        return "numbers"
    return "choice"


def _read_masked_token_output(layout: Layout, outputs: Outputs, names: MaskedTokenLayers) -> None:
    if (
        layout.output_name(f"{names.transform}.weight") is None
        or layout.output_name(f"{names.norm}.weight") is None
    ):
        return
    layout.map_output_linear("masked_token_output.transform", names.transform)
    layout.map_output_linear("masked_token_output.norm", names.norm)
    tied = layout.flag("tie_word_embeddings", True)
    # untied, the decoder's own bias is the one that is added
    stored = (layout.output_name(name) for name in (names.biases if tied else names.biases[::-1]))
    layout.sources["masked_token_output.bias"] = Source(next(filter(None, stored), names.biases[0]))
    decoder = None if tied else next(filter(None, (_name_ending(layout, name) for name in TIED)), None)
    if decoder is not None:
        layout.sources["masked_token_output.decoder.weight"] = Source(decoder)
    outputs.masked_token_output = True
    outputs.family = replace(outputs.family, masked_token_act=names.act, tied_output=decoder is None)


def _name_ending(layout: Layout, ending: str) -> str | None:
    return next((name for name in layout.stored.shapes if f".{name}".endswith(f".{ending}")), None)
