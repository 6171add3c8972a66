"""What the workflow carries: ids and counts in the state, everything else in the run directory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from evenhand.agents.plan import Plan, Role
from evenhand.agents.recipe import Recipe
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.store import GraphStore
from evenhand.tools.calls import Caller


def merge_counts(old: dict[str, int], new: dict[str, int]) -> dict[str, int]:
    """Return the counts of all stages so far; a stage that runs again replaces its own."""
    return {**old, **new}


class AuditState(TypedDict):
    """The checkpointed state: which run, and how many records of which status a stage left."""

    run: str
    counts: Annotated[dict[str, int], merge_counts]


@dataclass(frozen=True)
class AuditContext:
    """What the nodes work with. Not stored: given anew when a run is resumed."""

    run: RunDirectory
    plan: Plan
    recipe: Recipe
    callers: dict[Role, Caller | None]
    """Model of a role; None: the role's deterministic implementation."""
    store: GraphStore | None
    """None: the graph could not be opened; the run goes on, `evenhand sync` completes it."""
    workspace: Path

    def stop_wished(self) -> bool:
        """Say whether somebody wished the run to stop: a file `stop` in the run directory."""
        return (self.run.path / "stop").exists()
