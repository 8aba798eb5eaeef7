from model.sources.names import group_by_seed, split_seed


def test_the_seed_is_in_the_name():
    assert split_seed("digits-pre-ln") == ("digits-pre-ln", 0)
    assert split_seed("digits-pre-ln-seed12") == ("digits-pre-ln", 12)
    assert split_seed("digits-seedling") == ("digits-seedling", 0)


def test_checkpoints_of_one_recipe_by_seed():
    names = ["b", "a-seed10", "a-seed2", "b-seed1", "a-seed0"]
    assert list(group_by_seed(names).items()) == [
        ("b", ["b", "b-seed1"]),
        ("a", ["a-seed0", "a-seed2", "a-seed10"]),
    ]
