"""Folders of sentence-transformers: an encoder, the settings of its tokenizer, the pooling of its states, and layers after it.

`modules.json` lists these modules in their order. A setting that changes the sentence's vector is followed, refused by its name,
or said in a note (https://sbert.net/docs/package_reference/sentence_transformer/modules.html).
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, get_args

from tokenizers import Tokenizer, normalizers

from ..config import LARGEST, Pooling
from ..family_options import OutputActivation, SentenceLayer, SentencePooling
from ..files.content import folder_and_name, read_json, read_object
from ..files.encoder_files import CONFIG, MODULES, SENTENCE_SETTINGS, TOKENIZER_SETTINGS
from ..files.errors import single_line
from .tensor_map import Reading, Source
from .weights import Stored, stored_weights

LIBRARY = "sentence_transformers."
# layers after pooling of the encoder itself
REPLACED = ("pooler", "pooler_norm", "attention_pooling", "classifier", "second_classifier")
# By the names of older files, in the order in which the library puts the vectors one behind the other.
POOLINGS: dict[str, SentencePooling] = {
    "pooling_mode_cls_token": "class",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "sum by root",
    "pooling_mode_weightedmean_tokens": "weighted mean",
    "pooling_mode_lasttoken": "last",
}
MODES: dict[str, SentencePooling] = {
    name.removeprefix("pooling_mode_"): pooling for name, pooling in POOLINGS.items()
} | {"cls": "class", "max": "max", "mean": "mean", "weightedmean": "weighted mean"}
ACTS: dict[str, OutputActivation] = {
    "Tanh": "tanh",
    "Identity": "none",
    "ReLU": "relu",
    "GELU": "gelu",
    "SiLU": "silu",
}
SENTENCE_EMBEDDING = (None, "sentence_embedding")  # what a layer reads and makes, where nothing else is set
# Settings of the tokenizer and the encoder, with the values that this project follows; the others change what is pooled.
STATES_READ = {
    "transformer_task": (None, "feature-extraction"),
    "module_output_name": (None, "token_embeddings"),
    "modality_config": (None, {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}),
}
# `unpad_inputs` changes no result, and the lengths count only for encoders that compare tokens.
FOLLOWED = (
    *STATES_READ,
    "max_seq_length",
    "do_lower_case",
    "unpad_inputs",
    "query_length",
    "document_length",
)
MOST_PROMPT = 120  # characters that are shown


class UnsupportedModuleError(ValueError):
    """Raised for a module or a pooling of sentence-transformers that is not supported."""


@dataclass(slots=True)
class SentenceModules:
    """What the files of sentence-transformers add to an encoder: settings of the tokenizer, poolings, and layers after them."""

    encoder: str = ""  # folder of the encoder, "" for the folder itself
    max_tokens: int | None = (
        None  # how many tokens of a text are read, in the place of the tokenizer's own length
    )
    lower_case: bool = False  # before the tokenizer's own normalisation
    poolings: tuple[SentencePooling, ...] = ()
    layers: list[SentenceLayer] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)  # of the layers' parameters
    weights: Stored | None = None  # of the layers
    # sentences: where an answer is not that of the library
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # other sentences


def read_modules(folder: Path) -> SentenceModules | None:
    """The modules that the folder's modules.json lists; None if sentence-transformers did not save the folder.

    Raises UnsupportedModuleError, with a one-sentence message, for a module or a pooling that is not supported, and
    ValueError if a file is damaged.
    """
    path = folder / MODULES
    if not path.is_file():
        return None
    modules, include_prompt = SentenceModules(), True
    module_list = read_json(path, MODULES)
    if not isinstance(module_list, list) or not all(isinstance(module, dict) for module in module_list):
        raise ValueError(f"{MODULES} must hold a list of modules")
    for index, module in enumerate(module_list):
        module_type, name = str(module.get("type", "")), str(module.get("path", ""))
        if Path(name).is_absolute() or ".." in Path(name).parts or len(Path(name).parts) > 1:
            raise ValueError(f"{MODULES} names the folder {shortened(name)}, which is not inside this folder")
        is_own = module_type.startswith(LIBRARY)
        kind = module_type.rpartition(".")[2] if is_own else module_type
        if kind == "Transformer" and index == 0:
            modules.encoder = name
            _read_tokenizer_settings(modules, folder / name)
        elif kind == "Pooling" and index == 1:
            values = read_object(folder / name / CONFIG, CONFIG)
            modules.poolings = _find_poolings(values)
            include_prompt = values.get("include_prompt") is not False
        elif kind in ("Dense", "LayerNorm", "Normalize") and modules.poolings:
            _add_layer(modules, kind, folder, name)
        elif kind != "Dropout":  # which does nothing outside of training
            raise UnsupportedModuleError(_unsupported_message(kind, name, is_own, index))
    if modules.poolings and (folder / SENTENCE_SETTINGS).is_file():
        _read_sentence_settings(modules, folder / SENTENCE_SETTINGS, include_prompt)
    return modules


def _unsupported_message(kind: str, folder_name: str, is_own: bool, index: int) -> str:
    """Message for the unsupported module `kind`, at `index` of modules.json; `is_own` if it is a class of sentence-transformers."""
    shown = single_line(f"{folder_name} ({kind})" if folder_name else kind, 80)
    if kind == "CLIPModel":
        return f"{MODULES} lists {shown}: open the folder {folder_name or '0_CLIPModel'} itself"
    reason = "is not supported" if is_own else "is code of the model's own, which is not run"
    if kind in ("Transformer", "Pooling", "Dense", "LayerNorm", "Normalize"):
        reason = f"is not supported as number {index + 1} of the list"
    return f"{MODULES} lists {shown}, which {reason}; without {MODULES} the folder opens as its encoder alone"


def _read_tokenizer_settings(modules: SentenceModules, folder: Path) -> None:
    """Reads the settings in the file `sentence_bert_config.json`, or one of its older names, in `folder`."""
    name = next((name for name in TOKENIZER_SETTINGS if (folder / name).is_file()), None)
    if name is None:
        return
    values = read_object(folder / name, name)
    for key, supported in STATES_READ.items():
        if (value := values.get(key)) not in supported:
            raise UnsupportedModuleError(
                f"{name} has {key} {shortened(value)}; supported is {shortened(supported[1])}"
            )
    max_tokens = values.get("max_seq_length")
    if max_tokens is not None and (type(max_tokens) is not int or not 1 <= max_tokens <= LARGEST):
        raise ValueError(
            f"{name} has max_seq_length {shortened(max_tokens)}, which must be a number of tokens"
        )
    if unfollowed := sorted(key for key, value in values.items() if value and key not in FOLLOWED):
        names = single_line(", ".join(unfollowed), 120)
        modules.differences.append(f"Of {name}, this is not followed here: {names}.")
    modules.max_tokens, modules.lower_case = max_tokens, bool(values.get("do_lower_case"))


def _find_poolings(values: dict[str, Any]) -> tuple[SentencePooling, ...]:
    """The poolings that the `values` of a pooling module's config.json switch on, in the order in which they are concatenated.

    Raises UnsupportedModuleError for an unknown pooling.
    """
    modes = values.get("pooling_mode")
    if modes is None:
        modes = [name for name, is_on in values.items() if "pooling_mode_" in name and is_on is True]
        modes.sort(key=lambda name: [*POOLINGS, name].index(name))
    modes = modes if isinstance(modes, list) else [modes]
    known = POOLINGS | MODES
    if unknown := [mode for mode in modes if not isinstance(mode, str) or mode not in known]:
        name = str(unknown[0]).removeprefix("pooling_mode_")
        raise UnsupportedModuleError(f"the pooling {shortened(name)} is not supported")
    return tuple(known[mode] for mode in modes) or ("mean",)


def _add_layer(modules: SentenceModules, kind: str, folder: Path, name: str) -> None:
    """Appends the layer of the type `kind`, whose files are in the subfolder `name`, to `modules.layers`."""
    path = folder / name / CONFIG
    values = read_object(path, CONFIG) if path.is_file() or kind != "Normalize" else {}
    for key in ("module_input_name", "module_output_name"):
        if (value := values.get(key)) not in SENTENCE_EMBEDDING:
            raise UnsupportedModuleError(
                f"{folder_and_name(path)} has {key} {shortened(value)}, which is not supported"
            )
    if kind == "Normalize":
        width = modules.layers[-1].width if modules.layers else 0
        modules.layers.append(SentenceLayer(kind="unit length", width=width))
        return
    prefix = f"sentence_layers.{len(modules.layers)}"
    if kind == "LayerNorm":
        modules.layers.append(SentenceLayer(kind="layer norm", width=_layer_width(path, values, "dimension")))
        stored_prefix, parameters = "norm", ["weight", "bias"]
    else:
        if values.get("use_residual"):
            raise UnsupportedModuleError(
                f"{folder_and_name(path)} has use_residual true, which is not supported"
            )
        has_bias = values.get("bias") is not False
        width, act = _layer_width(path, values, "out_features"), _read_activation(path, values)
        modules.layers.append(SentenceLayer(kind="linear", width=width, bias=has_bias, act=act))
        prefix, stored_prefix, parameters = f"{prefix}.0", "linear", ["weight", "bias"][: 1 + has_bias]
    modules.sources |= {f"{prefix}.{end}": Source(f"{name}.{stored_prefix}.{end}") for end in parameters}
    weights = stored_weights(folder / name).renamed(lambda stored: f"{name}.{stored}")
    modules.weights = weights if modules.weights is None else modules.weights.joined_with(weights)


def _layer_width(path: Path, values: dict[str, Any], key: str) -> int:
    """The width that a module's config.json has under `key`. Raises ValueError if it is no whole number in range."""
    width = values.get(key)
    if type(width) is not int or not 1 <= width <= LARGEST:
        raise ValueError(
            f"{folder_and_name(path)} has {key} {shortened(width)}, which must be a number from 1 to {LARGEST:,}"
        )
    return width


