"""Names of the files in an encoder's folder: those that are read, those that are written, and those that are never opened."""

from pathlib import Path

from .content import read_object

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
VOCABULARY_LINES, VOCABULARY, MERGES = "vocab.txt", "vocab.json", "merges.txt"
SENTENCEPIECE = ("spm.model", "sentencepiece.bpe.model", "spiece.model")  # one of these, by family
ADDED_TOKENS, SPECIAL_TOKENS = "added_tokens.json", "special_tokens_map.json"
PREPROCESSOR, MODULES = "preprocessor_config.json", "modules.json"
PROCESSOR = "processor_config.json"  # of pictures and texts together, where newer versions put the former
# of sentence-transformers, which reads the first of the former that is there
TOKENIZER_SETTINGS = (
    "sentence_bert_config.json",
    *(
        f"sentence_{name}_config.json"
        for name in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
    ),
)
SENTENCE_SETTINGS = "config_sentence_transformers.json"
ADAPTER = "adapter_config.json"  # of PEFT, which stores a few small matrices beside those of an encoder
HISTORY, RECORDING, PREDICTIONS = "history.json", "film.safetensors.gz", "predictions.safetensors"
# What a folder in Hugging Face's layout may hold besides its configuration and weights.
BESIDE = (
    TOKENIZER,
    TOKENIZER_CONFIG,
    SPECIAL_TOKENS,
    ADDED_TOKENS,
    VOCABULARY_LINES,
    VOCABULARY,
    MERGES,
    *SENTENCEPIECE,
    PREPROCESSOR,
    PROCESSOR,
    MODULES,
    *TOKENIZER_SETTINGS,
    SENTENCE_SETTINGS,
)
SAFETENSORS = ".safetensors"
# How safetensors reads weights: into memory of their own. Its default maps the file, and a file that is written over while an
# encoder is open would then change that encoder, or end the process where it gets shorter.
READ = "pread"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")  # to load one can run code
UNREAD_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".onnx", ".msgpack")


def shard_names(index: Path) -> list[str]:
    """Sorted names of the weight files that `index` (a `model.safetensors.index.json`) lists.

    Raises ValueError, with a one-sentence message, if the index is damaged or names a file outside its own folder.
    """
    weight_map = read_object(index, INDEX).get("weight_map")
    if (
        not isinstance(weight_map, dict)
        or not weight_map
        or not all(isinstance(name, str) for name in weight_map.values())
    ):
        raise ValueError(f"{INDEX} has no weight_map of names")
    names = sorted(set(weight_map.values()))
    for name in names:
        if Path(name).name != name or not name.endswith(SAFETENSORS):
            raise ValueError(f"{INDEX} names {name[:100]!r}, which is not a safetensors file in this folder")
    return names
