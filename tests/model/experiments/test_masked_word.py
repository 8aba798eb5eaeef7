from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import ByteLevel

from model.capture import activations, capture
from model.capture.intervention import without_keys
from model.checkpoint import load
from model.config import preset
from model.experiments import batching
from model.experiments.ablation import ablate_heads, ablated, importance
from model.experiments.knock_out import knock_out, knock_out_interventions
from model.experiments.masked_word import (
    MaskedWord,
    answer_changes,
    answer_falls,
    check_answer,
    guesses,
    masked_word,
    masked_word_by_layer,
)
from model.experiments.patching import pair_positions, patch_heads, patch_positions
from model.experiments.probabilities import probabilities
from model.hooks import watch
from model.inputs import prepare
from model.inputs.text import train_tokenizer
from model.loaded import Loaded
from model.transformer import Transformer
from tests.model import tiny
from tests.model.huggingface.folders import VOCABULARY, build
from tests.model.tiny import CLOSE, changed_at
from tests.tolerance import rounding

TEXT, SOURCE = "the film is [MASK] bad .", "the story made me cry ."
AT = 4  # of [MASK], behind [CLS]
WORD = MaskedWord(AT, VOCABULARY.index("not"))
HEADS = [(layer, head) for layer in range(3) for head in range(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("masked")
    return path, build(path, "BertForMaskedLM")


@pytest.fixture(scope="module")
def bert(folder) -> Loaded:
    return load(folder[0])


def pre_ln() -> Loaded:
    return tiny.loaded(replace(tiny.TEXT, masked_token_output=True))


def log_p(loaded: Loaded, text: str, answer: MaskedWord, intervention=None) -> float:
    """The logits of the masked position alone, and a log-softmax in numpy."""
    last = f"blocks.{loaded.config.n_layers - 1}.resid_post"
    (states,) = activations(loaded, [text], [last], intervention=intervention).values()
    with torch.inference_mode():
        logits = loaded.model.predict_tokens(loaded.model.final_norm(states[0, [answer.position]]))[0]
    numbers = logits.double().numpy()
    highest = numbers.max()
    return float(numbers[answer.token_id] - highest - np.log(np.exp(numbers - highest).sum()))


def with_head(loaded: Loaded, layer: int, head: int, change) -> float:
    with watch(loaded.model, {f"blocks.{layer}.attention.z": changed_at((0, head), change)}):
        return log_p(loaded, TEXT, WORD)


def test_it_is_the_log_softmax_of_transformers(bert, folder):
    ids, _ = prepare(bert, TEXT)
    with torch.inference_mode():
        expected = folder[1](input_ids=ids).logits[0, AT].log_softmax(dim=-1)
    for token_id in (0, WORD.token_id, len(VOCABULARY) - 1):
        (number,) = probabilities(bert, [TEXT], answer=MaskedWord(AT, token_id))[0, 0]
        assert number == pytest.approx(float(expected[token_id]), abs=1e-5)


def test_ablated_heads_are_as_in_a_forward_of_their_own(bert, monkeypatch):
    expected = [with_head(bert, *head, torch.zeros_like) for head in HEADS]
    assert np.ptp(expected) > 1e-4  # or a constant would pass
    for numbers in (batching.NUMBERS_AT_ONCE, 1):
        monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", numbers)
        answers = ablate_heads(bert, [TEXT], answer=WORD)[0]
        assert answers.shape == (3, 4, 1)
        np.testing.assert_allclose(answers.ravel(), expected, **CLOSE)


def test_heads_at_their_means_and_texts_in_one_batch(bert):
    means = np.random.default_rng(0).normal(size=(3, 4, bert.config.d_v)).astype(np.float32)
    answers = ablate_heads(bert, [TEXT, TEXT.replace("bad", "slow")], means, WORD)
    expected = [
        with_head(bert, layer, head, lambda z, mean=means[layer, head]: torch.tensor(mean).expand_as(z))
        for layer, head in HEADS
    ]
    np.testing.assert_allclose(answers[0].ravel(), expected, **CLOSE)
    assert not np.allclose(answers[0], answers[1], atol=1e-4)


def test_a_pre_ln_encoder_passes_its_final_norm():
    loaded = pre_ln()
    text, word = "not [MASK] film", MaskedWord(2, 40)
    answers = ablate_heads(loaded, [text], answer=word)[0, ..., 0]
    expected = [
        [log_p(loaded, text, word, ablated([(layer, head)])) for head in range(2)] for layer in range(2)
    ]
    np.testing.assert_allclose(answers, expected, **CLOSE)


def test_interventions_that_begin_in_any_layer(bert):
    chosen = [ablated(layers=[2]), ablated(feed_forwards=[0]), without_keys(2), ablated(positions=[AT])]
    answers = probabilities(bert, [TEXT], chosen, WORD)[0, :, 0]
    np.testing.assert_allclose(answers, [log_p(bert, TEXT, WORD, one) for one in chosen], **CLOSE)


@pytest.mark.parametrize("kind", ["keys", "mask", "unknown"])
def test_knocked_out_tokens(bert, kind):
    positions = [2, 5]
    answers = knock_out(bert, TEXT, kind, positions, WORD)[:, 0]
    interventions = knock_out_interventions(bert, TEXT, [(position,) for position in positions], kind)
    np.testing.assert_allclose(answers, [log_p(bert, TEXT, WORD, one) for one in interventions], **CLOSE)


def test_patched_heads(bert):
    pairs = pair_positions(bert, TEXT, SOURCE)
    names = [f"blocks.{layer}.attention.z" for layer in range(3)]
    of_source = activations(bert, [SOURCE], names)

    def patched(z: torch.Tensor, layer: int, head: int) -> torch.Tensor:
        z[list(pairs.input)] = of_source[names[layer]][0, head, list(pairs.source)]
        return z

    expected = [with_head(bert, *head, lambda z, head=head: patched(z, *head)) for head in HEADS]
    np.testing.assert_allclose(patch_heads(bert, TEXT, SOURCE, WORD).ravel(), expected, **CLOSE)


def test_patched_states(bert):
    names = ["embedding.output"]
    names += [f"blocks.{layer}.{point}" for layer in range(3) for point in ("resid_mid", "resid_post")]
    of_source = activations(bert, [SOURCE], names)
    answers = patch_positions(bert, TEXT, SOURCE, WORD)[..., 0]
    pairs = pair_positions(bert, TEXT, SOURCE)
    for stage, name in enumerate(names):
        for position, partner in zip(*pairs, strict=True):
            replaced = changed_at((0, position), of_source[name][0, partner])
            with watch(bert.model, {name: replaced}):
                np.testing.assert_allclose(answers[stage, position], log_p(bert, TEXT, WORD), **CLOSE)


def test_importance_is_the_slope_of_the_log_probability(bert):
    double = replace(bert, model=deepcopy(bert.model).double())
    step = 1e-4
    expected = [
        abs(
            with_head(double, *head, lambda z: z * (1 + step))
            - with_head(double, *head, lambda z: z * (1 - step))
        )
        / (2 * step)
        for head in HEADS
    ]
    answers = importance(bert, [TEXT], answer=WORD)
    np.testing.assert_allclose(answers.ravel(), expected, rtol=1e-3, atol=1e-6)


def test_the_changes_are_negative_where_the_word_became_less_probable():
    answers = np.log([[[0.5], [0.125]]])
    changes = answer_changes(tiny.TEXT, np.log([0.25]), answers, WORD)
    np.testing.assert_allclose(changes, [[np.log(2), -np.log(2)]])
    np.testing.assert_allclose(answer_falls(tiny.TEXT, np.log([0.25]), answers, WORD), -changes)


# Which word


def test_the_first_guess_is_the_default(bert):
    (most_probable, *_) = guesses(bert, TEXT)[AT]
    assert masked_word(bert, TEXT) == MaskedWord(AT, VOCABULARY.index(most_probable.token))


def test_a_word_by_its_name_or_as_the_vocabulary_spells_it(bert):
    assert masked_word(bert, TEXT, " not ") == WORD
    assert masked_word(bert, TEXT, "##ing") == MaskedWord(AT, VOCABULARY.index("##ing"))
    two = "[MASK] film is [MASK]"
    assert masked_word(bert, two, "bad") == MaskedWord(1, VOCABULARY.index("bad"))
    assert masked_word(bert, two, "bad", 4) == MaskedWord(4, VOCABULARY.index("bad"))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("ending", "“ending” is 2 tokens, end ##ing: choose a word of one token"),
        ("xylophone", "“xylophone” is not in the vocabulary of this encoder"),
        ("\ud800", "is not in the vocabulary of this encoder"),
        (" ", "the word is empty"),
    ],
)
def test_other_words_are_refused(bert, word, sentence):
    with pytest.raises(ValueError, match=sentence):
        masked_word(bert, TEXT, word)


