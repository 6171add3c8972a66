"""Four mimics of the nurses of KTAS on one sub-sample: kappa_w side by side, and two on one plan.

Writes a table in Markdown; an audit that is done already is not done again, so that a run that was
stopped goes on.

    python bench/mimics.py path/to/ktas/data.csv --n 300 --out bench/results/mimics.md
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.tools.sections.deciders import difference_text, value_text
from evenhand.tools.sections.mimic import kappa_table
from evenhand.tools.triage import words
from evenhand.tools.triage_view import TriageView, read_view
from evenhand.training.mimic_rows import ARMS

TARGETS = (
    ("--target", "mimic/random_forest"),
    ("--target", "mimic/embedding_mlp"),
    ("--target", "mimic/lora", "--against", "mimic/scratch_encoder"),
)


def main() -> None:
    """Run the audits that are missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="data.csv of KTAS")
    parser.add_argument("--n", type=int, default=300, help="visits drawn, half to fit to")
    parser.add_argument("--runs-dir", type=Path, default=Path("evenhand-runs/mimics"))
    parser.add_argument("--fit", action="append", default=[], metavar="KIND.NAME=VALUE")
    parser.add_argument("--out", type=Path, default=None)
    flags = parser.parse_args()
    lines = [_audit(flags, target) for target in TARGETS]
    run, view = _last(flags.runs_dir)
    text = "\n".join([*_head(flags.n, lines), *_kappas(view), *_pairs(view), *_fits(run), ""])
    print(text)
    if flags.out is not None:
        flags.out.write_text(text, "utf-8")


def _audit(flags: argparse.Namespace, target: tuple[str, ...]) -> str:
    """Run one audit; return its command and seconds as a line of the table."""
    asked = {name.removeprefix("mimic/") for name in target}
    chosen = [setting for setting in flags.fit if setting.partition(".")[0] in asked]
    fits = [word for setting in chosen for word in ("--fit", setting)]
    line = [
        "audit", "--recipe", "counterfactual", "--dataset", "ktas", "--path", str(flags.data),
        "--n", str(flags.n), "--controls", "placebo", *target, *fits,
    ]  # fmt: skip
    began = time.monotonic()
    done = [sys.executable, "-m", "evenhand.ui.cli", *line, "--yes"]
    subprocess.run([*done, "--runs-dir", str(flags.runs_dir)], check=True)  # noqa: S603
    shown = " ".join(line).replace(str(flags.data), "data.csv")
    return f"| `evenhand {shown}` | {time.monotonic() - began:,.0f} |"


def _last(folder: Path) -> tuple[RunDirectory, TriageView]:
    run = list_runs(folder)[-1]
    view = read_view(run)
    if view is None:
        raise SystemExit(f"{run.path} holds no audit of decisions")
    return run, view


def _head(n: int, lines: list[str]) -> list[str]:
    load = os.getloadavg()[1]
    return [
        "# Four mimics of one triage desk",
        "",
        f"KTAS, {n} visits drawn with seed 0, half of them to fit to; the nurses' levels. "
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores ({platform.machine()}), "
        f"load {load:.0f} from other work: seconds are no measure of speed.",
        "",
        "| command | seconds |",
        "|---|---|",
        *lines,
    ]


def _kappas(view: TriageView) -> list[str]:
    arms = [words.arm_short(arm) for arm in ARMS]
    head = ["", "kappa_w [95 %] on the other half:", "", f"| model | {' | '.join(arms)} |"]
    rows = [f"| {name} | {' | '.join(cells)} |" for name, _, cells in kappa_table(view)]
    return [*head, "|---" * (len(arms) + 1) + "|", *rows]


def _pairs(view: TriageView) -> list[str]:
    """Set the two models of one plan side by side, in the main arm."""
    other = next(one for one in view.others if one.in_this_run)
    rows = [
        f"| {one.symbol} | {value_text(one, one.first)} | {value_text(one, one.second)} | "
        f"{difference_text(one)} | {one.estimate.n} |"
        for one in other.differences
        if one.arm == view.results.main_arm
    ]
    title = f"{view.label_beside(other)} and {other.label} on the same pairs, main arm:"
    head = f"| number | {view.label_beside(other)} | {other.label} | difference [95 %] | n |"
    return ["", title, "", head, "|---|---|---|---|---|", *rows]


def _fits(run: RunDirectory) -> list[str]:
    from evenhand.tools.triage.asked_models import read_models

    rows = []
    for model in read_models(run):
        if model.card is not None:
            came = ", ".join(f"{name} {value}" for name, value in model.card.chosen.items())
            rows.append(f"- {model.name}: {model.card.n_train} visits, {came}")
    return ["", "What came out of the two fits:", "", *rows]


if __name__ == "__main__":
    main()
