"""What can be said of the Dockerfile where no daemon builds it."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from loupe.__main__ import command_line
from tests.test_library import INSTALLED

ROOT = Path(__file__).parents[1]
INSTRUCTIONS = {"FROM", "ARG", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "CMD"}


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, str]]:
    lines = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
    return [
        (step, rest) for step, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")
    ]


def of(steps: list[tuple[str, str]], name: str) -> list[str]:
    return [rest for step, rest in steps if step == name]


def test_every_line_is_an_instruction(steps):
    assert {step for step, _ in steps} == INSTRUCTIONS
    assert steps[0][0] == "FROM"


def test_it_serves_as_an_ordinary_user_who_was_made(steps):
    (user,) = of(steps, "USER")
    assert user not in ("root", "0")
    assert any(re.search(rf"useradd .*\b{user}$", run) for run in of(steps, "RUN"))
    names = [step for step, _ in steps]
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in ("RUN", "COPY"))


def test_what_it_copies_and_installs_is_there(steps):
    of_the_project = [copied for copied in of(steps, "COPY") if not copied.startswith("--from=wheel ")]
    assert all((ROOT / copied.split()[0]).exists() for copied in of_the_project)
    build, install = (run for run in of(steps, "RUN") if run.startswith("pip "))
    assert build == "pip wheel --no-deps --wheel-dir /wheels ."
    assert install.endswith('--constraint requirements.txt "$(echo /wheels/*.whl)[app]"')


def test_its_command_and_the_look_at_its_health_are_commands(steps):
    (command,), (health,) = of(steps, "CMD"), of(steps, "HEALTHCHECK")
    program, *arguments = json.loads(command)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"].keys() == {program}
    options = command_line(arguments)
    assert options.address == "0.0.0.0"  # within the container only what its port is published to reaches it
    assert [str(options.port)] == of(steps, "EXPOSE")
    compile(json.loads(health.partition("CMD ")[2])[2], "health", "exec")
    assert all(port in health for port in of(steps, "EXPOSE"))


@pytest.mark.parametrize(
    "name",
    ["pyproject.toml", "requirements.txt", "NOTICE", *INSTALLED],
)
def test_what_the_wheel_needs_is_not_ignored(name):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert (ROOT / name).exists()
    assert not {name, Path(name).parts[0]} & set(lines)
    assert f"{Path(name).parent}/*" not in lines or f"!{name}" in lines


@pytest.mark.skipif(
    shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/bin") is None, reason="there is no haproxy"
)
def test_the_proxys_configuration_is_valid():
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/bin")
    checked = subprocess.run(
        [program, "-c", "-f", ROOT / "docs" / "serving" / "haproxy.cfg"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
