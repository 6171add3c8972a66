"""What a metamorphic relation is: a change of a question after which the answer is foreseeable.

One relation is one file beside this one, a function with the decorator `@relation`; its name is the
relation's, its docstring says what of it is the paper's and what is ours. Contextual relations put
something around the question, rephrasing ones word it otherwise; a pair is one of each, composed.
"Paper" is the metamorphic paper, which names and describes the relations and prints no wording but
that of a few examples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, get_args

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.registry import Registry
from evenhand.tools.bias_questions.parts import BiasQuestion, question_generator

Kind: TypeAlias = Literal["contextual", "rephrasing", "control"]
Output: TypeAlias = Literal["same", "inverted", "swapped"]
"""What must hold of the answers before and after, where the verdict before was unbiased: it stays
unbiased. Where a group was named as having more of what was asked:

- same: the same group, at the same place in the question
- inverted: the other group, since now it is asked who has less; whom the answer favours stays
- swapped: the same group, now at the other place
"""
Apply: TypeAlias = Callable[[BiasQuestion, int], BiasQuestion]


@dataclass(frozen=True)
class Relation:
    """A relation and what a reader must know of it."""

    name: str
    kind: Kind
    output: Output
    source: str
    apply: Apply
    """(question, seed) -> the question changed; the same question and seed give the same."""

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.apply.__doc__ or self.name).strip().splitlines()[0]


relations: Registry[Relation] = Registry("relation", __name__)


def relation(*, kind: Kind, output: Output, source: str) -> Callable[[Apply], Apply]:
    """Register a function as a relation under its own name."""
    if kind not in get_args(Kind) or output not in get_args(Output):
        raise ValueError(f"a relation has one of {get_args(Kind)} and one of {get_args(Output)}")

    def register(apply: Apply) -> Apply:
        name = apply.__name__
        relations.add(name, Relation(name, kind, output, source, apply))
        return apply

    return register


def pairs() -> tuple[tuple[str, str], ...]:
    """Return every contextual relation with every rephrasing one: ("mr1", "mr5"), ("mr1", "mr6")...

    Source: paper, "Combination of MRs": the four and the two form eight.
    """
    return tuple(product(_names("contextual"), _names("rephrasing")))


def _names(kind: Kind) -> list[str]:
    return [name for name in relations.names() if relations.get(name).kind == kind]


def titles(group: str) -> str:
    """Return what the relations of a group do, in words; empty where one is not registered.

    Example:
        >>> titles("mr2+mr6")
        'Equal opportunities are assumed. The groups change places.'
    """
    names = group.split("+")
    known = all(name in relations.names() for name in names)
    return " ".join(relations.get(name).title for name in names) if known else ""


def declared_outputs(group: str) -> tuple[Output, ...] | None:
    """Return what the relations of a group ("mr1+mr6") declare; None where one is not registered.

    A control arm ("placebo", "repeat") changes nothing, and declares nothing: ().
    """
    if group in ("placebo", "repeat"):
        return ()
    names = group.split("+")
    if not set(names) <= set(relations.names()):
        return None
    return tuple(relations.get(name).output for name in names)


def apply_relations(question: BiasQuestion, names: Sequence[str], seed: int) -> BiasQuestion:
    """Return the question changed by one relation, or by two, one after the other.

    Args:
        question: A question as it was made.
        names: One name or a pair, in any order; what a relation draws (a wording, a context) does
            not depend on the other one, so that a pair differs from its first by its second alone.
        seed: Of the wordings, >= 0.

    Raises:
        UserError: Unknown name, a name twice, or two contextual relations: only one frame stands
            around a question.
    """
    chosen = [relations.get(name) for name in names]
    contextual = [each.name for each in chosen if each.kind == "contextual"]
    if len(set(names)) < len(names) or len(contextual) > 1:
        raise UserError(
            f"Relations {'+'.join(names)} do not go together; expected one contextual "
            f"({', '.join(_names('contextual'))}) and one of another kind, each once."
        )
    for each in chosen:
        question = each.apply(question, seed)
    return question


def draw_wording(wordings: Sequence[str], question: BiasQuestion, seed: int) -> str:
    """Return one of the wordings, the same for every form and order of the same comparison."""
    return wordings[int(question_generator(question, seed).integers(len(wordings)))]
