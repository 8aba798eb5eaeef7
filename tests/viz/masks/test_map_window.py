import numpy as np

from viz.attention.attention_heatmap import attention_heatmap
from viz.masks.map_window import map_window


def test_both_axes_show_the_same_positions_with_queries_from_the_top():
    figure = map_window(attention_heatmap(np.eye(5), tuple("abcde")), 1, 3)
    assert figure.layout.xaxis.range == (0.5, 3.5)
    assert figure.layout.yaxis.range == (3.5, 0.5)
