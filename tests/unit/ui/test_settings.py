"""Settings: file, environment, flags; a mistake in any of them is one sentence."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from evenhand.agents.plan import DEFAULT_ROLES
from evenhand.graph_store.errors import UserError
from evenhand.ui.settings import RoleChoice, Settings, load_settings

CONFIG = """
runs_dir = "from-file"
max_in_flight = 3
[roles.target]
model = "openai/gpt-4o"
base_url = "http://127.0.0.1:1/v1"
max_tokens = 200
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "evenhand.toml"
    path.write_text(CONFIG)
    return path


def test_without_a_word_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings()
    assert settings.runs_dir == Path("evenhand-runs")
    assert settings.role_models() == DEFAULT_ROLES
    with pytest.raises(ValidationError):
        settings.graph = "other"  # type: ignore[misc]


def test_flags_win_over_environment_over_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().runs_dir == Path("from-file")
    monkeypatch.setenv("EVENHAND_RUNS_DIR", "from-environment")
    monkeypatch.setenv("EVENHAND_ROLES__TARGET__MAX_TOKENS", "77")
    settings = load_settings(max_in_flight=9)
    assert (settings.runs_dir, settings.max_in_flight) == (Path("from-environment"), 9)
    target = settings.role_models(target=RoleChoice(temperature=0.1))["target"]
    assert (target.model, target.max_tokens, target.temperature) == ("openai/gpt-4o", 77, 0.1)
    assert load_settings(str(config), runs_dir="from-flag").runs_dir == Path("from-flag")


def test_an_address_belongs_to_the_model_that_it_was_written_for(config: Path) -> None:
    settings = load_settings()
    assert settings.role_models()["target"].base_url == "http://127.0.0.1:1/v1"
    other = settings.role_models(target=RoleChoice(model="local"))["target"]
    assert (other.model, other.base_url, other.max_tokens) == ("local", None, 200)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[rols.target]\nmodel = 'x'", "Unknown setting 'rols'.*expected one of: runs_dir"),
        ("[roles.targt]\nmodel = 'x'", "Unknown setting 'roles.targt'.*target, judge"),
        ("[roles.target]\nmodl = 'x'", "Unknown setting 'roles.target.modl'.*model, temperature"),
        ("max_in_flight = 'many'", "Setting max_in_flight = 'many'"),
        ("[roles.target]\ntemperature = 9", "Setting roles.target.temperature = 9"),
        ("runs_dir = ", "is not TOML"),
    ],
)
def test_a_mistake_names_the_place_and_the_valid_names(config: Path, text: str, part: str) -> None:
    config.write_text(text)
    with pytest.raises(UserError, match=part) as error:
        load_settings()
    assert "\n" not in str(error.value)


def test_a_missing_file_is_an_error_only_where_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings().model_dump() == Settings().model_dump()
    with pytest.raises(UserError, match=r"No file 'no.toml'"):
        load_settings("no.toml")


NEO4J = "bolt://127.0.0.1:7687"


def test_one_variable_makes_neo4j_the_store_for_good(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (load_settings().graph, load_settings().names_graph) == ("sqlite", False)
    config.write_text('graph = "neo4j://graph.example.org:7687"')
    assert load_settings().graph == "neo4j://graph.example.org:7687"
    monkeypatch.setenv("EVENHAND_NEO4J", f" {NEO4J} ")
    assert (load_settings().graph, load_settings().names_graph) == (NEO4J, True)
    monkeypatch.setenv("EVENHAND_GRAPH", "sqlite")
    assert (load_settings().graph, load_settings().names_graph) == ("sqlite", True)
    assert load_settings(graph="sqlite:other").graph == "sqlite:other"
    monkeypatch.setenv("EVENHAND_NEO4J", "")
    monkeypatch.delenv("EVENHAND_GRAPH")
    assert load_settings().graph == "neo4j://graph.example.org:7687"


@pytest.mark.parametrize("address", ["sqlite", "127.0.0.1:7687", "http://127.0.0.1:7474", "bolt:"])
def test_a_variable_that_names_no_neo4j_server_is_a_mistake(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_NEO4J", address)
    with pytest.raises(UserError, match=r"expected one such as bolt://127\.0"):
        load_settings()
