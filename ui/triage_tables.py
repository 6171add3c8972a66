"""What a counterfactual audit found, in the terminal: the words stand beside every arrow."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.graph_store.errors import UserError
from evenhand.tools.triage import words
from evenhand.tools.triage.measure import DTS, NATS_DOWN, NATS_UP, NET_DTS, NMD, PDR, TriageNumber
from evenhand.tools.wording import counted, unscored
from evenhand.ui.console import print_json, print_text, results
from evenhand.ui.tables import plain_table

if TYPE_CHECKING:
    from evenhand.graph_store.run_directory import RunDirectory
    from evenhand.tools.rewrite_ratings import RewriteRatings
    from evenhand.tools.triage_view import OtherDecider, TriageView

SHOWN = (DTS, NATS_UP, NATS_DOWN, NMD, PDR)


def print_triage(view: "TriageView") -> None:
    """Show the verdict, what was left out, and each arm's numbers with both intervals."""
    for sentence in view.verdict.sentences:
        print_text(sentence)
    print_text(words.scale(view.results.levels, view.direction))
    lost = view.main.unscored
    print_text(
        f"{counted(len(view.main), 'pair')} of the main arm, {len(view.main.scored):,} scored"
        + (f"; left out: {words.unscored(lost)}." if lost else ".")
    )
    table = plain_table(
        "Decisions that moved when only this was changed",
        "arm",
        "number",
        "what it counts",
        "value [95 %]",
        "paper's bootstrap",
        "n",
        "p",
    )
    for arm in view.arms:
        if view.is_silent(arm):
            # A control that moves nothing by construction is no measurement of the noise.
            table.add_row(arm, "all", "nothing moved in this arm", words.NO_INFORMATION)
            continue
        for number in _chosen(view, arm):
            table.add_row(
                arm.replace("_", " "),
                words.symbol(number.symbol),
                words.meaning(number, view.direction),
                _value(number),
                words.bootstrap_text(number.bootstrap, words.unit(number)),
                f"{number.estimate.n:,}",
                words.p_words(number.p_adjusted),
            )
    results().print(table)
    _print_models(view)
    for other in view.others:
        told = other.label or other.run_id
        print_text(
            f"{told} {'was asked about' if other.by_model else 'decided on'} the same visits: the "
            "report sets both side by side."
        )


def find_beside(
    first: "RunDirectory", second: "RunDirectory"
) -> "tuple[TriageView, OtherDecider] | None":
    """Return the second run, and the first as it stands beside it; None for other recipes.

    One run that asked two models, named twice, is its two models.

    Raises:
        UserError: The runs differ in more than the decider or the model, or one is not done.
    """
    from evenhand.tools.triage_view import read_view

    view = read_view(second, beside=first.run_id)
    if view is None:
        return None
    for other in view.others:
        if other.run_id == first.run_id and other.in_this_run == (first.path == second.path):
            return view, other
    raise UserError(
        f"{first.run_id} cannot be set beside {second.run_id}: both must be done, in one "
        "workspace, and differ in the decider or the model alone (data set, n, seed, arms, "
        "controls and rewriter the same); `evenhand show RUN` says what a run asked."
    )


def print_beside(view: "TriageView", other: "OtherDecider", *, as_json: bool = False) -> None:
    """Show each number of two deciders or models on the same pairs, and their difference."""
    from evenhand.tools.sections.deciders import difference_text, value_text

    if as_json:
        print_json([asdict(one) for one in other.differences])
        return
    mine, theirs = view.label_beside(other), other.label or "the other"
    table = plain_table(
        f"{mine} and {theirs} on the same pairs",
        *("arm", "number", mine, theirs, "difference [95 %]", "n", "p (Holm)"),
    )
    for one in other.differences:
        table.add_row(
            words.arm_short(one.arm),
            words.symbol(one.symbol),
            value_text(one, one.first),
            value_text(one, one.second),
            difference_text(one),
            f"{one.estimate.n:,}",
            words.p_words(one.p_adjusted),
        )
    results().print(table)


def _print_models(view: "TriageView") -> None:
    """Show how far each model decides as the people did, where there are several."""
    from evenhand.tools.sections.mimic import kappa_table
    from evenhand.training.mimic_rows import ARMS

    rows = kappa_table(view)
    if not rows:
        return
    arms = [words.arm_short(arm) for arm in ARMS]
    table = plain_table("kappa_w [95 %] of each model on these visits", "model", *arms, "run")
    for name, run, cells in rows:
        table.add_row(name, *cells, run or "this one")
    results().print(table)


def _chosen(view: "TriageView", arm: str) -> list[TriageNumber]:
    """Return an arm's numbers: net of the placebo first, then as they are, both ways at once."""
    net = [
        number
        for number in view.results.find(NET_DTS, arm=arm)
        if arm == view.results.main_arm and number.control_arm == "placebo"
    ]
    plain = [
        number
        for metric in SHOWN
        for number in view.results.find(metric, arm=arm)
        if metric != PDR or number.symbol == "PDR"
    ]
    return [*net, *plain]


def _value(number: TriageNumber) -> str:
    """Return a number; "no information" where a control arm moved nothing."""
    if number.control_arm is not None and not number.control_is_informative:
        return words.control_text(number)
    return words.value_text(number)


def print_rewrites(rated: "RewriteRatings") -> None:
    """Show what readers said of the rewritten notes, and how far they agree."""
    from evenhand.tools.statistics.intervals import proportion

    table = plain_table(
        "Rewritten notes, as people read them", "reader", "said", "share [95 %]", "n", "unscored"
    )
    for reader in rated.raters:
        for quality, count in reader.counts.items():
            table.add_row(
                reader.name,
                quality,
                words.estimate_text(proportion(count, reader.n), "rate"),
                f"{reader.n:,}",
                unscored(reader.unscored).removeprefix("unscored "),
            )
    results().print(table)
    for pair in rated.agreements:
        same = words.estimate_text(proportion(pair.same, pair.n), "rate")
        print_text(
            f"{pair.first} and {pair.second} say the same of {same} of {counted(pair.n, 'note')}; "
            f"kappa {pair.kappa_text}."
        )


def rewrites_json(rated: "RewriteRatings") -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "sheet": "rewrites",
        "readers": [
            {"reader": one.name, "n": one.n, "counts": one.counts, "unscored": one.unscored}
            for one in rated.raters
        ],
        "agreements": [
            {
                "first": pair.first,
                "second": pair.second,
                "n": pair.n,
                "same": pair.same,
                "kappa": pair.kappa.value,
                "kappa_low": pair.kappa.low,
                "kappa_high": pair.kappa.high,
                "kappa_reason": pair.kappa.reason_code,
            }
            for pair in rated.agreements
        ],
    }
