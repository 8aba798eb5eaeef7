"""The keys that a query looks at most, in numbers."""

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]


def test_a_repeated_word_is_named_as_beside_the_matrix_and_not_counted(open_app: Open) -> None:
    app = open_app(text="not great not", checkpoint="imdb-pre-ln", view="lines")
    assert not app.exception
    (table,) = (block.proto.body for block in app.get("html") if 'class="strongest"' in block.proto.body)
    names = re.findall(r"<tr><td>(.*?)</td>", table)
    assert {"not ₁", "not ₃", "great"} <= set(names)
    assert not any(name.endswith(" not") for name in names)
