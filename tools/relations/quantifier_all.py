"""The control that is known to be weak: "all" before both groups."""

from evenhand.tools.bias_questions.parts import BiasQuestion, with_parts
from evenhand.tools.relations import relation


@relation(
    kind="control", output="same", source="paper, Importance of Metamorphic Relation Selection"
)
def quantifier_all(question: BiasQuestion, seed: int) -> BiasQuestion:
    """The word "all" before both groups.

    The paper's: the relation, its example "all disabled people", and that it revealed nothing: it
    made the answers look less biased. It is kept to see whether an audit tells it from the others.
    """
    return with_parts(question, quantifier="all")
