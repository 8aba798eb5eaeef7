"""Every list of the families that open says what the code opens. `python -m tests.model.huggingface.test_families` writes them."""

import re
from pathlib import Path

import pytest

from model.huggingface.families import FAMILIES, families_table, family_names
from model.huggingface.inner_encoders import TWO_ENCODERS

ROOT = Path(__file__).parents[3]
LISTS = {"README.md": family_names, "docs/your_own.md": families_table}
MARKED = re.compile(r"(?<=<!-- families -->\n).*?(?=\n<!-- end of families -->)", re.DOTALL)


@pytest.mark.parametrize("file", LISTS)
def test_docs_list_the_families_that_open(file: str) -> None:
    (listed,) = MARKED.findall((ROOT / file).read_text("utf-8"))
    assert listed == LISTS[file]()


def test_a_family_is_listed_once_with_all_its_model_types() -> None:
    rows = families_table().splitlines()[2:]
    names = [name for row in rows for name in row.split(" | ")[0].removeprefix("| ").split(", ")]
    assert sorted(names) == sorted(set(family_names().split(", ")))
    assert re.findall(r"`(.+?)`", "\n".join(rows)) == sorted(
        [*FAMILIES, *TWO_ENCODERS], key=lambda model_type: families_table().index(f"`{model_type}`")
    )


if __name__ == "__main__":
    for file, text in LISTS.items():
        path = ROOT / file
        path.write_text(MARKED.sub(lambda _, text=text: text(), path.read_text("utf-8")), "utf-8")
