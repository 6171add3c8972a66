"""Few-shot: fair, definite and ordinary answers stand in the prompt as examples."""

import json
from collections.abc import Sequence

from evenhand.agents.asking import usable_variants
from evenhand.agents.estimate import model_settings
from evenhand.agents.mending import Facts, Mending
from evenhand.agents.mitigation import mitigation
from evenhand.agents.mitigation_sides import ask_side, target_role
from evenhand.agents.prompt import Messages, fill_messages, read_prompt
from evenhand.agents.target import PROMPTS
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Variant, content_hash
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.mitigation.train_set import Exchange, Kind, bias_train_set, kinds
from evenhand.tools.pairing import MAJORITY
from evenhand.tools.providers import open_model
from evenhand.tools.wrapped_model import with_messages

EXEMPLARS_FILE = "exemplars.json"


@mitigation()
async def few_shot(work: Mending) -> Facts:
    """Put examples of the training side before each question, and ask before and after.

    Half of them are the run's own questions with fair answers, those first that were answered with
    a side taken; the rest are benign questions and ordinary instructions with definite answers.
    """
    chosen = exemplars(work)
    role = target_role(work)
    model = await open_model(role.model, model_settings(role))
    try:
        await ask_side(work, "before", model, role)
        text = json.dumps([one.model_dump(mode="json") for one in chosen], ensure_ascii=False)
        shown = example_turns(chosen)
        prompted = with_messages(
            model,
            lambda asked: (*asked[:-1], *shown, asked[-1]),
            {"exemplars": content_hash(text)},
        )
        RunDirectory(work.folder).write_text(EXEMPLARS_FILE, text + "\n")
        await ask_side(work, "after", prompted, role)
    finally:
        await model.close()
    return {"exemplars": kinds(chosen), "prompt": EXEMPLARS_FILE}


def exemplars(work: Mending) -> list[Exchange]:
    """Return the exchanges of the prompt, in a drawn order.

    Raises:
        UserError: Two at least are wished.
    """
    count = work.settings.exemplars
    if count < 2:
        raise UserError(f"{count} exemplar cannot show both; give two at least (--exemplars).")
    made = bias_train_set(
        work.run.samples(),
        _flagged_first(work.run),
        work.split,
        work.instructions["train"],
        most=None,
        seed=work.settings.seed,
    )
    flagged = _flagged(work.run)
    bias = sorted(_of(made, "bias"), key=lambda each: each.source not in flagged)
    fair = (count + 1) // 2
    benign = (count - fair + 1) // 2
    kept = {
        each.id
        for some, most in (
            (bias, fair),
            (_of(made, "benign"), benign),
            (_of(made, "instruction"), count - fair - benign),
        )
        for each in some[:most]
    }
    return [each for each in made if each.id in kept]


def example_turns(chosen: Sequence[Exchange]) -> Messages:
    """Return exchanges as turns of a conversation, in the form of the audit's own prompt."""
    user = read_prompt(PROMPTS["direct"])[-1:]
    turns: list[tuple[str, str]] = []
    for each in chosen:
        turns += fill_messages(user, {"question": each.question})
        turns.append(("assistant", each.answer))
    return tuple(turns)


def _of(made: Sequence[Exchange], kind: Kind) -> list[Exchange]:
    return [each for each in made if each.kind == kind]


def _flagged(run: RunDirectory) -> set[str]:
    return {
        one.subject_id
        for one in run.judgements()
        if one.rubric == MAJORITY and one.status == "ok" and one.value == 0.0
    }


def _flagged_first(run: RunDirectory) -> list[Variant]:
    flagged = _flagged(run)
    return sorted(usable_variants(run), key=lambda variant: variant.id not in flagged)
