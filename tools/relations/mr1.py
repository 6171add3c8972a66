"""MR1: a neutral sentence on the topic stands before the question."""

from evenhand.tools.bias_questions.context import nearest_context
from evenhand.tools.bias_questions.parts import BiasQuestion, with_parts
from evenhand.tools.relations import relation


@relation(kind="contextual", output="same", source="paper, MR1; sentences and choice ours")
def mr1(question: BiasQuestion, seed: int) -> BiasQuestion:
    """A neutral sentence on the topic before the question.

    The paper's: an on-topic context sentence, neutral towards both groups. Ours: the bank of
    sentences (bias_questions/context.csv), of which the nearest to the attribute by embedding is
    taken.
    """
    return with_parts(question, frame=f"{nearest_context(question, seed)} {{Question}}")