def test_what_cannot_be_the_answer_is_refused(bert):
    with pytest.raises(ValueError, match=r"the text has no \[MASK\]"):
        masked_word(bert, "the film")
    with pytest.raises(ValueError, match=r"position 2 holds no \[MASK\]; positions that do: 4"):
        ablate_heads(bert, [TEXT], answer=MaskedWord(2, 7))
    with pytest.raises(ValueError, match="positions that do: none"):
        patch_heads(bert, SOURCE, TEXT, MaskedWord(2, 7))
    with pytest.raises(ValueError, match=f"the tokens 0 to {len(VOCABULARY) - 1}, got 900"):
        check_answer(bert, [TEXT], MaskedWord(AT, 900))
    with pytest.raises(ValueError, match="tiny has no masked-token output"):
        probabilities(tiny.loaded(tiny.TEXT), ["a [MASK]"], answer=MaskedWord(2, 7))
    with pytest.raises(ValueError, match="give one of them"):
        importance(pre_ln(), ["a [MASK]"], labels=[0], answer=MaskedWord(2, 7))


# The most probable tokens


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
    result = guesses(reader, "a [MASK] film [MASK]", n=3)
    assert list(result) == [2, 4]
    ids = torch.tensor([reader.tokenizer.encode("a [MASK] film [MASK]").ids])
    with torch.inference_mode():
        states = reader.model.encode(ids)[0, 4]
        head = reader.model.masked_token_output
        states = head.norm(torch.nn.functional.gelu(head.transform(states)))
        whole = (states @ reader.model.embedding.tokens.weight.T + head.bias).softmax(dim=-1)
    best = whole.argsort(descending=True)[:3]
    assert [guess.token for guess in result[4]] == [reader.tokenizer.id_to_token(i) for i in best.tolist()]
    assert [guess.probability for guess in result[4]] == pytest.approx(whole[best].tolist(), rel=1e-5)


