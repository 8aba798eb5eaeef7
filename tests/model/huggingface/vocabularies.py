"""Small vocabularies for each class of tokenizers that is followed, in the files that it reads, and texts that are hard to read."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import models, pre_tokenizers

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
    "très déjà-vu, naïve über Straße, e\u0301cole İstanbul",
    "ｆｕｌｌ　ｗｉｄｔｈ １２３，４５ ﬁlm ㎏ ①",
    "film 🙂👍🏽 👩\u200d👩\u200d👧 x",
    "الفيلم \u202eليس\u202c سيئا שלום",
    "映画は全く悪くない。長い物語",
    "한국어를 문장은.",
    "a\u00a0b\u200bc\u2028d\u0000e\u0007f\u0085g\ufeffh\u00adi",
    "1,000 and 12, 3,",
    "``quoted'' (in brackets) and ▁marks▁ ▁ ##ing </w>",
    "unknown ꙮ ꙮꙮ \U0001f9ff here",
    "e" * 120,
    "[E1] Marie [/E1] saw [E2]radium[/E2]. gripping Gripping ungripping",
    *(
        f"not {name} bad{name}film {name.lower()}"
        for name in (
            "[CLS]",
            "[SEP]",
            "[MASK]",
            "[UNK]",
            "<s>",
            "</s>",
            "<mask>",
            "<unk>",
            "<pad>",
            "<extra_id_7>",
        )
    ),
]


@cache
def sentencepiece_file(family: str) -> bytes:
    """A small vocabulary, trained by SentencePiece with the special tokens of a family."""
    bert = {"pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}
    options: dict[str, dict[str, Any]] = {
        "deberta-v2": {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, **bert},
        "albert": {
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": -1,
            "eos_id": -1,
            "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
            "user_defined_symbols": ["(", ")"],
        },
        "t5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    }
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=written,
        character_coverage=1.0,
        minloglevel=2,
        vocab_size=180,
        hard_vocab_limit=False,
        model_type="unigram",
        **options.get(family, {}),
    )
    return written.getvalue()


LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
WORDS = "the film is not bad at all très tres isn ' t , . ! 映 画 は in a long b e ##ing ##s ##e ##a radium"


def word_pieces(folder: Path, special: tuple[str, ...]) -> None:
    characters = sorted(
        {character for text in TEXTS for character in text.lower() if not character.isspace()}
    )
    pieces = dict.fromkeys(
        (*special, *WORDS, *characters[::2], *(f"##{character}" for character in characters[::3]))
    )
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")


def byte_pairs(folder: Path, special: tuple[str, ...], end: str = "") -> None:
    pieces = [*special, *LETTERS, *((f"{letter}{end}" for letter in LETTERS) if end else ())]
    merges = [("b", "a"), ("ba", f"d{end}"), ("i", f"s{end}")]
    merges += [] if end else [("Ġ", "b"), ("Ġ", "bad")]
    pieces += ["".join(pair) for pair in merges]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    models.BPE(vocabulary, merges).save(str(folder))


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
# By class: an encoder's model_type, and the function that writes the vocabulary
VOCABULARIES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "BertTokenizer": ("bert", lambda folder: word_pieces(folder, BERT)),
    "DistilBertTokenizer": ("distilbert", lambda folder: word_pieces(folder, BERT)),
    "ElectraTokenizer": ("electra", lambda folder: word_pieces(folder, BERT)),
    "MPNetTokenizer": ("mpnet", lambda folder: word_pieces(folder, (*FAIRSEQ, "[UNK]"))),
    "RobertaTokenizer": ("roberta", lambda folder: byte_pairs(folder, FAIRSEQ)),
    "BartTokenizer": ("roberta", lambda folder: byte_pairs(folder, FAIRSEQ)),
    "CLIPTokenizer": ("clip", lambda folder: byte_pairs(folder, ("<|startoftext|>", "<|endoftext|>"), "</w>")),
    "HerbertTokenizer": ("bert", lambda folder: byte_pairs(folder, FAIRSEQ, "</w>")),
    **{
        name: (family, lambda folder, file=file, family=family: folder.joinpath(file).write_bytes(sentencepiece_file(family)))
        for name, family, file in (
            ("DebertaV2Tokenizer", "deberta-v2", "spm.model"),
            ("AlbertTokenizer", "albert", "spiece.model"),
            ("XLMRobertaTokenizer", "xlm-roberta", "sentencepiece.bpe.model"),
            ("CamembertTokenizer", "camembert", "sentencepiece.bpe.model"),
            ("T5Tokenizer", "t5", "spiece.model"),
        )
    },
    "ByT5Tokenizer": ("t5", lambda _: None),  # it needs no file
}  # fmt: skip
