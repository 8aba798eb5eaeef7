import json

import pytest
from tokenizers import Tokenizer, models
from transformers import BertTokenizerFast, EsmTokenizer

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from model.huggingface.tokenizer_classes import OWN_CODE
from model.inputs import prepare
from model.inputs.text import encode
from tests.model.huggingface.folders import RESIDUES, SECOND, SENTENCE, VOCABULARY, build, rewrite

TEXTS = [SENTENCE, "The FILM, isn't bad… at all!", "", "[MASK] film", "cry" * 3, "日本 film é"]


@pytest.mark.parametrize("lower", [True, False])
def test_a_vocabulary_alone_is_read_as_bert_reads(bert, lower):
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": lower, "model_max_length": 10**30})
    )
    ours = load(bert).tokenizer
    theirs = BertTokenizerFast(
        vocab={word: index for index, word in enumerate(VOCABULARY)}, do_lower_case=lower
    )
    for text in TEXTS:
        assert list(encode(ours, text).ids) == theirs(text)["input_ids"]
    pair, both = encode(ours, SENTENCE, second=SECOND), theirs(SENTENCE, SECOND)
    assert (list(pair.ids), list(pair.types)) == (both["input_ids"], both["token_type_ids"])


def test_residues_are_read_as_esm_reads(tmp_path):
    build(tmp_path, "EsmModel", vocab_size=33, pad_token_id=1, mask_token_id=32)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(RESIDUES), encoding="utf-8")
    loaded, theirs = load(tmp_path), EsmTokenizer(str(tmp_path / "vocab.txt"))
    texts = ("MKTAYIAK", "MK <mask> LL", "MK<mask>T", "mktB.-", "M K\tT", "", "M1K xx y", "MéK")
    for text in (*texts, "<null_1>A<unk>K"):
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
def test_a_list_of_residues_that_cannot_be_used_is_refused(residues, sentence, tmp_path):
    build(tmp_path, "EsmModel")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(residues), encoding="utf-8")
    assert sentence in str(describe(tmp_path).problem)


def test_a_vocabulary_of_clip_without_its_end_token_is_refused(tmp_path):
    build(tmp_path, "CLIPTextModel")
    (tmp_path / "tokenizer.json").unlink()
    models.BPE({"a</w>": 0, "<|startoftext|>": 1}, []).save(str(tmp_path))
    assert "vocab.json has no <|endoftext|> or no <|startoftext|>" in str(describe(tmp_path).problem)


def test_padding_and_truncation_that_a_file_fixes_do_not_hold(bert):
    path = str(bert / "tokenizer.json")
    fixed = Tokenizer.from_file(path)
    fixed.enable_padding(length=30)
    fixed.enable_truncation(4)
    fixed.save(path)
    loaded = load(bert)
    assert len(prepare(loaded, SENTENCE)[1]) == 10
    assert len(prepare(loaded, SENTENCE * 30)[1]) == loaded.config.n_positions


@pytest.mark.parametrize("key", ["model_max_length", "max_len"])  # today's name and the former one
def test_the_tokenizer_may_be_shorter_than_the_encoder(bert, key):
    (bert / "tokenizer_config.json").write_text(json.dumps({key: 12, "truncation_side": "left"}))
    read = encode(load(bert).tokenizer, "the " * 20)
    assert (len(read.ids), read.n_left_out, read.from_start) == (12, 10, True)


def test_of_two_parts_what_is_left_out_is_counted_once(bert):
    read = encode(load(bert).tokenizer, "the " * 30, second="film " * 25)
    assert (len(read.ids), read.n_read, read.n_left_out) == (40, 37, 18)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("files", "message"),
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
def test_what_is_wrong_with_a_tokenizer_is_said(bert, files, message):
    (bert / "tokenizer.json").unlink()
    for name, content in files.items():
        (bert / name).write_bytes(content)
    assert message in describe(bert).problem


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*OWN_CODE, "BertJapaneseTokenizerFast"])
@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
def test_a_class_with_code_of_its_own_is_refused_by_its_name(bert, name, file):
    path = bert / file
    values = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(values | {"tokenizer_class": name}))
    problem = str(describe(bert).problem)
    assert (
        f"{name.removesuffix('Fast')} {OWN_CODE[name.removesuffix('Fast')]}, which is not followed here"
        in problem
    )
    assert len(problem) < 300


def test_japanese_words_divided_by_mecab_are_not_read_as_bert_reads(bert):
    """Their vocab.txt looks like BERT's, and old folders name no class."""
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("\n".join([*VOCABULARY[:5], "テレビ", "##で"]), encoding="utf-8")
    (bert / "tokenizer_config.json").write_text(json.dumps({"word_tokenizer_type": "mecab"}))
    assert "BertJapaneseTokenizer divides texts into words with MeCab" in str(describe(bert).problem)


