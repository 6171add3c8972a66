"""Draw a sheet of variants to be read by a person: is only the attribute changed, and rightly?

`python bench/variants.py --out FILE [--dataset demo] [--path FILE] [--each 40] [--seed 0]` makes
the bases and every kind of variant by rules, or with `--attacker local --weights FILE` (and
`--generator`, `--rewriter`) by a model, has the gate look at them, and draws `--each` of every kind
with the seed. The columns `right` and `fault` are left empty for the reader; `--count FILE` prints
the shares of a filled sheet. Nothing is asked of a target. `--runs-dir DIR` keeps the run, and goes
on with it where it stopped. docs/variants.md has what we read.
"""

import argparse
import asyncio
import csv
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from evenhand.agents import workflow
from evenhand.agents.estimate import model_settings
from evenhand.agents.plan import DEFAULT_ROLES, ROLES, Plan, Role, RoleModel
from evenhand.agents.recipe import load_recipe
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.attributes import attributes
from evenhand.tools.attributes.location import is_relevant, place_named
from evenhand.tools.calls import Budget, Caller
from evenhand.tools.providers import open_model

COLUMNS: tuple[str, ...] = (
    "kind",
    "dataset",
    "id",
    "gate",
    "base",
    "variant",
    "changes",
    "right",
    "fault",
)
TOGETHER = (("age", "gender"), ("age", "gender", "location"), ("age", "disease"))
MAKERS: tuple[Role, ...] = ("generator", "attacker", "rewriter")
STAGES = ("load", "extract", "verbalise", "perturb", "gate")


async def make_variants(plan: Plan, folder: Path) -> RunDirectory:
    """Run the stages up to the gate."""
    run = await workflow.start_run(plan, folder)
    plan = Plan.model_validate(run.manifest.plan)
    async with AsyncExitStack() as stack:
        callers: dict[Role, Caller | None] = dict.fromkeys(ROLES)
        for role in MAKERS:
            settings = plan.roles[role]
            if settings.model == "rules":
                continue
            model = await open_model(settings.model, model_settings(settings))
            stack.push_async_callback(model.close)
            callers[role] = Caller(
                role=role, model=model, cache=None, record=run.append_call, budget=Budget()
            )
        recipe = load_recipe(plan.recipe)
        context = AuditContext(run, plan, recipe, callers, store=None, workspace=folder)
        for stage in STAGES:
            counts = await workflow.STAGE_FUNCTIONS[stage][0](context)
            print(stage, counts, file=sys.stderr, flush=True)
    return run


def rows(run: RunDirectory, dataset: str) -> Iterator[dict[str, str]]:
    """Return a row for each variant that has a text."""
    bases = {each.sample_id: each for each in run.variants() if each.arm == "base"}
    verdicts = {each.subject_id: each for each in run.gate()}
    for variant in run.variants():
        if variant.status != "ok":
            continue
        verdict = verdicts[variant.id]
        yield {
            "kind": variant.group,
            "dataset": dataset,
            "id": variant.id,
            "gate": " ".join(filter(None, (str(verdict.value), verdict.reason_code))),
            "base": bases[variant.sample_id].text,
            "variant": variant.text,
            "changes": _said(variant),
            "right": "",
            "fault": "",
        }


def _said(variant: Variant) -> str:
    return "; ".join(f"{c.attribute}: {c.before} -> {c.after}" for c in variant.changes)


def draw(found: list[dict[str, str]], each: int, seed: int) -> list[dict[str, str]]:
    """Draw `each` of every kind, in the order of kinds."""
    by_kind: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for row in found:
        by_kind[row["kind"]].append(row)
    rng = random.Random(seed)  # noqa: S311
    return [
        row
        for kind in sorted(by_kind)
        for row in rng.sample(by_kind[kind], min(each, len(by_kind[kind])))
    ]


def shares(path: Path) -> Iterator[str]:
    """Return a line for each kind of a filled sheet: `right` is y or n."""
    with path.open(encoding="utf-8", newline="") as file:
        read = [row for row in csv.DictReader(file) if row["right"]]
    for kind in dict.fromkeys(row["kind"] for row in read):
        own = [row for row in read if row["kind"] == kind]
        passed = [row for row in own if row["gate"].startswith("accepted")]
        right = Counter(row["right"] for row in own)["y"]
        right_passed = Counter(row["right"] for row in passed)["y"]
        gated = f"of those that the gate passed {right_passed}/{len(passed)}"
        yield f"{kind}: right {right}/{len(own)}; {gated}"


def relevant_share(run: RunDirectory) -> str:
    """Say how many drawn places have a disease that the question points to."""
    texts = {sample.id: sample.text for sample in run.samples()}
    drawn = [
        is_relevant(place, texts[variant.sample_id])
        for variant in run.variants()
        if variant.status == "ok" and variant.attributes == ("location",)
        if (place := place_named(variant.changes[0].after)) is not None
    ]
    return f"places relevant to the question: {sum(drawn)} of {len(drawn)}"


def main() -> int:
    """Write the sheet."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=Path)
    parser.add_argument("--dataset", default="demo")
    parser.add_argument("--path")
    parser.add_argument("--n", type=int)
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--locations", type=int, default=4)
    parser.add_argument("--runs-dir", type=Path)
    parser.add_argument("--weights", help="a GGUF file for the roles that are local")
    for role in MAKERS:
        parser.add_argument(f"--{role}", default="rules")
    wished = parser.parse_args()
    if wished.count:
        print("\n".join(shares(wished.count)))
        return 0
    roles: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": RoleModel(model="planted/fair")}
    for role in MAKERS:
        model = getattr(wished, role)
        path = wished.weights if model == "local" else None
        roles[role] = RoleModel(model=model, temperature=0, path=path)
    plan = Plan(
        dataset=wished.dataset,
        path=wished.path,
        n=wished.n,
        seed=wished.seed,
        attributes=tuple(attributes.names()),
        intersections=TOGETHER,
        draws={"location": wished.locations},
        added=tuple(attributes.names()),
        controls=("placebo",),
        roles=roles,
    )
    with tempfile.TemporaryDirectory() as folder:
        run = asyncio.run(make_variants(plan, wished.runs_dir or Path(folder)))
        print(relevant_share(run), file=sys.stderr)
        sheet = draw(list(rows(run, wished.dataset)), wished.each, wished.seed)
    with wished.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(sheet)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
