"""Links, pipes and sockets in place of files, and damaged indices of several weights files."""

import os
import shutil
import socket
from pathlib import Path

from benchmarks.mutations.case import WEIGHTS, Case, kind


@kind()
def no_files(case: Case) -> None:
    """A folder, a pipe or a socket takes the place of a file, or it is missing."""
    path = case.folder / case.random.choice(_file_names(case))
    path.unlink()
    what = case.random.choice(("folder", "pipe", "socket", "nothing"))
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "socket":
        former_folder = Path.cwd()
        os.chdir(path.parent)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
        os.chdir(former_folder)


@kind()
def links(case: Case) -> None:
    """A file is a link that leads out of the folder; it must be refused before anything is read there."""
    path = case.folder / case.random.choice(
        (*_file_names(case), "beside.json", "deeper/x.txt", "vocab.txt", "modules.json")
    )
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    sibling = case.outside / "sibling"
    to = (
        *(Path("/etc/passwd"), Path("/dev/zero"), Path("/"), path, Path("nowhere"), sibling),
        *(case.outside / "secret.txt", sibling / path.name, Path("../../outside/secret.txt")),
    )
    path.symlink_to(case.random.choice(to))


@kind()
def linked_folder(case: Case) -> None:
    """The folder itself is a link."""
    shutil.rmtree(case.folder)
    to = (case.outside / "sibling", case.outside, Path("/etc"), Path("/proc/self"), case.folder)
    case.folder.symlink_to(case.random.choice(to))


def _file_names(case: Case) -> list[str]:
    """The names of all files in the folder."""
    return sorted(str(path.relative_to(case.folder)) for path in case.folder.rglob("*.*") if path.is_file())


@kind()
def index(case: Case) -> None:
    """The index of several weights files names odd or forbidden files."""
    (case.folder / WEIGHTS).rename(case.folder / "a.safetensors")
    names = (
        *("../outside/sibling/model.safetensors", str(case.outside / "sibling" / WEIGHTS), "/etc/passwd"),
        *("loop.safetensors", "a/../../b.safetensors", "b" * 300 + ".safetensors", "c\0.safetensors", ""),
        *("missing.safetensors", "config.json", ".", "..", "<script>.safetensors", 3, None, [], "d.bin"),
    )
    if (name := case.random.choice(names)) == "loop.safetensors":
        (case.folder / name).symlink_to(name)
    listed = {"x": name, "y": "a.safetensors"}
    others = ([], None, {}, 3, {"x": {"y": "a"}})
    case.write_json(
        f"{WEIGHTS}.index.json",
        {"weight_map": listed if case.random.random() < 0.7 else case.random.choice(others)},
    )


@kind()
def many_shards(case: Case) -> None:
    """The index names 100,000 weights files that do not exist."""
    (case.folder / WEIGHTS).unlink()
    case.write_json(
        f"{WEIGHTS}.index.json",
        {"weight_map": {f"{index}": f"{index}.safetensors" for index in range(10**5)}},
    )
