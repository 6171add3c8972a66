"""Simulated hospitals, end to end through the random forest: what of a planted skew is found.

`python bench/hospitals.py [--hospitals 50] [--visits 1000] [--effects 0.5,1,2] [--refits 10]`. A
hospital is its own notes and vital signs (bench/demo_visits.py with another seed) and a decider
with the rule of tools/datasets/demo_visits.py: a note that shows a woman costs `effect` points of
severity, and each decision is off by a normal draw of `noise` points. So the decider's own DTS on
the audited pairs is known, and the mimic's is what the audit sees. The hospitals take the effects
in turn, and each has the same visits decided again without any. Exit code 1 unless effects of 2
points and more are found in 90 %. `--clumsy` audits with a careless rewriter, with the gate and
without.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from hospital_audit import GENDERS, REFITS, WAYS, Hospital, audit, clumsy, make_hospital, rules

from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.statistics.intervals import proportion
from evenhand.tools.triage.measure import DTS, NET_DTS, PDR, TriageResults


@dataclass(frozen=True)
class Line:
    """One hospital in numbers; the two directions of each in the order of WAYS."""

    seed: int
    effect: float
    kappa: float
    n: int
    truth: tuple[float, ...]
    seen: tuple[float, ...]
    over_pairs: tuple[tuple[float, float], ...]
    """Tango's interval, about this one fitted mimic."""
    over_fits: tuple[tuple[float, float], ...]
    """The interval over pairs and fits."""
    tested: tuple[bool, ...]
    """Whether the test names the direction, and the right way where an effect is planted."""
    found: tuple[bool, ...]
    """Whether the verdict does: not borderline, so the interval over fits leaves 0 out too."""
    spread: float
    """Standard deviation of DTS over the refits, both directions together; NaN without."""
    placebo: float
    """PDR of the placebo."""
    repeat: float
    """PDR of the repeat; NaN without."""
    seconds: float

    def __str__(self) -> str:
        """A line of the record."""
        truth, seen = (
            " ".join(f"{100 * one:6.1f}" for one in ones) for ones in (self.truth, self.seen)
        )
        return (
            f"{self.seed:5d} effect {self.effect:3.1f} n {self.n:4d} kappa {self.kappa:.2f} decider"
            f" {truth} mimic {seen} refits +-{100 * self.spread:4.1f} placebo "
            f"{100 * self.placebo:4.1f} repeat {100 * self.repeat:4.1f} tested {sum(self.tested)},"
            f" found {sum(self.found)} of 2, {self.seconds:4.1f} s"
        )


def run_hospital(seed: int, effect: float, visits: int, noise: float, refit: int) -> list[Line]:
    """Make and audit one hospital with a planted effect, and the same visits without any."""
    return [
        _line(make_hospital(seed, visits=visits, effect=points, noise=noise), seed, refit)
        for points in (effect, 0.0)
    ]


def _line(hospital: Hospital, seed: int, refit: int) -> Line:
    began = time.perf_counter()
    effect = hospital.effect
    done = audit(hospital, seed=seed, refit=refit)
    numbers = [
        done.results.find(DTS, arm="full", groups=(a, b))[0]
        for a, b in (way.split("->") for way in WAYS)
    ]
    skews = [one.estimate for one in numbers]
    truth = tuple(done.truth[way] for way in WAYS)
    named = {(f.instead_of, f.shown_as): f for f in done.verdict.findings}
    findings = [named.get((a, b)) for a, b in (way.split("->") for way in WAYS)]
    tested = [
        one is not None and (not effect or one.way == ("up" if true > 0 else "down"))
        for one, true in zip(findings, truth, strict=True)
    ]
    rate = {arm: done.results.find(PDR, arm=arm)[0].estimate.value for arm in done.results.arms}
    return Line(
        seed=seed,
        effect=effect,
        kappa=done.kappa,
        n=sum(one.n for one in skews),
        truth=truth,
        seen=tuple(float(one.value or 0.0) for one in skews),
        over_pairs=tuple(_ends(one) for one in skews),
        over_fits=tuple(_ends(one.over_fits or one.estimate) for one in numbers),
        tested=tuple(tested),
        found=tuple(
            right and one is not None and not one.is_borderline
            for right, one in zip(tested, findings, strict=True)
        ),
        spread=float(np.mean([np.std(done.of_refits[way], ddof=1) for way in WAYS]))
        if refit
        else float("nan"),
        placebo=float(rate["placebo"] or 0.0),
        repeat=float(rate.get("repeat") or "nan"),
        seconds=time.perf_counter() - began,
    )


def _ends(one: Estimate) -> tuple[float, float]:
    if one.low is None or one.high is None:
        return float("nan"), float("nan")
    return one.low, one.high


def coverage(lines: Sequence[Line]) -> tuple[float, float]:
    """Return how often both intervals hold the mean skew of mimics of such hospitals.

    That mean is taken over the hospitals, the second direction turned round.
    """
    middle = float(np.mean([(line.seen[0] - line.seen[1]) / 2 for line in lines]))
    shares = [
        np.mean([
            low <= sign * middle <= high
            for line in lines
            for (low, high), sign in zip(getattr(line, name), (1, -1), strict=True)
        ])
        for name in ("over_pairs", "over_fits")
    ]  # fmt: skip
    return float(shares[0]), float(shares[1])


