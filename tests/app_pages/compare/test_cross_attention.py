import numpy as np

from app_pages.subject.subject import LiveSubject
from model.experiments.query_attention import cross_pattern
from model.inputs import Text
from tests.app_pages.charts import shown, weights


def test_queries_of_the_first_text_look_at_the_second(open_compare):
    app = open_compare(
        compare_part="Cross-attention",
        compare_what="two inputs",
        text="not great film",
        compare_text="great plot",
        layer="1",
    )
    assert not app.exception
    figure = shown(app, "cross")
    asks, answers = (
        LiveSubject("imdb-pre-ln", Text(text)).record for text in ("not great film", "great plot")
    )
    np.testing.assert_allclose(weights(figure), cross_pattern(asks, answers, 1, 0), atol=1e-6)
    assert (len(figure["data"][0]["y"]), len(figure["data"][0]["x"])) == (len(asks), len(answers))
