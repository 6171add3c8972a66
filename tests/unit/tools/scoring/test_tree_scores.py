"""Scores on a prefix tree are those of plain forward passes, whatever the batches and the order."""

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools.scoring import LogProbs, Work, fused_decoder
from evenhand.tools.scoring.forward_passes import ForwardPasses
from evenhand.tools.scoring.forward_scores import (
    ReadyModel,
    padded_scores,
    ready_model,
    score_tokens,
)
from evenhand.tools.scoring.fused_decoder import FusedDecoder, FusedPasses
from evenhand.tools.scoring.packing import plan_blocks, plan_passes, visible
from evenhand.tools.scoring.prefix_tree import build_tree
from evenhand.tools.scoring.products import HalvedProducts, PlainProducts, bfloat16_product
from evenhand.tools.scoring.torch import lend_scorer

# In CI nothing may skip: there a missing package is an error.
_open = import_module if os.environ.get("CI") else pytest.importorskip
torch: Any = _open("torch")
transformers: Any = _open("transformers")

VOCABULARY = 31
TOLERANCE = {"float32": 1e-4, "float64": 1e-5, "halves": 1e-3}
"""Also a model in float64 takes its norms and positions in float32."""
FUSED = {"prefix tree, fused layers", "prefix tree, fused layers, products by halves"}
"""Which of them it is depends on the processor."""
Ids = tuple[int, ...]


@lru_cache
def tiny(kind: str, dtype: str = "float32", **more: Any) -> Any:
    """A model of two layers with random weights."""
    torch.manual_seed(7)
    common: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 40,
        "max_position_embeddings": 64,
        "initializer_range": 0.4,
    }
    if kind == "gpt2":
        config: Any = transformers.GPT2Config(
            vocab_size=VOCABULARY,
            n_embd=24,
            n_layer=2,
            n_head=4,
            n_positions=64,
            initializer_range=0.4,
        )
    elif kind == "mamba":
        config = transformers.MambaConfig(
            vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=2, state_size=4
        )
    elif kind == "bloom":
        config = transformers.BloomConfig(
            vocab_size=VOCABULARY, hidden_size=24, n_layer=2, n_head=4, initializer_range=0.4
        )
    else:
        config = transformers.AutoConfig.for_model(
            kind, **{**common, "num_key_value_heads": 2, **more}
        )
    model = transformers.AutoModelForCausalLM.from_config(config)
    return model.to(getattr(torch, dtype)).eval()


@lru_cache
def opened(kind: str, dtype: str = "float32") -> ReadyModel:
    return ready_model(tiny(kind, dtype))


@lru_cache
def fused(kind: str, way: str) -> ReadyModel:
    """A model on fused layers, multiplied in one way wherever this runs."""
    halves = way == "halves"
    if halves and bfloat16_product() is None and not os.environ.get("CI"):
        pytest.skip("this torch comes without oneMKL")
    model = tiny(kind, "float32" if halves else way)
    decoder = FusedDecoder(model, HalvedProducts(anywhere=True) if halves else PlainProducts())
    return ReadyModel(
        model, "prefix tree, fused layers", lambda tree: FusedPasses(decoder, tree), 64, None
    )


def one_by_one(model: Any, prompts: Sequence[Ids], labels: Sequence[Ids]) -> LogProbs:
    """The reference: a whole forward pass for each prompt and label, nothing shared."""
    found = np.zeros((len(prompts), len(labels)))
    with torch.inference_mode():
        for row, prompt in enumerate(prompts):
            for column, label in enumerate(labels):
                logits = model(torch.tensor([[*prompt, *label]])).logits[0].double()
                logs = torch.log_softmax(logits, dim=-1)
                found[row, column] = sum(
                    float(logs[len(prompt) - 1 + at, token]) for at, token in enumerate(label)
                )
    return found


