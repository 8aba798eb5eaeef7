from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from model.atlas.stored import PRUNING, Table, write_rows
from tests.app_pages.charts import table as table_of
from tests.app_pages.heads.conftest import source

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
ORDER = ((None, None), (0, 1), (1, 0), (1, 1), (0, 0))
LOSSES = (0.3, 0.3, 0.4, 0.6, 0.9)


@pytest.fixture
def open_prune(open_app: Open) -> Open:
    given = {"text": "not great film", "checkpoint": "imdb-pre-ln", "heads_part": "Prune"}
    return lambda **query: open_app(PAGE, **given | query)


def way(how: str, accuracies: tuple[float, ...]) -> pd.DataFrame:
    """The heads in that order, with what is right at each step."""
    return pd.DataFrame(
        {
            "how": how,
            "step": range(len(ORDER)),
            "layer": [layer for layer, _ in ORDER],
            "head": [head for _, head in ORDER],
            "accuracy": accuracies,
            "loss": LOSSES,
        }
    )


def write(folder: Path, name: str, **ways: tuple[float, ...]) -> None:
    rows = pd.concat([way(how, each) for how, each in ways.items()])
    write_rows(folder / name / PRUNING, Table(source=source(name), rows=rows))


def said(app: AppTest) -> str:
    assert not app.exception
    return " ".join(each.value for each in (*app.markdown, *app.caption, *app.info))


def test_both_placements_and_how_many_may_go(open_prune: Open, checkpoints: Path) -> None:
    write(checkpoints, "imdb-pre-ln", zero=(0.9, 0.9, 0.893, 0.8, 0.5))
    write(checkpoints, "imdb-post-ln", zero=(0.88, 0.86, 0.7, 0.6, 0.5))
    app = open_prune()
    assert "**imdb-pre-ln**: 2 of 4 heads may go before a point of accuracy is lost (90.0" in said(app)
    assert "L0 H1, L1 H0." in said(app)
    assert "**imdb-post-ln**: 0 of 4 heads may go" in said(app)
    rows = table_of(app, "Accuracy of", "encoder", "step", "accuracy")
    assert rows["encoder"].nunique() == 2
    assert rows["went"].tolist()[:3] == ["", "L0 H1", "L1 H0"]
    assert "40 sentences of our own" in said(app)


def test_zeros_or_means(open_prune: Open, checkpoints: Path) -> None:
    write(checkpoints, "imdb-pre-ln", zero=(0.9,) * 5, mean=(0.9, 0.9, 0.9, 0.9, 0.5))
    app = open_prune(prune_how="means")
    assert "3 of 4 heads" in said(app)
    assert "imdb-post-ln: " in said(app)  # which was not measured
    assert "4 of 4 heads" in said(open_prune())


def test_without_a_file_it_says_how_to_make_one(open_prune: Open) -> None:
    assert "--with pruning" in said(open_prune())
