"""Are generated questions correct English? A grammar checker's findings by rule; a draw to read.

    python bench/bias_questions.py --check CHECKER [--seed S]
    python bench/bias_questions.py --read N --seed S

CHECKER is a program that takes texts, one a line, and answers each with a JSON object of `text` and
`matches`, which have a `rule` and what was `found` (LanguageTool 6.6, en-US). Asked are 1,000
questions: every template under every relation, pair, placebo, and none, about equally often.
"""

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Sequence

import numpy as np

from evenhand.tools.bias_questions.context import with_unrelated_sentence
from evenhand.tools.bias_questions.parts import BiasQuestion, sample_question
from evenhand.tools.datasets import load_samples
from evenhand.tools.relations import apply_relations, pairs, relations

ASKED = 1_000
PLACEBO = ("placebo",)


def main() -> None:
    """Check, or print what is to be read, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", help="the grammar checker's command")
    parser.add_argument("--read", type=int, default=0, help="print so many, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    asked = generated(options.seed)
    if options.check:
        report(asked, options.check.split())
    for place in np.random.default_rng(options.seed).permutation(ASKED)[: options.read].tolist():
        arm, text = asked[place]
        print(f"{place} [{arm}] {text}")


def generated(seed: int) -> list[tuple[str, str]]:
    """Return 1,000 questions, each with its arm: "choice mr1+mr5"."""
    arms = [(), *((name,) for name in relations.names()), *pairs(), PLACEBO]
    samples, _ = load_samples("bias_questions", None, ASKED, seed)
    turn = Counter[str]()
    asked = []
    for sample in samples:
        question = sample_question(sample)
        arm = arms[turn[question.template] % len(arms)]
        turn[question.template] += 1
        asked.append((f"{question.template} {'+'.join(arm) or 'base'}", _text(question, arm, seed)))
    return asked


def _text(question: BiasQuestion, arm: Sequence[str], seed: int) -> str:
    if arm == PLACEBO:
        return with_unrelated_sentence(question, seed).text
    return apply_relations(question, arm, seed).text


def report(asked: list[tuple[str, str]], checker: list[str]) -> None:
    """Print how many findings each rule has, with what it found first."""
    lines = "".join(f"{text}\n" for _, text in asked)
    done = subprocess.run(checker, input=lines, capture_output=True, text=True, check=True)  # noqa: S603
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if [answer["text"] for answer in answers] != [text for _, text in asked]:
        raise SystemExit("The checker did not answer each question.")
    found = [(match, answer["text"]) for answer in answers for match in answer["matches"]]
    rules = Counter(match["rule"] for match, _ in found)
    print(
        f"{len(asked)} questions, {len({text for _, text in asked})} different, "
        f"{len(found)} findings"
    )
    for rule, count in rules.most_common():
        match, text = next((match, text) for match, text in found if match["rule"] == rule)
        print(f"| {rule} | {count} | {match['found']!r} in: {text}")


if __name__ == "__main__":
    main()