def scored(
    ready: ReadyModel, prompts: Sequence[Ids], labels: Sequence[Ids], budget: int
) -> tuple[LogProbs, Work]:
    found = np.full((len(prompts), len(labels)), np.nan)
    seen: list[int] = []
    work = Work()
    for part in score_tokens(ready, prompts, labels, token_budget=budget):
        found[part.places] = part.log_probs
        seen += part.places.tolist()
        work += part.work
    assert sorted(seen) == list(range(len(prompts)))
    return found, work


tokens = st.integers(0, VOCABULARY - 1)
# Few different tokens at the start, so that prompts share stems.
prompt = st.tuples(
    st.lists(st.integers(0, 1), max_size=8), st.lists(tokens, min_size=1, max_size=6)
).map(lambda parts: (*parts[0], *parts[1]))
prompt_lists = st.lists(prompt, min_size=1, max_size=10)
label_lists = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple),
    min_size=2,
    max_size=4,
    unique=True,
)
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("way", ["float32", "float64", "halves"])
@given(
    prompts=prompt_lists, labels=label_lists, budget=st.integers(1, 40), block=st.integers(1, 12)
)
@some
def test_any_batch_gives_what_each_prompt_gives_alone(
    way: str, prompts: list[Ids], labels: list[Ids], budget: int, block: int
) -> None:
    ready = fused("llama", way)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused_decoder, "_BLOCK", block)
        patch.setattr(fused_decoder, "_PART", 3)
        found, work = scored(ready, prompts, labels, budget)
    expected = one_by_one(ready.model, prompts, labels)
    assert found == pytest.approx(expected, abs=TOLERANCE[way])
    nodes = {
        (*prompt, *label[:end])[:depth]
        for prompt in prompts
        for label in labels
        for end in range(len(label))
        for depth in range(1, len(prompt) + end + 1)
    }
    assert work.computed_tokens == work.distinct_tokens == len(nodes)


@given(
    prompts=prompt_lists,
    labels=label_lists,
    budgets=st.tuples(st.integers(1, 40), st.integers(1, 9)),
    random=st.randoms(use_true_random=False),
)
@some
def test_row_order_duplicates_and_batch_size_change_nothing(
    prompts: list[Ids], labels: list[Ids], budgets: tuple[int, int], random: Any
) -> None:
    ready = opened("llama")
    found, work = scored(ready, prompts, labels, budgets[0])
    order = [random.randrange(len(prompts)) for _ in range(len(prompts))] + list(
        range(len(prompts))
    )
    random.shuffle(order)
    again, more = scored(ready, [prompts[place] for place in order], labels, budgets[1])
    assert again == pytest.approx(found[order], abs=TOLERANCE["halves"])
    assert more.computed_tokens == work.computed_tokens


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("llama", FUSED),
        ("qwen2", FUSED),
        ("qwen3", {"prefix tree"}),
        ("gemma", {"prefix tree"}),
        ("gpt2", {"prefix tree"}),
        ("bloom", {"padded batches"}),
        ("mamba", {"padded batches"}),
    ],
)
def test_every_architecture_gives_the_same_and_says_how(kind: str, method: set[str]) -> None:
    model = tiny(kind)
    ready = ready_model(model)
    assert ready.method in method
    assert bool(ready.says) == (method == {"padded batches"})
    prompts = [(1, 2, 3), (1, 2, 4, 5), (1, 2, 3), (6,), (1, 2, 4, 5, 9, 8, 7)]
    labels = [(3,), (4, 1), (4, 2)]
    expected = one_by_one(model, prompts, labels)
    for budget in (1, 6, 100):
        assert scored(ready, prompts, labels, budget)[0] == pytest.approx(expected, abs=1e-3)


def test_models_whose_layers_see_a_window_only() -> None:
    model = tiny("mistral", sliding_window=16)
    ready = ready_model(model)
    assert "16 tokens" in ready.says
    short, long = [(1, 2, 3), (1, 2, 4)], [(*range(20), 3), (*range(20), 4), (1, 2)]
    for prompts in (short, long):
        expected = one_by_one(model, prompts, [(1,), (2,)])
        assert scored(ready, prompts, [(1,), (2,)], 9)[0] == pytest.approx(expected, abs=1e-4)


