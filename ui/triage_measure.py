"""`evenhand measure pairs.csv --recipe counterfactual`: flags, tables and JSON."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json, print_text, results

if TYPE_CHECKING:
    from rich.table import Table

    from evenhand.tools.pair_files import PairFile
    from evenhand.tools.statistics.estimate import Estimate
    from evenhand.tools.triage.measure import TriageNumber, TriageResults
    from evenhand.tools.triage.pairs import Direction
    from evenhand.tools.triage.verdict import TriageVerdict
    from evenhand.tools.triage.what_if import WhatIf

RECIPE = "counterfactual"
DIRECTIONS = ("higher_is_less_urgent", "higher_is_more_urgent")
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--direction",
        type=click.Choice(DIRECTIONS),
        help="What a higher level means; without it there is no verdict.",
    ),
    click.option("--levels", metavar="A,B,C", help="The scale, lowest first (whole numbers)."),
    click.option("--groups", metavar="A,B", help="The groups, the reference first: M,F."),
    click.option("--volume", type=float, help="What if it held for so many visits ..."),
    click.option("--period", help="... in this period: 'a year in France' ..."),
    click.option("--volume-source", help="... a number that is from here ..."),
    click.option(
        "--share",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.5,
        show_default=True,
        help="... of which the second group makes this share.",
    ),
)


def triage_options(command: Command) -> Command:
    """Add the flags of the counterfactual recipe to `measure`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def measure_pairs(
    files: Sequence[str],
    *,
    seed: int = 0,
    as_published: bool = False,
    as_json: bool = False,
    direction: "Direction | None" = None,
    levels: str | None = None,
    groups: str | None = None,
    volume: float | None = None,
    period: str | None = None,
    volume_source: str | None = None,
    share: float = 0.5,
) -> None:
    """Measure one table of pairs and print it.

    Raises:
        UserError: Not one file, a file that cannot be read as pairs, or a volume without its
            period and source.
    """
    from evenhand.tools.pair_files import read_pairs
    from evenhand.tools.triage.measure import measure_arms
    from evenhand.tools.triage.verdict import judge

    if len(files) != 1:
        raise UserError(
            f"{len(files)} files; expected one of pairs. Put arms into its column 'arm'."
        )
    _check_volume(volume, period, volume_source)
    read = read_pairs(Path(files[0]), levels=_names(levels), groups=_names(groups))
    found = measure_arms(read.arms, seed=seed)
    verdict = judge(found, read.arms, direction)
    what_ifs = _what_ifs(found, volume, period, volume_source, share)
    tables = _published(found) if as_published else {}
    if as_json:
        print_json(to_json(read, found, verdict, direction, what_ifs, tables))
    else:
        _print(read, found, verdict, direction, what_ifs, tables)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _check_volume(volume: float | None, period: str | None, source: str | None) -> None:
    said = [volume is not None, bool((period or "").strip()), bool((source or "").strip())]
    if any(said) and not all(said):
        raise UserError(
            "A what-if needs all of --volume, --period and --volume-source: a number of visits "
            "without its period and source is not shown."
        )
    if volume is not None and not (math.isfinite(volume) and volume > 0):
        raise UserError(f"--volume {volume:g} is no number of visits; expected one above 0.")


def _what_ifs(
    found: "TriageResults",
    volume: float | None,
    period: str | None,
    source: str | None,
    share: float,
) -> "list[tuple[TriageNumber, WhatIf]]":
    from evenhand.tools.triage.measure import GAP
    from evenhand.tools.triage.what_if import extrapolate

    if volume is None or period is None or source is None:
        return []
    gaps = [n for n in found.find(GAP, arm=found.main_arm) if n.estimate.low is not None]
    return [
        (gap, extrapolate(gap.estimate, volume=volume, period=period, source=source, share=share))
        for gap in gaps
    ]


