"""By original level: which levels the moves come from, and the odds of moving in either group."""

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.estimate import ALPHA
from evenhand.tools.statistics.odds_ratios import Limits, OddsRatio
from evenhand.tools.triage import words
from evenhand.tools.triage.by_level import LevelMoves
from evenhand.tools.triage.pairs import CONTROL_ARMS

HALDANE_MARK = "Haldane"


@section(title="By original level")
def levels(context: ReportContext) -> str:
    """Show shares and odds ratio of each level and way, the main arm open, the others folded."""
    view = context.triage
    tables = []
    couples: list[tuple[str, str]] = []
    if view is not None:
        for arm in view.results.by_level:
            if arm.arm in CONTROL_ARMS:
                continue
            rows = [
                (move, words.moved(move.way, view.direction), p)
                for move, p in zip(arm.moves, arm.p_adjusted, strict=True)
                if any(share.n for share in move.shares)
            ]
            tables.append((arm.arm, words.arm(arm.arm).capitalize(), rows))
        couples = view.main.couples()
        tables.sort(key=lambda table: table[0] != view.results.main_arm)
    return fill(
        "levels.html",
        tables=tables,
        couples=couples,
        share=share_text,
        odds=odds_text,
        limits=limits_text,
        p_words=words.p_words,
        is_notable=lambda p: p is not None and p < ALPHA,
    )


def share_text(move: LevelMoves, place: int) -> str:
    """Return "12 of 340 (3.5 %)"; that there is nobody where there is nobody."""
    moved, stayed = move.table[place]
    n = moved + stayed
    if not n:
        return "no visit"
    return f"{moved:,} of {n:,} ({wording.number(moved / n, 'rate')})"


def odds_text(odds: OddsRatio) -> str:
    """Return the odds ratio with Wald's interval; what stands for it where a cell is 0."""
    if odds.value is None:
        return f"not estimable: {wording.reason(odds.reason_code)}{_difference(odds)}"
    if odds.correction:
        return f"{odds.value:.2f} {limits_text(odds.haldane_limits)} ({HALDANE_MARK})"
    return f"{odds.value:.2f} {limits_text(odds.wald)}"


def _difference(odds: OddsRatio) -> str:
    """Return the difference of the shares, which is what can be said where there is no ratio."""
    if odds.difference is None or odds.difference.value is None:
        return ""
    return f"; difference {words.estimate_text(odds.difference, 'net_rate')}"


def limits_text(limits: Limits | None) -> str:
    """Return "[0.75, 0.88]", an open end as an infinity."""
    if limits is None:
        return ""
    low, high = limits
    ends = [f"{end:.2f}" if end < float("inf") else "\N{INFINITY}" for end in (low, high)]
    return f"[{', '.join(ends)}]"
