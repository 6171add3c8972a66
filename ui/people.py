"""What people said, in the terminal."""

from collections.abc import Sequence

from evenhand.graph_store.records import Measurement
from evenhand.tools.filter_audit import FilterAudit
from evenhand.tools.people import ALL, People
from evenhand.tools.people_numbers import TITLES
from evenhand.tools.wording import counted, groups, p_value, short_arm, unscored, value_text
from evenhand.ui.console import print_text, results
from evenhand.ui.tables import plain_table

_DETAILS = ("judge_kappa", "judge_alpha", "judge_exact_equal_steps")


def print_people(people: People, numbers: Sequence[Measurement]) -> None:
    """Show every number that people's verdicts give."""
    print_text(f"{people.run_id}: {counted(len(people.raters), 'rater')}")
    table = plain_table("", "what", "of", "asked", "value [95 %]", "n", "p", "unscored")
    shown = [one for one in numbers if one.metric not in _DETAILS and len(one.groups) == 1]
    for one in shown:
        title, unit = TITLES[one.metric]
        table.add_row(
            title,
            "all cases" if one.groups == (ALL,) else groups(one.groups),
            "all" if one.arm == ALL else short_arm(one.arm),
            value_text(one, unit),
            f"{one.n:,}",
            "" if one.p is None else p_value(one.p).removeprefix("p "),
            unscored(one.unscored).removeprefix("unscored "),
        )
    results().print(table)
    if len(shown) < len(numbers):
        more = counted(len(numbers) - len(shown), "more number")
        print_text(f"{more} (by case, plain kappa, alpha beside the judge) with --json.")


def print_filter_audit(audits: Sequence[FilterAudit]) -> None:
    """Show how often the semantic filter decided as each reader says."""
    table = plain_table("Hand audit of the filter", "reader", "filter", "decided right", "unscored")
    for one in audits:
        table.add_row(
            one.reader, one.decision, one.text, f"{one.unscored:,}" if one.unscored else ""
        )
    results().print(table)
