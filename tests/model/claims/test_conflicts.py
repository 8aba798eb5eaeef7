from model.claims.conflicts import conflicts
from tests.model.claims.invented_measurements import invented

MORE, LESS = (2.0, 2.1, 2.2), (1.0, 1.1, 1.2)


def told(*measured):
    return [found.seems for found in conflicts(measured)]


def test_figures_that_agree_are_not_told_of():
    last, whole = (
        invented(LESS, MORE, figure=f"gradient of {what}") for what in ("the last layer", "all parameters")
    )
    assert not told(last, whole)
    assert not told()


def test_the_last_layer_against_all_parameters():
    last = invented(LESS, MORE, figure="gradient of the last layer")
    whole = invented(MORE, LESS, figure="gradient of all parameters")
    (seems,) = told(last, whole)
    assert (
        "(all 3 seeds), the gradient of the last layer is larger in post-LN (pre-LN 1.1, post-LN 2.1)"
        in seems
    )
    assert "all parameters in pre-LN" in seems
    elsewhere = invented(MORE, LESS, figure="gradient of all parameters", where="others")
    assert not told(last, elsewhere)
    one_seed_disagrees = invented((2.0, 2.1, 1.1), (1.0, 1.1, 1.2), figure="gradient of all parameters")
    assert not told(last, one_seed_disagrees)


def test_before_and_after_training():
    fresh = invented((0.5,) * 3, MORE, figure="gradient, fresh", where="encoders, untrained")
    trained = invented((1.5,) * 3, MORE, figure="gradient, trained")
    (seems,) = told(fresh, trained)
    assert (
        "early layers have the larger gradient at the start (all 3 seeds), late ones at the end (all 3 seeds)"
        in seems
    )
    assert "0.5, then 1.5" in seems


def test_training_reverses_the_order_only_where_it_does_so_in_every_seed():
    """The means cross 1, but one seed of three alone does."""
    untrained = invented(MORE, (0.7, 1.17, 0.99), figure="gradient, fresh", where="encoders, untrained")
    assert not told(untrained, invented(MORE, (0.92, 1.35, 1.4), figure="gradient, trained"))


def runs(steps, without, warmed):
    where = f"full size, rate 0.003, {steps} steps of warm-up"
    options = {"where": where, "source": "runs"}
    return [
        invented((0.8,), (without,), figure="reached without warm-up", **options),
        invented((0.8,), (warmed,), figure="reached with warm-up", **options),
    ]


def test_few_steps_of_warm_up_against_many():
    (seems,) = told(*runs(30, 0.1, 0.3), *runs(100, 0.1, 0.5))
    assert (
        "reaches 10\u2009% of the digits without warm-up, 30\u2009% with 30 steps, 50\u2009% with 100 steps"
        in seems
    )
    assert not told(*runs(30, 0.1, 0.3), *runs(100, 0.1, 0.32))
    assert not told(*runs(100, 0.1, 0.5))


def test_a_stream_that_grows_behind_norms():
    (seems,) = told(invented(MORE, (1.5, 1.6, 1.7)))
    assert "1.60 times as long" in seems
    assert not told(invented(MORE, (1.0, 1.05, 1.1)))
    assert not told(invented(MORE, (1.0, 1.5, 2.5)))  # one seed does not grow
    assert not told(invented(MORE, (1.5, 1.6, 1.7), where="encoders, untrained"))


def test_faster_but_not_better():
    faster = invented(LESS, MORE, figure="loss while learning")
    (seems,) = told(faster, invented(LESS, MORE, figure="accuracy"))
    assert "pre-LN learns faster and post-LN classifies more examples correctly" in seems
    assert not told(faster, invented(MORE, LESS, figure="accuracy"))


def test_a_difference_in_accuracy_within_its_standard_error_is_none():
    faster = invented(LESS, MORE, figure="loss while learning")
    barely = {"figure": "accuracy", "n": 10_000}
    assert not told(faster, invented((0.9952, 0.9957), (0.9953, 0.9959), seeds=(0, 1), **barely))
    assert told(faster, invented((0.98, 0.98), (0.99, 0.99), seeds=(0, 1), **barely))


def test_another_optimiser():
    small = invented(MORE, LESS, figure="entropy", where="small text encoders", optimizer="adamw")
    other = {"figure": "entropy", "where": "review encoders"}
    (found,) = conflicts([small, invented((1.0,), (2.0,), optimizer="muon and adamw", **other)])
    assert "Attention is spread over more keys in pre-LN." in found.seems
    assert "AdamW" in found.because
    assert "Muon" in found.because
    assert not conflicts([small, invented((2.0,), (1.0,), optimizer="muon and adamw", **other)])
    assert not conflicts([small, invented((1.0,), (2.0,), optimizer="adamw", **other)])
    unclear = invented(
        (1.0, 2.0, 3.0), LESS, figure="entropy", where="small text encoders", optimizer="adamw"
    )
    assert not conflicts([unclear, invented((1.0,), (2.0,), optimizer="muon and adamw", **other)])
