import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from model.capture import capture
from model.capture.provenance import settings
from model.checkpoint import load
from model.inputs import preprocessed_picture
from model.record.from_arrays import from_arrays
from model.record.record_file import read, save
from tests.full_disk import FULL, full_after
from tests.model import tiny
from tests.model.huggingface.folders import build
from tests.viz.export.offline_parts import Parts
from viz.attention.linked_heads import linked_heads
from viz.export.__main__ import main

pytestmark = pytest.mark.usefixtures("without_vega")

TOKENS = ["[CLS]", "a<b>", "&", "[SEP]"]


@pytest.fixture
def bare(tmp_path):
    pattern = np.random.default_rng(0).dirichlet(np.ones(4), (2, 3, 4)).astype(np.float32)
    path = tmp_path / "bare.npz"
    save(from_arrays(pattern, TOKENS), path, {})
    return path


def export(record, name, *options):
    out = record.parent / name
    main([str(record), "--out", str(out), *options])
    return out.read_bytes()


def test_all_heads_or_one_as_a_picture(bare):
    assert export(bare, "all.svg").count(b"<image") == 6
    one = export(bare, "one.svg", "--head", "1", "2", "--query", "1").decode()
    assert one.count(">a&lt;b&gt;</text>") == 2


def test_a_column_of_a_paper_on_dark(bare):
    content = export(
        bare, "one.png", "--head", "0", "0", "--width-cm", "8.5", "--font-pt", "8", "--theme", "dark"
    )
    picture = Image.open(io.BytesIO(content))
    assert picture.width == pytest.approx(8.5 / 2.54 * 300, abs=2)
    assert sum(picture.convert("RGB").getpixel((1, 1))) < 120


def test_a_head_in_the_column_of_a_paper_with_all_numbers(bare):
    options = ("--head", "1", "2", "--width-cm", "8.5", "--font-pt", "8")
    drawn = export(bare, "one.svg", *options, "--numbers", "all").decode()
    root = ET.fromstring(drawn)
    assert root.get("width") == "8.50cm"
    weights = read(bare).pattern[1, 2].ravel()
    expected = [f"{weight:.2f}".removeprefix("0") for weight in weights if 0.005 < weight < 0.995]
    written = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in written if (text or "").startswith(".")] == expected
    assert export(bare, "one.pdf", *options).startswith(b"%PDF-")


def test_a_page_of_all_heads_with_what_the_record_says(tmp_path):
    loaded = tiny.loaded(tiny.TEXT, 0)
    record = capture(loaded, "a good film")
    save(record, tmp_path / "record.npz", settings(loaded, "a good film"))
    page = export(tmp_path / "record.npz", "page.html").decode()
    for text in ("a good film", loaded.name, record.class_names[0], "Version of Attention Loupe"):
        assert text in page


def test_the_page_shows_a_picture_as_the_encoder_saw_it(tmp_path):
    build(tmp_path / "it", "ViTForImageClassification")
    loaded = load(tmp_path / "it")
    picture = np.random.default_rng(0).integers(0, 256, (20, 60, 3), dtype=np.uint8)
    record = capture(loaded, picture)
    save(record, tmp_path / "a.npz", {}, picture)
    expected = linked_heads(record, picture=preprocessed_picture(picture, record))
    drawn = Parts(export(tmp_path / "a.npz", "a.html")).data()["datasets"]["picture"]
    assert drawn == expected.frames["picture"].to_dict(orient="list")


def test_attention_over_other_keys(tmp_path):
    pattern = np.full((1, 1, 2, 3), 1 / 3, np.float32)
    save(from_arrays(pattern, ["x", "y"], keys=["a", "b", "c"]), tmp_path / "cross.npz", {})
    drawn = export(tmp_path / "cross.npz", "cross.svg", "--head", "0", "0").decode()
    assert all(f">{token}</text>" in drawn for token in "xyabc")
    assert export(tmp_path / "cross.npz", "cross.html")


OF_PICTURES = "can be set for .png, .svg, .pdf: a page takes its look from the browser"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "a.gif"], "--out must end in .html, .png, .svg, .pdf, got a.gif"),
        (["--out", "a.svg", "--head", "2", "0"], "no layer 2; the record has 2, from 0"),
        (["--out", "a.svg", "--head", "0", "-1"], "no head -1; the record has 3, from 0"),
        (["--out", "a.svg", "--head", "0", "0", "--query", "4"], "no position 4; the record has 4, from 0"),
        (["--out", "a.html", "--width-cm", "8.5"], f"--width-cm {OF_PICTURES}"),
        (
            ["--out", "a.html", "--transparent", "--theme", "dark", "--font-pt", "8"],
            f"--theme, --font-pt, --transparent {OF_PICTURES}",
        ),
        (
            ["--out", "a.html", "--numbers", "all", "--no-title"],
            f"--numbers, --no-title {OF_PICTURES}",
        ),
        (
            ["--out", "a.svg", "--numbers", "all"],
            "this figure has no cells with a number each: leave numbers='all' out",
        ),
        (["--out", "a.svg", "--width-cm", "0.1"], "the width in cm goes from 2 to 100, got 0.1"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(bare, options, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(bare), *options])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"viz.export: {message}\n"


def test_a_file_that_is_no_record_is_refused(tmp_path, capsys):
    (tmp_path / "no.npz").write_bytes(b"no record")
    with pytest.raises(SystemExit):
        main([str(tmp_path / "no.npz"), "--out", str(tmp_path / "a.svg")])
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert str(tmp_path) not in output


@pytest.mark.parametrize("kind", ["html", "svg", "png", "pdf"])
def test_a_full_disk_leaves_the_old_file(bare, kind, capsys):
    out = bare.parent / f"a.{kind}"
    out.write_bytes(b"old")
    with full_after(100), pytest.raises(SystemExit):
        main([str(bare), "--out", str(out)])
    assert capsys.readouterr().err == f"viz.export: {FULL}: {out}\n"
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in bare.parent.iterdir()) == sorted([out.name, bare.name])


def test_the_usage_says_what_to_type(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    usage = " ".join(capsys.readouterr().out.split())
    assert "--out" in usage
    assert "--head L H" in usage
    assert "FILE an .npz or .safetensors file" in usage
