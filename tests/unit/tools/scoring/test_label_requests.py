"""How a server is asked, decided before the first request."""

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.scoring.label_requests import MAX_NAMED_TOKENS, plan_requests


def test_named_tokens_need_no_list() -> None:
    assert plan_requests(5, max_logprobs=0, names_tokens=True).strategy == "named_tokens"
    many = plan_requests(MAX_NAMED_TOKENS + 1, max_logprobs=20, names_tokens=True)
    assert many.strategy == "score_each_label"


def test_labels_over_the_limit_are_scored_each() -> None:
    assert plan_requests(20, max_logprobs=20).strategy == "top_list"
    assert plan_requests(21, max_logprobs=20).strategy == "score_each_label"


def test_a_server_without_log_probabilities_is_refused() -> None:
    with pytest.raises(UserError, match="gives no log-probabilities"):
        plan_requests(5, max_logprobs=0)


@pytest.mark.parametrize(
    ("version", "prompt", "kept"),
    [
        ("0.5.5", True, False),
        ("0.5.5", False, True),
        ("0.32.0", True, True),
        ("0.8.0", True, True),
        ("", True, False),
    ],
)
def test_an_old_prefix_cache_is_passed_by(version: str, prompt: bool, kept: bool) -> None:
    plan = plan_requests(5, max_logprobs=20, needs_prompt_logprobs=prompt, version=version)
    assert plan.prefix_cache is kept


def test_no_prefix_cache_where_the_server_has_none() -> None:
    assert not plan_requests(5, max_logprobs=20, prefix_caching=False).prefix_cache
