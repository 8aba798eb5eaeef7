"""The text of a file that a user uploads."""

from model.files import table_file


def decode(name: str, content: bytes) -> tuple[str, str]:
    """The text of a file, and the file's name in quotation marks for sentences about it.

    UTF-8, or UTF-16 with a byte order mark. Raises ValueError, with a one-sentence message, for anything else.
    """
    quoted_name = f"“{name[-60:]}”"
    try:
        return table_file.decode(content), quoted_name
    except ValueError as error:
        raise ValueError(f"{quoted_name} cannot be read: {error}.") from None
