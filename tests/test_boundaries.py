"""Each folder knows only its own step: input to record (model), record to figure (viz), figure to page (app_pages)."""

import ast
import re
import subprocess
import sys
from collections.abc import Collection
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Beside the standard library; a name stands for what is below it as well.
MAY_IMPORT = {
    "app.py": {"streamlit", "app_pages", "model", "viz"},
    # loupe knows the public names of what is written as Python
    "app_pages": {"streamlit", "cachetools", "numpy", "pandas", "PIL", "app_pages", "model", "viz", "loupe"},
    "model": {
        "torch",
        "PIL",
        "numpy",
        "pandas",
        "sklearn",
        "scipy",
        "tokenizers",
        "safetensors",
        "google.protobuf",
        "huggingface_hub",
        "msgspec",
        "pyarrow",
        "ray",
        "jaxtyping",
        "tqdm",
        "model",
    },
    "viz": {"numpy", "pandas", "plotly", "altair", "PIL", "vl_convert", "jaxtyping", "viz", "model.record"},
}
# Not even by way of something else that is imported.
NEVER_LOADS = {
    "model": {"streamlit", "plotly", "altair", "viz", "app_pages"},
    "viz": {"torch", "streamlit", "app_pages"},
}
# `record_file` draws a record from a file without torch.
ALSO_LOADS = {"model": [], "viz": ["model.record.record_file"]}
# Whatever unpickles runs code that came with the data; the encoder here is our own.
NOWHERE = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch.load", "transformers"}
KEYWORDS_NOWHERE = {"allow_pickle", "use_container_width"}
# Who says that he trusts a pickle has it converted: the one line of the project that opens one, which nothing imports.
CONVERT = Path("model/convert/__main__.py")
UNPICKLES = "torch.load(file, map_location='cpu', weights_only=True)"
BY_NAME = {"import_module", "importlib.import_module", "__import__"}
# Streamlit's server keeps its limit of memory here and offers no option for it; app_pages/shell/file_transfer.py sets it.
ALLOWED_BY_NAME = {"starlette.formparsers"}
# What runs in an environment of its own, with benchmarks/requirements.txt.
PEERS = Path("benchmarks/beside_peers/theirs.py")
BESIDE_TRANSFORMERS = (PEERS, Path("benchmarks/capture_on_device.py"))


def files(*suffixes: str) -> list[Path]:
    """The project's own files, relative to its root: without hidden folders, and environments of any name."""
    tops = (
        top for top in ROOT.iterdir() if not top.name.startswith(".") and not (top / "pyvenv.cfg").is_file()
    )
    paths = (path for top in tops for path in (top, *top.rglob("*")) if path.suffix in suffixes)
    return sorted(path.relative_to(ROOT) for path in paths)


