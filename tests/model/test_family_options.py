import json
import re
from dataclasses import asdict

import pytest

from model.family_options import Family, Pixels
from model.schema import convert_closed

FAMILIES = [
    Family(name="BERT"),
    Family(name="ALBERT", d_embedding=128, n_layer_groups=1, pooler="tanh", token_class_names=("B-PER", "O")),
    Family(name="ViT", pixels=Pixels(means=(0.1, 0.2, 0.3), resample="bicubic", resized=256, cropped=True)),
    Family(name="ViT", pixels=Pixels(resized=(224, 224))),
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_comes_back_from_json(family):
    assert convert_closed(json.loads(json.dumps(asdict(family))), Family) == family


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": 3}, "name must be text, got 3"),
        (
            {"name": "x", "pooler": "no"},
            "pooler must be one of relu, gelu, gelu_tanh, silu, quick_gelu, tanh, none, got 'no'",
        ),
        ({"name": "x", "n_token_types": -1}, "n_token_types must be a whole number >= 0, got -1"),
        ({"name": "x", "code": "1"}, "unknown field 'code'"),
        ({"name": "x", "pixels": {"means": 3}}, "pixels means must be a list, got 3"),
        (
            {"name": "x", "pixels": {"deviations": [0.0, 1.0, 1.0]}},
            "pixels cannot be divided by (0.0, 1.0, 1.0)",
        ),
        ({"name": "x", "tied_output": "yes"}, "tied_output must be true or false, got 'yes'"),
    ],
)
def test_what_is_no_family_is_refused(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        convert_closed(values, Family)