def test_byte_level_guesses_are_shown_as_text(reader):
    pieces = ["[UNK]", "[MASK]", "ÑĤ", "ĠÑģÐ»Ð¾Ð²Ð¾", "Ġ", "Ċ", "ðŁ"]
    tokenizer = Tokenizer(WordLevel({piece: index for index, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["[UNK]", "[MASK]"])
    (result,) = guesses(replace(reader, tokenizer=tokenizer), "[MASK]", n=1000).values()
    shown = {guess.token_id: guess.token for guess in result}
    assert shown == dict(enumerate(["[UNK]", "[MASK]", "т", "·слово", "·", "↵", "[0xF09F]"]))
    by_guess = masked_word(replace(reader, tokenizer=tokenizer), "[MASK]", "·слово")
    assert by_guess.token_id == 3


@pytest.mark.parametrize(
    "text", ["a good film", "[MASK]" + " film" * 20], ids=["none", "beyond the positions"]
)
def test_nothing_is_guessed_without_a_mask(reader, text):
    assert guesses(reader, text) == {}


def test_an_encoder_without_that_output_guesses_nothing(reader):
    config = replace(reader.config, masked_token_output=False)
    without = replace(reader, model=Transformer(config).eval())
    assert guesses(without, "a [MASK] film") == {}


def test_there_are_no_more_guesses_than_tokens(reader):
    (result,) = guesses(reader, "a [MASK] film", n=1000).values()
    assert len(result) == reader.config.vocab_size
    assert sum(guess.probability for guess in result) == pytest.approx(1, rel=rounding(2 * len(result)))


# Layer by layer


def test_the_last_layer_is_the_prediction_and_each_layer_is_as_transformers_says(folder, bert):
    loaded, theirs = bert, folder[1]
    word = masked_word(loaded, TEXT, "bad")
    stages = masked_word_by_layer(loaded, TEXT, word, n=5)
    assert [stage.stage for stage in stages] == ["embed", "L0 post", "L1 post", "L2 post"]
    (expected,) = guesses(loaded, TEXT, n=5).values()
    assert [guess.token for guess in stages[-1].guesses] == [guess.token for guess in expected]
    np.testing.assert_allclose(
        [guess.probability for guess in stages[-1].guesses],
        [guess.probability for guess in expected],
        rtol=1e-5,
    )
    ids = torch.tensor([loaded.tokenizer.encode(TEXT).ids])
    with torch.inference_mode():
        states = theirs(input_ids=ids, output_hidden_states=True).hidden_states
        for stage, hidden in zip(stages, states, strict=True):
            row = theirs.cls(hidden[0, word.position]).log_softmax(dim=-1)
            assert stage.log_probability == pytest.approx(float(row[word.token_id]), abs=1e-5)
            assert stage.rank == 1 + row.argsort(descending=True).tolist().index(word.token_id)
            best = row.argsort(descending=True)[:5].tolist()
            assert [guess.token_id for guess in stage.guesses] == best


def test_each_layer_of_a_pre_ln_encoder_passes_its_final_norm():
    loaded = pre_ln()
    text, word = "not [MASK] film", MaskedWord(2, 40)
    residual = capture(loaded, text).residual[::2, 2]  # embed, L0 post, L1 post
    norm = loaded.model.final_norm
    centred = residual - residual.mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + norm.eps)
    states = normal * norm.weight.detach().numpy() + norm.bias.detach().numpy()
    with torch.inference_mode():
        rows = loaded.model.predict_tokens(torch.tensor(states)).log_softmax(dim=-1)
    stages = masked_word_by_layer(loaded, text, word)
    np.testing.assert_allclose([stage.log_probability for stage in stages], rows[:, 40], rtol=1e-4)


def test_other_positions_have_no_layers(bert):
    with pytest.raises(ValueError, match=r"position 1 holds no \[MASK\]"):
        masked_word_by_layer(bert, TEXT, MaskedWord(1, 7))
