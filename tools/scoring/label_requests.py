"""How a server is asked for log-probabilities of labels, decided before the first request."""

from dataclasses import dataclass
from typing import Literal

from evenhand.graph_store.errors import UserError

MAX_NAMED_TOKENS = 128
"""vLLM's limit of `logprob_token_ids` in a request (vllm.sampling_params)."""
_SAFE_PROMPT_LOGPROBS = (0, 8)
"""vLLM from which a request with prompt log-probabilities passes by the prefix cache; before it
crashed or got stale values (vLLM issue 8268)."""

Strategy = Literal["named_tokens", "top_list", "score_each_label"]


@dataclass(frozen=True)
class RequestPlan:
    """How labels are asked for.

    Attributes:
        strategy: "named_tokens": their log-probabilities by id; "top_list": found among the
            likeliest; "score_each_label": a request each.
        prefix_cache: Whether the server's prefix cache may be used.
    """

    strategy: Strategy
    prefix_cache: bool = True


def plan_requests(
    labels: int,
    *,
    max_logprobs: int,
    names_tokens: bool = False,
    needs_prompt_logprobs: bool = False,
    prefix_caching: bool = True,
    version: str = "",
) -> RequestPlan:
    """Return how a server is asked.

    Args:
        labels: Different tokens that must be seen.
        max_logprobs: Likeliest tokens that the server lists at most; 0: none.
        names_tokens: Whether it gives the log-probabilities of named tokens.
        needs_prompt_logprobs: Whether log-probabilities inside the prompt are asked for.
        prefix_caching: Whether the server keeps stems.
        version: Of the server, such as "0.5.5"; "" where it is not known.

    Raises:
        UserError: Nothing would give the labels' log-probabilities.
    """
    cache = prefix_caching and not (needs_prompt_logprobs and _is_old(version))
    if names_tokens and labels <= MAX_NAMED_TOKENS:
        return RequestPlan("named_tokens", cache)
    if max_logprobs < 1 and not names_tokens:
        raise UserError("The server gives no log-probabilities; choose another model.")
    return RequestPlan("score_each_label" if labels > max_logprobs else "top_list", cache)


def _is_old(version: str) -> bool:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return len(numbers) < 2 or numbers < _SAFE_PROMPT_LOGPROBS
