"""Damage to `tokenizer.json`, and to the vocabularies that may stand in its place."""

import json
import os
from typing import Any

from sentencepiece import sentencepiece_model_pb2

from benchmarks.mutations.case import HOSTILE, TOKENIZER, Case, kind

SETTINGS = "tokenizer_config.json"


def _special(name: str, part: int = 0) -> dict:
    """A special token in a template of the tokenizer, with its segment `part`."""
    return {"SpecialToken": {"id": name, "type_id": part}}


def _text(name: str = "A", part: int = 0) -> dict:
    """A text in a template of the tokenizer, with its segment `part`."""
    return {"Sequence": {"id": name, "type_id": part}}


def _split(pattern: str) -> dict:
    """A pre-tokenizer that splits at this regular expression."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _nested(what: dict, key: str, times: int) -> dict:
    """`what` inside `times` nested sequences, each under the key `key`."""
    for _ in range(times):
        what = {"type": "Sequence", key: [what]}
    return what


# tokenizer.json


@kind("text")
def damaged_tokenizer(case: Case) -> None:
    """tokenizer.json is not the JSON object that it should be."""
    path = case.folder / TOKENIZER
    whole = path.read_bytes()
    contents = (
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        whole[: len(whole) // 2],
        b"[" * 10**6,
        b'{"version": "9"}',
    )
    path.write_bytes(case.random.choice((*contents, b"\0" * 10**4, whole.replace(b'"1.0"', b"1"))))


@kind("text")
def tokenizer_value(case: Case) -> None:
    """A value of tokenizer.json is odd."""
    values = case.read_json(TOKENIZER)
    if case.random.random() < 0.4:
        values[case.random.choice(sorted(values))] = case.odd_value()
    else:
        values["model"][case.random.choice(sorted(values["model"]))] = case.odd_value()
    case.write_json(TOKENIZER, values)


@kind("text")
def tokenizer_model(case: Case) -> None:
    """The model of tokenizer.json is of another type or inconsistent."""
    words = case.read_json(TOKENIZER)["model"]["vocab"]
    models: tuple[Any, ...] = (
        {"type": "WordLevel", "vocab": words, "unk_token": "absent"},
        {"type": "WordLevel", "vocab": {}, "unk_token": ""},
        {"type": "WordPiece", "vocab": words, "unk_token": "absent", "max_input_chars_per_word": 0},
        {"type": "WordPiece", "vocab": {**words, "a": 2**32 - 1}, "unk_token": "[UNK]"},
        {"type": "WordPiece", "vocab": {**words, "a": -1}, "unk_token": "[UNK]"},
        {"type": "WordPiece", "vocab": {**words, "film": 6, "a": 6}, "unk_token": "[UNK]"},
        {"type": "WordPiece", "vocab": {"the": 3}, "unk_token": "the"},
        {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 5},
        {"type": "Unigram", "vocab": [], "unk_id": None},
        {"type": "Unigram", "vocab": [["a", 1e300], ["", -1e300]], "unk_id": 0},
        {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]},
        {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "dropout": 7.0},
        {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b", "b"], "unk_token": "zz"},
        {"type": "Nothing"},
        {},
    )
    values = case.read_json(TOKENIZER)
    case.write_json(TOKENIZER, values | {"model": case.random.choice(models)})


@kind("text")
def tokenizer_parts(case: Case) -> None:
    """A part of tokenizer.json, such as its post-processor, is odd, huge or slow."""
    whole = {"type": "TemplateProcessing", "pair": [_text(), _text("B", 1)], "special_tokens": {}}
    far = {"[CLS]": {"id": "[CLS]", "ids": [10**6], "tokens": ["[CLS]"]}}
    near = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    many = {"[CLS]": {"id": "[CLS]", "ids": [2] * 50, "tokens": ["[CLS]"] * 50}}
    parts: tuple[tuple[str, Any], ...] = (
        ("post_processor", whole | {"single": [_text("B")]}),
        ("post_processor", whole | {"single": [_special("absent"), _text()]}),
        ("post_processor", whole | {"single": [_text(), _text()]}),
        ("post_processor", whole | {"single": [_special("[CLS]")], "special_tokens": near}),
        ("post_processor", whole | {"single": [_special("[CLS]"), _text()], "special_tokens": far}),
        ("post_processor", whole | {"single": [_special("[CLS]"), _text()], "special_tokens": many}),
        ("post_processor", whole | {"single": [_special("[CLS]", 7), _text("A", 9)], "special_tokens": near}),
        ("post_processor", whole | {"single": [_text()], "pair": [_text("B", 2**31), _text("A", 5)]}),
        ("post_processor", {"type": "BertProcessing", "sep": ["[SEP]", 999], "cls": ["[CLS]", 2]}),
        ("post_processor", {"type": "BertProcessing", "sep": ["<script>", 3], "cls": ["\n", 2]}),
        (
            "post_processor",
            _nested({"type": "BertProcessing", "sep": ["x", 3], "cls": ["y", 2]}, "processors", 60),
        ),
        ("post_processor", None),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": ""}),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA"}),
        ("normalizer", {"type": "Replace", "pattern": {"Regex": "("}, "content": "x"}),
        ("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": "x"}),
        ("normalizer", {"type": "Replace", "pattern": {"Regex": ".*"}, "content": ""}),
        ("normalizer", _nested({"type": "Lowercase"}, "normalizers", 60)),
        ("normalizer", {"type": "Absurd"}),
        ("pre_tokenizer", {"type": "FixedLength", "length": 0}),
        ("pre_tokenizer", _split("^(a|a)*$")),
        ("pre_tokenizer", _split("")),
        ("pre_tokenizer", _split("[")),
        ("pre_tokenizer", _nested({"type": "Whitespace"}, "pretokenizers", 10**4)),
        ("pre_tokenizer", None),
        ("decoder", {"type": "Absurd"}),
        ("decoder", {"type": "Strip", "content": "ab", "start": 2**40, "stop": -1}),
        ("added_tokens", [{"id": 10**6, "content": "x", "special": True}]),
        ("added_tokens", [{"id": 2, "content": "", "special": True}]),
        ("added_tokens", [{"id": 2, "content": "film", "special": True, "normalized": 3}]),
        ("added_tokens", [3, None]),
    )
    name, part = case.random.choice(parts)
    values = case.read_json(TOKENIZER) | {name: part}
    for item in values["added_tokens"] or []:
        if isinstance(item, dict):
            item |= {
                key: False for key in ("single_word", "lstrip", "rstrip", "normalized") if key not in item
            }
    (case.folder / TOKENIZER).write_text(_json_text(values))


def _json_text(values: dict) -> str:
    """The values as JSON, even if they are nested too deeply for json.dumps."""
    try:
        return json.dumps(values)
    except RecursionError:
        return json.dumps(values | {"pre_tokenizer": 0}).replace(
            '"pre_tokenizer": 0', '"pre_tokenizer": ' + "[" * 10**4
        )


@kind("text")
def fixed_lengths(case: Case) -> bool:
    """Padding and truncation do not fit the encoder; the app uses neither."""
    lengths = (0, 1, 2, 5, 10**9, 2**63 - 1)
    truncation = {
        "direction": case.random.choice(("Left", "Right")),
        "max_length": case.random.choice(lengths),
        "strategy": case.random.choice(("LongestFirst", "OnlyFirst", "OnlySecond")),
        "stride": case.random.choice(lengths),
    }
    padding = {
        "strategy": {"Fixed": case.random.choice(lengths)},
        "direction": "Left",
        "pad_to_multiple_of": case.random.choice((None, 0, 10**9)),
        "pad_id": case.random.choice((0, 10**6)),
        "pad_type_id": 9,
        "pad_token": "<script>",
    }
    case.update_json(TOKENIZER, truncation=truncation, padding=padding)
    return True


@kind("text")
def hostile_words(case: Case) -> bool:
    """Tokens of the vocabulary are replaced by hostile texts, but not those of the test sentence."""
    values = case.read_json(TOKENIZER)
    words = {word: index for word, index in values["model"]["vocab"].items() if index < 13}
    words |= {f"{case.random.choice(HOSTILE)[:900]}{index}": index for index in range(13, 30)}
    values["model"]["vocab"] = words
    case.write_json(TOKENIZER, values)
    return True


@kind("text")
def added_words(case: Case) -> None:
    """The tokenizer has hostile additional tokens."""
    values = case.read_json(TOKENIZER)
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    several = [*HOSTILE, "film", "the", " ", "\u0000"]
    for index, word in enumerate(several):
        values["added_tokens"].append({"id": 5 + index, "content": word, "special": index % 2 == 0, **flags})
    case.write_json(TOKENIZER, values)


@kind("text", "words", "pairs", "pieces")
def tokenizer_settings(case: Case) -> None:
    """Values of tokenizer_config.json are odd."""
    names = (
        "cls_token",
        "sep_token",
        "mask_token",
        "pad_token",
        "unk_token",
        "strip_accents",
        "do_lower_case",
    )
    names += ("tokenize_chinese_chars", "add_prefix_space", "truncation_side")
    changed = {name: case.odd_value() for name in case.random.sample(names, 3)}
    lengths = (0, 1, 2, 3, 4, -5, 10**30, 2**63, 2**64, float("nan"), "12", True, None)
    case.update_json(SETTINGS, model_max_length=case.random.choice(lengths))
    if case.random.random() < 0.5:
        case.update_json(SETTINGS, **changed)


# Vocabularies alone


@kind("words")
def list_of_words(case: Case) -> None:
    """vocab.txt is damaged."""
    path = case.folder / "vocab.txt"
    words = path.read_text().split("\n")
    contents = (
        "\n".join(words[:5] + [f"a{sign}b" for sign in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"] + words[13:]),
        "\n".join(f"w{index}" for index in range(10**5)),
        "\n".join([*words[:20], "\x00", "\x1b[31m", "\u202e", "<script>"]),
        "\n".join(words[5:]),
        "\n".join(["film"] * 30),
        "\n" * 10**5,
        "\r\n".join(words),
        "",
        "z" * 10**6,
    )
    path.write_bytes(
        case.random.choice((*(item.encode() for item in contents), b"\xff\xfe\x00", b"\x80" * 50))
    )


@kind("pairs")
def pairs_of_bytes(case: Case) -> None:
    """vocab.json or merges.txt is damaged."""
    words = case.read_json("vocab.json")
    vocabularies: tuple[Any, ...] = (
        {"a": "0"},
        {"a": -1},
        {**words, "a": 10**30},
        {**words, "a": 2**32 - 1},
        list(words),
        dict.fromkeys(words, 0),
        {},
        None,
        {**words, "<s>": 1.5},
    )
    merges = (
        b"",
        b"a",
        b"a b c d\n",
        b"\xff\xfe",
        b"#version: 0.2\nzz yy\n",
        b"a b\n" * 10**5,
        b"\n\n\n",
        b"\0 \0",
    )
    if case.random.random() < 0.5:
        case.write_json("vocab.json", case.random.choice(vocabularies))
    else:
        (case.folder / "merges.txt").write_bytes(case.random.choice(merges))


@kind("pieces")
def damaged_pieces(case: Case) -> None:
    """The bytes of a SentencePiece file are missing, wrong, too many, or those of another kind of file."""
    path = next(case.folder.glob("*.model"))
    whole = path.read_bytes()
    flipped = bytearray(whole)
    for index in case.random.choices(range(len(whole)), k=case.random.choice((1, 5, 200))):
        flipped[index] = case.random.randrange(256)
    n = case.random.randrange(len(whole))
    contents = (
        *(b"", b"\xff" * 100, b"\n", b"\0" * 1000, whole[:n], whole[n:], whole * 2, whole * 200),
        *(bytes(flipped),) * 8,
        b"\n\xff\xff\xff\xff\x0f" + whole,  # a piece of 4 GB
        b"\n\0" * 10**6,
        b"\x0b" * 10**5,  # groups in groups
        b"\x80\x04K\x01.",
        b"\x1f\x8b\x08\0",
        b'{"version": "1.0"}',
    )
    path.write_bytes(case.random.choice(contents))
    if case.random.random() < 0.1:
        os.truncate(path, 3 * 2**30)


@kind("pieces")
def values_of_pieces(case: Case) -> None:
    """Values in a SentencePiece file are odd."""
    path = next(case.folder.glob("*.model"))
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    what = case.random.choice(
        ("names", "scores", "types", "unknown", "kind", "map", "map", "map", "few", "many")
    )
    some = case.random.sample(list(model.pieces), 20)
    charsmap = model.normalizer_spec.precompiled_charsmap
    for piece in some:
        if what == "names":
            piece.piece = case.random.choice((*HOSTILE, "", "the", "▁", "▁" * 200, "x" * 257, "\0"))
        elif what == "scores":
            piece.score = case.random.choice((0.0, 1e38, -1e38, 1e-40, float("inf"), float("nan")))
        elif what == "types":
            piece.type = case.random.choice((1, 2, 3, 4, 5, 6))
    if what == "unknown":
        model.trainer_spec.unk_id = case.random.choice((-1, 1, 5, 179, 10**6, 2**31 - 1))
    elif what == "kind":
        model.trainer_spec.model_type = case.random.choice((2, 3, 4))
    elif what == "map":
        flipped = bytearray(charsmap)
        for index in case.random.choices(range(len(charsmap)), k=case.random.choice((1, 50, 5000))):
            flipped[index] = case.random.randrange(256)
        maps = (
            b"",
            b"\0" * 8,
            b"\x04\0\0\0\xff\xff\xff\xff",
            charsmap[: len(charsmap) // 2],
            bytes(flipped),
            bytes(flipped),
        )
        grown = charsmap + b"\0" + b"a" * 5000 + b"\0"
        model.normalizer_spec.precompiled_charsmap = case.random.choice((*maps, grown))
    elif what == "few":
        del model.pieces[case.random.choice((0, 1, 3, 10)) :]
    elif what == "many":
        kind_of_piece = case.random.choice((1, 3, 4))
        for index in range(case.random.choice((300, 12_000, 600_000))):
            model.pieces.add(piece=f"q{index}", score=-9.0, type=kind_of_piece)
    path.write_bytes(model.SerializeToString())


@kind("pieces")
def tokens_beside_pieces(case: Case) -> None:
    """Tokens and token indices in the files beside a SentencePiece file are odd."""
    numbers = (0, 3, 399, 400, -1, 10**6, 10**30, 1.5, "7", None)
    names = {word[:900]: case.random.choice(numbers) for word in (*HOSTILE, "film", "[MASK]", "▁the")}
    listed = {
        str(case.random.choice(numbers)): {
            "content": case.random.choice((*HOSTILE, "film", None, 3)),
            **{
                mark: case.odd_value()
                for mark in ("lstrip", "rstrip", "normalized", "special", "single_word")
            },
        }
        for _ in range(4)
    }
    case.write_json("added_tokens.json", case.random.choice((names, names, [], case.odd_value())))
    case.update_json(
        SETTINGS,
        added_tokens_decoder=case.random.choice((listed, listed, case.odd_value())),
        extra_ids=case.random.choice((0, 5, 100, 10**4, 10**9, -1, True, None, "7")),
        tokenizer_class=case.random.choice(
            ("T5Tokenizer", "CamembertTokenizerFast", "AlbertTokenizer", 3, None)
        ),
        additional_special_tokens=case.random.choice((["<a>", {"content": "<b>"}, 3], case.odd_value())),
    )


@kind("text", "words", "pairs", "pieces")
def no_tokenizer(case: Case) -> None:
    """There is no tokenizer."""
    for path in case.folder.glob("*.model"):
        path.unlink()
    for name in (TOKENIZER, "vocab.txt", "vocab.json"):
        (case.folder / name).unlink(missing_ok=True)
    if case.random.random() < 0.5:
        (case.folder / "spiece\n<b>.model").write_bytes(b"\n")
