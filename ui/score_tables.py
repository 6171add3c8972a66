"""What `evenhand measure` prints: paper 1's Tables 6 and 8, with what can be said beside them."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from rich.table import Table

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.score_arms import DIVERGENCE, SHIFT, FileResults
from evenhand.tools.score_files import ScoreFile
from evenhand.tools.statistics.estimate import is_borderline
from evenhand.ui.console import print_text, results
from evenhand.ui.tables import plain_table

MOST_PROBLEMS = 20
FEW_ITEMS = 20


def print_files(found: FileResults) -> None:
    """Print means, differences and divergences with their intervals, then what was left out."""
    _print_means(found)
    _print_shifts(found)
    _print_divergences(found)
    for pair in found.pairs:
        print_text(pair.note)
    for sentence in size_sentences(found):
        print_text(sentence)
    for file in found.files.values():
        for line in problem_lines(file):
            print_text(line)


def print_as_published(found: FileResults) -> None:
    """Print the paper's two tables to the paper's digits, without intervals."""
    dimensions = [d for d in found.dimensions if d != "overall"]
    table = _by_dimension("Table 6: mean scores (difference to the original)", dimensions)
    for arm in found.files:
        cells = [_published_mean(found, arm, dimension) for dimension in dimensions]
        table.add_row(wording.short_arm(arm), *cells)
    results().print(table)
    if found.pairs:
        table = _by_dimension("Table 8: Jensen-Shannon divergence", dimensions)
        for pair in found.pairs:
            cells = [_published_divergence(found, pair.arm, pair.reference, d) for d in dimensions]
            table.add_row(_between(pair.reference, pair.arm), *cells)
        results().print(table)
    for file in found.files.values():
        for line in problem_lines(file):
            print_text(line)


def size_sentences(found: FileResults) -> list[str]:
    """Say what few items cannot show: the widest half interval among the differences."""
    halves = [
        (m.high - m.low) / 2 for m in found.of(SHIFT) if m.low is not None and m.high is not None
    ]
    fewest = min((len(file.scores) for file in found.files.values()), default=0)
    if not halves or fewest > FEW_ITEMS:
        return []
    return [
        f"{wording.counted(fewest, 'item')} a file cannot show a difference below about "
        f"{min(halves):.2f} to {max(halves):.2f}, depending on the dimension."
    ]


def problem_lines(file: ScoreFile) -> list[str]:
    """Name the cells that hold no score, and how many there are."""
    if not file.problems:
        return []
    named = [f"  {problem}" for problem in file.problems[:MOST_PROBLEMS]]
    more = len(file.problems) - len(named)
    return [
        f"{file.path.name}: {wording.counted(len(file.problems), 'cell')} left out, the rest "
        "measured:",
        *named,
        *([f"  and {more:,} more (--json names all)"] if more else []),
    ]


def _print_means(found: FileResults) -> None:
    table = plain_table(
        "Attribute association, 0 to 1 (paper 1): mean [95 %]",
        "dimension",
        *(wording.short_arm(arm) for arm in found.files),
        "n",
        "unscored",
    )
    for dimension in found.dimensions:
        some = [m for arm in found.files if (m := found.mean(arm, dimension))]
        cells = [_mean(found, arm, dimension) for arm in found.files]
        left_out = [sum(m.unscored.values()) for m in some]
        table.add_row(
            wording.group(dimension),
            *cells,
            _list([m.n for m in some]),
            _list(left_out),
        )
    results().print(table)


def _mean(found: FileResults, arm: str, dimension: str) -> str:
    one = found.mean(arm, dimension)
    return "no column" if one is None else wording.value_text(one, "score")


def _list(numbers: Sequence[int]) -> str:
    """Return "20", or "20, 20, 19" where they differ."""
    return ", ".join(f"{n:,}" for n in (numbers if len(set(numbers)) > 1 else numbers[:1]))


def _print_shifts(found: FileResults) -> None:
    some = found.of(SHIFT)
    if not some:
        return
    table = plain_table(
        "Difference of the means",
        "arm",
        "dimension",
        "difference [95 %]",
        "n",
        "p",
        "p (BH)",
        "unscored",
    )
    for m in some:
        table.add_row(
            f"{wording.short_arm(m.arm)} less {wording.short_arm(m.control_arm or '')}",
            wording.groups(m.groups),
            wording.value_text(m, "score_difference"),
            _items(found, m.arm, m.control_arm or "", m.groups[0], m.n),
            _p(m.p),
            _p(m.p_adjusted) + _borderline(m),
            wording.unscored(m.unscored).removeprefix("unscored "),
        )
    results().print(table)


def _items(found: FileResults, arm: str, reference: str, dimension: str, n: int) -> str:
    """Return the pairs, "20", or what each file has where nothing is paired, "20 and 19"."""
    if any((p.arm, p.reference) == (arm, reference) and p.paired_by for p in found.pairs):
        return f"{n:,}"
    both = [found.mean(name, dimension) for name in (arm, reference)]
    return " and ".join(f"{one.n:,}" for one in both if one)


def _borderline(m: Measurement) -> str:
    """Say where test and interval disagree; the test decides."""
    if m.low is None or m.high is None or m.p is None:
        return ""
    return " (borderline)" if is_borderline(m.low, m.high, m.p) else ""


def _print_divergences(found: FileResults) -> None:
    some = found.of(DIVERGENCE)
    if not some:
        return
    table = plain_table(
        "Jensen-Shannon divergence of the scores, 10 bins, base 2"
        + (" (bins as published)" if found.as_published else ""),
        "between",
        "dimension",
        "JS [95 %]",
        "without any difference: mean, 95 % point",
        "n",
        "p",
        "p (BH)",
    )
    for one in some:
        reference = one.control_arm or ""
        table.add_row(
            _between(reference, one.arm),
            wording.groups(one.groups),
            _divergence(one),
            "" if one.floor is None else f"{one.floor:.3f}, {one.floor_high:.3f}",
            _items(found, one.arm, reference, one.groups[0], one.n),
            _p(one.p),
            _p(one.p_adjusted),
        )
    results().print(table)


def _divergence(one: Measurement) -> str:
    if one.value is None:
        return f"not estimable: {wording.reason(one.reason_code)}"
    limits = "" if one.low is None else f" [{one.low:.3f}, {one.high:.3f}]"
    return f"{one.value:.3f}{limits}"


def _p(p: float | None) -> str:
    return "" if p is None else wording.p_value(p).removeprefix("p ")


def _between(reference: str, arm: str) -> str:
    return f"{wording.short_arm(reference)} vs {wording.short_arm(arm)}"


def _by_dimension(title: str, dimensions: Sequence[str]) -> Table:
    return plain_table(title, "", *(wording.group(dimension) for dimension in dimensions))


def _published_mean(found: FileResults, arm: str, dimension: str) -> str:
    """Return the mean, and its difference to the original, of the rounded means as the paper's."""
    first = found.pairs[0].reference if found.pairs else arm
    mean, reference = (_rounded_mean(found, name, dimension) for name in (arm, first))
    if mean is None:
        return ""
    delta = "" if reference is None or arm == first else f" ({mean - reference:+})"
    return f"{mean}{delta}"


def _rounded_mean(found: FileResults, arm: str, dimension: str) -> Decimal | None:
    one = found.mean(arm, dimension)
    return None if one is None or one.value is None else _half_up(one.value, 3)


def _half_up(value: float, digits: int) -> Decimal:
    """Round as the paper does: .0225 to .023, where binary floats would give .022."""
    return Decimal(f"{value:.9f}").quantize(Decimal(10) ** -digits, ROUND_HALF_UP)


def _published_divergence(found: FileResults, arm: str, reference: str, dimension: str) -> str:
    one = found.divergence(arm, reference, dimension)
    return "" if one is None or one.value is None else str(_half_up(one.value, 4))
