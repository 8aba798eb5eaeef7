"""The known classes of tokenizers, with the parts that each adds to a vocabulary, and the classes that need their own code.

`transformers` (5.23) takes the vocabulary from a folder's files, also from a tokenizer.json, and builds the rest anew from the
class and the settings in tokenizer_config.json. The parts here (normalizer, pre-tokenizer, decoder) are those of its classes, in
the form of a tokenizer.json.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tokenizers import AddedToken, processors

Options = Mapping[str, Any]  # of tokenizer_config.json
Component = dict[str, Any] | None  # of a tokenizer.json
Components = tuple[Component, Component, Component]  # normalizer, pre-tokenizer and decoder
Pieces = list[tuple[str, float]]  # of a Unigram vocabulary in the order of their ids, each with its score
Ids = Mapping[str, tuple[str, int]]  # names and ids of the special tokens, by their keys
MakePostProcessor = Callable[[Ids, Options], processors.PostProcessor]
# <extra_id_0> to <extra_id_99>, T5's marks of what was left out
N_SENTINELS, SENTINELS_OF_BYT5, MOST_SENTINELS = 100, 125, 10_000


@dataclass(frozen=True, slots=True)
class TokenizerClass:
    """How tokenizers of one class are built from a vocabulary: parts, special tokens and options."""

    model: str  # the type of the vocabulary, as a tokenizer.json names it
    names: Mapping[str, str]  # of the special tokens, by their keys in tokenizer_config.json
    # made of the options and of SentencePiece's map of characters
    components: Callable[[Options, str | None], Components]
    end_keys: tuple[str, ...]  # keys of the tokens that are put around a text
    post_processor: MakePostProcessor
    model_settings: Mapping[str, Any] = field(default_factory=dict)  # of the model
    passes_unknown_token: bool = False  # whether the model is told the name of the unknown token
    # of a Unigram model; None: as the file says
    unknown_id: Callable[[Pieces, str], int | None] = lambda _, __: None
    # of the pieces in a file of SentencePiece, the names of special tokens, and the options
    spm_vocabulary: Callable[[Pieces, Mapping[str, str], Options], Pieces] = lambda pieces, _, __: pieces
    other_names: Callable[[Options], list[str]] = lambda _: []  # of special tokens without a key
    # whether `other_names` are added even where a SentencePiece file marks special tokens of its own
    adds_other_names_to_marked: bool = False
    # flags of special tokens, by their keys: {"mask_token": {"lstrip": True}}
    token_flags: Mapping[str, dict[str, bool]] = field(default_factory=dict)

    def default_tokens(self) -> dict[str, AddedToken]:
        """The special tokens, by their keys such as "cls_token", of a folder whose settings name none."""
        return {
            key: AddedToken(name, special=True, **self.token_flags.get(key, {}))
            for key, name in self.names.items()
        }


# Post-processors


def _template(single: str, pair: str) -> MakePostProcessor:
    """A function that makes the post-processor with these templates for one text (`single`) and for two (`pair`).

    A template names special tokens by their keys, as in "cls_token $A sep_token"; a number after a colon is the token type.
    """

    def make(ids: Ids, _: Options) -> processors.PostProcessor:
        def named(template: str) -> list[str]:
            keys = [part.partition(":") for part in template.split()]
            return [f"{ids[key][0] if key in ids else key}{colon}{number}" for key, colon, number in keys]

        used = [ids[key] for key in ids if key in single]
        return processors.TemplateProcessing(
            single=named(single), pair=named(pair), special_tokens=list(dict(used).items())
        )

    return make


def _roberta_ends(sep: str, cls: str, trims_offsets: bool = True) -> MakePostProcessor:
    """A function that makes RoBERTa's post-processor; `sep` and `cls` are the keys of its special tokens."""
    return lambda ids, options: processors.RobertaProcessing(
        ids[sep], ids[cls], trim_offsets=trims_offsets, add_prefix_space=bool(options.get("add_prefix_space"))
    )


_BERT_ENDS = _template("cls_token $A sep_token", "cls_token $A sep_token $B:1 sep_token:1")
_FAIRSEQ_ENDS = _template("bos_token $A eos_token", "bos_token $A eos_token eos_token $B eos_token")

# Normalizers, pre-tokenizers and decoders