def _read_activation(path: Path, values: dict[str, Any]) -> OutputActivation:
    """The activation that a module's config.json names. Raises UnsupportedModuleError for one that is not supported."""
    name = str(values.get("activation_function", "torch.nn.Tanh")).rpartition(".")[2]
    if name not in ACTS:
        raise UnsupportedModuleError(
            f"{folder_and_name(path)} has activation_function {shortened(name)}; supported are {', '.join(ACTS)}"
        )
    return ACTS[name]


def _read_sentence_settings(modules: SentenceModules, path: Path, include_prompt: bool) -> None:
    """Adds notes on prompts and similarity, from the file config_sentence_transformers.json at `path`, to `modules`.

    `include_prompt` says whether the library's pooling includes the prompt's tokens.
    """
    values = read_object(path, SENTENCE_SETTINGS)
    if values.get("truncate_dim") is not None:
        width = _layer_width(path, values, "truncate_dim")
        modules.layers.append(SentenceLayer(kind="first numbers", width=width))
    prompts = values.get("prompts")
    prompts = {"query": "", "document": ""} | (prompts if isinstance(prompts, dict) else {})
    if (default := values.get("default_prompt_name")) is not None:
        if default not in prompts:
            raise ValueError(
                f"{SENTENCE_SETTINGS} has default_prompt_name {shortened(default)}, which is none of its prompts"
            )
        if prompt := prompts[default]:
            modules.differences.append(
                f"Its library puts {_quoted(prompt)} before each text. Here a text is read as it is written: write that before it."
                + (
                    " The library then leaves these tokens out of the pooling, which is not done here."
                    * (not include_prompt)
                )
            )
    if others := [
        f"{_quoted(prompt)} ({name})" for name, prompt in prompts.items() if prompt and name != default
    ]:
        modules.notes.append(
            f"Its library can put words before a text; here write them there, where they belong: {', '.join(others[:6])}."
        )
    similarity = values.get("similarity_fn_name")
    is_unit = bool(modules.layers) and modules.layers[-1].kind == "unit length"
    if similarity not in (None, "cosine") and not (similarity == "dot" and is_unit):
        modules.differences.append(
            f"Its library compares texts by {shortened(similarity)} (similarity_fn_name), which here is done by the cosine."
        )