def parse(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def imported(tree: ast.AST, path: Path = Path()) -> set[str]:
    """Dotted names of all imports, those inside functions and by name too; `from a import b` counts as a.b, in the file at `path`."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[: -node.level] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in BY_NAME
            and isinstance(node.args[0], ast.Constant)
        ):
            module = node.args[0].value.lstrip(".")
            level = len(node.args[0].value) - len(module)
            names |= {".".join((*path.parts[: -level or 0], module))} - ALLOWED_BY_NAME
    return {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names - NOWHERE}


def below(name: str, allowed: set[str]) -> bool:
    return any(f"{name}.".startswith(f"{prefix}.") for prefix in allowed)


def forbidden(tree: ast.AST) -> set[str]:
    """What the tree does that no file may do."""
    attributes = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    keywords = {
        node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and not (
            node.arg == "allow_pickle" and isinstance(node.value, ast.Constant) and node.value.value is False
        )
    }
    names = {name for name in imported(tree) | attributes if below(name, NOWHERE)}
    return names | (keywords & KEYWORDS_NOWHERE)


def pins(name: str) -> dict[str, str]:
    """Package to version; raises where a line is anything but an exact pin."""
    lines = (ROOT / name).read_text().splitlines()
    result = [
        re.fullmatch(r"([a-z0-9-]+)(?:\[[a-z]+\])?==([\w.]+)", line)
        for line in lines
        if not line.startswith("-r ")
    ]
    assert all(result), lines
    return dict(match.groups() for match in result)


PYTHON = files(".py")


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from ..export import save", "viz.export.save"),
        ('import_module("..export.save", __package__)', "viz.export.save"),
        ('importlib.import_module("model.capture")', "model.capture"),
        ("import_module(name)", None),
    ],
)
def test_an_import_by_name_is_seen(source, module):
    assert imported(ast.parse(source), Path("viz/builders/figure.py")) == set(filter(None, [module]))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_folder_imports_what_belongs_to_its_step(part):
    sources = [path for path in PYTHON if path.parts[0] == part]
    assert sources
    wrong = {
        str(path): names
        for path in sources
        if (names := {name for name in imported(parse(path), path) if not below(name, MAY_IMPORT[part])})
    }
    assert not wrong


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", ["model", "viz"])
def test_a_folder_that_is_a_library_as_well_names_none_of_its_modules_from_the_top(part):
    """Installed, it is called loupe.model or loupe.viz."""
    sources = [path for path in PYTHON if path.parts[0] == part]
    assert not [str(path) for path in sources if any(below(name, {part}) for name in imported(parse(path)))]


@pytest.mark.parametrize("part", NEVER_LOADS)
def test_a_folder_loads_nothing_of_a_later_step(part):
    parts = [path.with_suffix("").parts for path in PYTHON if path.parts[0] == part]
    modules = [".".join(names).removesuffix(".__init__") for names in parts]
    modules += ALSO_LOADS[part]
    script = "import importlib, sys; [importlib.import_module(m) for m in sys.argv[1:]]; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script, *modules], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    assert set(modules) <= set(loaded)
    assert not NEVER_LOADS[part] & set(loaded)


def test_no_import_leads_back():
    """Of any two modules at most one needs the other, whatever lies between them."""
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in PYTHON}
    graph = TopologicalSorter()
    for module, path in names.items():
        needed = (longest(name, names) for name in imported(parse(path), path))
        graph.add(module, *{name for name in needed if name is not None} - {module})
    graph.prepare()


@pytest.mark.parametrize("part", ["app_pages", "model", "viz"])
def test_folders_import_each_other_one_way(part):
    """Of two folders side by side at most one needs the other, whatever lies between them."""
    folders = {path.parts[1] for path in PYTHON if path.parts[0] == part and len(path.parts) > 2}
    graph = TopologicalSorter()
    for path in PYTHON:
        if path.parts[0] == part and len(path.parts) > 2 and path.parts[1:] != ("__main__.py",):
            needed = {
                names[1]
                for name in imported(parse(path), path)
                if (names := name.split("."))[0] == part and len(names) > 1
            }
            graph.add(path.parts[1], *((needed & folders) - {path.parts[1]}))
    graph.prepare()


def test_no_page_imports_from_another_page():
    pages = {path.parts[1] for path in PYTHON if path.name == "page.py"}
    crossed = {
        str(path): names
        for path in PYTHON
        if path.parts[0] == "app_pages" and len(path.parts) > 2
        if (
            names := {
                name
                for name in imported(parse(path), path)
                if below(name, {f"app_pages.{page}" for page in pages - {path.parts[1]}})
            }
        )
    }
    assert not crossed


def longest(name: str, modules: Collection[str]) -> str | None:
    """The module that an import is of: `a.b` may be a module, or something in the module a."""
    parts = name.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in modules), None)


def own_names(tree: ast.AST) -> set[str]:
    """Names that the tree gives to functions, classes, fields and attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


def test_no_file_uses_private_names_of_other_libraries():
    sources = {path: parse(path) for path in PYTHON if path.parts[0] in MAY_IMPORT}
    documented = {"_replace", "_make", "_asdict", "_fields", "_field_defaults"}.union(
        *map(own_names, sources.values())
    )
    used = {
        (path.as_posix(), node.attr)
        for path, tree in sources.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if node.attr not in documented
    }
    used |= {
        (path.as_posix(), name)
        for path, tree in sources.items()
        for name in imported(tree, path)
        if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")[:-1])
    }
    assert not used


def test_no_file_unpickles_or_uses_what_is_deprecated():
    result = {path: forbidden(parse(path)) for path in PYTHON}
    for path in result:
        if path in BESIDE_TRANSFORMERS or path.is_relative_to("tests/model"):  # which compare with it
            result[path] = {name for name in result[path] if not below(name, {"transformers"})}
    assert result.pop(CONVERT) == {"torch.load"}
    assert not {str(path): names for path, names in result.items() if names}


def test_a_pickle_is_opened_in_one_line_for_tensors_alone_and_by_nothing_but_its_command():
    calls = [node for node in ast.walk(parse(CONVERT)) if isinstance(node, ast.Call)]
    assert [ast.unparse(call) for call in calls if ast.unparse(call.func) == "torch.load"] == [UNPICKLES]
    importing = {
        path for path in PYTHON if any(below(name, {"model.convert"}) for name in imported(parse(path), path))
    }
    assert importing == {Path("tests/model/convert/test_main.py")}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch\nweights = torch.load('a')", {"torch.load"}),
        ("from torch import load", {"torch.load"}),
        ("def late():\n    import pickle", {"pickle"}),
        ("from transformers import AutoModel", {"transformers.AutoModel"}),
        ("np.load('a', allow_pickle=True)", {"allow_pickle"}),
        ("np.load('a', allow_pickle=0)", {"allow_pickle"}),
        ("np.load('a', allow_pickle=False)", set()),
        ("st.button('a', use_container_width=True)", {"use_container_width"}),
        ("from safetensors.torch import load_model\nimport json\njson.load(file)", set()),
    ],
)
def test_forbidden_sees(source, expected):
    assert forbidden(ast.parse(source)) == expected


# What requirements-dev.txt has besides: commands, and plugins of pytest.
NOT_IMPORTED = {"beartype", "ruff", "mypy", "pip-audit", "hatchling"}


def test_the_requirements_are_what_is_imported():
    packages = packages_distributions()
    own = {path.parts[0].removesuffix(".py") for path in PYTHON}
    used = {"app": set(), "tests": set(), "peers": set()}
    for path in PYTHON:
        tops = {name.partition(".")[0] for name in imported(parse(path), path)} - own
        part = "tests" if path.parts[0] in ("tests", "benchmarks") else "app"
        part = "peers" if path == PEERS else part
        used[part] |= {packages.get(top, [top])[0].lower().replace("_", "-") for top in tops}
    for_app, for_tests = pins("requirements.txt"), pins("requirements-dev.txt")
    assert used["app"] == set(for_app) | set(pins("requirements-ray.txt"))
    assert used["tests"] <= set(for_app) | set(for_tests)
    assert set(for_tests) - used["tests"] == NOT_IMPORTED
    for_peers = pins("benchmarks/requirements.txt")
    assert set(for_peers) == used["peers"] | {"safetensors"}  # which the process around them writes
    ours = for_app | for_tests
    assert {name: ours.get(name, version) for name, version in for_peers.items()} == for_peers
