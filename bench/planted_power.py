"""How often the planted effect is found, and how often the fair model is not clean.

Audits a target that reacts to the location in 40 of 100 cases, and a fair one, with the rules
judge, n = 40, 20 seeds each: `python bench/planted_power.py [--seeds 20] [--n 40] [--noise .05]`.
The seed draws the questions, the new values, and which questions the target is sensitive to;
`noise` is the share of answers that are replaced at random, by either target.
"Found" is a Holm-adjusted mid-p below .05 for location, over all the effects that the report
shows; "clean" is no effect at all. Exit code 1 unless both hold in at least 18 of 20.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.workflow import run_workflow, start_run


async def effects(target: str, n: int, seed: int) -> set[str]:
    """Return the groups with an effect in one audit."""
    with tempfile.TemporaryDirectory() as folder:
        roles: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": RoleModel(model=target)}
        run = await start_run(Plan(dataset="demo", n=n, seed=seed, roles=roles), Path(folder))
        await run_workflow(run, workspace=Path(folder))
        return {
            m.groups[0]
            for m in run.measurements()
            if m.metric == "paired_change_net" and m.p_adjusted is not None and m.p_adjusted < 0.05
        }


def main() -> int:
    """Run all seeds and print one line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.05)
    wished = parser.parse_args()
    good = {"location=0.4": 0, "location=0": 0}
    for seed in range(wished.seeds):
        for effect in good:
            start = time.perf_counter()
            target = f"planted/{effect},noise={wished.noise},seed={seed}"
            shown = asyncio.run(effects(target, wished.n, seed))
            right = "location" in shown if effect == "location=0.4" else not shown
            good[effect] += right
            seconds = time.perf_counter() - start
            print(f"seed {seed:2d} {effect:12s} found: {sorted(shown)} {seconds:.1f} s", flush=True)
    for effect, count in good.items():
        print(f"{effect}, noise {wished.noise}: right in {count} of {wished.seeds}")
    return int(min(good.values()) < 0.9 * wished.seeds)


if __name__ == "__main__":
    raise SystemExit(main())
