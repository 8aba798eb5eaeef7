"""The class that a label of a data set names."""


def class_index_of(label: object, names: tuple[str, ...]) -> int:
    """Index of the class with this name, in upper or lower case, or with this index, given as text.

    Raises ValueError if there is no such class.
    """
    word = str(label).strip().lower()
    if word in (lower_case_names := [name.lower() for name in names]):
        return lower_case_names.index(word)
    if word.isdecimal() and int(word) < len(names):
        return int(word)
    raise ValueError(f"a label must be one of {names} or a number below {len(names)}, got {label!r}")
