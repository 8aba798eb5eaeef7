"""Files of links: CoNLL-U, and CSV of texts, sequences and pictures."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from model.atlas.linked_inputs import Link, LinkedPicture, linked_examples, read_conllu, with_spaces_if_needed
from model.inputs.digits import EXAMPLES
from tests.model import tiny

SENTENCE = """\
# text = I don't see films.
1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux:do\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_
4.1\tseen\tsee\tVERB\t_\t_\t_\t_\t4:conj\t_
5\tfilms\tfilm\tNOUN\t_\t_\t4\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

"""


def written(tmp_path: Path, text: str, name: str = "it.conllu") -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_words_and_links_of_a_sentence(tmp_path):
    (sentence,) = read_conllu(written(tmp_path, SENTENCE))
    assert sentence.text == "I don't see films."
    assert [sentence.text[start:end] for start, end in sentence.words] == [
        "I",
        "do",
        "n't",
        "see",
        "films",
        ".",
    ]
    assert sentence.links == (Link(0, 3, "nsubj"), Link(1, 3, "aux"), Link(2, 3, "advmod"), Link(4, 3, "obj"))


def test_words_of_a_token_that_cannot_be_divided_have_its_whole_span(tmp_path):
    rows = ["1-2\tdu", "1\tde", "2\tle", "3\tfilm"]
    heads = ["_\t_", "3\tcase", "3\tdet", "0\troot"]
    lines = (f"{row}\t_\t_\t_\t_\t{head}\t_\t_" for row, head in zip(rows, heads, strict=True))
    (sentence,) = read_conllu(written(tmp_path, "\n".join(lines)))
    assert sentence.text == "du film"
    assert sentence.words == ((0, 2), (0, 2), (3, 7))


def test_the_text_of_the_words_is_that_of_the_treebank():
    path = EXAMPLES / "relations" / "pud_250.conllu"
    texts = [line[9:] for line in path.read_text("utf-8").splitlines() if line.startswith("# text = ")]
    assert [sentence.text for sentence in read_conllu(path)] == texts
    assert len(texts) == 250


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4\tobj", "9\tobj", "in line 8: the head '9' is none of the sentence's 6 other words or 0"),
        ("4\tobj", "5\tobj", "in line 8: the head '5'"),
        ("4\tobj", "-1\tobj", "in line 8: the head '-1'"),
        ("5\tfilms", "7\tfilms", "in line 8: the number '7' does not follow on the word 4"),
        ("\tVERB\t_\t_\t0", "\tVERB\t0", "in line 6: it has 8 columns, not 10"),
        ("2-3", "2-9", "in line 3: the words '2-9' do not follow on the word 1"),
        ("\tfilms\t", "\t \t", "in line 8: its word is empty"),
        ("nsubj", ":x", "in line 2: a relation's name must have 1 to 100 characters"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=r"^it.conllu is no CoNLL-U, seen ") as refusal:
        list(read_conllu(written(tmp_path, SENTENCE.replace(old, new))))
    assert message in str(refusal.value)


def test_rows_of_one_text_are_one_example(tmp_path, text_loaded):
    rows = "text,from,to,relation\nnot a film,2,3,det\nnot a film,1,3,advmod:neg\nABC,1,3,contact\n"
    words, letters = (linked for _, linked in linked_examples(text_loaded, written(tmp_path, rows, "it.csv")))
    assert (words.words, words.links) == (
        ((0, 3), (4, 5), (6, 10)),
        (Link(1, 2, "det"), Link(0, 2, "advmod")),
    )
    assert (letters.words, letters.links) == (((0, 1), (1, 2), (2, 3)), (Link(0, 2, "contact"),))


def test_residues_are_read_one_by_one(tmp_path):
    rows = "text,from,to,relation\nMKV,1,3,contact\n"
    protein = tiny.loaded(replace(tiny.TEXT, vocab_size=25))
    ((_, linked),) = linked_examples(protein, written(tmp_path, rows, "it.csv"))
    object.__setattr__(protein, "tokenizer", tiny.amino_acids(12))
    spaced = with_spaces_if_needed(protein, linked)
    assert (spaced.text, spaced.words, spaced.links) == ("M K V", ((0, 1), (2, 3), (4, 5)), linked.links)
    assert with_spaces_if_needed(tiny.loaded(tiny.TEXT), linked) == linked


def test_patches_of_a_picture(tmp_path, digit_loaded, image):
    Image.fromarray(image).save(tmp_path / "it.png")
    rows = "picture,from,to,relation\nit.png,1,4,contact\n"
    examples = linked_examples(digit_loaded, written(tmp_path, rows, "it.csv"))
    ((_, linked),) = examples
    assert isinstance(linked, LinkedPicture)
    assert linked.links == (Link(0, 3, "contact"),)
    np.testing.assert_array_equal(linked.array, image)
    before = examples.sha256
    Image.fromarray(255 - image).save(tmp_path / "it.png")
    assert linked_examples(digit_loaded, tmp_path / "it.csv").sha256 != before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("not a film,2,4,det", "it.csv, line 2: to is '4', no number of the 3 words of its text"),
        ("not a film,0,1,det", "from is '0', no number of the 3 words"),
        ("film,1,9,det", "to is '9', no number of the 4 characters"),
        ("not a film,two,1,det", "from is 'two'"),
        ("not a film,2,2,det", "the two ends of the link are one position"),
        ("not a film,1,2,", "a relation's name must have 1 to 100 characters"),
        ("not a film,1,2", "line 2 has more or fewer cells"),
    ],
)
def test_a_damaged_row_is_refused(tmp_path, text_loaded, row, message):
    path = written(tmp_path, f"text,from,to,relation\n{row}\n", "it.csv")
    with pytest.raises(ValueError, match=r"it\.csv") as refusal:
        linked_examples(text_loaded, path)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("it.txt", "", "its name must end in .conllu or .csv"),
        ("it.conllu", "", "holds no link"),
        ("it.conllu", "1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n", "holds no link"),
        ("it.csv", "text,from,to\nfilm,1,2\n", "lacks the column relation"),
        ("it.csv", "picture,from,to,relation\n", "lacks the column text"),
    ],
)
def test_what_is_no_file_of_links_is_refused(tmp_path, text_loaded, name, text, message):
    with pytest.raises(ValueError, match=message):
        linked_examples(text_loaded, written(tmp_path, text, name))


def test_sentences_are_not_for_an_encoder_of_pictures(tmp_path, digit_loaded):
    with pytest.raises(ValueError, match=r"tiny reads pictures, which it\.conllu does not hold"):
        linked_examples(digit_loaded, written(tmp_path, SENTENCE))


def test_other_bytes_than_utf_8_are_refused(tmp_path):
    (tmp_path / "it.conllu").write_bytes(b"1\tgr\xf6\xdfer\n")
    with pytest.raises(ValueError, match="it is not written in UTF-8"):
        list(read_conllu(tmp_path / "it.conllu"))


def test_utf_16_is_read(tmp_path):
    path = written(tmp_path, SENTENCE)
    expected = list(read_conllu(path))
    path.write_text(SENTENCE, encoding="utf-16")
    assert list(read_conllu(path)) == expected


def test_links_may_be_separated_by_semicolons(tmp_path, text_loaded):
    path = written(tmp_path, "Text;From;To;Relation\nnot a film;2;3;det\n", "it.csv")
    ((_, linked),) = linked_examples(text_loaded, path)
    assert linked.links == (Link(1, 2, "det"),)
