"""What the project offers, as a list: pages with their tabs and controls, commands, the library's names, families and files.

`python -m tests.test_inventory` writes the list anew. A line that leaves `inventory.json` is something that a user loses, so
its commit says why.
"""

import ast
import json
from pathlib import Path

import loupe
from app_pages.controls.address import Control, Tabs
from app_pages.controls.pages import PAGES, controls_of
from model.huggingface.families import FAMILIES, TWO_ENCODERS
from model.inputs.picture_file import FORMATS
from viz.export.save import MIME

ROOT = Path(__file__).parents[1]
INVENTORY = Path(__file__).with_name("inventory.json")


def inventory() -> dict[str, object]:
    """All lists by name."""
    controls = {name: controls_of(name) for name in PAGES}
    shared = set.intersection(*map(set, controls.values()))
    return {
        "tabs": {
            name: [option for control in of_page.values() for option in _tabs(control)]
            for name, of_page in controls.items()
        },
        "controls of all pages": sorted(shared),
        "controls": {name: sorted(set(of_page) - shared) for name, of_page in controls.items()},
        "commands": {
            ".".join(path.relative_to(ROOT).parts[:-1]): sorted(_options(path))
            for package in ("loupe", "model", "viz")
            for path in sorted((ROOT / package).rglob("__main__.py"))
        },
        "options of the app": sorted(_options(ROOT / "app_pages/shell/start_options.py")),
        "library": sorted(loupe.__all__),
        "families": sorted({*FAMILIES, *TWO_ENCODERS}),
        "files of figures": sorted(MIME),
        "pictures": sorted(FORMATS),
        "encoders": sorted(path.parent.name for path in (ROOT / "checkpoints").glob("*/config.json")),
    }


def _tabs(control: Control) -> list[str]:
    return list(control.options or ()) if isinstance(control, Tabs) else []


def _options(path: Path) -> set[str]:
    """The names of arguments that a command's parser is given."""
    calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    return {
        call.args[0].value
        for call in calls
        if ast.unparse(call.func).rpartition(".")[2] in ("add", "add_argument")
        if call.args and isinstance(call.args[0], ast.Constant)
    }


def test_nothing_is_lost_without_a_line_that_says_so():
    assert inventory() == json.loads(INVENTORY.read_text("utf-8"))


if __name__ == "__main__":
    INVENTORY.write_text(json.dumps(inventory(), indent=1, ensure_ascii=False) + "\n", "utf-8")
