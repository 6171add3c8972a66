"""What is found before the first step; which matrices get an adapter."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.training.language_examples import build_example, packed_batch
from evenhand.training.lora_targets import linear_names, resolve_lora_targets
from evenhand.training.mimic_rows import Decisions
from evenhand.training.preflight import check_leaks, leak_check, preflight

MakeDecisions = Callable[..., Decisions]
LEVELS = ("1", "2", "3")
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@pytest.fixture
def model(make_tiny_model: Any) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(str(make_tiny_model()))


@pytest.mark.parametrize(
    ("text", "label", "stated"),
    [
        ("Ankle sprain. ESI 4", "4", True),
        ("triage level: 2, chest pain", "2", True),
        ("KTAS = 3", "3", True),
        ("Priorité 2, douleur", "2", True),
        ("Acuity was 3 on arrival", "3", True),
        ("Triage level: 2", "3", False),
        ("ESI 40", "4", False),
        ("level 4.5 mg", "4", False),
        ("4 days of cough, 4/10", "4", False),
        ("ankle sprain, level unknown, 4 hours ago", "4", False),
    ],
)
def test_a_level_is_stated_after_a_scales_name_alone(text: str, label: str, stated: bool) -> None:
    assert bool(leak_check(text, label)) is stated


def test_notes_that_state_the_decision_are_refused(make_decisions: MakeDecisions) -> None:
    made = make_decisions(100)
    check_leaks(made.rows, made.levels, LEVELS)
    texts = tuple(
        f"{text} Triage level {LEVELS[level]}."
        for text, level in zip(made.rows.texts, made.levels.tolist(), strict=True)
    )
    with pytest.raises(UserError, match="100 of 100 notes state the decided level"):
        check_leaks(replace(made.rows, texts=texts), made.levels, LEVELS)


def test_a_column_that_is_the_decision_is_refused(make_decisions: MakeDecisions) -> None:
    made = make_decisions(100)
    held = {**made.rows.numbers, "first_level": made.levels.astype(np.float64) + 1}
    with pytest.raises(UserError, match="Column 'first_level' equals the decided level in 100"):
        check_leaks(replace(made.rows, numbers=held), made.levels, LEVELS)


def test_what_was_found_is_counted(model: Any) -> None:
    some = [build_example((1, 5, 6, place), (9,), 4) for place in range(10, 14)]
    for name, each in model.named_parameters():
        each.requires_grad = "q_proj" in name
    found = preflight(model, some, batch=2, layout=packed_batch)
    assert found.trainable == 2 * 64 * 64
    assert found.parameters > 10 * found.trainable
    assert found.first_loss > 1
    assert found.shortened == 4


def test_nothing_to_train_or_a_damaged_model_is_one_sentence(model: Any) -> None:
    some = [build_example((1, 5, 6), (9,), 10)]
    model.get_input_embeddings().weight.data[5] = np.nan
    with pytest.raises(UserError, match="expected more than 0"):
        preflight(model, some, batch=2, layout=packed_batch)
    model.requires_grad_(False)
    with pytest.raises(UserError, match="nothing to train"):
        preflight(model, some, batch=2, layout=packed_batch)


def test_all_projections_of_attention_and_mlp_get_an_adapter(model: Any) -> None:
    assert resolve_lora_targets(linear_names(model)) == PROJECTIONS
    assert resolve_lora_targets(linear_names(model), ["v_proj"]) == ("v_proj",)
    with pytest.raises(UserError, match="no projection 'c_attn'; expected some of q_proj"):
        resolve_lora_targets(linear_names(model), ["c_attn"])


@pytest.mark.parametrize("names", [[], ["lm_head", "score", "model.embed_tokens", "classifier"]])
def test_a_model_without_projections_is_one_sentence(names: list[str]) -> None:
    with pytest.raises(UserError, match="no projections"):
        resolve_lora_targets(names)
