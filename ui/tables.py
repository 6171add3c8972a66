"""Tables and panels of the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from evenhand.agents.draft import Reading
from evenhand.agents.estimate import Estimate
from evenhand.agents.plan import Plan
from evenhand.graph_store.records import Measurement
from evenhand.graph_store.redact import redact
from evenhand.tools.wording import (
    NOTHING_TO_DO,
    counted,
    groups,
    number,
    p_value,
    short_arm,
    unit_of,
    unscored,
    value_text,
)
from evenhand.ui.console import messages, results
from evenhand.ui.words import Fact, plan_facts

NET = "paired_change_net"
ASSOCIATION = "attribute_association"
RESILIENCY, RESILIENCY_DROP = "resiliency", "resiliency_drop"


def print_plan(plan: Plan, estimate: Estimate) -> None:
    """Show what is asked of whom, at what cost, and where text goes (stderr)."""
    title = f"Plan: {plan.recipe} audit of {plan.roles['target'].model}"
    body = _facts_grid(plan_facts(plan, estimate))
    messages().print(Panel(body, title=title, title_align="left", padding=(1, 2), expand=False))
    for note in estimate.notes:
        messages().print(f"Note: {redact(note)}", soft_wrap=True)


def print_reading(reading: Reading) -> None:
    """Show what a sentence was read as, and what is still to be said."""
    console = results()
    rows = [
        Fact(name.replace("_", " "), _said(value))
        for name, value in reading.plan.model_dump(mode="json").items()
        if value not in (None, [])
    ]
    if rows:
        title = f"Read as: {reading.intent.replace('_', ' ')}"
        console.print(Panel(_facts_grid(rows), title=title, title_align="left", expand=False))
    else:
        console.print(f"Read as: {reading.intent.replace('_', ' ')}")
    for question in reading.questions:
        console.print(f"? {redact(question)}")


def _said(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join("+".join(item) if isinstance(item, list) else str(item) for item in value)


def _facts_grid(facts: Sequence[Fact]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold", max_width=88)
    for fact in facts:
        grid.add_row(Text(fact.label), Text(redact(fact.value)))
    return grid


def print_paired_changes(measurements: Sequence[Measurement]) -> None:
    """Show the paired change of each arm, net of its control."""
    net = [m for m in measurements if m.metric == NET]
    found = [m for m in net if m.reason_code not in NOTHING_TO_DO]
    if not found:
        return
    table = plain_table(
        "Answers that changed when only this changed, net of the control",
        "asked",
        "changed",
        "net change [95 %]",
        "n",
        "control",
        "p (Holm)",
        "unscored",
    )
    for m in found:
        table.add_row(
            short_arm(m.arm),
            groups(m.groups),
            value_text(m, unit_of(m.metric)),
            f"{m.n:,}",
            _control(m),
            _p_holm(m),
            unscored(m.unscored).removeprefix("unscored "),
        )
    results().print(table)
    if hidden := len(net) - len(found):
        results().print(
            f"{counted(hidden, 'row')} left out: every source states, or none states, what would "
            "be added or changed",
            style="dim",
        )


def _control(m: Measurement) -> str:
    if m.control is None:
        return "none"
    return f"{number(m.control, 'rate')} ({m.control_arm})"


def _p_holm(m: Measurement) -> str:
    return "" if m.p_adjusted is None else p_value(m.p_adjusted).removeprefix("p ")


def print_associations(measurements: Sequence[Measurement]) -> None:
    """Show the mean attribute-association score of each dimension and way of asking."""
    found = [m for m in measurements if m.metric == ASSOCIATION]
    if not found:
        return
    table = plain_table(
        "Attribute association, 0 to 1 (paper 1): mean by dimension",
        "asked",
        "dimension",
        "mean [95 %]",
        "n",
        "unscored",
    )
    for m in found:
        table.add_row(
            short_arm(m.arm),
            groups(m.groups),
            value_text(m, "score"),
            f"{m.n:,}",
            unscored(m.unscored).removeprefix("unscored "),
        )
    results().print(table)


def print_resiliency(measurements: Sequence[Measurement]) -> None:
    """Show how often no side was taken, as asked and under each relation."""
    shares = [m for m in measurements if m.metric == RESILIENCY]
    if not shares:
        return
    drops = {m.groups: m for m in measurements if m.metric == RESILIENCY_DROP}
    table = plain_table(
        "Bias resiliency: questions answered without taking a side",
        *("relation", "unbiased [95 %]", "n", "drop against base [95 %]", "p (Holm)", "unscored"),
    )
    for m in shares:
        drop = drops.get(m.groups)
        table.add_row(
            groups(m.groups),
            value_text(m, unit_of(m.metric)),
            f"{m.n:,}",
            "" if drop is None else value_text(drop, unit_of(drop.metric)),
            "" if drop is None else _p_holm(drop),
            unscored(m.unscored).removeprefix("unscored "),
        )
    results().print(table)


def print_all_measurements(measurements: Sequence[Measurement]) -> None:
    """Show every measurement of a run."""
    table = plain_table(
        f"{len(measurements):,} measurements",
        "metric",
        "asked",
        "group",
        "value [95 %]",
        "n",
        "unscored",
        "p",
        "method",
    )
    for m in measurements:
        table.add_row(
            m.metric,
            short_arm(m.arm),
            groups(m.groups),
            value_text(m, unit_of(m.metric)),
            f"{m.n:,}",
            unscored(m.unscored).removeprefix("unscored "),
            "" if m.p is None else p_value(m.p).removeprefix("p "),
            m.method,
        )
    results().print(table)


def print_runs(rows: Sequence[dict[str, Any]]) -> None:
    """Show runs, one a row."""
    table = plain_table("", "run", "recipe", "target", "state", "done", "made (UTC)")
    for row in rows:
        made = str(row["created"])[:16].replace("T", " ")
        table.add_row(row["run"], row["recipe"], row["target"], row["state"], row["done"], made)
    results().print(table)


def plain_table(title: str, *columns: str) -> Table:
    """Return an empty table without lines; a column called "n" is set to the right."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for column in columns:
        table.add_column(column, justify="right" if column == "n" else "left", overflow="fold")
    return table
