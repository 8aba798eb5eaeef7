"""The class that a label of a data set names."""

import re


def class_index_of(label: object, names: tuple[str, ...]) -> int:
    """Index of the class with this name, in upper or lower case, or with this index, given as text: "1", or "1.0" as pandas
    writes a column in which labels are missing.

    Raises ValueError if there is no such class.
    """
    word = str(label).strip().lower()
    if word in (lower_case_names := [name.lower() for name in names]):
        return lower_case_names.index(word)
    number = re.sub(r"[.,]0*$", "", word)
    if number.isdecimal() and int(number) < len(names):
        return int(number)
    raise ValueError(f"a label must be one of {names} or a number below {len(names)}, got {label!r}")
