"""Triples with and without the rule filter, beside paper 1's Table 4, and bases that can be asked.

`python bench/extraction_counts.py trinds=FILE diversitymedqa=FILE ... [--n 20] [--seed 0]`; `demo`
needs no file. Without the filter: what spaCy's parse alone states; with it: the patient's triples.
"""

import argparse
from collections.abc import Sequence

from evenhand.graph_store.records import Sample
from evenhand.tools.datasets import load_samples
from evenhand.tools.extraction import extract_all

PAPER = {"diversitymedqa": "49 -> 297", "trinds": "166 -> 193"}
"""Table 4, EquityMedQA being its TRINDS subset; the paper does not say over how many questions."""
CLINICAL = ("has_symptom", "has_finding", "has_history")


def row(name: str, samples: Sequence[Sample]) -> str:
    """Return one line of the table."""
    extractions = extract_all(samples)
    spacy = sum(each.n_spacy for each in extractions)
    rules = sum(each.n_filtered for each in extractions)
    clinical = sum(
        any(triple.predicate in CLINICAL for triple in each.triples) for each in extractions
    )
    empty = sum(not each.triples for each in extractions)
    return (
        f"| {name} | {len(samples)} | {spacy} | {rules} | {rules / len(samples):.1f} "
        f"| {empty} | {clinical} | {PAPER.get(name, '')} |"
    )


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="data set, or data set=file")
    parser.add_argument("--n", type=int, default=None, help="samples of each; all if not given")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| data set | samples | spaCy alone | rule filter | a sample | none | clinical | paper |")
    print("|---|---|---|---|---|---|---|---|")
    for word in given.data:
        name, _, path = word.partition("=")
        samples, _ = load_samples(name, path or None, given.n, given.seed)
        print(row(name, samples))


if __name__ == "__main__":
    main()
