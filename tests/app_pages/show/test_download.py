from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.show import download
from app_pages.show.download import line_above, name_parts
from viz.builders.theme import PAGE
from viz.export import safe_text
from viz.export.safe_text import file_name


def page(tokens: tuple[str, ...] = ("a", "b")) -> None:
    import numpy as np

    from app_pages.show.show import show
    from viz.attention.token_heatmaps import weight_heatmap

    show(weight_heatmap(np.eye(len(tokens), dtype=np.float32), tokens), key="matrix")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the download button was given last."""
    arguments: dict = {}

    def button(label: str, data: Callable[[], bytes], **options: object) -> None:
        arguments.update(options, label=label, data=data)

    monkeypatch.setattr(st, "download_button", button)
    return arguments


def opened(
    drawn: Callable[..., None] = page, *arguments: object, last: dict | None = None, **chosen: object
) -> AppTest:
    """The page `drawn` with these arguments and an open menu; `last` is what was chosen in another one."""
    app = AppTest.from_function(drawn, args=arguments)
    app.session_state["file_of_matrix"] = True
    app.session_state["exported"] = last or {}
    for what, value in chosen.items():
        app.session_state[f"file_of_matrix_{what}"] = value
    app.run()
    assert not app.exception
    return app


def test_a_closed_one_draws_nothing(made):
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert not made
    assert not app.segmented_control


def page_with_a_legend_beside_it() -> None:
    import numpy as np

    from app_pages.show.show import show
    from viz.attention.token_heatmaps import weight_heatmap

    def draw(title: str):
        return weight_heatmap(np.eye(2, dtype=np.float32), ["a", "b"], title=title)

    show(draw("on the page"), key="matrix", in_file=lambda: draw("in the file"))


@pytest.mark.slow
def test_a_file_can_say_what_stands_beside_the_figure_on_the_page(made):
    app = opened(page_with_a_legend_beside_it, kind="svg")
    assert "on the page" in app.get("plotly_chart")[0].proto.spec
    content = made["data"]().decode()
    assert "in the file" in content
    assert "on the page" not in content


def page_with_two_figures_in_one_chart() -> None:
    import numpy as np

    from app_pages.show.download import download
    from viz.attention.token_heatmaps import weight_heatmap

    def draw(title: str):
        return weight_heatmap(np.eye(2, dtype=np.float32), ["a", "b"], title=title)

    download(lambda: draw("one head"), "matrix", other_figures={"overview": lambda: draw("all heads")})


@pytest.mark.slow
def test_one_menu_makes_files_of_all_figures_of_a_chart(made):
    app = opened(page_with_two_figures_in_one_chart, kind="svg")
    assert "one head" in made["data"]().decode()
    app.segmented_control(key="file_of_matrix_figure").set_value("overview").run()
    assert not app.exception
    assert "all heads" in made["data"]().decode()
    assert made["file_name"] == "overview.svg"
    assert len(app.get("popover")) == 1


def test_the_numbers_of_a_figure_are_shown_before_they_become_a_file():
    app = opened(kind="csv")
    assert app.dataframe[0].value.to_numpy().tolist() == [["a", 1.0, 0.0], ["b", 0.0, 1.0]]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("kind", "begins"),
    [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF-"), ("csv", b"row,a,b"), ("parquet", b"PAR1")],
)
def test_the_file_is_made_when_it_is_asked_for(made, kind, begins, monkeypatch):
    requests = []
    monkeypatch.setattr(
        download, "figure_bytes", lambda *arguments: requests.append(arguments) or figure_bytes(*arguments)
    )
    from viz.export.save import figure_bytes

    app = opened(kind=kind)
    assert [block.value for block in app.caption][-1] == made["file_name"]
    assert not requests
    assert made["data"]().startswith(begins)
    assert len(requests) == 1
    assert made["file_name"].endswith(f".{kind}")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("size", [download.COLUMN, download.OWN])
@pytest.mark.parametrize("theme", [download.LIGHT, download.DARK])
def test_light_letters_have_a_dark_ground(made, theme, size):
    opened(kind="svg", size=size, theme=theme)
    ground = f'fill="{PAGE[theme]}"/>'
    assert (ground in made["data"]().decode()) == (theme == download.DARK)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("kind", "is_told"), [("png", True), ("svg", True), ("pdf", True), ("csv", False)])
def test_letters_that_no_font_has_are_told_before_the_download(made, kind, is_told, monkeypatch):
    monkeypatch.setattr(safe_text, "_known", {"한": False, "국": False})
    app = opened(page, ("한국", "b"), kind=kind)
    assert any("No font here has 한 국" in caption.value for caption in app.caption) == is_told
    assert made["data"]()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("chosen", "width"),
    [
        ({"size": download.COLUMN}, "8.50cm"),
        ({"size": download.OWN, "width_cm": 12.0, "font_pt": 10.0, "transparent_light": False}, "12.00cm"),
    ],
)
def test_a_column_of_a_paper_in_one_click_or_an_own_size(made, chosen, width):
    opened(kind="svg", **chosen)
    assert f'width="{width}"' in made["data"]().decode()


def test_numbers_and_title_are_chosen_behind_one_control(made):
    app = opened(kind="svg", numbers="all", title=False)
    (details,) = [block for block in app.expander if block.label == "Numbers and title"]
    assert [control.label for control in details.segmented_control] == ["Numbers in cells"]
    drawn = made["data"].decode()
    # Two cells each, and the colour bar.
    counts = [drawn.count(f">{number}</{tag}>") for tag in ("text", "tspan") for number in (0, 1)]
    assert counts == [2, 2, 1, 1]


MANY_TOKENS = tuple(f"t{number}" for number in range(40))


def test_numbers_that_do_not_fit_are_told_and_no_file_is_offered(made):
    app = opened(page, MANY_TOKENS, last={"kind": "svg", "size": download.COLUMN, "numbers": "all"})
    assert "The numbers do not fit" in app.caption[-1].value
    assert not made


def test_what_was_chosen_is_what_the_next_figure_begins_with(made):
    app = opened(last={"kind": "svg", "size": download.COLUMN})
    assert made["file_name"].endswith(".svg")
    assert 'width="8.50cm"' in made["data"]().decode()
    app.segmented_control(key="file_of_matrix_kind").set_value("csv").run()
    assert app.session_state["exported"]["kind"] == "csv"


@pytest.mark.parametrize(
    ("held", "key", "name"),
    [
        ({"page": "attention"}, "matrix", "attention-L2-H1-imdb-pre-ln"),
        ({"page": "attention"}, "overview", "attention-overview-imdb-pre-ln"),
        (
            {"page": "attention", "lens": "norm-weighted"},
            "matrix",
            "attention-norm-weighted-L2-H1-imdb-pre-ln",
        ),
        ({"page": "attention", "lens": "rollout"}, "matrix", "attention-rollout-L2-imdb-pre-ln"),
        ({"page": "compare", "lens": "rollout", "compare_part": "Stream"}, "norms", "compare-norms"),
        ({"page": "masks"}, "masks_map_scores", "masks-map-scores-L2-H1-imdb-pre-ln"),
        ({"page": "cost"}, "cost_parameters", "cost-parameters"),
    ],
)
def test_the_name_says_what_is_in_the_file(held, key, name, monkeypatch):
    monkeypatch.setattr(st, "session_state", {"layer": 2, "head": 1, "checkpoint": "imdb-pre-ln"} | held)
    assert file_name(*name_parts(key), suffix="svg") == f"{name}.svg"


def test_the_menu_counts_the_columns_of_the_file():
    app = opened(page, MANY_TOKENS, last={"kind": "csv"})
    assert app.caption[0].value.endswith("40 rows × 41 columns.")  # one holds the names


@pytest.mark.parametrize(
    ("held", "key", "title", "line"),
    [
        ({"page": "attention"}, "matrix", "", "L2 H1 of imdb-pre-ln"),
        ({"page": "attention"}, "overview", "", "imdb-pre-ln"),
        ({"page": "attention", "part": "mean"}, "lines", "", "L2 mean of imdb-pre-ln"),
        ({"page": "attention", "lens": "rollout"}, "matrix", "", "L2 of imdb-pre-ln"),
        ({"page": "attention", "kind": "Record"}, "matrix", "", "L2 H1"),
        ({"page": "masks"}, "masks_map_scores", "Scores of L2 H1", "imdb-pre-ln"),
        ({"page": "heads"}, "heads_plot", "", "imdb-pre-ln"),
        ({"page": "inside_a_head"}, "inside_products", "", ""),
    ],
)
def test_a_line_above_the_figure_says_of_which_head_and_encoder_it_is(held, key, title, line, monkeypatch):
    monkeypatch.setattr(st, "session_state", {"layer": 2, "head": 1, "checkpoint": "imdb-pre-ln"} | held)
    assert line_above(key, title) == line


def page_with_an_expression() -> None:
    import numpy as np

    from app_pages.show.show import show
    from app_pages.toolkit.expression import call
    from viz.attention.token_heatmaps import weight_heatmap

    show(call(weight_heatmap, np.eye(2, dtype=np.float32), ["a", "b"]), key="matrix")


def test_the_menu_shows_a_figure_as_python():
    app = AppTest.from_function(page_with_an_expression).run()
    assert not app.code
    app.session_state["file_of_matrix"] = True
    app.run()
    assert not app.exception
    (code,) = app.code
    assert code.value.startswith(
        "import numpy as np\n\nfrom loupe.viz.attention.token_heatmaps import weight_heatmap"
    )
