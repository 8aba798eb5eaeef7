import pytest

from app_pages.shell.start_options import Options, options_at_start, read_options
from model.sources import locations


@pytest.fixture(autouse=True)
def _no_root() -> None:
    yield
    locations.use_models_folder(None)


def test_without_options_nothing_is_allowed():
    assert read_options([], {}) == Options(models=None, hub=False, uploads_mb=0, problems=())
    assert locations.root() is None


def test_options_and_variables_say_the_same(tmp_path):
    message = read_options(["--models", str(tmp_path), "--hub", "--uploads", "500"], {})
    assert message == Options(models=tmp_path, hub=True, uploads_mb=500)
    assert locations.root() == tmp_path
    variables = {"LOUPE_MODELS": str(tmp_path), "LOUPE_HUB": "1", "LOUPE_UPLOADS_MB": "500"}
    assert read_options([], variables) == message


def test_an_option_goes_before_its_variable(tmp_path):
    variables = {"LOUPE_MODELS": "/nowhere", "LOUPE_UPLOADS_MB": "500", "LOUPE_HUB": "0"}
    assert read_options(["--models", str(tmp_path), "--uploads=20"], variables) == Options(
        models=tmp_path, uploads_mb=20
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--modles", "/secret/place"], "Unknown option --modles place; the options are"),
        (
            ["--models"],
            "The options after `--` cannot be read, argument --models: expected one argument: all",
        ),
        (["--models", "/secret/nowhere"], "The models folder, nowhere, cannot be read."),
        (["--uploads", "many"], "`--uploads` takes a number of megabytes up to 100,000, not many."),
        (["--uploads", "-5"], "`--uploads` takes a number of megabytes up to 100,000, not -5."),
        (["--uploads", "9999999"], "`--uploads` takes a number of megabytes up to 100,000, not 9999999."),
        (["--hub=yes"], "The options after `--` cannot be read"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(arguments, problem):
    message = read_options(arguments, {})
    (sentence,) = message.problems
    assert sentence.startswith(problem)
    assert "/secret" not in sentence
    assert (message.models, message.hub, message.uploads_mb) == (None, False, 0)


def test_the_arguments_are_those_of_the_app_alone(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/pytest", "--hub", "-x"])
    assert options_at_start() == Options()
    monkeypatch.setattr("sys.argv", ["/somewhere/app.py", "--hub"])
    assert options_at_start() == Options(hub=True)
