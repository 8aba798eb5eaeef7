from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from model.atlas.results import PRUNING, ResultTable, write_results
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source
from tests.app_pages.shown_text import page_text

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
ORDER = ((None, None), (0, 1), (1, 0), (1, 1), (0, 0))
Turned = Sequence[tuple[int, int]]
LOSSES = (0.3, 0.3, 0.4, 0.6, 0.9)


@pytest.fixture
def open_prune(open_app: Open) -> Open:
    defaults = {"checkpoint": "imdb-pre-ln", "heads_part": "Ablate", "ablate_over": "data set"}
    return lambda **query: open_app(PAGE, **defaults | query)


def way(how: str, turned: Turned) -> pd.DataFrame:
    """The heads in that order, with how many answers turned wrong and right at each step, of 900 of 1000."""
    wrong, right = zip(*turned, strict=True)
    return pd.DataFrame(
        {
            "how": how,
            "step": range(len(ORDER)),
            "layer": [layer for layer, _ in ORDER],
            "head": [head for _, head in ORDER],
            "accuracy": [0.9 + (many - few) / 1000 for few, many in zip(wrong, right, strict=True)],
            "loss": LOSSES,
            "turned_wrong": wrong,
            "turned_right": right,
        }
    )


def write(folder: Path, name: str, **ways: Turned) -> None:
    rows = pd.concat([way(how, item) for how, item in ways.items()])
    made = replace(source(name, choosing=128, judging=1000), n=1128)
    write_results(folder / name / PRUNING, ResultTable(source=made, rows=rows))


def test_both_placements_and_when_accuracy_is_lower(open_prune, checkpoints):
    write(checkpoints, "imdb-pre-ln", zero=[(0, 0), (9, 12), (12, 9), (40, 10), (90, 10)])
    write(checkpoints, "imdb-post-ln", zero=[(0, 0), (20, 5), (40, 5), (60, 5), (90, 5)])
    app = open_prune()
    assert (
        "**imdb-pre-ln**, judged on 1,000 sentences of our own: with 2 of 4 heads gone accuracy is not clearly lower, accuracy 90.0 % → "
        "89.7 %, a change of −0.3 ± 0.5 points. With one more gone it is, accuracy 90.0 % → 87.0 %, a change of "
        "−3.0 ± 0.7 points (L1 H1)."
    ) in page_text(app)
    assert (
        "**imdb-post-ln**, judged on 1,000 sentences of our own: accuracy is lower as soon as the first head is gone, accuracy 90.0 % → "
        "88.5 %, a change of −1.5 ± 0.5 points (L0 H1). With 2 gone: accuracy 90.0 % → 86.5 %, a change of −3.5 ± 0.7 points."
    ) in page_text(app)
    assert "128 of 1,128 sentences of our own choose the head; accuracy is of 1,000 others." in page_text(app)
    rows = table_of(app, "Accuracy of", "encoder", "step", "accuracy")
    assert rows["encoder"].nunique() == 2
    assert rows["went"].tolist()[:3] == ["", "L0 H1", "L1 H0"]
    assert rows["change"].tolist()[1] == "+0.3 ± 0.5 points"


def test_zeros_or_means(open_prune, checkpoints):
    nothing = [(0, 0)] * 5
    write(checkpoints, "imdb-pre-ln", zero=nothing, mean=[*nothing[:4], (400, 0)])
    app = open_prune(prune_how="means")
    assert "with 3 of 4 heads gone accuracy is not clearly lower" in page_text(app)
    assert "imdb-post-ln: " in page_text(app)  # which was not measured
    assert "accuracy is not clearly lower even with all 4 heads gone" in page_text(open_prune())


def test_without_a_file_it_says_how_to_make_one(open_prune):
    assert "--with pruning" in page_text(open_prune())


def test_it_has_no_controls_of_an_input_until_it_goes_back_to_one(open_prune):
    app = open_prune()
    assert not app.text_area
    assert [control.key for control in app.selectbox] == ["checkpoint"]
    app.segmented_control(key="ablate_over").set_value("this input").run()
    assert not app.exception
    assert app.text_area(key="text").value
