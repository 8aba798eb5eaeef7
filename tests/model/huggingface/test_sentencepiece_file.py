import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerFast, convert_slow_tokenizer

from model.checkpoint import load
from model.huggingface import describe
from model.inputs import prepare
from tests.model.huggingface.folders import build

CORPUS = [
    "the film is not bad at all, it made me cry 1,000 times",
    "a long slow story (that is unbelievable) in 3 parts",
    "der Film ist nicht schlecht, eine lange Geschichte über das Meer",
    "le film n'est pas mauvais : une très longue histoire à l'école",
    "фильм совсем не плохой, длинная медленная история",
    "映画は全く悪くない 長い物語",
    "الفيلم ليس سيئا على الإطلاق",
] * 4
TEXTS = [
    "the film is not bad at all",
    "The FILM, isn't bad… at all!",
    "",
    " ",
    "  two   spaces,\tand a tab\nand a line  ",
    "très déjà-vu, naïve über Straße, e\u0301cole",
    "ｆｕｌｌ　ｗｉｄｔｈ １２３，４５ ﬁlm ㎏ ①",
    "film 🙂👍🏽 👩\u200d👩\u200d👧 x",
    "الفيلم \u202eليس\u202c سيئا שלום",
    "映画は全く悪くない。長い物語",
    "a\u00a0b\u200bc\u2028d\u0000e\u0007f\u0085g\ufeffh\u00adi",
    "1,000 and 12, 3,",
    "``quoted'' (in brackets) and ▁marks▁ ▁",
    "unknown ꙮ ꙮꙮ \U0001f9ff here",
    "e" * 60,
]
# The architecture, the file and the trainer's options
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "DebertaV2": (
        "DebertaV2Model",
        "spm.model",
        {
            "pad_id": 0,
            "bos_id": 1,
            "eos_id": 2,
            "unk_id": 3,
            "pad_piece": "[PAD]",
            "bos_piece": "[CLS]",
            "eos_piece": "[SEP]",
            "unk_piece": "[UNK]",
        },
    ),
    "XLMRoberta": ("XLMRobertaModel", "sentencepiece.bpe.model", {}),
    "Camembert": ("CamembertModel", "sentencepiece.bpe.model", {}),
    "Albert": (
        "AlbertModel",
        "spiece.model",
        {
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": -1,
            "eos_id": -1,
            "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
            "user_defined_symbols": ["(", ")"],
        },
    ),
    "T5": ("T5EncoderModel", "spiece.model", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}),
}
FAIRSEQ = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
NAMES = {
    "XLMRoberta": FAIRSEQ,
    "Camembert": FAIRSEQ,
    "DebertaV2": {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]"},
    "Albert": {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "<unk>", "pad_token": "<pad>"},
    "T5": {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
}
MASKS = {"XLMRoberta": "<mask>", "Camembert": "<mask>", "DebertaV2": "[MASK]", "Albert": "[MASK]"}


def trained(**options: Any) -> bytes:
    """The file of a small vocabulary, trained by SentencePiece."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=written,
        character_coverage=1.0,
        minloglevel=2,
        **({"vocab_size": 180, "hard_vocab_limit": False, "model_type": "unigram"} | options),
    )
    return written.getvalue()


def folder_of(family: str, folder: Path, **options: Any) -> Path:
    """An encoder of that family in `folder`, with a vocabulary of SentencePiece alone; `options` are the tokenizer's."""
    architecture, file, how = FAMILIES[family]
    build(folder, architecture, vocab_size=400, pad_token_id=1 if file.endswith("bpe.model") else 0)
    (folder / "tokenizer.json").unlink()
    (folder / file).write_bytes(trained(**how))
    if options:
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
    return folder


def theirs(family: str, folder: Path, **options: Any) -> Tokenizer:
    """The tokenizer that the converter of `transformers` makes of the file, with the special tokens of the family."""
    names = NAMES[family]
    slow = sentencepiece.SentencePieceProcessor(model_file=str(folder / FAMILIES[family][1]))
    offset = {"XLMRoberta": 1, "Camembert": 4}.get(family, 0)
    fairseq = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3} if family == "XLMRoberta" else {}
    original = SimpleNamespace(
        vocab_file=str(folder / FAMILIES[family][1]),
        convert_tokens_to_ids=lambda name: fairseq.get(name, slow.piece_to_id(name) + offset),
        **{"do_lower_case": family == "Albert", "keep_accents": False, "split_by_punct": False} | options,
        _extra_ids=100,
    )
    converted = getattr(convert_slow_tokenizer, f"{family}Converter")(original).converted()
    mask = AddedToken(
        MASKS.get(family, "<extra_id_0>"), lstrip=family in ("XLMRoberta", "Camembert", "Albert")
    )
    more = {"mask_token": mask} if family in MASKS else {}
    others = {
        "T5": [f"<extra_id_{index}>" for index in range(100)],
        "Camembert": ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"],
    }
    more["additional_special_tokens"] = others.get(family, [])
    made = PreTrainedTokenizerFast(tokenizer_object=converted, **names, **more).backend_tokenizer
    if family == "Albert":  # the file marks [MASK] already, so that the space before it was not added to it
        values = json.loads(made.to_str())
        for token in values["added_tokens"]:
            token["lstrip"] = token["content"] == "[MASK]"
        made = Tokenizer.from_str(json.dumps(values))
    return made


