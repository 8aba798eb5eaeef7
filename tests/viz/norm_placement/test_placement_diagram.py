from viz.norm_placement.placement_diagram import placement_diagram


def test_the_norm_stands_beside_the_stream_in_pre_ln_and_on_it_in_post_ln():
    for placement, is_on_stream in (("pre", False), ("post", True)):
        figure = placement_diagram(placement)
        (stream,) = figure.frames["stream"]["x"]
        boxes = figure.frame.set_index("label")
        norms = boxes.loc["norm"]
        assert ((norms["left"] < stream) & (stream < norms["right"])).tolist() == [is_on_stream] * 2
        below_sublayer = norms["y"].to_numpy() > boxes.loc[["attention", "feed-forward"], "y"].to_numpy()
        assert below_sublayer.tolist() == [is_on_stream] * 2
