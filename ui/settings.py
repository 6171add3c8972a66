"""Settings: one TOML, the environment and flags, in that order of rising weight, made once.

```toml
runs_dir = "evenhand-runs"
graph = "sqlite"

[roles.target]
model = "openai/gpt-4o"
max_tokens = 400
```

The file is the one named by --config, else evenhand.toml in the working directory. In the
environment the same names are EVENHAND_RUNS_DIR, EVENHAND_GRAPH, EVENHAND_ROLES__TARGET__MODEL.
EVENHAND_NEO4J is the address of a Neo4j server that keeps the graph; EVENHAND_GRAPH goes before it.
Keys of model providers and the user and password of Neo4j are never settings: their own variables
hold them.
"""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings.exceptions import SettingsError

from evenhand.agents.plan import DEFAULT_ROLES, Role, RoleModel
from evenhand.graph_store.errors import UserError

CONFIG_NAME = "evenhand.toml"
NEO4J_VARIABLE = "EVENHAND_NEO4J"


class RoleChoice(BaseModel):
    """What a person says about a role; what they leave out comes from the default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    base_url: str | None = None
    path: str | None = None


class Settings(BaseSettings):
    """What holds for every command; frozen, passed down, never global."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="EVENHAND_", env_nested_delimiter="__"
    )

    runs_dir: Path = Path("evenhand-runs")
    graph: str = "sqlite"
    """Where the knowledge graph is kept: "sqlite" (in runs_dir), "sqlite:PATH", a Neo4j server."""
    max_in_flight: int = Field(default=16, gt=0)
    max_calls: int | None = Field(default=None, gt=0)
    budget_usd: float | None = Field(default=None, gt=0)
    roles: dict[Role, RoleChoice] = Field(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then environment, then the file that `load_settings` names."""
        return (
            init_settings,
            env_settings,
            Neo4jSource(settings_cls),
            TomlConfigSettingsSource(settings_cls),
        )

    @property
    def names_graph(self) -> bool:
        """Whether anybody said where the graph is kept."""
        return "graph" in self.model_fields_set

    def role_models(self, **flags: RoleChoice) -> dict[Role, RoleModel]:
        """Return the model of each role: the default, changed by settings, changed by flags."""
        return {
            role: RoleModel.model_validate(
                default.model_dump() | _merged(self.roles.get(role), flags.get(role))
            )
            for role, default in DEFAULT_ROLES.items()
        }


class Neo4jSource(PydanticBaseSettingsSource):
    """The graph's address out of EVENHAND_NEO4J, the name that people know from elsewhere."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Return the address for `graph`; nothing for any other field."""
        address = os.environ.get(NEO4J_VARIABLE, "").strip()
        return (address or None if field_name == "graph" else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return what the variable says.

        Raises:
            UserError: It holds no address of a Neo4j server.
        """
        address, name, _ = self.get_field_value(None, "graph")
        if address is None:
            return {}
        if not address.startswith(("bolt", "neo4j")) or "://" not in address:
            raise UserError(
                f"{NEO4J_VARIABLE} = {address!r} is no address of a Neo4j server; expected one "
                "such as bolt://127.0.0.1:7687. For another store use EVENHAND_GRAPH or --graph."
            )
        return {name: address}


def load_settings(config: str | None = None, **flags: Any) -> Settings:
    """Read the settings; flags that are None were not given.

    Raises:
        UserError: The named file is missing or no TOML, or a table, key or value is not known.
    """
    path = Path(config or CONFIG_NAME)
    if config is not None and not path.is_file():
        raise UserError(f"No file {config!r}; expected a TOML file with settings for --config.")

    class Located(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Located(**given)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not TOML: {error}. Mend that line and try again.") from None
    except SettingsError as error:
        raise UserError(f"The environment cannot be read as settings: {error}.") from None
    except ValidationError as error:
        raise UserError(_sentence(error, path)) from None


def _merged(setting: RoleChoice | None, flag: RoleChoice | None) -> dict[str, Any]:
    settings = setting.model_dump(exclude_none=True) if setting else {}
    flags = flag.model_dump(exclude_none=True) if flag else {}
    if flags.get("model", settings.get("model")) != settings.get("model"):
        # An address or a file belongs to the model that it was written for.
        settings = {k: v for k, v in settings.items() if k not in ("base_url", "path")}
    return settings | flags


def _sentence(error: ValidationError, path: Path) -> str:
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if part != "[key]"]
    name = ".".join(place)
    where = f"{path}, the environment or a flag" if path.is_file() else "the environment or a flag"
    if first["type"] in ("extra_forbidden", "literal_error"):
        valid = _valid_names(place)
        return f"Unknown setting {name!r} in {where}; expected one of: {', '.join(valid)}."
    return f"Setting {name} = {first['input']!r} in {where}: {first['msg'].lower()}."


def _valid_names(place: list[str]) -> list[str]:
    if place[0] != "roles":
        return list(Settings.model_fields)
    return list(DEFAULT_ROLES) if len(place) == 2 else list(RoleChoice.model_fields)
