"""What can be said of the Dockerfile where no daemon builds it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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


def test_every_line_is_an_instruction(steps: list[tuple[str, str]]) -> None:
    assert {step for step, _ in steps} == INSTRUCTIONS
    assert steps[0][0] == "FROM"


def test_it_serves_as_an_ordinary_user_who_was_made(steps: list[tuple[str, str]]) -> None:
    (user,) = of(steps, "USER")
    assert user not in ("root", "0")
    assert any(re.search(rf"useradd .*\b{user}$", run) for run in of(steps, "RUN"))
    names = [step for step, _ in steps]
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in ("RUN", "COPY"))


def test_what_it_copies_and_installs_is_there(steps: list[tuple[str, str]]) -> None:
    assert all((ROOT / copied.split()[0]).exists() for copied in of(steps, "COPY"))
    (installs,) = (run for run in of(steps, "RUN") if "pip install" in run)
    assert installs.endswith("--requirement requirements.txt")


def test_its_command_and_the_look_at_its_health_are_commands(steps: list[tuple[str, str]]) -> None:
    (command,), (health,) = of(steps, "CMD"), of(steps, "HEALTHCHECK")
    program, *arguments = json.loads(command)
    assert program == "python"
    assert (ROOT / arguments[arguments.index("run") + 1]).is_file()
    assert "0.0.0.0" in command  # within the container only what its port is published to reaches it
    compile(json.loads(health.partition("CMD ")[2])[2], "health", "exec")
    assert all(port in health for port in of(steps, "EXPOSE"))


@pytest.mark.parametrize(
    "name",
    ["app.py", "app_pages", "model", "viz", "checkpoints", "examples", ".streamlit", "requirements.txt"],
)
def test_what_the_app_needs_is_not_ignored(name: str) -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert (ROOT / name).exists()
    assert name not in ignored


@pytest.mark.skipif(
    shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/bin") is None, reason="there is no haproxy"
)
def test_the_proxys_configuration_is_valid() -> None:
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/bin")
    checked = subprocess.run(
        [program, "-c", "-f", ROOT / "docs" / "serving" / "haproxy.cfg"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
