"""What `tokenizer.json` may ask for: what trained tokenizers hold, and nothing whose work or memory has no bound."""

import base64
import json
from typing import Any

import pytest
from tokenizers import Tokenizer

from model.checkpoint import CHECKPOINTS, available
from model.files.tokenizer_check import KNOWN, MOST_ADDED, MOST_COMPONENTS, check_tokenizer, open_tokenizer
from model.inputs.text import encode
from tests.model.huggingface.folders import tokenizer

WHOLE = json.loads(tokenizer().to_str())
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)


def parts(key: str, *components: dict) -> dict:
    return {"type": "Sequence", key: list(components)}


def replaced(pattern: dict, content: str) -> dict:
    return {"type": "Replace", "pattern": pattern, "content": content}


def split(pattern: dict | str) -> dict:
    pattern = {"Regex": pattern} if isinstance(pattern, str) else pattern
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def charsmap(*texts: bytes) -> dict:
    """A map to these texts, without the tree that says which characters they replace."""
    content = (8).to_bytes(4, "little") + bytes(8) + b"\0".join(texts)
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(content).decode()}


def template(*single: str, pair: str = "AB", **tokens: dict) -> dict:
    def piece(name: str) -> dict:
        return {"Sequence" if name in ("A", "B") else "SpecialToken": {"id": name, "type_id": 0}}

    return {
        "type": "TemplateProcessing",
        "single": list(map(piece, single)),
        "pair": list(map(piece, pair)),
        "special_tokens": {
            name: {"id": name, "ids": [0], "tokens": [name]} | token for name, token in tokens.items()
        },
    }


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
MAP = charsmap(*(b"x" * 33,) * 3)  # SentencePiece's longest: the 18 letters that stand for U+FDFA
QUOTES = (replaced({"String": "``"}, '"'), replaced({"String": "''"}, '"'))
SINGLE_SPACES = replaced({"Regex": " {2,}"}, " ")
ENDS = template("[CLS]", "A", "[SEP]", **{"[CLS]": {}, "[SEP]": {}})
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["</s>", 2],
    "cls": ["<s>", 0],
    "trim_offsets": True,
    "add_prefix_space": False,
}
ORDINARY: dict[str, dict[str, Any]] = {
    "BERT, ELECTRA, MPNet, DistilBERT": {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
    "RoBERTa, DeBERTa": {
        "normalizer": None,
        "pre_tokenizer": BYTES,
        "post_processor": ROBERTA,
        "decoder": BYTES,
    },
    "ModernBERT": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": BYTES,
        "post_processor": ENDS,
        "decoder": BYTES,
        "added_tokens": [{"id": index, "content": " " * (index + 1), **FLAGS} for index in range(24)],
    },
    "XLM-R": {
        "normalizer": parts("normalizers", MAP, replaced({"Regex": " {2,}"}, "▁")),
        "pre_tokenizer": parts("pretokenizers", {"type": "WhitespaceSplit"}, SPACES),
        "post_processor": ENDS,
        "decoder": SPACES,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁the", -3.5]], "byte_fallback": False},
    },
    "ALBERT": {
        "normalizer": parts(
            "normalizers", *QUOTES, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, MAP, SINGLE_SPACES
        ),
        "pre_tokenizer": SPACES,
        "post_processor": ENDS,
        "decoder": SPACES,
    },
    "DeBERTa-v2, DeBERTa-v3": {
        "normalizer": parts("normalizers", {"type": "Strip", "strip_left": True, "strip_right": True}, MAP, SINGLE_SPACES),
        "pre_tokenizer": parts("pretokenizers", SPACES),
        "post_processor": ENDS,
        "decoder": SPACES,
    },
    "EuroBERT": {
        "normalizer": None,
        "pre_tokenizer": parts("pretokenizers", split(max(KNOWN, key=len)), BYTES | {"use_regex": False}),
        "post_processor": parts("processors", BYTES, ENDS),
        "decoder": BYTES,
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": None, "ignore_merges": True},
    },
    "Llama, CamemBERT 2": {
        "normalizer": parts("normalizers", {"type": "Prepend", "prepend": "▁"}, replaced({"String": " "}, "▁")),
        "pre_tokenizer": None,
        "decoder": parts(
            "decoders",
            replaced({"String": "▁"}, " "),
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ),
    },
    "Chinese, numbers by digits": {
        "normalizer": parts("normalizers", {"type": "Nmt"}, {"type": "NFKC"}),
        "pre_tokenizer": parts(
            "pretokenizers",
            split("[\r\n]"),
            split(r"\s?\p{L}+"),
            split(r"\s?\p{P}+"),
            split("[一-龥ࠀ-一가-\ud7ff]+"),
            {"type": "Digits", "individual_digits": True},
            {"type": "Punctuation", "behavior": "Isolated"},
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_trained_tokenizers_are_opened(name):
    check_tokenizer(WHOLE | ORDINARY[name])


@pytest.mark.parametrize(
    ("pre_tokenizer", "pieces"),
    [
        (split({"String": ""}), ("a", "t", "a", "l", "l")),
        (parts("pretokenizers", {"type": "Whitespace"}, split({"String": ""})), ("a", "t", "a", "l", "l")),
        (split({"String": " "}), ("at", "all")),
        ({"type": "FixedLength", "length": 3}, ("at ", "all")),
        (parts("pretokenizers", {"type": "Whitespace"}, {"type": "FixedLength", "length": 1}), ("a", "t", "a", "l", "l")),
    ],
)  # fmt: skip
def test_unusual_splits_are_opened(pre_tokenizer, pieces):
    names = dict.fromkeys(("[UNK]", *pieces))
    model = {
        "type": "WordLevel",
        "vocab": {name: index for index, name in enumerate(names)},
        "unk_token": "[UNK]",
    }
    made = open_tokenizer({"version": "1.0", "model": model, "pre_tokenizer": pre_tokenizer})
    assert tuple(piece for piece in encode(made, "at all").pieces if piece != "[UNK]") == pieces


@pytest.mark.parametrize("pattern", sorted(KNOWN))
def test_patterns_that_are_known_are_those_of_the_library(pattern):
    made = open_tokenizer(WHOLE | {"pre_tokenizer": split(pattern)})
    assert encode(made, "the").tokens[1] == "the"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "name", [name for name in available() if (CHECKPOINTS / name / "tokenizer.json").exists()]
)
def test_those_that_come_with_the_project_read_as_before(name):
    path = CHECKPOINTS / name / "tokenizer.json"
    ours, whole = open_tokenizer(json.loads(path.read_text(encoding="utf-8"))), Tokenizer.from_file(str(path))
    text = "It isn't “bad”<br />at all — 3 of 4!"
    assert ours.encode(text).tokens == whole.encode(text).tokens


DOUBLED = replaced({"String": "a"}, "aa")
WORD = WHOLE["model"]
ATTACKS: dict[str, tuple[dict[str, Any], str]] = {
    "a text doubled 17 times": ({"normalizer": parts("normalizers", *[DOUBLED] * 17)}, "more than 16 normalizers"),
    "a text doubled 10 times": ({"normalizer": parts("normalizers", *[DOUBLED] * 10)}, "1,024 times as long"),
    "bytes of bytes": ({"normalizer": parts("normalizers", *[{"type": "ByteLevel"}] * 12)}, "4,096 times as long"),
    "a sign before each part": ({"pre_tokenizer": parts("pretokenizers", *[SPACES] * 3)}, "64 times as long"),
    "a long text for a sign": ({"normalizer": replaced({"Regex": "x*"}, "y" * 1000)}, "1,001 times as long"),
    "a map to a long text": ({"normalizer": charsmap(b"y" * 5000)}, "5,000 times as long"),
    "an empty map": ({"normalizer": charsmap() | {"precompiled_charsmap": ""}}, "precompiled_charsmap is damaged"),
    "a map that is no text": ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": [1]}}, "charsmap is damaged"),
    "a map of another length": ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}}, "charsmap is damaged"),
    "sequences in sequences": (
        {"normalizer": parts("normalizers", *[parts("normalizers", *[{"type": "Lowercase"}] * 9)] * 9)},
        "more than 16 normalizers",
    ),
    "an empty pattern": ({"normalizer": replaced({"String": ""}, "x")}, "patterns is empty"),
    "a long beginning": ({"normalizer": {"type": "Prepend", "prepend": "x" * 10**6}}, "at most 256 characters"),
    "a choice that repeats": ({"pre_tokenizer": split("^(a|a)*$")}, "could take for ever"),
    "repetitions of repetitions": ({"pre_tokenizer": split("(a+)+b")}, "could take for ever"),
    "repetitions in a row": ({"pre_tokenizer": split("a*a*a*b")}, "could take for ever"),
    "a repetition before something": ({"normalizer": replaced({"Regex": "a+b"}, "")}, "could take for ever"),
    "a reference back": ({"pre_tokenizer": split(r"(a)\1")}, "could take for ever"),
    "a pattern of a decoder": ({"decoder": replaced({"Regex": "(a|a)*$"}, "")}, "could take for ever"),
    "parts of length 0": ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "it cuts texts into lengths of 0"),
    "a part of no name": ({"pre_tokenizer": {"type": ["Split"]}}, "is not supported"),
    "a second text that is not there": ({"post_processor": template("B")}, "a text twice, or one that does not exist"),
    "a text twice": ({"post_processor": template("A", "A")}, "a text twice"),
    "a text twice in a pair": ({"post_processor": template("A", pair="AAB")}, "a text twice"),
    "tokens without numbers": (
        {"post_processor": template("x", "A", x={"ids": [2, 3]})},
        "not as many names as ids",
    ),
    "a long token in a template": ({"post_processor": template("x", "A", x={"tokens": ["y" * 999]})}, "at most 256"),
    "a long end": ({"post_processor": {"type": "BertProcessing", "sep": ["y" * 999, 3], "cls": ["x", 2]}}, "its token sep"),
    "a long unknown token": ({"model": WORD | {"unk_token": "y" * 10**6}}, "unk_token must be a text of at most 256"),
    "a long prefix": ({"model": WORD | {"continuing_subword_prefix": "#" * 10**6}}, "continuing_subword_prefix"),
    "long words": ({"model": WORD | {"max_input_chars_per_word": 10**6}}, "it splits words of up to 1000000 characters"),
    "a long piece": ({"model": WORD | {"vocab": {"y" * 10**5: 0}}}, "more than 1,000 characters"),
    "long pieces of a Unigram": ({"model": {"type": "Unigram", "vocab": [["y" * 999, 0.0]]}}, "one more than 256"),
    "very many pieces of a Unigram": (
        {"model": {"type": "Unigram", "vocab": [["y" * 256, 0.0]] * 2**15}},
        "more than 4,194,304 bytes",
    ),
    "many tokens added": (
        {"added_tokens": [{"id": index, "content": "x", **FLAGS} for index in range(MOST_ADDED + 1)]},
        "it adds 10,001 tokens",
    ),
    "a long token added": ({"added_tokens": [{"id": 9, "content": "y" * 10**6, **FLAGS}]}, "tokens of 1,000,000 characters"),
    "no model": ({"model": None}, "it has no model"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_what_could_take_for_ever_is_refused(name):
    changed, message = ATTACKS[name]
    with pytest.raises(ValueError, match=message) as error:
        open_tokenizer(WHOLE | changed)
    assert len(str(error.value)) < 200


def test_as_many_parts_as_are_allowed_are_opened():
    values = [{"type": "Strip", "strip_left": True, "strip_right": True}] * (MOST_COMPONENTS - 1)
    assert (
        encode(open_tokenizer(WHOLE | {"normalizer": parts("normalizers", *values)}), " film ").tokens[1]
        == "film"
    )


def test_a_text_that_grows_too_much_is_refused_though_the_file_is_not():
    made = open_tokenizer(WHOLE | {"normalizer": replaced({"String": "a"}, "b" * 999)})
    assert encode(made, "film").tokens[1] == "film"
    with pytest.raises(
        ValueError, match="the tokenizer cannot read this text: it makes 99,900 characters of 100"
    ):
        encode(made, "a" * 100)


def test_what_unicode_has_for_a_sign_is_not_too_long():
    made = open_tokenizer(WHOLE | {"normalizer": {"type": "NFKD"}})
    assert encode(made, "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 100).n_read


def test_padding_and_truncation_of_the_file_do_not_hold():
    padding = {"strategy": {"Fixed": 2**63 - 1}, "direction": "Left", "pad_to_multiple_of": 0}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "x"}
    truncation = {"direction": "Left", "max_length": 2, "strategy": "OnlySecond", "stride": 2**63 - 1}
    made = open_tokenizer(WHOLE | {"padding": padding, "truncation": truncation})
    assert (made.padding, made.truncation) == (None, None)
