"""The Plan: what will be asked of whom, checked before anything costs a call."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evenhand.graph_store.records import AskedArm, ShownArm
from evenhand.tools.notes.edits import SpousePolicy
from evenhand.tools.visit_mapping import Direction
from evenhand.training.levels import ClassWeights

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
    categories: tuple[str, ...] = ()
    """Samples of these categories alone ("religion"), where the data set has them; empty: all."""
    attributes: tuple[str, ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()
    draws: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """New values drawn a sample, by attribute; 1 where none is named (paper 1: four locations)."""
    added: tuple[str, ...] | None = None
    """Attributes that are put in where the source lacks them, in arms of their own; None: as the
    recipe says."""
    asked: tuple[AskedArm, ...] = ()
    rubrics: tuple[str, ...] = ()
    """What is judged; empty: every rubric of the recipe that the judge can apply."""
    encoder: str | None = None
    """What BERTScore reads answers with: a folder with a model, or a name for transformers; None:
    the MiniLM that needs no torch."""
    controls: tuple[str, ...] | None = None
    """Control arms; None: as the recipe says."""
    repeats: int = Field(default=1, ge=1)
    """Repeats of `base` in the repeat arm."""
    relations: tuple[str, ...] = ()
    """Metamorphic relations, "mr1+mr6" a pair; empty: as the recipe says."""
    votes: Annotated[int, Field(ge=1)] | None = None
    """Times that each question is asked, the majority counts; None: as the recipe says, and once
    where the answers are recorded."""
    roles: dict[Role, RoleModel] = Field(default_factory=lambda: dict(DEFAULT_ROLES))
    max_calls: int | None = Field(default=None, gt=0)
    budget_usd: float | None = Field(default=None, gt=0)
    max_in_flight: int = Field(default=16, gt=0)
    graph: str = "sqlite"
    """Where the knowledge graph is kept: "sqlite" (in the workspace) or an address."""

    # An audit of decisions (recipes that ask for labels)
    mapping: str | None = None
    """File that says what the columns of `path` mean; None: the data set's own mapping."""
    decider: str | None = None
    """Whose decisions; None: the data set's own label."""
    compared: tuple[str, ...] = ()
    """Groups of the attribute, the reference first; empty: those that occur."""
    arms: tuple[ShownArm, ...] = ()
    """In which arms a visit is shown; empty: as the recipe says."""
    spouse: SpousePolicy = "keep"
    """Whether husband and wife in a note stay or change with the patient."""
    against: RoleModel | None = None
    """A second model that is asked for the levels of the same pairs."""
    fit_settings: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Settings of a mimic's fit that are not its defaults, by the model's full name."""
    refits: Annotated[int, Field(ge=3)] | None = None
    """Mimics fitted again for the repeat arm; None: as the kind of mimic says (10 where a fit is
    cheap, else 3)."""
    class_weights: ClassWeights | None = None
    """How rare levels count in the fit."""
    published_list: bool = False
    """Leave notes out by the counterfactual paper's substring search."""
    language: str | None = None
    """Of the notes, as the mapping says; a checked plan has it."""
    direction: Direction | None = None
    """What a higher level means, as the mapping says; a checked plan has it."""
    volume: Annotated[float, Field(gt=0)] | None = None
    """What if the finding held for so many visits of `period`, a number that `volume_source` gives,
    a share of which the second group makes."""
    period: str | None = None
    volume_source: str | None = None
    share: float = Field(default=0.5, gt=0, le=1)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """What is changed: each attribute alone, then the attributes that are changed together."""
        return (*((name,) for name in self.attributes), *self.intersections)

    def draws_of(self, group: tuple[str, ...]) -> int:
        """Return how many variants a sample gets of a group; together, the first values count."""
        return self.draws.get(group[0], 1) if len(group) == 1 else 1

    @property
    def judged_askings(self) -> int:
        """Askings of a question that are judged: those of a majority, and of its repeat.

        Where no majority is taken, a repeat is there for its change alone.
        """
        again = self.repeats if self.relations and self.has_control("repeat") else 0
        return (self.votes or 1) * (1 + again)

    def has_control(self, name: str) -> bool:
        """Say whether a checked plan has a control arm."""
        return name in (self.controls or ())

    def adds(self, attribute: str) -> bool:
        """Say whether a checked plan puts an attribute in where the source lacks it."""
        return attribute in (self.added or ())
