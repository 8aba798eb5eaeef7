"""Recognises the encoder in a folder by its configuration and the headers of its weights, and opens it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import torch
from tokenizers import Tokenizer

from ..config import ModelConfig
from ..files.content import file_state, read_object
from ..files.encoder_files import (
    ADAPTER,
    CONFIG,
    MODULES,
    PREPROCESSOR,
    PROCESSOR,
    SENTENCEPIECE,
    TOKENIZER,
    VOCABULARY,
    VOCABULARY_LINES,
)
from ..files.errors import RefusalError, errors_in_one_sentence, single_line
from .encoder import ImportedEncoder
from .families import (
    FAMILIES,
    family_names,
    is_own_config,
    refuse_adapter,
    refuse_other_library,
    refuse_unsupported_tensors,
    wrong_shape,
)
from .inner_encoders import TWO_ENCODERS, select_encoder, split_path
from .output_layers import TIED
from .sentence_transformers import (
    SentenceModules,
    UnsupportedModuleError,
    apply_tokenizer_settings,
    read_modules,
    with_sentence_modules,
)
from .tensor_map import LONGEST_TEXT, Reading
from .tokenizer import read_tokenizer
from .tokenizer_settings import read_settings
from .weights import Shape, Stored, stored_weights

OTHERWISE = (
    "Its attention can still be shown, as a record: loupe.from_transformers(model, tokenizer, input) takes any model of "
    'transformers, and the file of loupe.save_record(record, "record.npz", {}) opens as the input “Record”'
)
# Stored by some versions of `transformers`, and computed rather than learned.
BUFFERS = ("position_ids", "token_type_ids", "rotary_embeddings.inv_freq", "relative_position_index")
DECODER = ("decoder.", "lm_head.")  # beginnings of what stands behind the encoder of T5
NO_FILES = ("canine", "perceiver")  # families whose tokenizers need none


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """What is known of an encoder in a folder before its weights are read: configuration, tensor shapes, unused tensors."""

    reading: Reading
    stored: Stored
    folder: Path  # with the encoder's files; in sentence-transformers' layout it may be an inner one
    left_out: tuple[str, ...]  # names of tensors that are stored and not used
    sentence_modules: SentenceModules | None = None

    @property
    def config(self) -> ModelConfig:
        return self.reading.config

    @property
    def n_parameters(self) -> int:
        """Number of parameters, as the encoder's own library counts them: each stored tensor once, also those that are not
        used here, but not those of a decoder behind the encoder.
        """
        left_out = {name for name in self.left_out if not name.startswith(DECODER)}
        names = _used_tensor_names(self.reading) | (left_out & set(self.stored.shapes))
        return sum(math.prod(self.stored.shapes[name]) for name in names if not _ends_in(name, BUFFERS))


def is_foreign(folder: Path) -> bool:
    """Whether the folder has Hugging Face's layout rather than this project's own."""
    folder, _ = split_path(folder)
    if (folder / MODULES).is_file() or (folder / ADAPTER).is_file():
        return True
    path = folder / CONFIG
    try:
        state = file_state(path)
    except OSError:
        return False
    return _is_foreign_config(path, state)


@lru_cache(maxsize=1024)
def _is_foreign_config(path: Path, _state: tuple) -> bool:
    """Whether the file is a config.json of another library, cached; `_state` changes with the file, so that it is read anew."""
    try:
        values = read_object(path, CONFIG)
    except ValueError:
        return False
    return not is_own_config(values)


@errors_in_one_sentence()
def find(folder: Path) -> EncoderFolder:
    """The encoder in a folder, from its config.json and the headers of its weights; the weights themselves are not read.

    For one of two encoders in a folder, its name is the last part of the path (`model.huggingface.inner_encoders`). Raises
    ValueError if the encoder cannot be shown.
    """
    folder, inner = split_path(folder)
    refuse_adapter(folder)
    module_problem = None
    try:
        sentence_modules = read_modules(folder)
    except UnsupportedModuleError as error:
        sentence_modules, module_problem = None, str(error)
        if not (folder / CONFIG).is_file():
            raise
    encoder_folder = folder / sentence_modules.encoder if sentence_modules else folder
    refuse_adapter(encoder_folder)
    values = read_object(encoder_folder / CONFIG, CONFIG)
    refuse_other_library(values)
    model_type = values.get("model_type")
    if not isinstance(model_type, str) or model_type not in {*FAMILIES, *TWO_ENCODERS}:
        raise RefusalError(_unknown_family_message(encoder_folder, model_type, module_problem))
    if module_problem is not None:
        raise ValueError(module_problem)
    tensors = stored_weights(encoder_folder).renamed(_current_name)
    refuse_unsupported_tensors(tensors.shapes)
    if model_type in TWO_ENCODERS:
        values, tensors = select_encoder(values, tensors, inner)
    family = FAMILIES[values["model_type"]]
    if sentence_modules is not None and sentence_modules.max_tokens is not None:
        values = {**values, LONGEST_TEXT: sentence_modules.max_tokens}
    preprocessor = [_read_preprocessor(encoder_folder)] if family.input_kind == "pictures" else []
    reading = family.read(values, tensors, *preprocessor)
    if sentence_modules is not None:
        reading = with_sentence_modules(reading, sentence_modules)
        if sentence_modules.weights is not None:
            tensors = tensors.joined_with(sentence_modules.weights)
    _check_shapes(reading, tensors, values)
    unused_tensors = _unused_tensors(reading, tensors, bool(values.get("tie_word_embeddings", True)))
    return EncoderFolder(reading, tensors, encoder_folder, unused_tensors, sentence_modules)


@errors_in_one_sentence()
def find_with_tokenizer(folder: Path) -> tuple[EncoderFolder, Tokenizer | None]:
    """The encoder in a folder as `find` returns it, and its tokenizer, None for pictures; the tokenizer decides the padding id.

    Raises ValueError if the encoder or the tokenizer cannot be used.
    """
    encoder = find(folder)
    if not encoder.config.is_text:
        return encoder, None
    tokenizer, differences = read_tokenizer(encoder.folder, encoder.config)
    if encoder.sentence_modules is not None:
        apply_tokenizer_settings(tokenizer, encoder.sentence_modules, encoder.config.n_positions)
    reading = with_padding_of_tokenizer(encoder.reading, tokenizer, encoder.folder)
    reading = replace(reading, differences=(*reading.differences, *differences))
    return replace(encoder, reading=reading), tokenizer


@errors_in_one_sentence()
def open_encoder(folder: Path) -> tuple[ImportedEncoder, Tokenizer | None, int, tuple[str, ...]]:
    """The encoder in a folder with its weights, in float32 on the CPU, its tokenizer, its number of parameters
    (`EncoderFolder.n_parameters`), and sentences on where its answer is not that of its own library.

    Raises ValueError if it cannot be shown.
    """
    encoder, tokenizer = find_with_tokenizer(folder)
    model = ImportedEncoder(encoder.config)
    parameters = dict(model.named_parameters(remove_duplicate=False))
    scale_names = {source.name for source in encoder.reading.scales.values()}
    names_by_tensor: dict[str, list[str]] = {name: [] for name in scale_names}
    for name, source in encoder.reading.sources.items():
        names_by_tensor.setdefault(source.name, []).append(name)
    tensors_by_name: dict[str, torch.Tensor] = {}
    scales: dict[str, torch.Tensor] = {}
    for stored_name, tensor in encoder.stored.tensors(names_by_tensor):
        if not tensor.isfinite().all():
            raise ValueError(f"{stored_name} holds numbers that are not finite")
        for name in names_by_tensor[stored_name]:
            parameter, source = parameters[name], encoder.reading.sources[name]
            if source.table is not None:
                tensors_by_name[name] = source.table.fit(tensor)
                continue
            rows = tensor.reshape(-1, *parameter.shape[1:])[
                source.first_row : source.first_row + parameter.shape[0]
            ]
            tensors_by_name[name] = rows.contiguous()
        if stored_name in scale_names:
            scales[stored_name] = tensor
    for name, source in encoder.reading.scales.items():
        rows = tensors_by_name[name]
        tensors_by_name[name] = rows * scales[source.name].reshape(-1, *[1] * (rows.ndim - 1))
    tensors_by_name |= {name: torch.zeros(parameters[name].shape) for name in encoder.reading.zeros}
    model.load_state_dict(tensors_by_name, strict=False, assign=True)
    if unset_names := [name for name, value in model.named_parameters() if value.is_meta]:
        raise ValueError(f"nothing is stored for {unset_names[0]}")
    model.requires_grad_(False).eval()
    return model, tokenizer, encoder.n_parameters, tuple(encoder.reading.differences)


def _read_preprocessor(folder: Path) -> dict[str, Any] | None:
    """The settings by which pictures are resized and normalised; None if the folder has no such file.

    They are in preprocessor_config.json, or in processor_config.json under `image_processor`. Raises ValueError if the file is
    damaged.
    """
    if (folder / PREPROCESSOR).is_file():
        return read_object(folder / PREPROCESSOR, PREPROCESSOR)
    if not (folder / PROCESSOR).is_file():
        return None
    settings = read_object(folder / PROCESSOR, PROCESSOR).get("image_processor")
    if not isinstance(settings, dict | None):
        raise ValueError(f"{PROCESSOR} has image_processor {shortened(settings)}, which must be an object")
    return settings


def _unknown_family_message(folder: Path, model_type: object, module_problem: str | None) -> str:
    """Message for an encoder of an unknown family: one sentence with all reasons against it, and one with what works instead.

    `module_problem` is the reason that a module of sentence-transformers is not supported, if there is one.
    """
    model_type_text = shortened(model_type) if model_type is not None else "missing"
    problems = [
        f"the model_type in config.json is {single_line(model_type_text, 80)}; supported are {family_names()}"
    ]
    if module_problem is not None:
        problems.append(module_problem)
    try:
        stored_weights(folder)
    except ValueError as error:
        problems.append(str(error))
    if model_type not in NO_FILES and not any(
        (folder / name).is_file()
        for name in (TOKENIZER, VOCABULARY_LINES, VOCABULARY, *SENTENCEPIECE, PREPROCESSOR)
    ):
        problems.append(f"there is neither a tokenizer ({TOKENIZER}) nor a {PREPROCESSOR}")
    numbered = [f"({index}) {problem}" for index, problem in enumerate(problems, 1)]
    return f"{'; '.join(numbered) if len(problems) > 1 else problems[0]}. {OTHERWISE}"


def _current_name(name: str) -> str:
    """Today's name of a tensor: before 2019 the weight of a norm was called gamma, and its bias beta."""
    for old, new in ((".gamma", ".weight"), (".beta", ".bias")):
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _check_shapes(reading: Reading, stored: Stored, values: Mapping[str, Any]) -> None:
    """Raises ValueError for the first tensor that is missing, or whose shape is not that which the configuration requires."""
    expected_shapes = {
        name: tuple(value.shape)
        for name, value in ImportedEncoder(reading.config).named_parameters(remove_duplicate=False)
    }
    if unmapped_names := sorted(set(expected_shapes) - set(reading.sources) - set(reading.zeros)):
        raise ValueError(f"nothing is stored for {unmapped_names[0]}")
    for parameter_name, source in (*reading.sources.items(), *reading.scales.items()):
        expected_shape: Shape = source.shape or expected_shapes[parameter_name]
        if (shape := stored.shapes.get(source.name)) is None:
            raise ValueError(
                f"{source.name} is missing from the weights; it should have shape {expected_shape}"
            )
        # a table of one row may be stored as a vector, and the other way round
        if [length for length in shape if length != 1] != [
            length for length in expected_shape if length != 1
        ]:
            sentence = f"{source.name} has shape {shape}, but config.json asks for {expected_shape}"
            raise wrong_shape(values, sentence)


