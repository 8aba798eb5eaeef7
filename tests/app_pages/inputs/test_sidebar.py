from collections.abc import Callable

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]


def facts(app: AppTest) -> list[str]:
    assert not app.exception
    return [line.strip() for line in app.sidebar.caption[-1].value.splitlines()]


def test_what_a_checkpoint_is(open_app: Open) -> None:
    lines = facts(open_app(kind="Digit", checkpoint="mnist-post-ln"))
    assert lines[1:3] == [
        "post-LN, 2 layers × 2 heads",
        "accuracy 99.51% on 10,000 MNIST test digits, loss 0.021",
    ]
    assert lines[3] in ("runs on CPU", "runs on CUDA")
    # patches 16·8+8, class token 8, positions 5·8; a layer: q, k 2·(8·6+6), v 8·10+10, output 10·8+8,
    # norms 4·8, feed-forward 2·8·16+16+8; classifier 8·10+10
    layer = 2 * (8 * 6 + 6) + 8 * 10 + 10 + 10 * 8 + 8 + 4 * 8 + 2 * 8 * 16 + 16 + 8
    assert lines[0] == f"{16 * 8 + 8 + 8 + 5 * 8 + 2 * layer + 8 * 10 + 10:,} parameters"


def test_what_was_not_measured_says_so(open_app: Open) -> None:
    assert facts(open_app(kind="Digit", checkpoint="mnist-pre-ln"))[2] == "accuracy not measured"
