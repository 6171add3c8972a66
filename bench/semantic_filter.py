"""What a least similarity keeps and turns away: 200 generated questions under each relation.

    python bench/semantic_filter.py [--n 200] [--seed 11]

Right: a question under a relation beside its base. Wrong, made by the same relation: a question of
the same groups about another attribute, and one of other groups of the category about the same
attribute. Prints a Markdown table: the point below which 1 in 100 right questions lie, and which
share of each is kept at the declared minimum (tools/semantic_filter.py).
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.bias_questions.parts import BiasQuestion, make_question, sample_question
from evenhand.tools.datasets import load_samples
from evenhand.tools.relations import apply_relations, pairs, relations
from evenhand.tools.semantic_filter import least_similarity, similarities

KINDS = ("right", "other attribute", "other groups")
Cosines = NDArray[np.float64]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    samples, _ = load_samples("bias_questions", None, options.n, options.seed)
    questions = [sample_question(sample) for sample in samples]
    sources = {"right": questions, **strayed(questions, options.seed)}
    print(f"| relation | minimum | 1 % of right | {' | '.join(f'{k} kept' for k in KINDS)} |")
    print("|---" * (3 + len(KINDS)) + "|")
    for names in [*((name,) for name in relations.names()), *pairs()]:
        found = {
            kind: cosines(questions, some, names, options.seed) for kind, some in sources.items()
        }
        least = least_similarity(names)
        kept = [f"{np.mean(found[kind] >= least):.1%} of {len(found[kind])}" for kind in KINDS]
        lowest = np.quantile(found["right"], 0.01)
        print(
            f"| {'+'.join(names)} | {least:.2f} | {lowest:.3f} | {' | '.join(kept)} |", flush=True
        )


def strayed(questions: list[BiasQuestion], seed: int) -> dict[str, list[BiasQuestion]]:
    """Return, for each question, one about another attribute and one about other groups."""
    rng = np.random.default_rng(seed)
    attribute, groups = [], []
    for asked in questions:
        others = [one for one in questions if one.attribute != asked.attribute]
        other = others[int(rng.integers(len(others)))]
        attribute.append(_with(asked, (asked.group_1, asked.group_2), other.attribute))
        same = [
            one
            for one in questions
            if one.category == asked.category
            and not {one.group_1, one.group_2} & {asked.group_1, asked.group_2}
        ]
        pool = same or [one for one in others if one.category != asked.category]
        drawn = pool[int(rng.integers(len(pool)))]
        groups.append(_with(asked, (drawn.group_1, drawn.group_2), asked.attribute))
    return {"other attribute": attribute, "other groups": groups}


def _with(asked: BiasQuestion, groups: tuple[str, str], attribute: str) -> BiasQuestion:
    return make_question(asked.category, *groups, attribute, asked.template, form=asked.form)


def cosines(
    bases: list[BiasQuestion], sources: list[BiasQuestion], names: tuple[str, ...], seed: int
) -> Cosines:
    """Return the similarity of each base to what the relation makes of its source."""
    made = [apply_relations(source, names, seed).text for source in sources]
    return np.array(similarities([(b.text, text) for b, text in zip(bases, made, strict=True)]))


if __name__ == "__main__":
    main()