def _unused_tensors(reading: Reading, stored: Stored, tied: bool) -> tuple[str, ...]:
    """Sorted names of the stored tensors that are not read, without buffers and, if weights are `tied`, copies of the embedding."""
    ignored_endings = (
        *BUFFERS,
        *((*TIED, "decoder.bias") if tied and reading.config.masked_token_output else ()),
    )
    return tuple(
        name
        for name in sorted(set(stored.shapes) - _used_tensor_names(reading))
        if all(stored.shapes[name])  # registers that an encoder does not have are stored without a number
        and not _ends_in(name, ignored_endings)
    )


def _used_tensor_names(reading: Reading) -> set[str]:
    """Names of all stored tensors from which a parameter is read."""
    return {source.name for source in (*reading.sources.values(), *reading.scales.values())}


def _ends_in(name: str, endings: Iterable[str]) -> bool:
    """Whether a tensor's name ends in one of the `endings`, which begin at a dot or at the start of the name."""
    return any(f".{name}".endswith(f".{ending}") for ending in endings)


def with_padding_of_tokenizer(reading: Reading, tokenizer: Tokenizer, folder: Path) -> Reading:
    """Copy of `reading` with the tokenizer's padding id, and with notes where tokenizer and config.json contradict each other.

    They are about the padding id and the size of the vocabulary. Raises ValueError, with a one-sentence message, if a file in
    `folder` is damaged.
    """
    config, notes = reading.config, list(reading.notes)
    n_tokens, n_rows = tokenizer.get_vocab_size(), config.vocab_size or 0
    if n_rows != n_tokens:
        reason = (
            "added tokens may be missing, or the size was rounded up"
            if n_rows > n_tokens
            else "several tokens share a row"
        )
        notes.append(f"The embedding has {n_rows:,} rows, the tokenizer {n_tokens:,} tokens: {reason}.")
    padding_id = _padding_id(config, tokenizer, folder)
    if padding_id != config.padding_id:
        own = "has no token for padding" if padding_id is None else f"pads with token {padding_id:,}"
        notes.append(
            f"config.json has pad_token_id {config.padding_id:,}, but the tokenizer {own}: as in its library, "
            f"token {config.padding_id:,} is read like any other."
        )
    return replace(reading, config=replace(config, padding_id=padding_id), notes=notes)


def _padding_id(config: ModelConfig, tokenizer: Tokenizer, folder: Path) -> int | None:
    """Id of the padding token: that of the tokenizer's files, else that of config.json; None if that is an ordinary token."""
    if config.padding_id is None:
        return None
    named = read_settings(folder, None, config.vocab_size or 0).named_tokens({}).get("pad_token")
    if named is not None and (padding_id := tokenizer.token_to_id(named.content)) is not None:
        return padding_id
    token = tokenizer.get_added_tokens_decoder().get(config.padding_id)
    is_text = tokenizer.id_to_token(config.padding_id) is not None and (token is None or not token.special)
    return None if is_text else config.padding_id
