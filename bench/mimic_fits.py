"""Mimics of real decisions, timed: `python bench/mimic_fits.py nhamcs FILE [--mimics ...]`.

For each mimic: seconds of the search and fit, of asking about the audit half both ways, its quality
there, and the skew in the arm full. The flow table comes first, a line a filter. With `--deciders
nurse,expert` (ktas) each decider has a mimic of its own, and what they say of the same pairs is
compared.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from hospital_audit import Shown, ask, rules

from evenhand.tools.datasets import load_visits
from evenhand.tools.finetune import fit_plan, open_lent
from evenhand.tools.triage.deciders import compare_deciders
from evenhand.tools.triage.measure import DTS, NMD, PDR, measure_arms
from evenhand.tools.triage.pairs import TriagePairs
from evenhand.tools.visits import Visits
from evenhand.training.fitting import FittedMimic, fit_mimic


def fit(visits: Visits, mimic: str, seed: int) -> tuple[FittedMimic, TriagePairs]:
    """Fit one mimic, ask it about the audit half, and print what it took and gave."""
    lent = open_lent(mimic)
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit_mimic(fit_plan(visits, mimic=mimic, seed=seed), Path(folder) / "m", lent)
    audited = [sample for sample in visits.samples if sample.split == "audit"]
    shown = Shown.make(audited, rules, True, visits.mapping.placebo)
    began = time.perf_counter()
    pairs = ask(audited, shown, fitted.mimic, visits.mapping.levels)
    seconds = time.perf_counter() - began
    quality = fitted.card.quality["full"]
    print(
        f"{mimic}: {fitted.card.n_train:,} visits fitted in {fitted.card.seconds:.1f} s, "
        f"{len(pairs):,} pairs asked in {seconds:.1f} s; kappa_w {quality.kappa_w:.3f}, "
        f"precision {quality.precision:.3f}, recall {quality.recall:.3f}, F1 {quality.f1:.3f}; "
        f"notes {dict(shown.notes)}; chosen {dict(fitted.mimic.chosen)}"
    )
    return fitted, pairs


def print_numbers(arms: Mapping[str, TriagePairs]) -> None:
    """Print PDR, both DTS and NMD with their intervals."""
    results = measure_arms(arms, resamples=1_000)
    for metric in (PDR, DTS, NMD):
        for number in results.find(metric):
            one = number.estimate
            if one.value is not None and one.low is not None and one.high is not None:
                scale = 1 if metric == NMD else 100
                print(
                    f"    {number.arm} {number.symbol} {scale * one.value:.2f} "
                    f"[{scale * one.low:.2f}, {scale * one.high:.2f}] n {one.n:,}"
                )


def main() -> None:
    """Run the mimics, or the deciders."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset")
    parser.add_argument("path")
    parser.add_argument("--mimics", default="random_forest,embedding_mlp")
    parser.add_argument("--deciders", default="")
    parser.add_argument("--seed", type=int, default=0)
    wished = parser.parse_args()
    by_decider: dict[str, TriagePairs] = {}
    for decider in wished.deciders.split(","):
        visits, _ = load_visits(
            wished.dataset, wished.path, None, wished.seed, decider=decider or None
        )
        if not by_decider:
            for step in visits.flow:
                print(f"    {step.words}: {step.left_out:,}, {step.remaining:,} remain")
        for mimic in wished.mimics.split(","):
            print(decider, end=" " if decider else "")
            _, pairs = fit(visits, mimic, wished.seed)
            print_numbers({"full": pairs})
            by_decider[f"{decider} {mimic}".strip()] = pairs
    names = list(by_decider)
    if wished.deciders and len(names) >= 2:
        first, second = ({"full": by_decider[name]} for name in (names[0], names[-1]))
        for one in compare_deciders(first, second, seed=wished.seed):
            made, scale = one.estimate, 1 if one.metric == NMD else 100
            ends = (one.first, one.second, made.value, made.low, made.high)
            mine, theirs, less, low, high = (scale * (end or 0.0) for end in ends)
            print(
                f"    {names[0]} less {names[-1]}: {one.symbol} {mine:.2f} - {theirs:.2f} = "
                f"{less:.2f} [{low:.2f}, {high:.2f}] n {made.n:,}, Holm p {one.p_adjusted:.3f}"
            )


if __name__ == "__main__":
    main()