def _quoted(prompt: object) -> str:
    """A prompt in quotation marks, with the space at its end, and shortened if it is long."""
    text = str(prompt).replace("\n", "↵")
    return f"“{text if len(text) <= MOST_PROMPT else f'{text[:MOST_PROMPT]} …'}”"


def apply_tokenizer_settings(tokenizer: Tokenizer, modules: SentenceModules, n_positions: int) -> None:
    """Sets `tokenizer` as the modules say: lower case, and truncation to their length, at most `n_positions` tokens."""
    own = tokenizer.normalizer
    is_sequence = isinstance(own, normalizers.Sequence)
    steps = [own[index] for index in range(len(own))] if is_sequence else [own] if own is not None else []
    if modules.lower_case and not any(isinstance(step, normalizers.Lowercase) for step in steps):
        tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *steps])
    if modules.max_tokens is not None:
        direction = (tokenizer.truncation or {}).get("direction", "right")
        tokenizer.enable_truncation(min(modules.max_tokens, n_positions), direction=direction)


def with_sentence_modules(reading: Reading, modules: SentenceModules) -> Reading:
    """Copy of `reading` in which the poolings and layers of `modules`, if any, replace the pooler and the classifier."""
    notes = [*reading.notes, *modules.notes]
    if (max_tokens := modules.max_tokens) is not None and max_tokens > reading.config.n_positions:
        notes.append(
            f"{TOKENIZER_SETTINGS[0]} asks for {max_tokens:,} tokens, but the encoder reads {reading.config.n_positions:,}."
        )
    differences = (*reading.differences, *modules.differences)
    reading = replace(reading, notes=tuple(notes), differences=differences)
    if not modules.poolings:
        return reading
    sources = {
        name: source for name, source in reading.sources.items() if name.partition(".")[0] not in REPLACED
    }
    d_pooled = reading.config.d_model * len(modules.poolings)
    layers = []
    for layer in modules.layers:
        if layer.kind == "layer norm" and layer.width != d_pooled:
            raise ValueError(f"a LayerNorm of {layer.width:,} numbers follows a vector of {d_pooled:,}")
        d_pooled = layer.width if layer.kind == "linear" else min(layer.width or d_pooled, d_pooled)
        layers.append(replace(layer, width=d_pooled))
    is_one = len(modules.poolings) == 1 and modules.poolings[0] in get_args(Pooling)
    first: Pooling = next(
        (pooling for pooling in modules.poolings if pooling in ("class", "mean", "max")), "mean"
    )
    family = replace(
        reading.config.family,
        pooler=None,
        hidden_norm=False,
        pools_last=False,
        pools_token=None,
        attention_pooling=False,
        d_pooled=d_pooled,
        sentence_poolings=() if is_one else modules.poolings,
        sentence_layers=tuple(layers),
        answers="choice",
    )
    config = replace(reading.config, pooling=first, class_names=(), family=family)
    return replace(
        reading,
        config=config,
        sources={**sources, **modules.sources},
        zeros=tuple(name for name in reading.zeros if name.partition(".")[0] not in REPLACED),
    )