@pytest.mark.parametrize(
    ("name", "files", "sentence"),
    [
        ("FunnelTokenizer", {"vocab.txt": "[CLS]"}, "vocab.txt is read as BertTokenizer, MPNetTokenizer read it, and not as FunnelTokenizer"),
        ("OpenAIGPTTokenizer", {"vocab.json": '{"a</w>": 0}', "merges.txt": ""}, "and not as OpenAIGPTTokenizer: save tokenizer.json as well"),
        ("RobertaTokenizer", {"vocab.txt": "[CLS]"}, "and not as RobertaTokenizer: save tokenizer.json as well"),
        ("MyTokenizer", {}, "it is made by code of its own (auto_map), which is not run: save tokenizer.json as well"),
        (None, {"vocab.txt": "là 90", "bpe.codes": "l à</w> 5"}, "its byte pairs are in bpe.codes, as those of PhoBERT and BERTweet"),
    ],
)  # fmt: skip
def test_a_vocabulary_of_another_class_is_refused(bert, name, files, sentence):
    (bert / "tokenizer.json").unlink()
    for file, content in files.items():
        (bert / file).write_text(content, encoding="utf-8")
    options = {
        "tokenizer_class": name,
        **({"auto_map": {"AutoTokenizer": ["my.MyTokenizer", None]}} if name == "MyTokenizer" else {}),
    }
    (bert / "tokenizer_config.json").write_text(json.dumps(options))
    assert sentence in str(describe(bert).problem)


def test_a_family_whose_tokenizer_needs_no_file_is_not_refused_for_the_lack_of_one(bert):
    (bert / "tokenizer.json").unlink()
    rewrite(bert, model_type="canine")
    problem = str(describe(bert).problem)
    assert "the model_type in config.json is 'canine'" in problem
    assert "neither a tokenizer" not in problem


def test_bytes_need_no_file(tmp_path):
    build(tmp_path, "T5EncoderModel", vocab_size=384)
    (tmp_path / "tokenizer.json").unlink()
    rewrite(tmp_path, tokenizer_class="ByT5Tokenizer")
    loaded = load(tmp_path)
    assert encode(loaded.tokenizer, "aé").ids == (ord("a") + 3, 0xC3 + 3, 0xA9 + 3, 1)
    assert loaded.notes == ()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "tokens", "note"),
    [
        ("PreTrainedTokenizerFast", ("a", "[UNK]"), None),
        (None, ("a", "[UNK]"), "No file names the class of the tokenizer, and transformers would take BertTokenizer"),
        ("BertTokenizer", ("at",), "prepared as BertTokenizer does it in transformers 5, which differs from what tokenizer.json says"),
        ("RobertaTokenizer", ("a", "[UNK]"), "as tokenizer.json says, which holds no vocabulary of RobertaTokenizer"),
        ("MyTokenizer", ("a", "[UNK]"), "as tokenizer.json says; other rules of MyTokenizer are not followed"),
    ],
)  # fmt: skip
def test_where_file_and_class_differ_a_note_says_which_is_followed(bert, name, tokens, note):
    values = json.loads((bert / "tokenizer.json").read_text())
    splits = {"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated", "invert": False}
    (bert / "tokenizer.json").write_text(json.dumps(values | {"pre_tokenizer": splits}))
    if name is not None:
        (bert / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    loaded = load(bert)
    assert encode(loaded.tokenizer, "at").tokens == ("[CLS]", *tokens, "[SEP]")
    assert loaded.notes == describe(bert).notes
    assert [note in sentence for sentence in loaded.notes if note] == [True] * (note is not None)
    assert len(loaded.notes) == (note is not None)


def test_a_special_token_without_a_row_of_the_embedding_is_left_out(bert):
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"mask_token": "<mask>", "image_token": "<image>"})
    )
    assert "<mask>" not in load(bert).tokenizer.get_vocab()
    (bert / "added_tokens.json").write_text('{"<mask>": 30}')
    assert "its token ids go up to 30, but the encoder's vocabulary has 30" in str(describe(bert).problem)


SIGLIP = [
    ("GemmaTokenizer", {}, "film at all", "Texts are read in lower case, as SigLIP 2 was trained."),
    ("Siglip2Tokenizer", {}, "film at all", "Texts are read in lower case, as SigLIP 2 was trained."),
    ("SiglipTokenizer", {}, "film, at all!", "Texts are read in lower case and without punctuation, as SigLIP was trained."),
    ("SiglipTokenizer", {"do_lower_case": False}, "film, at all!", "Texts are read without punctuation, as SigLIP was trained."),
]  # fmt: skip


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("name", "options", "text", "note"), SIGLIP)
def test_texts_of_siglip_are_prepared_as_in_its_training(name, options, text, note, tmp_path):
    build(tmp_path, "SiglipTextModel")
    path = tmp_path / "tokenizer.json"
    values = json.loads(path.read_text()) | {"normalizer": None}
    path.write_text(json.dumps(values))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": name, "pad_token": "[PAD]", "padding_side": "right"} | options)
    )
    loaded = load(tmp_path)
    changed = text if options else text.title()
    assert encode(loaded.tokenizer, changed).ids == encode(loaded.tokenizer, "film at all").ids
    assert note in loaded.notes


def test_texts_of_siglip_2_are_padded_at_their_beginning_where_no_side_is_named(tmp_path):
    build(tmp_path, "SiglipTextModel")
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "GemmaTokenizer", "pad_token": "[PAD]"}'
    )
    assert encode(load(tmp_path).tokenizer, "film").tokens[-4:] == ("[PAD]", "[CLS]", "film", "[SEP]")


def test_a_note_holds_no_long_or_hidden_name(bert):
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "My\u202e\n" + "x" * 5000, "auto_map": 3})
    )
    (note,) = describe(bert).notes
    assert len(note) < 200
    assert note.isprintable()
