import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from model.checkpoint import load
from model.huggingface import describe
from model.huggingface.tokenizer_building import read_sentencepiece
from model.inputs import prepare
from tests.model.huggingface.folders import build
from tests.model.huggingface.vocabularies import sentencepiece_file

# The architecture, the file and the model_type
FAMILIES = {
    "DebertaV2": ("DebertaV2Model", "spm.model", "deberta-v2"),
    "XLMRoberta": ("XLMRobertaModel", "sentencepiece.bpe.model", "xlm-roberta"),
    "Camembert": ("CamembertModel", "sentencepiece.bpe.model", "camembert"),
    "Albert": ("AlbertModel", "spiece.model", "albert"),
    "T5": ("T5EncoderModel", "spiece.model", "t5"),
}


def folder_of(family: str, folder: Path, **options: Any) -> Path:
    """An encoder of that family in `folder`, with a vocabulary of SentencePiece alone; `options` are the tokenizer's."""
    architecture, file, model_type = FAMILIES[family]
    build(folder, architecture, vocab_size=400, pad_token_id=1 if file.endswith("bpe.model") else 0)
    (folder / "tokenizer.json").unlink()
    (folder / file).write_bytes(sentencepiece_file(model_type))
    if options:
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
    return folder


def test_the_content_of_a_file_is_that_which_sentencepiece_reads(tmp_path):
    path = tmp_path / "spiece.model"
    path.write_bytes(sentencepiece_file("albert"))
    content, theirs = read_sentencepiece(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    n = theirs.get_piece_size()
    assert content.pieces == [(theirs.id_to_piece(index), theirs.get_score(index)) for index in range(n)]
    assert content.unknown_id == theirs.unk_id()
    assert [(token.content, token.special) for token in content.added] == [
        *((name, True) for name in ("<pad>", "[CLS]", "[SEP]", "[MASK]")),
        *((name, False) for name in "()"),
    ]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_vocabulary_lacks_is_counted(family, tmp_path):
    encoded = prepare(load(folder_of(family, tmp_path / "it")), "the ꙮ film \U0001f9ff")[1]
    assert encoded.roles.count("unknown") == 2


def test_a_tokenizer_class_in_the_folder_decides(tmp_path):
    folder = folder_of("T5", tmp_path / "it", tokenizer_class="XLMRobertaTokenizerFast")
    assert prepare(load(folder), "the film")[1].tokens[0] == "<s>"


def changed_model(**changed: Any) -> bytes:
    """A small file of SentencePiece with other values, and `n_more` pieces that are looked for before a text is split."""
    model = sentencepiece_model_pb2.ModelProto()
    for piece, kind in (("<unk>", 2), ("[CLS]", 3), ("[SEP]", 3), ("▁the", 1), ("▁film", 1), ("e", 1)):
        model.pieces.add(piece=piece, score=-1.0, type=kind)
    model.trainer_spec.unk_id = changed.get("unk_id", 0)
    model.trainer_spec.model_type = changed.get("model_type", 1)
    model.normalizer_spec.precompiled_charsmap = changed.get("charsmap", b"")
    model.pieces[5].score = changed.get("score", -1.0)
    model.pieces[5].piece = changed.get("piece", "e")
    for index in range(changed.get("n_more", 0)):
        model.pieces.add(piece=f"p{index}", score=-2.0, type=4)
    return model.SerializeToString()


@pytest.mark.rest_is_slow
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
        (changed_model(n_more=10_001), "it adds 10,003 tokens of"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(content, sentence, tmp_path):
    build(tmp_path, "DebertaV2Model", vocab_size=400)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "spm.model").write_bytes(content)
    problem = str(describe(tmp_path).problem)
    assert sentence in problem
    assert problem.startswith("the tokenizer cannot be used: ")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (changed_model(charsmap=b"abc"), "its precompiled_charsmap is damaged"),
        (changed_model(charsmap=b"\x08\0\0\0" + b"\xff" * 8 + b"a\0"), ""),
        (changed_model(charsmap=b"\x04\0\0\0" + b"\xff" * 4 + b"a" * 5000), "its normalizer can make a text"),
    ],
)
def test_what_is_wrong_with_a_map_of_characters_is_said(content, sentence, tmp_path):
    folder = folder_of("XLMRoberta", tmp_path / "it")
    (folder / "sentencepiece.bpe.model").write_bytes(content)
    assert f"the tokenizer cannot be used: {sentence}" in str(describe(folder).problem)


def test_an_encoder_of_another_family_needs_its_tokenizer(tmp_path):
    build(tmp_path, "BertModel")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "spiece.model").write_bytes(changed_model())
    assert "spiece.model alone is not enough for this encoder: save tokenizer.json as well" in str(
        describe(tmp_path).problem
    )


def test_a_number_of_sentinels_that_makes_no_sense_is_refused(tmp_path):
    folder = folder_of("T5", tmp_path / "it", extra_ids=10**9)
    assert "its extra_ids must be a whole number from 0 to 10,000" in str(describe(folder).problem)