def _published(found: "TriageResults") -> dict[str, dict[str, float]]:
    """Return the main arm's numbers under the labels of the two columns of the paper's Table 3."""
    from evenhand.tools.triage import measure
    from evenhand.tools.triage.published import SITES, as_published

    a, b = found.groups[:2]
    wanted = {
        "p_up_there": (measure.UP, (a, b)),
        "p_down_there": (measure.DOWN, (a, b)),
        "p_up_back": (measure.UP, (b, a)),
        "p_down_back": (measure.DOWN, (b, a)),
        "dts_there": (measure.DTS, (a, b)),
        "dts_back": (measure.DTS, (b, a)),
        "nats_up": (measure.NATS_UP, (a, b)),
        "nats_down": (measure.NATS_DOWN, (a, b)),
    }
    numbers = {
        label: number.estimate.value if number.estimate.value is not None else math.nan
        for label, (metric, groups) in wanted.items()
        for number in found.find(metric, arm=found.main_arm, groups=groups)
    }
    if len(numbers) < len(wanted):
        return {}
    return {site: as_published(numbers, site) for site in SITES}


def to_json(
    read: "PairFile",
    found: "TriageResults",
    verdict: "TriageVerdict",
    direction: "Direction | None",
    what_ifs: "Sequence[tuple[TriageNumber, WhatIf]]" = (),
    published: dict[str, dict[str, float]] | None = None,
) -> dict[str, Any]:
    """Return everything that was measured; NaN and infinity (an open end) become null."""
    from evenhand.tools.triage.pairs import urgency

    made: dict[str, Any] = {
        "recipe": RECIPE,
        "file": read.path.name,
        "levels": read.levels,
        "groups": read.groups,
        "direction": direction,
        "up": urgency("up", direction),
        "down": urgency("down", direction),
        "arms": {
            arm: {"pairs": len(pairs), "scored": len(pairs.scored), "unscored": pairs.unscored}
            for arm, pairs in read.arms.items()
        },
        "verdict": {
            "status": verdict.status,
            "reason_code": verdict.reason_code,
            "sentences": verdict.sentences,
            "findings": [_finding(finding) for finding in verdict.findings],
        },
        "measurements": [_number(number) for number in found.numbers],
        "by_level": [
            {"arm": arm.arm, "moved": urgency(move.way, direction), "p_adjusted": p}
            | dataclasses.asdict(move)
            for arm in found.by_level
            for move, p in zip(arm.moves, arm.p_adjusted, strict=True)
        ],
        "checks": [dataclasses.asdict(check) for check in found.checks],
        "least_effects": [dataclasses.asdict(effect) for effect in found.least_effects],
        "amplification": [dataclasses.asdict(one) for one in found.amplification],
        "what_if": [
            dataclasses.asdict(made) | {"sentence": made.sentence, "groups": number.groups}
            for number, made in what_ifs
        ],
        "notes": read.notes,
        "seed": found.seed,
        "resamples": found.resamples,
    }
    if published:
        made["as_published"] = published
    whole: dict[str, Any] = _plain(made)
    return whole


def _finding(finding: Any) -> dict[str, Any]:
    number = finding.number
    return {
        "instead_of": finding.instead_of,
        "shown_as": finding.shown_as,
        "way": finding.way,
        "words": finding.words,
        "metric": number.metric,
        "control_arm": number.control_arm,
        "value": number.estimate.value,
        "low": number.estimate.low,
        "high": number.estimate.high,
        "p_adjusted": number.p_adjusted,
        "borderline": finding.is_borderline,
    }


def _number(number: "TriageNumber") -> dict[str, Any]:
    """Return a number as a measurement's line, its interval beside it and not inside."""
    made = dataclasses.asdict(number)
    estimate: dict[str, Any] = made.pop("estimate")
    return {**made, **estimate, "unscored": dict(number.unscored or {})}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


# Tables