def _sequence(kind: str, *components: dict[str, Any]) -> Component:
    """A sequence of components of one `kind`, in the form of a tokenizer.json; `kind` is the key of their list, such as "normalizers"."""
    return {"type": "Sequence", kind: list(components)}


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _split(pattern: str, behavior: str, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def _byte_level(*, adds_space: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": adds_space, "trim_offsets": True, "use_regex": True}


def _metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


def _charsmap(charsmap: str | None) -> list[dict[str, Any]]:
    return [{"type": "Precompiled", "precompiled_charsmap": charsmap}] if charsmap else []


def _bert(options: Options, _: str | None) -> Components:
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": bool(options.get("tokenize_chinese_chars", True)),
        "strip_accents": options.get("strip_accents"),
        "lowercase": bool(options.get("do_lower_case", True)),
    }
    return normalizer, {"type": "BertPreTokenizer"}, {"type": "WordPiece", "prefix": "##", "cleanup": True}


def _roberta(options: Options, _: str | None) -> Components:
    adds_space = bool(options.get("add_prefix_space", False))
    return None, _byte_level(adds_space=adds_space), _byte_level(adds_space=True)


def _clip(_: Options, __: str | None) -> Components:
    normalizer = _sequence(
        "normalizers", {"type": "NFC"}, _replace({"Regex": r"\s+"}, " "), {"type": "Lowercase"}
    )
    words = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    pre_tokenizer = _sequence("pretokenizers", _split(words, "Removed", invert=True), _byte_level())
    return normalizer, pre_tokenizer, _byte_level(adds_space=True)


def _herbert(_: Options, __: str | None) -> Components:
    normalizer, splits = _bert({"do_lower_case": False, "strip_accents": False}, None)[:2]
    return normalizer, splits, {"type": "BPEDecoder", "suffix": END_OF_WORD}


def _fairseq(options: Options, charsmap: str | None) -> Components:
    spaces = _metaspace("always" if options.get("add_prefix_space", True) else "never")
    splits = _sequence("pretokenizers", {"type": "WhitespaceSplit"}, spaces)
    return next(iter(_charsmap(charsmap)), None), splits, spaces


def _albert(options: Options, charsmap: str | None) -> Components:
    accents = [] if options.get("keep_accents", False) else [{"type": "NFKD"}, {"type": "StripAccents"}]
    lower = [{"type": "Lowercase"}] if options.get("do_lower_case", True) else []
    quotes = (_replace({"String": "``"}, '"'), _replace({"String": "''"}, '"'))
    _, splits, spaces = _fairseq(options, None)
    return _sequence("normalizers", *quotes, *accents, *lower, *_charsmap(charsmap)), splits, spaces


def _deberta(options: Options, _: str | None) -> Components:
    lower = [{"type": "Lowercase"}] if options.get("do_lower_case", False) else []
    normalizer = _sequence(
        "normalizers",
        *lower,
        _replace({"Regex": r"\s{2,}|[\n\r\t]"}, " "),
        {"type": "NFC"},
        {"type": "Strip", "strip_left": False, "strip_right": True},
    )
    spaces = _metaspace("always" if options.get("add_prefix_space", True) else "first")
    punctuation = (
        [{"type": "Punctuation", "behavior": "Isolated"}] if options.get("split_by_punct", False) else []
    )
    return normalizer, _sequence("pretokenizers", *punctuation, spaces), spaces


# Vocabularies

END_OF_WORD = "</w>"  # at the end of a piece that ends a word, in CLIP's vocabulary
_T5_NAMES = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_T5_ENDS = _template("$A eos_token", "$A eos_token $B eos_token")
_WORD_PIECE = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
_NO_MARKS = {"continuing_subword_prefix": "", "end_of_word_suffix": ""}


def _fairseq_vocabulary(pieces: Pieces, names: Mapping[str, str], _: Options) -> Pieces:
    """XLM-R's vocabulary: four special tokens of fairseq replace the first three pieces, and the mask is added at the end."""
    first = [(names[key], 0.0) for key in ("bos_token", "pad_token", "eos_token", "unk_token")]
    return [*first, *pieces[3:], (names["mask_token"], 0.0)]


def _camembert_vocabulary(pieces: Pieces, names: Mapping[str, str], _: Options) -> Pieces:
    """CamemBERT's vocabulary: five tokens of fairseq replace the first piece, and the mask is added at the end."""
    first = ("<s>NOTUSED", names["pad_token"], "</s>NOTUSED", names["unk_token"])
    last = (names["mask_token"], 0.0)
    return [*((name, 0.0) for name in first), ("<unk>NOTUSED", -100.0), *pieces[1:], last]


def _t5_vocabulary(pieces: Pieces, _: Mapping[str, str], options: Options) -> Pieces:
    """T5's vocabulary: the pieces, and after them the sentinel tokens."""
    return [*pieces, *((name, 0.0) for name in reversed(_sentinels(options)))]


def _sentinels(options: Options) -> list[str]:
    """Names of T5's sentinel tokens, "<extra_id_0>", ..., as many as `extra_ids` in the options says."""
    n_sentinels = options.get("extra_ids", N_SENTINELS)
    if type(n_sentinels) is not int or not 0 <= n_sentinels <= MOST_SENTINELS:
        raise ValueError(f"its extra_ids must be a whole number from 0 to {MOST_SENTINELS:,}")
    return [f"<extra_id_{index}>" for index in range(n_sentinels)]


_BERT_NAMES = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_FAIRSEQ_NAMES = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
_BERT = TokenizerClass(
    "WordPiece",
    _BERT_NAMES,
    _bert,
    ("cls_token", "sep_token"),
    _BERT_ENDS,
    model_settings=_WORD_PIECE,
    passes_unknown_token=True,
)
_ROBERTA = TokenizerClass(
    "BPE",
    _FAIRSEQ_NAMES,
    _roberta,
    ("sep_token", "cls_token"),
    _roberta_ends("sep_token", "cls_token"),
    model_settings=_NO_MARKS,
)
_DEBERTA = TokenizerClass(
    "Unigram",
    {"bos_token": "[CLS]", "eos_token": "[SEP]", **_BERT_NAMES},
    _deberta,
    ("cls_token", "sep_token"),
    _BERT_ENDS,
    unknown_id=lambda pieces, name: pieces.index((name, 0.0)) if (name, 0.0) in pieces else None,
)
_XLM_ROBERTA = TokenizerClass(
    "Unigram",
    _FAIRSEQ_NAMES,
    _fairseq,
    ("bos_token", "eos_token"),
    _FAIRSEQ_ENDS,
    unknown_id=lambda _, __: 3,
    spm_vocabulary=_fairseq_vocabulary,
)
_MASK_TAKES_SPACE = {"mask_token": {"lstrip": True}}
CLASSES: dict[str, TokenizerClass] = {
    **dict.fromkeys(
        (
            *("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer"),
            *("SqueezeBertTokenizer", "LxmertTokenizer", "LayoutLMTokenizer"),
        ),
        _BERT,
    ),
    "MPNetTokenizer": replace(
        _BERT,
        names=_FAIRSEQ_NAMES | {"unk_token": "[UNK]"},
        post_processor=_roberta_ends("sep_token", "cls_token"),
        token_flags=_MASK_TAKES_SPACE,
    ),
    **dict.fromkeys(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"), _ROBERTA
    ),
    "CLIPTokenizer": TokenizerClass(
        "BPE",
        {"bos_token": "<|startoftext|>"}
        | dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>"),
        _clip,
        ("eos_token", "bos_token"),
        _roberta_ends("eos_token", "bos_token", trims_offsets=False),
        model_settings={"continuing_subword_prefix": "", "end_of_word_suffix": END_OF_WORD},
        passes_unknown_token=True,
    ),
    "HerbertTokenizer": TokenizerClass(
        "BPE",
        {key: name for key, name in _FAIRSEQ_NAMES.items() if key not in ("bos_token", "eos_token")},
        _herbert,
        ("sep_token", "cls_token"),
        lambda ids, _: processors.BertProcessing((ids["sep_token"][0], 2), (ids["cls_token"][0], 0)),
        model_settings={"end_of_word_suffix": END_OF_WORD},
        passes_unknown_token=True,
    ),
    "DebertaV2Tokenizer": _DEBERTA,
    "AlbertTokenizer": replace(
        _DEBERTA,
        names={**_DEBERTA.names, "unk_token": "<unk>", "pad_token": "<pad>"},
        components=_albert,
        unknown_id=lambda _, __: 1,
    ),
    "XLMRobertaTokenizer": _XLM_ROBERTA,
    "CamembertTokenizer": replace(
        _XLM_ROBERTA,
        unknown_id=lambda pieces, name: [*(piece for piece, _ in pieces), name].index(name) % len(pieces),
        spm_vocabulary=_camembert_vocabulary,
        other_names=lambda _: ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"],
        token_flags=_MASK_TAKES_SPACE,
    ),
    "T5Tokenizer": TokenizerClass(
        "Unigram",
        _T5_NAMES,
        lambda _, charsmap: _fairseq({}, charsmap),
        ("eos_token",),
        _T5_ENDS,
        unknown_id=lambda _, __: 2,
        spm_vocabulary=_t5_vocabulary,
        other_names=_sentinels,
        adds_other_names_to_marked=True,
    ),
    "ByT5Tokenizer": TokenizerClass(
        "bytes",
        _T5_NAMES,
        lambda _, __: (None, _byte_level() | {"use_regex": False}, _byte_level()),
        ("eos_token",),
        _T5_ENDS,
        model_settings=_NO_MARKS,
        other_names=lambda options: _sentinels({"extra_ids": SENTINELS_OF_BYT5} | dict(options)),
        token_flags={key: {"lstrip": True, "rstrip": True} for key in _T5_NAMES},
    ),
}
# what AutoTokenizer takes by the model_type where the files name no class
CLASS_BY_FAMILY = {
    **dict.fromkeys(
        ("bert", "ernie", "megatron-bert", "distilbert", "electra", "nomic_bert"), "BertTokenizer"
    ),
    **dict.fromkeys(("roberta", "roberta-prelayernorm", "data2vec-text"), "RobertaTokenizer"),
    **dict.fromkeys(("xlm-roberta", "gte", "jina_embeddings_v3"), "XLMRobertaTokenizer"),
    **dict.fromkeys(("t5", "mt5", "umt5"), "T5Tokenizer"),
    **dict.fromkeys(("clip", "clip_text_model"), "CLIPTokenizer"),
    "albert": "AlbertTokenizer",
    "camembert": "CamembertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "esm": "EsmTokenizer",
    "mpnet": "MPNetTokenizer",
}
# whose tokenizer.json AutoTokenizer reads as it stands, whatever class is named
FAMILIES_READ_AS_STORED = ("modernbert", "umt5")
# Classes whose own code decides what the tokens are, with what that code does
OWN_CODE = {
    "BertJapaneseTokenizer": "divides texts into words with MeCab, Sudachi or Juman++ first",
    "RoFormerTokenizer": "divides Chinese texts into words with jieba first",
    "CpmTokenizer": "divides Chinese texts into words with jieba first",
    "PhobertTokenizer": "joins the byte pairs of bpe.codes in words that were divided before",
    "BertweetTokenizer": "rewrites tweets, and joins the byte pairs of bpe.codes",
    "BartphoTokenizer": "reads SentencePiece's pieces by the shorter list in dict.txt",
    "BertGenerationTokenizer": "runs SentencePiece itself",
    "GPTSw3Tokenizer": "runs SentencePiece itself",
    "PLBartTokenizer": "runs SentencePiece itself",
    "XLMTokenizer": "rewrites texts by the rules of Moses for their language",
    "FSMTTokenizer": "rewrites texts by the rules of Moses for their language",
    "FlaubertTokenizer": "rewrites texts by the rules of Moses for French",
    "BioGptTokenizer": "rewrites texts by the rules of Moses",
    "ProphetNetTokenizer": "joins word pieces in code of its own",
    "RoCBertTokenizer": "reads the shapes and sounds of Chinese characters beside their ids",
    "TapasTokenizer": "reads tables, with numbers of rows and columns beside the ids",
    "LayoutLMv2Tokenizer": "reads words with their boxes on a page",
    "LayoutLMv3Tokenizer": "reads words with their boxes on a page",
    "LayoutXLMTokenizer": "reads words with their boxes on a page",
    "UdopTokenizer": "reads words with their boxes on a page",
    "MarkupLMTokenizer": "reads the nodes of a web page",
    "LukeTokenizer": "reads entities beside the words",
    "MLukeTokenizer": "reads entities beside the words",
    "CanineTokenizer": "numbers characters by their code points",
    "PerceiverTokenizer": "numbers bytes, with other numbers than ByT5's",
    "MyT5Tokenizer": "rewrites bytes by the rules in byte_maps.json",
}


def classes_of(model: str) -> str:
    """Names of the known tokenizer classes whose vocabulary has the type `model`, such as "BPE", separated by commas.

    Of classes that read a vocabulary in the same way, only the first is named.
    """
    names = {id(kind): name for name, kind in reversed(CLASSES.items()) if kind.model == model}
    return ", ".join(reversed(names.values()))
