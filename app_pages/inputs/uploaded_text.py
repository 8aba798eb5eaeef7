"""The text of a file that a user uploads, and what is wrong with it as a table, in one sentence."""

import csv


def decode(name: str, content: bytes) -> tuple[str, str]:
    """The text of a file, and the file's name in quotation marks for sentences about it.

    UTF-8, or UTF-16 with a byte order mark. Raises ValueError, with a one-sentence message, for anything else.
    """
    quoted_name = f"“{name[-60:]}”"
    try:
        # byte order marks tell what Excel writes as “Unicode text”
        is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"{quoted_name} is not UTF-8 text.")
    return text, quoted_name


def csv_error_message(error: csv.Error, line: int) -> str:
    """What is wrong in this line of a table, as the end of a sentence."""
    if "end of data" in str(error):
        return "a quotation mark is opened and never closed"
    if "expected after" in str(error):
        return f"in line {line:,} a quotation mark inside a text is not doubled"
    return f"line {line:,}: {error}"
