"""Turns errors about untrusted files into one short sentence without invisible characters, and ends a command after an error."""

import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from unicodedata import category

from safetensors import SafetensorError

REFUSED = 2  # the exit code, as argparse has it for an option that it cannot read
LONGEST = 300  # characters of a sentence
# control characters, changes of the writing's direction, ends of lines
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
JOINERS = "\u200c\u200d"  # these belong to words, of Persian for example
# What Python, numpy, torch, zip and safetensors raise on damaged files.
DAMAGE = (
    ValueError,
    OSError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    OverflowError,
    SyntaxError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    SafetensorError,
)


def single_line(text: str, max_length: int = LONGEST) -> str:
    """The text on one line of at most `max_length` characters; the middle of a longer text is left out.

    Invisible characters become spaces.
    """
    if len(text) > 4 * max_length:
        text = f"{text[: 2 * max_length]} … {text[-max_length:]}"
    visible_text = "".join(
        " " if category(character) in HIDDEN and character not in JOINERS else character for character in text
    )
    line = " ".join(visible_text.split())
    if len(line) <= max_length:
        return line
    n_tail = max_length // 3
    return f"{line[: max_length - n_tail - 3]} … {line[-n_tail:]}"


def error_text(error: BaseException) -> str:
    """Message of the error, without the path that the operating system adds."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError):
        return error.strerror or single_line(str(error)) or "the system does not hand it over"
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    if isinstance(error, RecursionError):
        return "a value in it is nested too deeply"
    if isinstance(error, KeyError):
        return single_line(f"it lacks {error.args[0]}" if error.args else "something is missing")
    return single_line(str(error)) or type(error).__name__


class RefusalError(ValueError):
    """The reason why something cannot be opened; the message is this project's own and is never shortened."""


@contextmanager
def errors_in_one_sentence(beginning: str = "") -> Iterator[None]:
    """Context manager that turns any error about a damaged file or folder into a ValueError with one sentence.

    The sentence is `beginning`, such as "config.json cannot be read", a colon, and what is wrong.
    """
    try:
        yield
    except RefusalError:
        raise
    except BaseException as error:
        # tokenizers raise Exception itself, and where their own code breaks off something that is no Exception
        from_rust = type(error) is Exception or type(error).__module__ == "pyo3_runtime"
        if not (from_rust or isinstance(error, DAMAGE)):
            raise
        if not beginning and isinstance(error, OSError):
            beginning = "the folder cannot be read"
        raise ValueError(f"{beginning}: {error_text(error)}" if beginning else error_text(error)) from error


@contextmanager
def exit_on_refusal(program: str) -> Iterator[None]:
    """Context manager for the body of a command: ValueError and OSError end the program with one sentence on stderr and exit code 2.

    The sentence begins with the name of the `program`. Other errors pass through.
    """
    try:
        yield
        return
    except OSError as error:  # unlike `error_text`: who typed the command may see the path
        sentence = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    except ValueError as error:
        sentence = str(error)
    print(f"{program.removeprefix('python -m ')}: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(REFUSED)
