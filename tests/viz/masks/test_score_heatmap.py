import numpy as np
import pytest

from viz.masks.score_heatmap import score_heatmap

TOKENS = ("[CLS]", "so", "[SEP]")
SCORES = np.array([[1.0, -3.0, 0.5], [0.0, 2.0, -1.0], [0.1, 0.2, 0.3]])
CAUSAL = np.tril(np.ones((3, 3), dtype=bool))


def test_scores_before_the_mask_are_all_there():
    (trace,) = score_heatmap(SCORES, TOKENS).specification.data
    assert (np.asarray(trace.z) == SCORES.astype(np.float32)).all()
    assert trace.hovertemplate == "query '%{y}' → key '%{x}': %{z:.3f}<extra></extra>"


def test_scores_after_the_mask_are_masked_and_keep_the_scale():
    figure = score_heatmap(SCORES, TOKENS, mask=CAUSAL).specification
    scores, forbidden = figure.data
    assert (np.isnan(scores.z) == ~CAUSAL).all()
    assert "masked" in forbidden.hovertemplate
    assert len(figure.layout.images) == 1
    assert (scores.zmin, scores.zmax) == (-3, 3)  # the largest is masked


def test_the_row_of_the_query_is_framed():
    (frame,) = score_heatmap(SCORES, TOKENS, query=1).specification.layout.shapes
    assert (frame.y0, frame.y1) == (0.5, 1.5)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"3 tokens need 3×3 values each, got \(3, 3\) and \(2, 3\)"):
        score_heatmap(SCORES, TOKENS, mask=CAUSAL[:2])
