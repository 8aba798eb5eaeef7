import json
import re
from dataclasses import asdict

import pytest

from model.family_options import Family, Pixels

FAMILIES = [
    Family(name="BERT"),
    Family(name="ALBERT", d_embedding=128, n_layer_groups=1, pooler="tanh", token_class_names=("B-PER", "O")),
    Family(name="ViT", pixels=Pixels(means=(0.1, 0.2, 0.3), resample="bicubic", resized=256, cropped=True)),
    Family(name="ViT", pixels=Pixels(resized=(224, 224))),
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_comes_back_from_json(family: Family) -> None:
    assert Family.from_json(json.loads(json.dumps(asdict(family)))) == family


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "'name' is a required property"),
        ({"name": 3}, "name: 3 is not of type 'string'"),
        ({"name": "x", "pooler": "no"}, "pooler: 'no' is not one of"),
        ({"name": "x", "n_token_types": -1}, "n_token_types: -1 is less than"),
        ({"name": "x", "code": "1"}, "Additional properties are not allowed ('code' was unexpected)"),
        ({"name": "x", "pixels": {"means": 3}}, "pixels means: 3 is not of type 'array'"),
        (
            {"name": "x", "pixels": {"deviations": [0.0, 1.0, 1.0]}},
            "pixels cannot be divided by (0.0, 1.0, 1.0)",
        ),
        ({"name": "x", "tied_output": "yes"}, "tied_output: 'yes' is not of type 'boolean'"),
    ],
)
def test_what_is_no_family_is_refused(values: dict, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Family.from_json(values)
