"""What a mitigation is: a way to mend a model whose bias a run has shown, asked before and after.

One way is one file beside this one: an async function with the decorator `@mitigation` that gets
`Mending`, asks the sets of questions before and after through `agents/mitigation_sides.py`, and
returns what a reader must know of it besides. Its name is that of `--how`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evenhand.agents.mending import Facts, Mending, MitigationSettings
from evenhand.agents.plan import Plan
from evenhand.graph_store.registry import Registry

Mend = Callable[[Mending], Awaitable[Facts]]


@dataclass(frozen=True)
class Mitigation:
    """A way to mend a model."""

    name: str
    mend: Mend
    check: Callable[[Plan, MitigationSettings], None]
    """Raises a UserError for what cannot work, before anything is asked or written."""
    asks_again: bool
    """Whether the target is asked after it was mended; else its answers of before are changed."""
    played_by: str | None
    """Field of the settings that names a further model, "guard"; None: no other is asked."""

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.mend.__doc__ or self.name).strip().splitlines()[0]


mitigations: Registry[Mitigation] = Registry("mitigation", __name__)


def _anything(plan: Plan, settings: MitigationSettings) -> None:
    """Accept everything."""


def mitigation(
    *,
    check: Callable[[Plan, MitigationSettings], None] = _anything,
    asks_again: bool = True,
    played_by: str | None = None,
) -> Callable[[Mend], Mend]:
    """Register an async function as a mitigation under its own name.

    Args:
        check: Raises a UserError for what cannot work.
        asks_again: Whether the target is asked on both sides.
        played_by: Field of the settings that names a further model, if one is asked.
    """

    def register(mend: Mend) -> Mend:
        name = mend.__name__
        mitigations.add(name, Mitigation(name, mend, check, asks_again, played_by))
        return mend

    return register
