import numpy as np
import pytest

from tests.viz.records import head_record
from viz.attention.layer_heatmap import layer_heatmap
from viz.builders.palette import ACCENT

TOKENS = ["not", "great", "not"]
WEIGHTS = np.array([[0.25, 0.75, 0.0], [0.1, 0.1, 0.8]])


def figure_of(weights=WEIGHTS, **options):
    return layer_heatmap(head_record(np.eye(3), TOKENS), weights, **{"query": 2} | options)


def test_rows_are_layers_and_columns_keys():
    figure = figure_of(what="mean over the heads")
    assert (figure.frame.index.tolist(), figure.frame.columns.tolist()) == (
        ["L0", "L1"],
        ["0 not", "great", "2 not"],
    )
    np.testing.assert_allclose(figure.frame, WEIGHTS, rtol=1e-6)
    assert figure.description == (
        "What “2 not” attends to in each layer, mean over the heads, layers down, keys across. "
        "Strongest: L0 great 0.75, L1 2 not 0.80"
    )
    (cells,) = figure.specification.data
    assert np.array(cells.text).tolist() == [[".25", ".75", ""], [".10", ".10", ".80"]]


def test_of_equal_weights_no_key_is_the_strongest():
    weights = np.array([[1 / 3, 1 / 3, 1 / 3], [0.1, 0.45, 0.45 + 1e-8]])
    assert figure_of(weights).description.endswith("Strongest: L0 3 keys alike 0.33, L1 2 keys alike 0.45")


def test_the_chosen_layer_is_framed_and_what_the_mask_forbids_has_no_number():
    mask = np.array([[True, True, False], [True, True, True]])
    figure = figure_of(layer=1, mask=mask)
    (frame,) = figure.specification.layout.shapes
    assert (frame.line.color, frame.y0, frame.y1) == (ACCENT, 0.5, 1.5)
    assert np.isnan(figure.frame.to_numpy()).tolist() == (~mask).tolist()
    assert figure.specification.data[0].text[0][2] == ""


def test_many_keys_have_no_numbers_and_notes_stand_below():
    n = 30
    record = head_record(np.eye(n), [f"t{index}" for index in range(n)])
    figure = layer_heatmap(record, np.full((2, n), 1 / n), query=0, notes=["special <tokens> hidden"])
    assert figure.specification.data[0].text is None
    assert figure.specification.data[0].colorbar.title.text.endswith("<br>special &lt;tokens&gt; hidden")


def test_what_does_not_fit_the_record_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1, 3\), got weights of \(1, 2\)"):
        figure_of(np.ones((1, 2)))
    with pytest.raises(ValueError, match="mask"):
        figure_of(mask=np.ones((3, 3), bool))
