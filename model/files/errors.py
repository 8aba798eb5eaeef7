"""Messages about a folder that is not trusted: one short sentence without invisible characters."""

from collections.abc import Iterator
from contextlib import contextmanager
from unicodedata import category

LONGEST = 300  # characters of a sentence
HIDDEN = (
    "Cc",
    "Cf",
    "Cs",
    "Zl",
    "Zp",
)  # control characters, changes of the writing's direction, ends of lines
JOINERS = "\u200c\u200d"  # these belong to words, of Persian for example


def in_a_line(text: str, longest: int = LONGEST) -> str:
    """Invisible characters become blanks, and of a long text the middle is left out."""
    if len(text) > 4 * longest:
        text = f"{text[: 2 * longest]} … {text[-longest:]}"
    seen = "".join(" " if category(sign) in HIDDEN and sign not in JOINERS else sign for sign in text)
    line = " ".join(seen.split())
    if len(line) <= longest:
        return line
    end = longest // 3
    return f"{line[: longest - end - 3]} … {line[-end:]}"


def why(error: BaseException) -> str:
    """What went wrong, without the path that the system adds."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError):
        return error.strerror or "the system does not hand it over"
    return in_a_line(str(error))


@contextmanager
def one_sentence() -> Iterator[None]:
    """Whatever is wrong with the folder inside the `with` becomes a ValueError of one sentence; errors of the system are named without their paths."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"the folder cannot be read: {why(error)}") from error
    except MemoryError as error:
        raise ValueError("there is not enough memory for it") from error
    except RecursionError as error:
        raise ValueError("a value in it is nested too deeply") from error
    except (ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(why(error)) from error
