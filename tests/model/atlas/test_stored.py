import json

import numpy as np
import pytest

from model.atlas.stored import ATLAS, Spread, against_file, read_against, read_atlas, write
from tests.model.atlas.invented import against, atlas


def same(one, other):
    np.testing.assert_equal(one, other)
    return True


def test_what_is_written_is_read(tmp_path):
    for made, read in ((atlas(), read_atlas), (against(((2, 2), (1, 3))), read_against)):
        write(tmp_path / "it.json", made)
        found = read(tmp_path / "it.json")
        assert found.source == made.source
        names = ("heads", "curves") if made.__class__.__name__ == "Atlas" else ("cka", "alike", "halves")
        for name in names:
            one, other = getattr(made, name), getattr(found, name)
            pairs = [(one[each], other[each]) for each in one] if isinstance(one, dict) else [(one, other)]
            for a, b in pairs:
                assert same(a.mean, b.mean) and same(a.sd, b.sd) if isinstance(a, Spread) else same(a, b)
    assert list(tmp_path.iterdir()) == [tmp_path / "it.json"]


def test_five_digits_are_kept(tmp_path):
    distances = Spread(mean=np.full((4, 4), 1 / 3), sd=np.full((4, 4), 1234567.0))
    write(tmp_path / "it.json", against(distances=distances))
    found = read_against(tmp_path / "it.json").distances
    assert (found.mean[0, 0], found.sd[0, 0]) == (0.33333, 1234600)


def test_no_file_is_nothing_stored(tmp_path):
    assert read_atlas(tmp_path / ATLAS) is None
    assert read_against(tmp_path / against_file("x")) is None


def test_heads_are_matched_over_the_data_by_hand():
    mean = np.array([[0.9, 0.1], [0.3, 0.2], [0.5, 0.6]])
    found = against(((3, 1), (1, 2)), n=10, distances=Spread(mean=mean, sd=mean))
    assert found.pairing.partners.tolist() == [1, 0, -1]  # 0.1 + 0.3 is less than 0.2 + 0.5 or any other
    found.alike[:] = [4, 8, 0]
    assert found.persisting == pytest.approx(0.6)
    assert found.by_layer == pytest.approx([0.1, 0.3, np.nan], nan_ok=True)
    turned = found.turned()
    assert turned.pairing.partners.tolist() == [1, 0]
    assert turned.alike.tolist() == [8, 4]
    assert turned.shapes == ((1, 2), (3, 1))
    assert turned.source.weights == ("v", "w")
    assert turned.persisting == found.persisting


def changed(path, made, **changes):
    write(path, made)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"heads": {"entropy": {"mean": [[1, 2]], "sd": [[1]]}}},
        {"heads": {"entropy": {"mean": [[1, 2], [1]], "sd": [[1, 2], [1]]}}},
        {"heads": {"entropy": {"mean": [[1]], "sd": [[1]]}, "itself": {"mean": [[1, 2]], "sd": [[1, 2]]}}},
        {"heads": []},
        {"curves": {"norm": {"mean": [[1]], "sd": [[1]]}}},
        {"curves": {"norm": {"mean": ["1"], "sd": [1]}}},
        {"curves": {"norm": {"mean": [1]}}},
        {"source": {}},
        {"source": {"command": "c", "data": "d", "sha256": "e", "n": 2, "weights": ["a", "b"]}},
    ],
)
def test_a_damaged_atlas_is_refused_in_one_sentence(tmp_path, changes):
    path = tmp_path / "named" / ATLAS
    changed(path, atlas(), **changes)
    with pytest.raises(ValueError, match=r"named/atlas\.json cannot be read: ."):
        read_atlas(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"shapes": [[2, 2], [2, 3]]},
        {"shapes": [[2, 2]]},
        {"shapes": [[0, 2], [2, 2]]},
        {"alike": [1, 2]},
        {"distances": {"mean": [[None] * 4] * 4, "sd": [[0] * 4] * 4}},
        {"cka": [1, 2]},
        {"halves": -1},
        {"source": {"command": "c", "data": "d", "sha256": "e", "n": 1, "weights": ["a", "b"]}},
    ],
)
def test_a_damaged_comparison_is_refused_in_one_sentence(tmp_path, changes):
    path = tmp_path / "named" / "against-x.json"
    changed(path, against(), **changes)
    with pytest.raises(ValueError, match=r"named/against-x\.json cannot be read: ."):
        read_against(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "[" * 100_000])
def test_what_is_no_json_of_ours_is_refused(tmp_path, content):
    path = tmp_path / ATLAS
    path.write_text(content)
    for read in (read_atlas, read_against):
        with pytest.raises(ValueError, match=r"atlas\.json cannot be read: ."):
            read(path)
