"""Every provider: cheap to import, a mistake is one sentence, and a dropped file is one more."""

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import providers as folder
from evenhand.tools.providers import (
    ModelSettings,
    check_model,
    find_provider,
    model_host,
    open_model,
    providers,
)

HEAVY = ("xllamacpp", "langchain_core", "aiohttp", "langsmith", "huggingface_hub", "jsonschema")
COLD = f"""
import sys, time
started = time.process_time()
from evenhand.tools.providers import providers
names = providers.names()
seconds = time.process_time() - started
print(len(names), [name for name in {HEAVY!r} if name in sys.modules], seconds)
"""
A_PROVIDER = '''
"""A provider."""
from evenhand.tools.completions import Completion
from evenhand.tools.providers import completion_model, provider


@provider(form="dropped/<name>", in_process=True)
async def dropped(settings):
    """Says its name."""

    async def complete(prompt):
        return Completion(settings.name)

    return completion_model("dropped", settings, complete, identity={})
'''
MINE = ModelSettings(base_url="http://localhost:9/v1")


def test_listing_providers_imports_no_client() -> None:
    ended = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    count, heavy, seconds = ended.stdout.split()
    assert int(count) == len(providers.names())
    assert heavy == "[]"
    assert float(seconds) < 1.0, "half a second on a quiet machine"


@pytest.mark.parametrize("name", providers.names())
def test_a_provider_says_what_it_is(name: str) -> None:
    entry = providers.get(name)
    assert entry.form.startswith(name)
    assert entry.title.endswith((".", ":")) or len(entry.title) > 20


@pytest.mark.parametrize("name", [name for name in providers.names() if name != "local"])
def test_a_name_is_needed(name: str) -> None:
    with pytest.raises(UserError, match=rf"Model '{name}/?' has no name; expected {name}/<"):
        check_model(name, MINE)


@pytest.mark.parametrize("spec", ["opnai/gpt-4o", "gpt-4o", "", "/", "rules/x"])
def test_an_unknown_provider_is_a_sentence_with_the_valid_ones(spec: str) -> None:
    for check in (check_model, model_host):
        with pytest.raises(UserError, match=r"Unknown model provider .*expected one of: .*openai"):
            check(spec, MINE)


def test_the_nearest_name_comes_first() -> None:
    with pytest.raises(UserError, match="expected one of: openai,"):
        find_provider("opnai/gpt-4o")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"needs the package xllamacpp.*pip install xllamacpp"):
        check_model("local", ModelSettings())


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    (tmp_path / "dropped.py").write_text(A_PROVIDER)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in providers.names()

        async def work() -> str:
            model = await open_model("dropped/hello", ModelSettings())
            return str((await model.chat.ainvoke([("user", "Hi")])).text)

        assert asyncio.run(work()) == "hello"
    finally:
        providers.forget("dropped")
        sys.modules.pop("evenhand.tools.providers.dropped", None)
