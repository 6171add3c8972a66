"""Runs found by name, their state in words, and the numbers that end a run."""

from pathlib import Path
from typing import Any

from evenhand.agents.jobs import RunState, state
from evenhand.agents.plan import Plan
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.ui.console import print_json, print_text
from evenhand.ui.running import resume_command
from evenhand.ui.tables import print_associations, print_paired_changes, print_resiliency
from evenhand.ui.words import STAGE_WORDS, attempts


def find_run(folder: Path, name: str) -> RunDirectory:
    """Return the run of that id, of which `name` is the only prefix, or the 'last' one begun.

    Raises:
        UserError: No run or several; the message names them.
    """
    there = list_runs(folder)
    if not there:
        raise UserError(
            f"No run {name!r} in {folder}, the folder holds none; expected a run's id. "
            "Start one with `evenhand audit`, or name another folder with --runs-dir."
        )
    if name == "last":
        return there[-1]
    matching = [run for run in there if run.run_id.startswith(name)]
    exact = [run for run in matching if run.run_id == name]
    if len(exact or matching) == 1:
        return (exact or matching)[0]
    if matching:
        several = ", ".join(run.run_id for run in matching)
        raise UserError(f"Several runs begin with {name!r}: {several}. Give more of the id.")
    return RunDirectory.open(folder / name)


def run_summary(run: RunDirectory) -> dict[str, Any]:
    """Return a run as one row: id, recipe, target, state, what is done, when it was made."""
    manifest = run.manifest
    plan = Plan.model_validate(manifest.plan)
    where = state(run)
    return {
        "run": run.run_id,
        "recipe": plan.recipe,
        "dataset": plan.dataset,
        "target": plan.roles["target"].model,
        "state": where.status,
        "done": _progress(where),
        "message": where.message if where.status in ("failed", "stopped") else None,
        "created": manifest.created,
    }


def _progress(where: RunState) -> str:
    stage = where.current
    if where.status == "done":
        return "all stages"
    if stage is None:
        return "not begun"
    done = attempts(stage, running=where.status == "running")
    return f"{STAGE_WORDS.get(stage.stage, stage.stage)}: {done}"


def resume_hint(run: RunDirectory, folder: Path) -> str:
    """Return the sentence that says how to go on."""
    return f"Go on with `{resume_command(run, folder)}`."


def print_state(run: RunDirectory) -> None:
    """Print one line: the run, its state and where its report is."""
    row = run_summary(run)
    print_text(f"{row['run']}: {row['state']}, {row['done']}")
    if (run.path / "report.html").exists():
        print_text(f"Report: {run.path / 'report.html'}")


def print_results(run: RunDirectory, *, as_json: bool) -> None:
    """Print what a finished run found, and the path of its report."""
    from evenhand.tools.triage_view import read_view
    from evenhand.ui.triage_tables import print_triage

    measurements = run.measurements()
    page = run.path / "report.html"
    if as_json:
        print_json(
            {
                "run": run.run_id,
                "report": str(page),
                "measurements": [m.model_dump(mode="json") for m in measurements],
            }
        )
        return
    audit = read_view(run)
    if audit is not None:
        print_triage(audit)
    print_paired_changes(measurements)
    print_associations(measurements)
    print_resiliency(measurements)
    print_text(f"Run {run.run_id}\nReport: {page}")
