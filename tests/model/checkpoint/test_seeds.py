from model.checkpoint.seeds import by_seed, seed_of


def test_the_seed_is_in_the_name():
    assert seed_of("digits-pre-ln") == ("digits-pre-ln", 0)
    assert seed_of("digits-pre-ln-seed12") == ("digits-pre-ln", 12)
    assert seed_of("digits-seedling") == ("digits-seedling", 0)


def test_checkpoints_of_one_recipe_by_seed():
    names = ["b", "a-seed10", "a-seed2", "b-seed1", "a-seed0"]
    assert list(by_seed(names).items()) == [
        ("b", ["b", "b-seed1"]),
        ("a", ["a-seed0", "a-seed2", "a-seed10"]),
    ]