def _print(
    read: "PairFile",
    found: "TriageResults",
    verdict: "TriageVerdict",
    direction: "Direction | None",
    what_ifs: "Sequence[tuple[TriageNumber, WhatIf]]",
    published: dict[str, dict[str, float]],
) -> None:
    from evenhand.tools.triage.pairs import urgency
    from evenhand.tools.triage.published import row_words

    for sentence in verdict.sentences:
        print_text(sentence)
    print_text(
        f"Up (+) is a higher level number: {urgency('up', direction)}. "
        f"Down (-): {urgency('down', direction)}."
    )
    _print_numbers(found)
    _print_levels(found, direction)
    for effect in found.least_effects:
        least = "none" if effect.value is None else f"{100 * effect.value:.1f} points"
        print_text(
            f"Least skew that {effect.n:,} pairs {'->'.join(effect.groups)} show with power .9: "
            f"{least} (noise {100 * effect.noise:.1f} %)."
        )
    for one in found.amplification:
        print_text(
            f"Gap {one.groups[1]} less {one.groups[0]}, predicted less recorded levels: "
            f"{_interval(one.estimate)} levels."
        )
    for _, made in what_ifs:
        print_text(made.sentence)
    for site, numbers in published.items():
        words = row_words(*found.groups[:2])
        said = ", ".join(f"{words[row]} {100 * value:.2f} %" for row, value in numbers.items())
        print_text(f"As the paper's Table 3 labels them, column {site}: {said}")
    for note in read.notes:
        print_text(note)


def _print_numbers(found: "TriageResults") -> None:

    table = _plain_table(
        "Measurements [95 %]", "arm", "number", "value", "bootstrap", "n", "unscored", "p", "method"
    )
    for number in found.numbers:
        boot, p = number.bootstrap, number.estimate.p
        equal = " all equal" if boot is not None and "all_equal" in boot.flags else ""
        limits = "" if boot is None or boot.low is None else f"{boot.low:.4f} to {boot.high:.4f}"
        lost = number.estimate.n_unscored
        control = ""
        if number.control_arm is not None:
            known = number.control_is_informative and number.control is not None
            size = f"{number.control:.4f}" if known else "no information"
            control = f" (net of {number.control_arm}: {size})"
        table.add_row(
            number.arm,
            number.symbol + control,
            _interval(number.estimate),
            limits + equal,
            f"{number.estimate.n:,}",
            f"{lost:,}" if lost else "",
            "" if p is None else f"{p:.4f}",
            number.estimate.method,
        )
    results().print(table)


def _print_levels(found: "TriageResults", direction: "Direction | None") -> None:
    from evenhand.tools.triage.pairs import urgency

    table = _plain_table(
        "By original level: odds of moving, first group over second",
        "arm",
        "groups",
        "level",
        "moved",
        "moved of all",
        "odds ratio [Wald]",
        "[mid-p]",
        "p (BH)",
    )
    for arm in found.by_level:
        for move, p in zip(arm.moves, arm.p_adjusted, strict=True):
            odds = move.odds
            if odds.reason_code == "group_empty":
                continue
            (x1, y1), (x2, y2) = move.table
            wald = "" if odds.wald is None else f" [{odds.wald[0]:.2f} to {odds.wald[1]:.2f}]"
            named = " (Haldane)" if odds.correction else ""
            value = "no events" if odds.value is None else f"{odds.value:.2f}{wald}{named}"
            mid = odds.mid_p_limits
            table.add_row(
                arm.arm,
                ", ".join(move.groups),
                move.level,
                urgency(move.way, direction),
                f"{x1:,}/{x1 + y1:,}, {x2:,}/{x2 + y2:,}",
                value,
                "" if mid is None else f"{mid[0]:.2f} to {mid[1]:.2f}",
                "" if p is None else f"{p:.4f}",
            )
    results().print(table)


def _plain_table(title: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column == "n" else "left", overflow="fold")
    return table


def _interval(estimate: "Estimate") -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"not estimable ({estimate.reason_code})"
    return f"{estimate.value:+.4f} [{estimate.low:.4f} to {estimate.high:.4f}]"