def opened(folder: Path) -> Tokenizer:
    loaded = load(folder)
    assert loaded.tokenizer is not None
    loaded.tokenizer.no_truncation()
    return loaded.tokenizer


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_read_as_transformers_reads(family: str, tmp_path: Path) -> None:
    folder = folder_of(family, tmp_path / "it")
    ours, expected = opened(folder), theirs(family, folder)
    assert ours.get_vocab() == expected.get_vocab()
    names = [*NAMES[family].values(), MASKS.get(family, "<extra_id_7>"), "("]
    for text in [*TEXTS, *(f"not {name} bad{name}film" for name in names)]:
        encoding, reference = ours.encode(text), expected.encode(text)
        assert (encoding.ids, encoding.tokens) == (reference.ids, reference.tokens), text
        is_own_spelling = "▁" in text or any(name in text for name in names)
        if (
            family != "Albert" and not is_own_spelling
        ):  # ALBERT's texts are changed before SentencePiece reads them
            assert ours.encode(text, add_special_tokens=False).tokens == slow_pieces(family, folder, text)
    pair, reference = ours.encode("the film", "is bad"), expected.encode("the film", "is bad")
    assert (pair.ids, pair.type_ids) == (reference.ids, reference.type_ids)
    assert pair.special_tokens_mask == reference.special_tokens_mask
    assert special_names(ours) == special_names(expected)


