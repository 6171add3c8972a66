"""What relations find together and alone, and in which order they are worth their cost.

A relation exposes a question that is unbiased as it stands and biased under the relation. Pure
functions over which questions each relation exposed, and which it could have.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from evenhand.graph_store.run_directory import Call


@dataclass(frozen=True)
class Cost:
    """What the askings under a relation took; a part that nobody stated is None."""

    calls: int
    tokens: int | None = None
    """Prompt and completion."""
    usd: float | None = None
    seconds: float | None = None
    """Sum over the calls, though some run side by side."""


@dataclass(frozen=True)
class Findings:
    """What one relation exposed, of what it could have."""

    relation: str
    exposed: frozenset[str]
    """Ids of samples unbiased as they stand, biased under the relation."""
    scored: frozenset[str]
    """Ids of samples unbiased as they stand and scored under the relation."""
    cost: Cost

    @property
    def calls_each(self) -> float | None:
        """Calls for each newly exposed bias; None where nothing is exposed."""
        return _each(self.cost.calls, self)

    @property
    def tokens_each(self) -> float | None:
        """Tokens for each; None where nothing is exposed or no tokens are stated."""
        return _each(self.cost.tokens, self)

    @property
    def usd_each(self) -> float | None:
        """US dollars for each; None where nothing is exposed or no price is known."""
        return _each(self.cost.usd, self)

    @property
    def seconds_each(self) -> float | None:
        """Seconds for each; None where nothing is exposed or no time is stated."""
        return _each(self.cost.seconds, self)


@dataclass(frozen=True)
class Shared:
    """Of what one relation exposed: how much another exposes, too."""

    both: int
    of: int
    """Exposed by the first and scored under the second."""

    @property
    def share(self) -> float | None:
        """In [0, 1]; None where nothing could be shared."""
        return self.both / self.of if self.of else None


@dataclass(frozen=True)
class Step:
    """One more relation, in the order in which they find most for their calls."""

    relation: str
    new: int
    """Questions that no relation before it exposed."""
    exposed: int
    """By it and all before."""
    calls: int
    """Of it and all before."""


def shared_by_pair(found: Sequence[Findings]) -> dict[tuple[str, str], Shared]:
    """Return, by (first, second), how much of what the first exposed the second exposes, too."""
    return {
        (one.relation, other.relation): Shared(
            len(one.exposed & other.exposed), len(one.exposed & other.scored)
        )
        for one in found
        for other in found
    }


def only_by(found: Sequence[Findings]) -> dict[str, int]:
    """Return how many questions each relation exposes that no other one does."""
    times: dict[str, int] = {}
    for one in found:
        for sample in one.exposed:
            times[sample] = times.get(sample, 0) + 1
    return {one.relation: sum(times[sample] == 1 for sample in one.exposed) for one in found}


def best_first(found: Sequence[Findings]) -> list[Step]:
    """Return the relations in greedy order: each exposes most new questions for its calls.

    Where all cost the same, its first k expose at least 63 % of what the best k do (Nemhauser,
    Wolsey and Fisher 1978). Relations that add nothing stand last, in the order given.
    """
    left, known = list(found), frozenset[str]()
    steps: list[Step] = []
    calls = 0
    while left:
        best = max(left, key=lambda one: len(one.exposed - known) / max(1, one.cost.calls))
        left.remove(best)
        new, known = len(best.exposed - known), known | best.exposed
        calls += best.cost.calls
        steps.append(Step(best.relation, new, len(known), calls))
    return steps


def held_out(found: Sequence[Findings], samples: Sequence[str]) -> list[float | None]:
    """Return what the greedy order exposes in questions that it was not chosen by.

    The order is made on every second question and followed on the others, and the other way round:
    an order that is chosen and judged on the same answers looks better than it is.

    Args:
        found: Of all relations.
        samples: Ids in the order of the data set.

    Returns:
        For the first relation of the order, the first two ...: exposed questions, of all that any
        relation exposes there, in [0, 1]; None where none does.
    """
    halves = frozenset(samples[::2]), frozenset(samples[1::2])
    exposed, everything = [0] * len(found), 0
    for chosen, tried in (halves, halves[::-1]):
        order = [step.relation for step in best_first([_within(one, chosen) for one in found])]
        of = {one.relation: one.exposed & tried for one in found}
        everything += len(frozenset[str]().union(*of.values()))
        known = frozenset[str]()
        for place, name in enumerate(order):
            known |= of[name]
            exposed[place] += len(known)
    return [count / everything if everything else None for count in exposed]


def cost_of(calls: Sequence[Call]) -> Cost:
    """Return what calls took; those that the cache answered count like the others."""
    tokens = [
        (one.prompt_tokens or 0) + (one.completion_tokens or 0)
        for one in calls
        if one.prompt_tokens is not None or one.completion_tokens is not None
    ]
    usd = [one.cost_usd for one in calls if one.cost_usd is not None]
    seconds = [one.seconds for one in calls if one.seconds is not None]
    return Cost(
        calls=len(calls),
        tokens=sum(tokens) if tokens else None,
        usd=sum(usd) if usd else None,
        seconds=sum(seconds) if seconds else None,
    )


def _within(one: Findings, samples: AbstractSet[str]) -> Findings:
    return Findings(one.relation, one.exposed & samples, one.scored & samples, one.cost)


def _each(total: float | None, found: Findings) -> float | None:
    return total / len(found.exposed) if total is not None and found.exposed else None
