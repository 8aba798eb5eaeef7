from dataclasses import replace

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import ByteLevel

from model.config import preset
from model.experiments.masked_tokens import guesses
from model.experiments.masked_word import masked_word
from model.inputs.text import train_tokenizer
from model.loaded import Loaded
from model.transformer import Transformer
from tests.tolerance import rounding


@pytest.fixture
def reader() -> Loaded:
    torch.manual_seed(0)
    config = replace(preset("imdb-pre-ln"), n_layers=1, vocab_size=60, n_positions=12)
    tokenizer = train_tokenizer(["a good film , a bad film"], config.vocab_size, config.n_positions)
    config = replace(config, vocab_size=tokenizer.get_vocab_size())
    return Loaded(
        name="tiny",
        model=Transformer(config).eval(),
        tokenizer=tokenizer,
        history={},
        device=torch.device("cpu"),
    )


def test_guesses_are_the_softmax_of_the_masked_token_output(reader):
    found = guesses(reader, "a [MASK] film [MASK]", n=3)
    assert list(found) == [2, 4]
    ids = torch.tensor([reader.tokenizer.encode("a [MASK] film [MASK]").ids])
    with torch.inference_mode():
        states = reader.model.encode(ids)[0, 4]
        head = reader.model.masked_token_output
        states = head.norm(torch.nn.functional.gelu(head.transform(states)))
        whole = (states @ reader.model.embedding.tokens.weight.T + head.bias).softmax(dim=-1)
    best = whole.argsort(descending=True)[:3]
    assert [guess.token for guess in found[4]] == [reader.tokenizer.id_to_token(i) for i in best.tolist()]
    assert [guess.probability for guess in found[4]] == pytest.approx(whole[best].tolist(), rel=1e-5)


def test_byte_level_guesses_are_shown_as_text(reader):
    pieces = ["[UNK]", "[MASK]", "ÑĤ", "ĠÑģÐ»Ð¾Ð²Ð¾", "Ġ", "Ċ", "ðŁ"]
    made = Tokenizer(WordLevel({piece: index for index, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    made.add_special_tokens(["[UNK]", "[MASK]"])
    (found,) = guesses(replace(reader, tokenizer=made), "[MASK]", n=1000).values()
    shown = {guess.token_id: guess.token for guess in found}
    assert shown == dict(enumerate(["[UNK]", "[MASK]", "т", "·слово", "·", "↵", "[0xF09F]"]))
    by_guess = masked_word(replace(reader, tokenizer=made), "[MASK]", "·слово")
    assert by_guess.token_id == 3


def test_nothing_is_guessed_without_a_mask(reader):
    assert guesses(reader, "a good film") == {}


def test_a_mask_beyond_the_positions_is_not_read(reader):
    assert guesses(reader, "[MASK]" + " film" * 20) == {}


def test_an_encoder_without_that_output_guesses_nothing(reader):
    config = replace(reader.config, masked_token_output=False)
    without = replace(reader, model=Transformer(config).eval())
    assert guesses(without, "a [MASK] film") == {}


def test_there_are_no_more_guesses_than_tokens(reader):
    (found,) = guesses(reader, "a [MASK] film", n=1000).values()
    assert len(found) == reader.config.vocab_size
    assert sum(guess.probability for guess in found) == pytest.approx(1, rel=rounding(2 * len(found)))
