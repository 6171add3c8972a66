"""The Plan: what will be asked of whom, checked before anything costs a call."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evenhand.graph_store.records import AskedArm

Role = Literal["target", "judge", "generator", "attacker", "rewriter", "planner"]
ROLES: tuple[Role, ...] = ("target", "judge", "generator", "attacker", "rewriter", "planner")


class RoleModel(BaseModel):
    """Which model plays a role, and how it is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    """'provider/name', "local", or "rules" for the role's deterministic implementation."""
    temperature: float = Field(default=0.5, ge=0, le=2)
    """0.5 for the target: paper 1, section 4.1."""
    max_tokens: int = Field(default=400, gt=0)
    """400: paper 1, section 4.1."""
    seed: int | None = None
    """None: the run's seed."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server, for `openai/...`."""
    path: str | None = None
    """A GGUF file for `local`, a recording for `replay`."""


DEFAULT_ROLES: dict[Role, RoleModel] = {
    "target": RoleModel(model="local"),
    "judge": RoleModel(model="rules", temperature=0),
    "generator": RoleModel(model="rules", temperature=0),
    "attacker": RoleModel(model="rules", temperature=0),
    "rewriter": RoleModel(model="rules", temperature=0),
    "planner": RoleModel(model="rules", temperature=0),
}
"""A real local model under audit, everything else deterministic: no key, nothing leaves."""


class Plan(BaseModel):
    """A complete, frozen description of a run; with the data's hash it makes the run's id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str = "kg"
    dataset: str = "demo"
    path: str | None = None
    """File of the data set, or its Hugging Face id, where the data set needs one."""
    n: int | None = Field(default=None, gt=0)
    """Samples, drawn with the seed; None: all of them."""
    seed: int = 0
    attributes: tuple[str, ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()
    asked: tuple[AskedArm, ...] = ()
    controls: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1)
    """Repeats of `base` in the repeat arm."""
    roles: dict[Role, RoleModel] = Field(default_factory=lambda: dict(DEFAULT_ROLES))
    max_calls: int | None = Field(default=None, gt=0)
    budget_usd: float | None = Field(default=None, gt=0)
    max_in_flight: int = Field(default=16, gt=0)
    graph: str = "sqlite"
    """Where the knowledge graph is kept: "sqlite" (in the workspace) or an address."""