def slow_pieces(family: str, folder: Path, text: str) -> list[str]:
    """How SentencePiece itself splits the text."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / FAMILIES[family][1]))
    return processor.encode(text, out_type=str)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_vocabulary_lacks_is_counted(family: str, tmp_path: Path) -> None:
    encoded = prepare(load(folder_of(family, tmp_path / "it")), "the ꙮ film \U0001f9ff")[1]
    assert encoded.roles.count("unknown") == 2


def special_names(tokenizer: Tokenizer) -> set[str]:
    return {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("DebertaV2", {"do_lower_case": True, "split_by_punct": True}),
        ("Albert", {"do_lower_case": False, "keep_accents": True}),
        ("XLMRoberta", {"add_prefix_space": False}),
        ("T5", {"legacy": False}),
    ],
)
def test_options_are_those_of_the_class(family: str, options: dict, tmp_path: Path) -> None:
    folder = folder_of(family, tmp_path / "it", **options)
    ours, expected = opened(folder), theirs(family, folder, **options)
    for text in [*TEXTS, "the</s>film", "a [MASK] b"]:
        assert ours.encode(text).ids == expected.encode(text).ids, text


def test_the_mask_and_added_tokens_follow_the_vocabulary(tmp_path: Path) -> None:
    folder = folder_of("DebertaV2", tmp_path / "it", extra_special_tokens={})
    (folder / "added_tokens.json").write_text(json.dumps({"[MASK]": 180, "loupe": 181}))
    tokenizer = opened(folder)
    n = tokenizer.get_vocab_size(with_added_tokens=False)
    assert (tokenizer.token_to_id("[MASK]"), tokenizer.token_to_id("loupe")) == (n, n + 1)
    assert [name for name in tokenizer.encode("the loupe [MASK]").tokens if name in ("loupe", "[MASK]")] == [
        "loupe",
        "[MASK]",
    ]
    listed = {"content": "<new>", "lstrip": True, "normalized": False, "special": True}
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"182": listed}}))
    tokenizer = opened(folder)
    assert tokenizer.token_to_id("<new>") == n + 2
    assert "▁" not in tokenizer.encode("film <new>", add_special_tokens=False).tokens[-2:]
    assert prepare(load(folder), "the [MASK]")[1].roles.count("mask") == 1


def test_a_tokenizer_class_in_the_folder_decides(tmp_path: Path) -> None:
    folder = folder_of("T5", tmp_path / "it", tokenizer_class="XLMRobertaTokenizerFast")
    assert opened(folder).encode("the film").tokens[0] == "<s>"


def changed_model(**changed: Any) -> bytes:
    """A small file of SentencePiece with other values."""
    model = sentencepiece_model_pb2.ModelProto()
    for piece, kind in (("<unk>", 2), ("<s>", 3), ("</s>", 3), ("▁the", 1), ("▁film", 1), ("e", 1)):
        model.pieces.add(piece=piece, score=-1.0, type=kind)
    model.trainer_spec.unk_id = changed.get("unk_id", 0)
    model.trainer_spec.model_type = changed.get("model_type", 1)
    model.normalizer_spec.precompiled_charsmap = changed.get("charsmap", b"")
    model.pieces[5].score = changed.get("score", -1.0)
    model.pieces[5].piece = changed.get("piece", "e")
    for index in range(changed.get("n_more", 0)):
        model.pieces.add(piece=f"p{index}", score=-2.0, type=changed.get("kind", 1))
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "spm.model has 0 pieces; from 1 to 524,288 are read"),
        (b"\xff" * 50, "spm.model is damaged, or not a file of SentencePiece"),
        (changed_model()[:-3], "spm.model is damaged, or not a file of SentencePiece"),
        (b"\n\x00" * 2**19 + b"\n\x00", "spm.model has 524,289 pieces; from 1 to 524,288 are read"),
        (b"\0" * (2**23 + 1), "it is larger than 8 MB"),
        (changed_model(model_type=2), "spm.model holds byte pairs (BPE), and only Unigram is read from it"),
        (changed_model(unk_id=99), "spm.model has no piece 99, which should be the unknown token"),
        (changed_model(unk_id=-1), "spm.model has no piece -1, which should be the unknown token"),
        (changed_model(score=float("nan")), "spm.model has a score that is not finite"),
        (
            changed_model().replace(b"\xe2\x96\x81the", b"\xe2\x96\xffthe"),
            "spm.model has a piece that is not text in UTF-8",
        ),
        (changed_model(piece="x" * 300), "its pieces have more than 4,194,304 bytes together"),
        (changed_model(charsmap=b"abc"), "its precompiled_charsmap is damaged"),
        (changed_model(charsmap=b"\x08\0\0\0" + b"\xff" * 8 + b"a\0"), ""),
        (changed_model(charsmap=b"\x04\0\0\0" + b"\xff" * 4 + b"a" * 5000), "its normalizer can make a text"),
        (
            changed_model(n_more=10_001, kind=4),
            "it adds 10,008 tokens to its vocabulary, and at most 10,000 are read",
        ),
        (changed_model(n_more=400), "its token ids go up to 410, but the encoder's vocabulary has 400"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(content: bytes, sentence: str, tmp_path: Path) -> None:
    build(tmp_path, "DebertaV2Model", vocab_size=400)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "spm.model").write_bytes(content)
    problem = str(describe(tmp_path).problem)
    assert sentence in problem
    assert problem.startswith("the tokenizer cannot be used: ")


def test_an_encoder_of_another_family_needs_its_tokenizer(tmp_path: Path) -> None:
    build(tmp_path, "BertModel")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "spiece.model").write_bytes(changed_model())
    assert "spiece.model alone is not enough for this encoder: save tokenizer.json as well" in str(
        describe(tmp_path).problem
    )


def test_a_number_of_sentinels_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    folder = folder_of("T5", tmp_path / "it", extra_ids=10**9)
    assert "its extra_ids must be a whole number from 0 to 10,000" in str(describe(folder).problem)
