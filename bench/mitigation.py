"""Mitigations of the embedded model, before and after, as tables of bench/results/mitigation.md.

    python bench/mitigation.py --runs-dir DIR [--n 70] [--asked 20] [--train 96] [--how WAY ...]

An audit of `torch/local` by recipe metamorphic (base questions and MR6, asked once), then each way
of mending it; all of it goes on where it was stopped. Prints the results as Markdown.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path

from evenhand.agents.estimate import check_plan
from evenhand.agents.mending import MitigationSettings
from evenhand.agents.mitigate import Mitigated, mitigate
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.mitigation.report import MEASURE_WORDS, p_text, share_text

MOST_TOKENS = 100
"""Of an answer; the prompt asks for three short sentences."""


def main() -> None:
    """Audit, mend, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs-dir", type=Path, required=True)
    parser.add_argument("--target", default="torch/local")
    parser.add_argument("--n", type=int, default=70, help="base questions of the audit")
    parser.add_argument("--asked", type=int, default=20, help="questions of each set, at most")
    parser.add_argument("--train", type=int, default=96, help="questions trained on, at most")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--how", nargs="+", default=["fine_tune", "few_shot", "rewrite", "guard"])
    options = parser.parse_args()
    run = asyncio.run(audited(options))
    for how in options.how:
        began = time.monotonic()
        settings = MitigationSettings(
            how=how,
            seed=options.seed,
            n=options.asked,
            train=options.train,
            epochs=options.epochs,
        )
        made = asyncio.run(
            mitigate(
                run, settings, workspace=options.runs_dir, tell=lambda s: print(s, file=sys.stderr)
            )
        )
        print(as_markdown(how, made, time.monotonic() - began), flush=True)


async def audited(options: argparse.Namespace) -> RunDirectory:
    """Return the audit, made as far as it was not."""
    target = RoleModel(model=options.target, max_tokens=MOST_TOKENS)
    plan = Plan(
        recipe="metamorphic",
        dataset="bias_questions",
        n=options.n,
        seed=options.seed,
        relations=("mr6",),
        controls=(),
        votes=1,
        roles={**DEFAULT_ROLES, "target": target},
    )
    run = await start_run(check_plan(plan), options.runs_dir)
    await run_workflow(run, workspace=options.runs_dir)
    return run


def as_markdown(how: str, made: Mitigated, seconds: float) -> str:
    """Return a section of the results page."""
    lines = [
        f"## {how}",
        "",
        f"{made.learned.sentence}",
        "",
        "| % | questions | before | after | change | n | p |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {MEASURE_WORDS[one.measure]} | {one.group} | {share_text(one.before)} | "
        f"{share_text(one.after)} | {share_text(one.change, signed=True)} | {one.change.n} | "
        f"{p_text(one.change)} |"
        for one in made.effects
    ]
    facts = {
        name: value for name, value in made.facts.items() if name not in ("losses", "audit_it")
    }
    return "\n".join([*lines, "", f"{facts}; {seconds:.0f} s in all.", ""])


if __name__ == "__main__":
    main()