def test_the_plain_tree_and_padded_batches_agree_with_the_fused_one() -> None:
    model = tiny("llama")
    prompts, labels = [(1, 2, 3, 4), (1, 2, 5), (7, 2, 5, 6, 6, 6)], [(3,), (4, 1)]
    expected = scored(fused("llama", "float32"), prompts, labels, 9)[0]
    assert lend_scorer(model, prompts, labels) == pytest.approx(expected, abs=1e-3)
    plain = ReadyModel(model, "prefix tree", lambda tree: ForwardPasses(model, tree), 64, None)
    assert scored(plain, prompts, labels, 4)[0] == pytest.approx(expected, abs=1e-4)
    padded = np.zeros((3, 2))
    for part in padded_scores(model, prompts, labels, token_budget=16):
        padded[part.places] = part.log_probs
    assert padded == pytest.approx(expected, abs=1e-4)


def test_a_prompt_longer_than_the_context_is_unscored_and_the_others_are_not() -> None:
    ready = ready_model(tiny("llama"))
    prompts = [(1, 2), tuple(range(31)) * 3, tuple(range(31)) * 2]
    parts = list(score_tokens(ready, prompts, [(1,), (2, 3, 4)]))
    status = {int(p): s for part in parts for p, s in zip(part.places, part.statuses, strict=True)}
    assert status == {0: "ok", 1: "too_long", 2: "ok"}
    assert [part.levels.tolist() for part in parts if 1 in part.places] == [[-1]]


def test_no_memory_left_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = ready_model(tiny("llama"))

    def start(tree: object) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    broken = ReadyModel(ready.model, ready.method, start, 64, None)
    with pytest.raises(UserError, match="no memory left on cpu for passes of 9 tokens"):
        list(score_tokens(broken, [(1, 2)], [(1,), (2,)], token_budget=9))


@given(prompts=prompt_lists, budget=st.integers(1, 30), block=st.integers(1, 9))
@some
def test_passes_and_blocks_are_an_exact_cover_and_see_their_ancestors_alone(
    prompts: list[Ids], budget: int, block: int
) -> None:
    tree = build_tree(prompts)
    paths: list[Ids] = []
    for node in range(len(tree)):
        before = [other for other in range(node) if tree.ends[other] > node]
        assert len(before) == tree.depths[node]
        paths.append(tuple(tree.tokens[[*before, node]].tolist()))
    assert sorted(paths) == sorted({p[:end] for p in prompts for end in range(1, len(p) + 1)})
    assert [paths[node] for node in tree.terminals] == prompts
    covered: list[int] = []
    for one in plan_passes(tree, budget):
        assert len(one) <= budget
        covered += range(one.start, one.stop)
        keys = np.array([*one.path.tolist(), *range(one.start, one.stop)])
        for row, node in zip(visible(tree, one), range(one.start, one.stop), strict=True):
            assert tuple(tree.tokens[keys[row]].tolist()) == paths[node]
        inside: list[int] = []
        for each in plan_blocks(tree, one, block):
            assert 0 < each.stop - each.start <= block
            inside += range(one.start + each.start, one.start + each.stop)
            for row, node in zip(each.seen, inside[-len(each.seen) :], strict=True):
                assert tuple(tree.tokens[keys[each.keys][row]].tolist()) == paths[node]
            assert each.seen.any(axis=0).all(), "a key that nobody attends to"
        assert inside == list(range(one.start, one.stop))
    assert covered == list(range(len(tree)))


def test_an_empty_prompt_and_an_empty_budget_are_refused() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        build_tree([(1,), ()])
    with pytest.raises(ValueError, match="at least 1"):
        list(plan_passes(build_tree([(1,)]), 0))
