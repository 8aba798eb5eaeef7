"""Output layers of text encoders, recognised by the names of their weights, whatever the architecture is called."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..family_options import Act, Answers, Family
from .tensor_map import Layout, Source

# Stored beside the token embedding although it is the same: tied weights.
TIED = ("decoder.weight", "vocab_projector.weight", "generator_lm_head.weight")


class MaskedTokenLayers(NamedTuple):
    """Names, in the weights file, of the layers that predict masked tokens, and the activation between them."""

    transform: str
    norm: str
    biases: tuple[str, ...]  # possible names, the usual one first
    act: Act  # between transform and norm


LM_HEAD = MaskedTokenLayers(
    "lm_head.dense", "lm_head.layer_norm", ("lm_head.bias", "lm_head.decoder.bias"), "gelu"
)


@dataclass(slots=True)
class Outputs:
    """The fields of `ModelConfig` and `Family` that say which output layers an encoder has."""

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
    """Maps the tensors of all output layers in the file, and returns which layers these are.

    `pooler` is the name of the encoder's linear layer before a tanh. `hidden` is the name of a linear layer that belongs to
    a classifier of whole texts, with the activation after it. `masked` names the layers that predict masked tokens.
    """
    outputs = Outputs()
    if masked is not None:
        _read_masked_token_output(layout, outputs, masked)
    # Some older files hold a pooler beside a classifier of tokens that never used it.
    classifies_tokens = "TokenClassification" in str(layout.values.get("architectures"))
    token_classifier = layout.output_tensor_name("classifier.weight")
    if hidden and layout.output_tensor_name(f"{hidden[0]}.weight") and not classifies_tokens:
        layout.map_output_linear("pooler", hidden[0])
        outputs.family = replace(outputs.family, pooler=hidden[1])
        name = "classifier.out_proj" if hidden[0] == "classifier.dense" else "classifier"
        _read_classifier(layout, outputs, name)
    elif pooler and layout.has_tensor(f"{pooler}.weight") and not classifies_tokens:
        layout.map_linear("pooler", pooler)
        outputs.family = replace(outputs.family, pooler="tanh")
        for name in ("classifier", *_next_sentence_classifiers(layout)):
            if layout.output_tensor_name(f"{name}.weight"):
                _read_classifier(layout, outputs, name)
                break
    elif token_classifier is not None:
        class_names = layout.class_labels(layout.n_output_rows(token_classifier))
        layout.map_output_linear("token_classifier", "classifier")
        outputs.family = replace(outputs.family, token_class_names=class_names)
    return outputs


def _next_sentence_classifiers(layout: Layout) -> tuple[str, ...]:
    """Possible names of the layer that classifies whether a second sentence follows the first.

    Empty unless the architecture's name says that the layer was trained: most files hold it without using it.
    """
    architecture = str(layout.values.get("architectures", ""))
    was_trained = any(word in architecture for word in ("PreTraining", "NextSentence", "SentenceOrder"))
    return ("cls.seq_relationship", "sop_classifier.classifier") if was_trained else ()


def _read_classifier(layout: Layout, outputs: Outputs, layer_name: str) -> None:
    name = layout.output_tensor_name(f"{layer_name}.weight")
    if name is None:
        raise ValueError(f"{layer_name}.weight is missing")
    n_classes = layout.n_output_rows(name)
    layout.map_output_linear("classifier", layer_name)
    classifies_pairs = layer_name in _next_sentence_classifiers(layout) and n_classes == 2
    outputs.class_names = (
        ("follows", "does not follow") if classifies_pairs else layout.class_labels(n_classes)
    )
    outputs.family = replace(outputs.family, answers=answer_kind(layout, n_classes))


def answer_kind(layout: Layout, n_classes: int) -> Answers:
    """How the logits of `n_classes` classes are to be read, by the rules of `transformers`.

    "choice" is a softmax over classes, "each" a sigmoid for each class, and "numbers" a regression.
    """
    problem_type = layout.values.get("problem_type")
    if problem_type == "multi_label_classification":
        return "each"
    if problem_type == "regression" or n_classes == 1:
        return "numbers"
    return "choice"


def _read_masked_token_output(layout: Layout, outputs: Outputs, names: MaskedTokenLayers) -> None:
    if (
        layout.output_tensor_name(f"{names.transform}.weight") is None
        or layout.output_tensor_name(f"{names.norm}.weight") is None
    ):
        return
    layout.map_output_linear("masked_token_output.transform", names.transform)
    layout.map_output_linear("masked_token_output.norm", names.norm)
    is_tied = layout.flag("tie_word_embeddings", True)
    # untied, the decoder's own bias is the one that is added
    bias_names = (
        layout.output_tensor_name(name) for name in (names.biases if is_tied else names.biases[::-1])
    )
    layout.sources["masked_token_output.bias"] = Source(next(filter(None, bias_names), names.biases[0]))
    decoder_name = (
        None if is_tied else next(filter(None, (_stored_name_ending(layout, name) for name in TIED)), None)
    )
    if decoder_name is not None:
        layout.sources["masked_token_output.decoder.weight"] = Source(decoder_name)
    outputs.masked_token_output = True
    outputs.family = replace(outputs.family, masked_token_act=names.act, tied_output=decoder_name is None)


def _stored_name_ending(layout: Layout, ending: str) -> str | None:
    return next((name for name in layout.stored.shapes if f".{name}".endswith(f".{ending}")), None)