def attenuation(lines: Sequence[Line], seed: int = 0) -> tuple[float, float, float]:
    """Return mimic's over decider's DTS, both directions, with the 95 % interval over hospitals."""
    seen = np.array([line.seen[0] - line.seen[1] for line in lines])
    truth = np.array([line.truth[0] - line.truth[1] for line in lines])
    drawn = np.random.default_rng(seed).integers(len(lines), size=(2_000, len(lines)))
    ratios = seen[drawn].sum(axis=1) / truth[drawn].sum(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(seen.sum() / truth.sum()), float(low), float(high)


def summary(lines: Sequence[Line]) -> Iterator[str]:
    """Say what the hospitals of each effect gave."""
    for effect in sorted({line.effect for line in lines}):
        of = [line for line in lines if line.effect == effect]
        text = f"effect {effect:3.1f}, {len(of)} hospitals: "
        text += "found" if effect else "false alarm"
        for name, words in (("tested", "by the test alone"), ("found", "by the verdict")):
            either = sum(any(getattr(line, name)) for line in of)
            share = proportion(either, len(of))
            text += f", {words} in {either}"
            text += f" ({100 * (share.low or 0):.0f} to {100 * (share.high or 0):.0f} %)"
        if effect:
            ratio, low, high = attenuation(of)
            true = np.mean([(line.truth[0] - line.truth[1]) / 2 for line in of])
            text += (
                f"; decider's DTS {100 * true:.1f} points, mimic's / decider's {ratio:.2f}"
                f" (95 % {low:.2f} to {high:.2f})"
            )
        pairs, fits = coverage(of)
        sd = np.std([line.seen for line in of], axis=0, ddof=1).mean() if len(of) > 1 else np.nan
        spread = np.mean([line.spread for line in of])
        text += (
            f"; of the directions Tango's interval holds the mean DTS of such mimics in "
            f"{100 * pairs:.0f} %, that over pairs and fits in {100 * fits:.0f} %; "
            f"DTS over hospitals +-{100 * sd:.1f}, over refits of one +-{100 * spread:.1f} points"
        )
        yield text


def clumsy_lines(seed: int, visits: int, noise: float) -> Iterator[str]:
    """Audit one hospital without an effect by a good and by a clumsy rewriter; numbers of each."""
    hospital = make_hospital(seed, visits=visits, effect=0.0, noise=noise)
    for rewrite, gated in ((rules, True), (clumsy, True), (clumsy, False)):
        done = audit(hospital, seed=seed, rewrite=rewrite, gated=gated, refit=0)
        rejected = sum(n for code, n in done.notes.items() if code.startswith("gate_"))
        found = [f"{arm} {_shown_rate(done.results, PDR, arm)}" for arm in ("full", "placebo")]
        skews = [
            f"{arm} {_shown_rate(done.results, metric, arm)}"
            for arm, metric in (("full", DTS), ("placebo", DTS), ("full", NET_DTS))
        ]
        yield (
            f"{seed:5d} {'gate' if gated else 'no gate'}, {rewrite.__name__}: notes rejected "
            f"{rejected} of {rejected + done.notes['rewritten']}; PDR {', '.join(found)}; "
            f"DTS_female|male {', '.join(skews)} (the last net of placebo)"
        )


def _shown_rate(results: TriageResults, metric: str, arm: str) -> str:
    groups = None if metric == PDR else (GENDERS[0], GENDERS[1])
    one = results.find(metric, arm=arm, groups=groups)[0].estimate
    if one.value is None or one.low is None or one.high is None:
        return one.reason_code or one.status
    return f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]"


def main() -> int:
    """Run all hospitals, print a line each and the summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hospitals", type=int, default=50)
    parser.add_argument("--visits", type=int, default=1_000)
    parser.add_argument("--effects", default="0.5,1,2")
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--refits", type=int, default=REFITS)
    parser.add_argument("--first", type=int, default=0, help="First seed.")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--clumsy", action="store_true", help="Only the clumsy rewriter.")
    wished = parser.parse_args()
    if wished.clumsy:
        for seed in range(wished.first, wished.first + wished.hospitals):
            for text in clumsy_lines(seed, wished.visits, wished.noise):
                print(text, flush=True)
        return 0
    effects = [float(one) for one in wished.effects.split(",")]
    lines = list[Line]()
    with ProcessPoolExecutor(wished.processes) as pool:
        jobs = [
            pool.submit(
                run_hospital,
                wished.first + at,
                effects[at % len(effects)],
                wished.visits,
                wished.noise,
                wished.refits,
            )
            for at in range(wished.hospitals)
        ]
        for job in jobs:
            for line in job.result():
                lines.append(line)
                print(line, flush=True)
    for text in summary(lines):
        print(text)
    planted = [any(line.tested) for line in lines if line.effect >= 2]
    return int(bool(planted) and np.mean(planted) < 0.9)


if __name__ == "__main__":
    raise SystemExit(main())
