import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import BertTokenizerFast, EsmTokenizer

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from model.inputs import prepare
from model.inputs.text import encode
from tests.model.huggingface.folders import SECOND, SENTENCE, VOCABULARY, build

TEXTS = [SENTENCE, "The FILM, isn't bad… at all!", "", "[MASK] film", "cry" * 3, "日本 film é"]


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    build(tmp_path / "it", "BertModel")
    return tmp_path / "it"


@pytest.mark.parametrize("lower", [True, False])
def test_a_vocabulary_alone_is_read_as_bert_reads(bert: Path, lower: bool) -> None:
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": lower, "model_max_length": 10**30})
    )
    ours = load(bert).tokenizer
    theirs = BertTokenizerFast(vocab={word: at for at, word in enumerate(VOCABULARY)}, do_lower_case=lower)
    for text in TEXTS:
        assert list(encode(ours, text).ids) == theirs(text)["input_ids"]
    pair, both = encode(ours, SENTENCE, second=SECOND), theirs(SENTENCE, SECOND)
    assert (list(pair.ids), list(pair.types)) == (both["input_ids"], both["token_type_ids"])


def test_residues_are_read_as_esm_reads(tmp_path: Path) -> None:
    residues = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
    build(tmp_path, "EsmModel", vocab_size=33, pad_token_id=1, mask_token_id=32)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(residues), encoding="utf-8")
    loaded, theirs = load(tmp_path), EsmTokenizer(str(tmp_path / "vocab.txt"))
    texts = [
        "MKTAYIAK",
        "MK <mask> LL",
        "MK<mask>T",
        "mktB.-",
        "M K\tT",
        "",
        "M1K xx y",
        "<null_1>A<unk>K",
        "MéK",
    ]
    for text in texts:
        assert list(encode(loaded.tokenizer, text).ids) == theirs(text)["input_ids"]
    assert list(encode(loaded.tokenizer, "MKT", second="LL").ids) == theirs("MKT", "LL")["input_ids"]
    assert capture(loaded, "MK<mask>T").tokens == ("<cls>", "M", "K", "<mask>", "T", "<eos>")


@pytest.mark.parametrize(
    ("residues", "sentence"),
    [
        (["<cls>", "<eos>", "M"], "vocab.txt has no <unk>"),
        (["<cls>", "<eos>", "<unk>"] * 400, "1,200 residues; at most"),
    ],
)
def test_a_list_of_residues_that_cannot_be_used_is_refused(
    residues: list[str], sentence: str, tmp_path: Path
) -> None:
    build(tmp_path, "EsmModel")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(residues), encoding="utf-8")
    assert sentence in str(describe(tmp_path).problem)


def test_a_vocabulary_of_clip_without_its_end_token_is_refused(tmp_path: Path) -> None:
    build(tmp_path, "CLIPTextModel")
    (tmp_path / "tokenizer.json").unlink()
    models.BPE({"a</w>": 0, "<|startoftext|>": 1}, []).save(str(tmp_path))
    assert "vocab.json has no <|endoftext|> or no <|startoftext|>" in str(describe(tmp_path).problem)


def test_padding_and_truncation_that_a_file_fixes_do_not_hold(bert: Path) -> None:
    path = str(bert / "tokenizer.json")
    fixed = Tokenizer.from_file(path)
    fixed.enable_padding(length=30)
    fixed.enable_truncation(4)
    fixed.save(path)
    loaded = load(bert)
    assert len(prepare(loaded, SENTENCE)[1]) == 10
    assert len(prepare(loaded, SENTENCE * 30)[1]) == loaded.config.n_positions


def test_the_tokenizer_may_be_shorter_than_the_encoder(bert: Path) -> None:
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 12, "truncation_side": "left"})
    )
    read = encode(load(bert).tokenizer, "the " * 20)
    assert (len(read.ids), read.n_left_out, read.from_start) == (12, 10, True)


def test_of_two_parts_what_is_left_out_is_counted_once(bert: Path) -> None:
    read = encode(load(bert).tokenizer, "the " * 30, second="film " * 25)
    assert (len(read.ids), read.n_read, read.n_left_out) == (40, 37, 18)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {},
            "there is no tokenizer.json, no vocab.txt, no vocab.json with merges.txt, and none of spm.model",
        ),
        ({"tekken.model": b"\n"}, "tekken.model is not read: save tokenizer.json as well"),
        ({"tokenizer.json": b"{"}, "the tokenizer cannot be used: "),
        ({"tokenizer.json": b"\xff" * 10}, "the tokenizer cannot be used: "),
        ({"vocab.txt": b"the\nfilm\n"}, "vocab.txt has no [CLS] or no [SEP], which stand around a text"),
        ({"vocab.json": b"{}", "merges.txt": b"x"}, "the tokenizer cannot be used: "),
        (
            {"vocab.txt": "\n".join([*VOCABULARY, "one", "more"]).encode()},
            "its token ids go up to 31, but the encoder's vocabulary has 30",
        ),
        ({"tokenizer_config.json": b"[]"}, "tokenizer_config.json must hold a JSON object"),
    ],
)
def test_what_is_wrong_with_a_tokenizer_is_said(bert: Path, files: dict, said: str) -> None:
    (bert / "tokenizer.json").unlink()
    for name, content in files.items():
        (bert / name).write_bytes(content)
    assert said in describe(bert).problem
