import threading
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.hooks import HookPoint, hook_points, is_watched, watch
from tests.model import tiny
from tests.model.tiny import TEXT

TOKENS = torch.tensor([[2, 5, 6, 7, 3]])
PATTERN, Z = "blocks.0.attention.pattern", "blocks.0.attention.z"


@pytest.fixture(scope="module")
def model():
    return tiny.build(TEXT)


def test_the_hook_points_of_one_layer():
    one_layer = tiny.build(replace(TEXT, n_layers=1))
    assert list(hook_points(one_layer)) == [
        "embedding.content",
        "embedding.positions",
        "embedding.output",
        "blocks.0.attention_in",
        "blocks.0.attention.q",
        "blocks.0.attention.k",
        "blocks.0.attention.v",
        "blocks.0.attention.scores",
        "blocks.0.attention.pattern",
        "blocks.0.attention.z",
        "blocks.0.attention_out",
        "blocks.0.resid_mid",
        "blocks.0.feed_forward_in",
        "blocks.0.feed_forward.hidden",
        "blocks.0.feed_forward_out",
        "blocks.0.resid_post",
        "logits",
    ]


def test_every_hook_point_is_passed_once_in_the_order_of_the_list(model):
    seen = []
    with watch(model, {name: lambda _, name=name: seen.append(name) for name in hook_points(model)}):
        model(TOKENS)
    assert seen == list(hook_points(model))


def test_a_hook_point_changes_nothing_by_itself():
    activation = torch.randn(3)
    assert HookPoint()(activation) is activation


def test_watching_leaves_the_logits_as_they_are(model):
    plain = model(TOKENS)
    with watch(model, {name: lambda _: None for name in hook_points(model)}):
        assert torch.equal(model(TOKENS), plain)


def test_nothing_is_watched_after_the_with(model):
    seen = []
    with watch(model, {PATTERN: seen.append}):
        model(TOKENS)
    model(TOKENS)
    assert len(seen) == 1


def test_nothing_is_watched_after_an_exception(model):
    plain, seen = model(TOKENS), []

    def fail(activation):
        seen.append(activation)
        raise ArithmeticError("from a watcher")

    with pytest.raises(ArithmeticError), watch(model, {PATTERN: fail}):
        model(TOKENS)
    assert torch.equal(model(TOKENS), plain)
    assert len(seen) == 1


def test_what_a_watcher_returns_replaces_the_activation(model):
    seen = []
    with watch(model, {Z: torch.zeros_like, "blocks.0.attention_out": seen.append}):
        changed = model(TOKENS)
    bias = model.blocks[0].attention.w_o.bias
    assert torch.equal(seen[0], bias.expand_as(seen[0]))
    assert not torch.equal(changed, model(TOKENS))


def test_the_gradient_goes_through_what_a_watcher_returns(model):
    factor = torch.ones((), requires_grad=True)
    with watch(model, {PATTERN: lambda pattern: pattern * factor}):
        (gradient,) = torch.autograd.grad(model(TOKENS).sum(), factor)
    assert gradient != 0


def test_an_inner_watch_adds_to_the_outer_one(model):
    outer, inner = [], []
    with watch(model, {PATTERN: outer.append}):
        with watch(model, {Z: inner.append}):
            model(TOKENS)
        model(TOKENS)
    assert (len(outer), len(inner)) == (2, 1)


def test_an_inner_watch_sees_what_the_outer_one_made(model):
    seen = []
    with watch(model, {PATTERN: torch.zeros_like}), watch(model, {PATTERN: seen.append}):
        model(TOKENS)
    assert torch.count_nonzero(seen[0]) == 0


def test_two_models_are_watched_apart(model):
    seen = []
    with watch(model, {PATTERN: seen.append}):
        tiny.build(TEXT)(TOKENS)
    assert seen == []


def test_part_of_a_model_can_be_watched(model):
    seen = []
    with watch(model.blocks[1], {"attention.pattern": seen.append}):
        model(TOKENS)
    assert len(seen) == 1


def test_an_unknown_name_lists_the_valid_ones(model):
    with (
        pytest.raises(KeyError, match=r"no hook point blocks\.9\.z.*embedding\.content.*resid_post"),
        watch(model, {"blocks.9.z": print}),
    ):
        pass


def test_a_model_without_hook_points_has_none():
    assert hook_points(nn.Linear(1, 1)) == {}


def test_threads_do_not_see_each_other(model):
    plain, entered, done, heard = model(TOKENS), threading.Event(), threading.Event(), []

    def intervene():
        with watch(model, {Z: torch.zeros_like, PATTERN: heard.append}):
            entered.set()
            done.wait(timeout=60)

    thread = threading.Thread(target=intervene)
    thread.start()
    assert entered.wait(timeout=60)
    during = model(TOKENS)
    done.set()
    thread.join()
    assert torch.equal(during, plain)
    assert heard == []


def test_whether_somebody_watches(model):
    in_other_thread: list[bool] = []
    with watch(model, {Z: lambda _: None}), watch(model, {"logits": lambda _: None}):
        assert is_watched(model, [PATTERN, Z])
        assert is_watched(model, ["logits"])
        assert not is_watched(model, [PATTERN])
        thread = threading.Thread(target=lambda: in_other_thread.append(is_watched(model, [Z])))
        thread.start()
        thread.join()
    assert in_other_thread == [False]
    assert not is_watched(model, hook_points(model))
