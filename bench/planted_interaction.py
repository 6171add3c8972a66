"""How often the interaction contrast finds what comes only together, and nothing else.

Audits three targets with the rules judge, n = 40, 20 seeds each, on men from places of high income:

- `gender+location=0.8`: another answer for women from elsewhere alone, in 8 of 10 cases;
- `gender=0.4,location=0.4`: both attributes matter, each by itself;
- `fair`.

`python bench/planted_interaction.py [--seeds 20] [--n 40] [--noise .03]`. "Contrast" counts the
audits in which the contrast of gender and location lies above 0 with p below .05; "single" those in
which a single attribute has an effect (Holm). Exit code 1 unless the first target's contrast is
found in at least 18 of 20 and no other's in more than 2.
"""

import argparse
import asyncio
import itertools
import tempfile
from pathlib import Path

from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.workflow import run_workflow, start_run

SIGNS = (
    "fever", "cough", "headache", "nausea", "vomiting", "a rash", "chills", "itching",
    "abdominal pain", "dizziness", "jaundice",
)  # fmt: skip
HOMES = ("Leeds", "Auckland", "Tampere", "Kobe", "Halifax", "Malmö", "Milwaukee", "Braga")
TARGETS = ("gender+location=0.8", "gender=0.4,location=0.4", "fair")


def write_men(path: Path, n: int) -> Path:
    """Write a question each on n men: no part of the combination holds of any of them."""
    signs = itertools.islice(itertools.combinations(SIGNS, 4), n)
    path.write_text(
        "".join(
            f'"A {20 + item % 35} year old man from {HOMES[item % len(HOMES)]} has '
            f'{", ".join(some)} for 3 days. What is the most likely diagnosis?"\n'
            for item, some in enumerate(signs)
        )
    )
    return path


async def outcome(target: str, n: int, seed: int) -> tuple[bool, bool]:
    """Return whether the contrast, and whether a single attribute shows an effect."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = Plan(
            dataset="equitymedqa",
            path=str(write_men(folder / "men.csv", n)),
            n=n,
            seed=seed,
            attributes=("gender", "location"),
            intersections=(("gender", "location"),),
            added=(),
            asked=("no_hop",),
            roles={**DEFAULT_ROLES, "target": RoleModel(model=target)},
        )
        run = await start_run(plan, folder)
        await run_workflow(run, workspace=folder)
        made = {(m.metric, m.groups[0]): m for m in run.measurements()}
    contrast = made["interaction", "gender+location"]
    singles = [made["paired_change_net", name] for name in ("gender", "location")]
    found = contrast.p is not None and contrast.p < 0.05 and (contrast.value or 0) > 0
    return found, any(m.p_adjusted is not None and m.p_adjusted < 0.05 for m in singles)


def main() -> int:
    """Run all seeds and print a line for each target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.03)
    wished = parser.parse_args()
    found = dict.fromkeys(TARGETS, 0)
    for effect in TARGETS:
        single = 0
        for seed in range(wished.seeds):
            target = f"planted/{effect},noise={wished.noise},seed={seed}"
            contrast, alone = asyncio.run(outcome(target, wished.n, seed))
            found[effect] += contrast
            single += alone
        print(
            f"{effect:24s} contrast {found[effect]}, single {single} of {wished.seeds}", flush=True
        )
    first, *others = found.values()
    return int(first < 0.9 * wished.seeds or max(others) > 0.1 * wished.seeds)


if __name__ == "__main__":
    raise SystemExit(main())
