"""Errors about files that are not trusted, as one short sentence without invisible characters."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from unicodedata import category

from safetensors import SafetensorError

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


def in_a_line(text: str, longest: int = LONGEST) -> str:
    """Invisible characters become blanks, and of a long text the middle is left out."""
    if len(text) > 4 * longest:
        text = f"{text[: 2 * longest]} … {text[-longest:]}"
    visible = "".join(" " if category(sign) in HIDDEN and sign not in JOINERS else sign for sign in text)
    line = " ".join(visible.split())
    if len(line) <= longest:
        return line
    end = longest // 3
    return f"{line[: longest - end - 3]} … {line[-end:]}"


def why(error: BaseException) -> str:
    """What went wrong, without the path that the system adds."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError):
        return error.strerror or in_a_line(str(error)) or "the system does not hand it over"
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    if isinstance(error, RecursionError):
        return "a value in it is nested too deeply"
    if isinstance(error, KeyError):
        return in_a_line(f"it lacks {error.args[0]}" if error.args else "something is missing")
    return in_a_line(str(error)) or type(error).__name__


@contextmanager
def one_sentence(what: str = "") -> Iterator[None]:
    """Whatever a damaged file or folder can raise becomes a ValueError of one sentence, which begins with `what`."""
    try:
        yield
    except BaseException as error:
        # tokenizers raise Exception itself, and where their own code breaks off something that is no Exception
        from_rust = type(error) is Exception or type(error).__module__ == "pyo3_runtime"
        if not (from_rust or isinstance(error, DAMAGE)):
            raise
        if not what and isinstance(error, OSError):
            what = "the folder cannot be read"
        raise ValueError(f"{what}: {why(error)}" if what else why(error)) from error
