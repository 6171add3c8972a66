"""vLLM in this process, where it is installed.

Its pins (transformers 5.19, pillow 13) conflict with ours, so it cannot stand in the environment
that CI tests, and it does not: `bench/score_vllm.py` runs in an environment of its own, and what it
gave, with the adapter and through the server, is in bench/results/score_vllm.md.
"""

import asyncio
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.scoring import OpenScorer, ScorerSettings, check_scorer, open_scorer

HERE = importlib.util.find_spec("vllm") is not None


@pytest.mark.skipif(HERE, reason="vLLM is installed")
def test_where_it_is_not_installed_the_way_out_is_said() -> None:
    with pytest.raises(UserError, match=r"not installed here; name a running vLLM server with"):
        check_scorer("vllm/some/model", ScorerSettings())


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(UserError, match="start it, or correct the address"):
        asyncio.run(open_scorer("vllm/m", ScorerSettings(base_url="http://127.0.0.1:9")))


@pytest.mark.skipif(
    not HERE,
    reason="vLLM's pins conflict with ours, so CI does not have it; the recorded run is "
    "bench/results/score_vllm.md",
)
def test_it_agrees_with_torch(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from evenhand.tools.providers.local import embedded_weights

    weights = embedded_weights()
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    tokenizer.save_pretrained(tmp_path)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    prompts = [f"Note: pain for {days} days. Sex: {s}." for days in range(9) for s in "fm"]

    async def scored(spec: str) -> np.ndarray:
        scorer: OpenScorer = await open_scorer(spec)
        found = np.zeros((len(prompts), 3))
        async for part in scorer.score(prompts, ("1", "2", "mild pain")):
            found[part.places] = part.log_probs
        await scorer.close()
        return found

    by_vllm, by_torch = (asyncio.run(scored(f"{kind}/{tmp_path}")) for kind in ("vllm", "torch"))
    assert np.abs(by_vllm - by_torch).max() < 1e-3
