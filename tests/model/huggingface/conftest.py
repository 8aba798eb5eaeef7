import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.model.huggingface.folders import build


@pytest.fixture(scope="session")
def whole_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`whole_folders(architecture)` is a folder with an encoder of that class, built once and to be copied."""
    folders: dict[str, Path] = {}

    def folder(architecture: str) -> Path:
        if architecture not in folders:
            folders[architecture] = tmp_path_factory.mktemp(architecture) / "it"
            options = {"num_labels": 3} if "SequenceClassification" in architecture else {}
            build(folders[architecture], architecture, **options)
        return folders[architecture]

    return folder


@pytest.fixture
def bert(tmp_path: Path, whole_folders: Callable[[str], Path]) -> Path:
    """A folder of its own with a BERT that knows three classes."""
    return Path(shutil.copytree(whole_folders("BertForSequenceClassification"), tmp_path / "it"))
