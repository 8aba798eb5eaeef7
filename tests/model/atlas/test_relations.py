"""Which heads follow a relation: counts against a loop, the marks, a protein encoder by hand, a run that is ended."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import model.atlas.measure_dataset as module
from model.atlas.linked_inputs import DIRECTIONS, linked_examples
from model.atlas.measure_dataset import measure_relations
from model.atlas.relations import (
    MOST_RELATIONS,
    Relations,
    head_relations,
    left_out_clause,
    relation_rows,
    valid_relation_rows,
    with_link_counts,
)
from model.atlas.results import RELATIONS, read_rows
from model.atlas.run import PartialResult, run_measure
from model.capture import capture
from model.checkpoint import load, save, weights_hash
from model.measures.word_view import view
from tests.model import tiny
from tests.model.atlas.ended import KilledError, end_at
from tests.model.atlas.invented_results import source

LONG = replace(tiny.TEXT, n_positions=20)
WORDS = ("great", "films", "not", "a", "xyz", "film")
SHAPE = 2, 2


@pytest.fixture
def csv(tmp_path) -> Path:
    """24 texts of five words, some of several pieces, each with two links of one relation and one of another."""
    generator = np.random.default_rng(0)
    lines = []
    for _ in range(24):
        text = " ".join(generator.choice(WORDS, 5))
        one, two, three, four = generator.permutation(5)[:4] + 1
        lines += [f"{text},{one},{two},near:x", f"{text},{three},{two},near", f"{text},{four},{one},far"]
    return write_links(tmp_path, *lines)


def write_links(folder: Path, *rows: str, column: str = "text") -> Path:
    (folder / "it.csv").write_text("\n".join([f"{column},from,to,relation", *rows]))
    return folder / "it.csv"


def measured(loaded, csv: Path, shard: int = 256) -> dict[str, np.ndarray]:
    examples = linked_examples(loaded, csv)
    return run_measure(Relations(shard=shard), loaded, examples, PartialResult(csv.parent / f"part{shard}"))


def rows_by_loop(loaded, csv: Path) -> Iterator[tuple]:
    """Layer, head, relation, direction, share, baseline, offset and number, by loops over records whose words are merged."""
    links = [line.split(",") for line in csv.read_text().splitlines()[1:]]
    strongest = {}
    for text in dict.fromkeys(text for text, *_ in links):
        pattern = view(capture(loaded, text), merged=True, hidden=True).pattern.astype(float)
        for index in range(pattern.shape[-1]):
            pattern[:, :, index, index] = -1
        strongest[text] = pattern.argmax(axis=-1)
    for layer, head in np.ndindex(SHAPE):
        for relation in ("far", "near"):
            for direction in DIRECTIONS:
                hits, offsets = [], Counter()
                for text, start, end, label in links:
                    query, key = int(start) - 1, int(end) - 1
                    if direction == "to dependent":
                        query, key = key, query
                    if label.split(":")[0] == relation:
                        hits.append(strongest[text][layer, head, query] == key)
                        offsets[key - query] += 1
                ((_, most),) = offsets.most_common(1)
                yield layer, head, relation, direction, np.mean(hits), most / len(hits), offsets, len(hits)


def test_shares_and_baselines_by_a_loop(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it", LONG)
    path = measure_relations(loaded, linked_examples(loaded, csv), tmp_path / "out", "command")
    table = read_rows(path)
    assert path == tmp_path / "out" / RELATIONS
    assert (table.source.weights, table.source.n) == ((weights_hash(tmp_path / "it"),), 24)
    assert dict(table.source.samples) == {"links": 72, "joined": 0, "cut": 0, "dropped": 0}
    expected = list(rows_by_loop(loaded, csv))
    assert len(table.rows) == len(expected) == 16
    for row, (layer, head, relation, direction, share, baseline, offsets, n) in zip(
        table.rows.itertuples(), expected, strict=True
    ):
        assert (row.layer, row.head, row.relation, row.direction) == (layer, head, relation, direction)
        assert (row.share, row.baseline, row.n) == (np.float32(share), np.float32(baseline), n)
        assert offsets[row.offset] == max(offsets.values())
        assert row.low < row.share < row.high


def test_shards_of_any_size_come_to_the_same(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it", LONG)
    whole, parts = (measured(loaded, csv, shard) for shard in (256, 5))
    assert set(whole) == set(parts)
    for name, values in whole.items():
        np.testing.assert_array_equal(values, parts[name])


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("killed_at", [0, 2])
def test_what_is_ended_goes_on_and_comes_to_the_same(tmp_path, csv, monkeypatch, killed_at):
    monkeypatch.setattr(module, "Relations", partial(Relations, shard=5))
    loaded = tiny.stored(tmp_path / "it", LONG)
    examples = linked_examples(loaded, csv)
    unbroken = measure_relations(loaded, examples, tmp_path / "unbroken", "command")
    begun = end_at(monkeypatch, Relations, killed_at)
    with pytest.raises(KilledError):
        measure_relations(loaded, examples, tmp_path / "out", "command")
    assert not (tmp_path / "out" / RELATIONS).exists()
    resumed = measure_relations(loaded, examples, tmp_path / "out", "command")
    assert begun == [*range(killed_at + 1), *range(killed_at, 5)]
    assert resumed.read_bytes() == unbroken.read_bytes()
    assert [path.name for path in (tmp_path / "out").iterdir()] == [RELATIONS]


# What is marked


def counts(hits: int, at_offset: int, both: int, n: int) -> dict[str, np.ndarray]:
    """One head, of which `hits` of `n` links, `at_offset` of them at the offset 2 and `both` of these hit; the rest of the links
    at offsets that occur once."""
    others = n - at_offset
    pairs = [["det", 2], *(["det", 10 + index] for index in range(others))]
    of_others = [1] * (hits - both) + [0] * (others - hits + both)
    to_head = np.array([both, *of_others])
    hits_by_pair = np.stack([to_head, np.zeros_like(to_head)])[:, None, None]
    return {
        "pairs": np.frombuffer(str(pairs).replace("'", '"').encode(), np.uint8),
        "n": np.array([at_offset] + [1] * others),
        "hits": hits_by_pair,
        "left_out": np.zeros(3, int),
        "tokens": np.zeros(2, int),
    }


def test_a_head_is_beyond_the_offset_by_the_links_that_one_of_the_two_hits():
    """12 of 40 links are hit by the head alone and 2 by the offset alone: P(X ≥ 12 of 14) = 106 / 2^14, twice that for two
    directions."""
    rows = relation_rows(counts(hits=22, at_offset=12, both=10, n=40))
    to_head, to_dependent = rows.itertuples()
    assert (to_head.direction, to_head.offset, to_head.n) == ("to head", 2, 40)
    assert (to_head.share, to_head.baseline) == (22 / 40, 0.3)
    assert to_head.p == pytest.approx(2 * 106 / 2**14)
    assert to_head.beyond
    assert (to_dependent.direction, to_dependent.share, to_dependent.baseline, to_dependent.offset) == (
        "to dependent",
        0,
        0.3,
        -2,
    )
    assert (to_dependent.p, to_dependent.beyond) == (1, False)


@pytest.mark.parametrize(("n", "is_tested"), [(19, False), (20, True)])
def test_relations_with_few_links_are_not_tested(n, is_tested):
    to_head, _ = relation_rows(counts(hits=n, at_offset=2, both=2, n=n)).itertuples()
    assert to_head.share == 1
    assert to_head.beyond == is_tested
    assert np.isnan(to_head.p) == (not is_tested)


def test_random_weights_follow_nothing(tmp_path, csv):
    rows = relation_rows(measured(tiny.stored(tmp_path / "it", LONG), csv))
    assert rows["p"].notna().all()
    assert not rows["beyond"].any()


# Contacts of residues, by an encoder whose weights are known


PARTNERS = {"K": "E", "E": "K", "C": "W", "W": "C"}


def protein_encoder(path: Path):
    """One layer of two heads: the first gives its weight from a residue to its partner, the second to all alike."""
    tokenizer = tiny.amino_acids(20)
    size = tokenizer.get_vocab_size()
    config = replace(
        tiny.TEXT,
        d_model=32,
        n_layers=1,
        d_k=32,
        d_v=4,
        n_positions=20,
        vocab_size=size,
        positions="none",
        class_names=(),
    )
    encoder = tiny.build(config)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
        encoder.embedding.tokens.weight[:, :size] = torch.eye(size)
        encoder.blocks[0].norm_attention.weight.fill_(1)
        attention = encoder.blocks[0].attention
        attention.w_k.weight[:32] = torch.eye(32)
        for residue, partner in PARTNERS.items():
            attention.w_q.weight[tokenizer.token_to_id(partner), tokenizer.token_to_id(residue)] = 10
    save(path, encoder, {}, tokenizer)
    return load(path, "cpu")


def test_a_head_with_known_weights_finds_the_contacts(tmp_path):
    """In each of 15 chains K touches E and C touches W, at positions that chance chooses."""
    generator = np.random.default_rng(1)
    lines = []
    for _ in range(15):
        residues = generator.choice(list("AGLV"), 16)
        positions = generator.permutation(16)[:4]
        residues[positions] = list("KECW")
        first, second, third, fourth = positions + 1
        chain = "".join(residues)
        lines += [f"{chain},{first},{second},contact", f"{chain},{third},{fourth},contact"]
    loaded = protein_encoder(tmp_path / "protein")
    examples = linked_examples(loaded, write_links(tmp_path, *lines))
    rows = read_rows(measure_relations(loaded, examples, tmp_path / "out", "command")).rows
    assert rows["n"].tolist() == [30] * 4
    of_partners, of_all = rows[rows["head"] == 0], rows[rows["head"] == 1]
    assert of_partners["share"].tolist() == [1, 1]
    assert of_partners["beyond"].all()
    assert (of_all["share"] < 0.3).all()
    assert not of_all["beyond"].any()


# What is left out, and what is refused


def test_links_that_cannot_be_followed_are_counted(tmp_path):
    csv = write_links(tmp_path, "not a film,1,2,x", "not a film abc def,1,4,x", "not a film abc def,1,5,x")
    arrays = measured(tiny.loaded(replace(tiny.TEXT, n_positions=8)), csv)
    samples = with_link_counts(source(2, "w"), arrays).samples
    assert dict(samples) == {"links": 2, "joined": 0, "cut": 1, "dropped": 0}
    expected = "1 of 3 links is left out: 1 with a word beyond the length that the encoder reads"
    assert left_out_clause(samples) == expected
    assert left_out_clause({"links": 3}) == ""


def test_where_no_link_is_left_it_says_why(tmp_path):
    csv = write_links(tmp_path, "not a film abc def,1,5,x")
    arrays = measured(tiny.loaded(replace(tiny.TEXT, n_positions=6)), csv)
    message = "no link of films could be counted: 1 of 1 links is left out: 1 with"
    with pytest.raises(ValueError, match=message):
        with_link_counts(source(1, "w"), arrays)


def test_a_patch_that_is_not_there_is_refused(tmp_path, digit_loaded, image):
    Image.fromarray(image).save(tmp_path / "it.png")
    csv = write_links(tmp_path, "it.png,1,5,near", column="picture")
    with pytest.raises(ValueError, match="example 1: there is no patch 5, only 4"):
        measured(digit_loaded, csv)


def test_too_many_relations_are_refused(tmp_path):
    csv = write_links(tmp_path, *(f"not a film,1,2,r{index}" for index in range(MOST_RELATIONS + 1)))
    with pytest.raises(ValueError, match="more than 250 relations"):
        measured(tiny.loaded(tiny.TEXT), csv)


def test_attention_that_is_not_finite_is_refused(csv):
    loaded = tiny.loaded(LONG)
    with torch.no_grad():
        loaded.model.blocks[1].attention.w_q.weight.fill_(torch.nan)
    with pytest.raises(ValueError, match="the attention of layer 1 is not finite"):
        measured(loaded, csv)


# In memory


@pytest.mark.slow
def test_the_rows_in_memory_are_those_of_the_stored_results(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it", LONG)
    csv.write_text(csv.read_text() + "\n" + "\n".join(f"{word} not a film,1,2,near" for word in 300 * "ab"))
    for limit in (None, 300):
        path = measure_relations(loaded, linked_examples(loaded, csv, limit), tmp_path / str(limit), "")
        pd.testing.assert_frame_equal(head_relations(loaded, str(csv), limit), read_rows(path).rows)


def test_a_file_without_links_that_can_be_counted_is_refused(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    beyond = " ".join("abcdefghijklmn")
    (tmp_path / "links.csv").write_text(f"text,from,to,relation\n{beyond},13,14,near")
    message = r"links\.csv could be counted: 1 of 1 links is left out: 1 with a word beyond the length"
    with pytest.raises(ValueError, match=message):
        head_relations(loaded, tmp_path / "links.csv")
    (tmp_path / "links.txt").write_text("")
    with pytest.raises(ValueError, match="its name must end in"):
        head_relations(loaded, tmp_path / "links.txt")


def test_rows_of_heads_that_the_encoder_lacks_or_without_a_number_are_left_out():
    whole = dict.fromkeys(("layer", "head", "share", "low", "high", "baseline", "offset"), 0.0)
    rows = [whole | {"n": 3.0, "direction": DIRECTIONS[0]}]
    others = {"layer": 2.0}, {"head": 4.0}, {"share": None}, {"n": 0.0}, {"direction": "sideways"}
    rows += [rows[0] | other for other in others]
    result = valid_relation_rows(pd.DataFrame(rows), n_layers=2, n_heads=4)
    assert result.index.tolist() == [0]
    assert result[["layer", "n"]].to_numpy().dtype == int
