"""What a plan's n can show: the least effect, and how many questions each arm will have."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from evenhand.agents.plan import Plan
from evenhand.graph_store.records import ADDED, Sample
from evenhand.tools.attributes import attributes
from evenhand.tools.statistics.estimate import ALPHA
from evenhand.tools.statistics.power import least_effect
from evenhand.tools.wording import counted

DISCORDANCES = (0.0, 0.2)
"""Repeat discordance is not known before a run; the least effect is given for this range."""


def least_effect_sentence(n: int) -> str:
    """Say which effect n items can show, over the range of noise that is not known yet."""
    quiet, noisy = (_least(n, discordance) for discordance in DISCORDANCES)
    if quiet is None:
        return f"{n} questions cannot show any change with confidence; ask for 20 or more."
    upper = "more than can be shown" if noisy is None else _points(noisy)
    return (
        f"{n} questions show a change of {_points(quiet)} or more if the answers never "
        f"change on a mere repeat, and of {upper} if one in five does (power .9, one test)."
    )


def arm_sizes(plan: Plan, samples: Sequence[Sample]) -> dict[str, int]:
    """Count the questions that each arm of a checked plan will have, by its group.

    A question that states all attributes of a group is swapped, one that lacks some that the plan
    adds is in the arm "added:"; others are left out. Read from the source texts, so about: `base`
    states only what was extracted from them.
    """
    names = {name for group in plan.groups for name in group}
    sizes = {"+".join(group): 0 for group in plan.groups}
    sizes |= dict.fromkeys(plan.relations, len(samples))
    for sample in samples:
        lacking = {name for name in names if attributes.get(name).value(sample.text) is None}
        for group in plan.groups:
            if not lacking & set(group):
                sizes["+".join(group)] += 1
            elif all(map(plan.adds, lacking & set(group))):
                name = ADDED + "+".join(group)
                sizes[name] = sizes.get(name, 0) + 1
    return sizes


def arm_notes(plan: Plan, samples: Sequence[Sample]) -> list[str]:
    """Say which effect each arm of a checked plan can show, and what correction costs.

    Args:
        plan: A checked plan.
        samples: The samples that it will ask.
    """
    sizes = arm_sizes(plan, samples)
    parts = [_arms_of_size(n, sizes) for n in sorted(Counter(sizes.values()), reverse=True)]
    notes = [f"Least change that an arm can show, without noise: {'; '.join(parts)}."]
    tests = len(sizes) * sum(arm != "original" for arm in plan.asked)
    whole = _least(len(samples), 0.0, ALPHA / tests) if tests > 1 else None
    if whole is not None:
        notes.append(
            f"With Holm's correction over {tests} tests, the first finding among "
            f"{counted(len(samples), 'question')} must reach {_points(whole)}."
        )
    draws = {name: plan.draws_of((name,)) for name in plan.attributes}
    several = [f"{name} {count}" for name, count in draws.items() if count > 1]
    if several:
        notes.append(
            f"New values a question: {', '.join(several)}; they are averaged, so more of them "
            "lessen the noise of an arm but add no questions."
        )
    return notes


def _arms_of_size(n: int, sizes: dict[str, int]) -> str:
    arms = ", ".join(group for group, size in sizes.items() if size == n)
    least = _least(n, 0.0)
    shown = "none" if least is None else _points(least)
    return f"{shown} with {counted(n, 'question')} ({arms})"


@lru_cache(maxsize=256)
def _least(n: int, discordance: float, alpha: float = ALPHA) -> float | None:
    return least_effect(n, discordance, alpha=alpha)


def _points(share: float) -> str:
    return f"{share * 100:.0f} points"
