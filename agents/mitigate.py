"""Mitigation: mend a model whose bias a run has shown, ask before and after, say what it learned.

RUN/mitigations/fine_tune-1f0c2a9e/   mitigation.json (settings, split, effects, conclusion),
                                      mitigation.html, before/, after/, what the way leaves
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.agents.asking import usable_variants
from evenhand.agents.estimate import model_settings
from evenhand.agents.mending import Facts, Mending, MitigationSettings, QuestionSet
from evenhand.agents.mitigation import Mitigation, mitigations
from evenhand.agents.mitigation.guard import CLASSIFIER
from evenhand.agents.mitigation_sides import RULES, base_variant, read_pairs
from evenhand.agents.plan import Plan, RoleModel
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, content_hash
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.mitigation.benign import matched_benign
from evenhand.tools.mitigation.effects import Effect, effects
from evenhand.tools.mitigation.instructions import instruction_sides
from evenhand.tools.mitigation.learned import Learned, learned
from evenhand.tools.mitigation.report import mitigation_page
from evenhand.tools.mitigation.split import Split, split_questions
from evenhand.tools.providers import model_host

FOLDER, RESULT, PAGE = "mitigations", "mitigation.json", "mitigation.html"
LEAST_BENIGN, LEAST_ABILITY = 40, 40
"""Asked at least where there are so many, unless fewer are wished: few would show no cost."""


@dataclass(frozen=True)
class Mitigated:
    """What a mitigation came to.

    Attributes:
        folder: Where it lies.
        effects: Before, after, change.
        learned: The conclusion.
        facts: What the way leaves besides.
    """

    folder: Path
    effects: Sequence[Effect]
    learned: Learned
    facts: Facts


@dataclass(frozen=True)
class Forecast:
    """What a mitigation will ask, at most, before anything is asked.

    Attributes:
        calls: By role: target, judge, guard or rewriter.
        hosts: Where text is sent; empty: nothing leaves this machine.
        trains: Whether a training on this machine comes besides.
    """

    calls: dict[str, int]
    hosts: tuple[str, ...]
    trains: bool


def forecast(run: RunDirectory, settings: MitigationSettings) -> Forecast:
    """Return what a mitigation will ask; nothing is asked or written.

    Raises:
        UserError: As in `mitigate`.
    """
    way, plan = _checked(run, settings)
    work = prepare(run, plan, settings, workspace=run.path.parent)
    votes = settings.votes or plan.votes or 1
    asked = {each.name: len(each.variants) for each in work.sets}
    once = asked["bias"] * votes + asked["benign"] + asked["ability"]
    sides = 2 if way.asks_again else 1
    calls = {"target": once * sides}
    target = plan.roles["target"]
    models = [] if way.name == "fine_tune" else [target]
    judge = plan.roles["judge"]
    if judge.model != RULES:
        calls["judge"] = asked["bias"] * votes * 2
        models.append(judge)
    further = getattr(settings, way.played_by) if way.played_by else RULES
    if further != RULES and not further.startswith(CLASSIFIER):
        calls[str(way.played_by)] = once
        models.append(RoleModel(model=further))
    hosts = (model_host(each.model, model_settings(each)) for each in models)
    return Forecast(calls, tuple(dict.fromkeys(h for h in hosts if h)), way.name == "fine_tune")


def _checked(run: RunDirectory, settings: MitigationSettings) -> tuple[Mitigation, Plan]:
    way = mitigations.get(settings.how)
    plan = Plan.model_validate(run.manifest.plan)
    if not plan.relations:
        raise UserError(
            f"Run {run.run_id} is an audit by recipe {plan.recipe}; expected one of questions "
            "that compare groups: audit with --recipe metamorphic first."
        )
    way.check(plan, settings)
    return way, plan


async def mitigate(
    run: RunDirectory,
    settings: MitigationSettings,
    *,
    workspace: Path,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Mitigated:
    """Mend the target of a metamorphic run in one way, and measure what that changed.

    The same run and settings are the same mitigation: it goes on where it was stopped.

    Args:
        run: An audit by recipe metamorphic; its questions must be there, its answers need not.
        settings: How.
        workspace: Where runs and the cache of answers lie.
        tell: Takes a sentence about what goes on.

    Raises:
        UserError: Another recipe, an unknown way, or what it cannot work with; nothing is written.
        RunStopped: A cap was reached; the same call goes on.
    """
    way, plan = _checked(run, settings)
    work = prepare(run, plan, settings, workspace=workspace, tell=tell)
    work.folder.mkdir(parents=True, exist_ok=True)
    with RunDirectory(work.folder).lock():
        facts = await way.mend(work)
        return finish(work, facts)


def prepare(
    run: RunDirectory,
    plan: Plan,
    settings: MitigationSettings,
    *,
    workspace: Path,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Mending:
    """Split a run's questions, and draw what is asked before and after; nothing is written.

    Raises:
        UserError: Nothing is left on a side of the split, or a file of instructions is faulty.
    """
    samples = [sample for sample in run.samples() if sample.status == "ok"]
    split = split_questions(
        samples,
        settings.seed,
        attributes_share=settings.attributes_share,
        groups_share=settings.groups_share,
    )
    instructions = instruction_sides(settings.instructions, settings.seed)
    name = f"{settings.how}-{content_hash(run.run_id, settings.model_dump_json())}"
    bias = _bias_set(run, samples, split, settings)
    benign = _benign_set(bias.samples, settings)
    count = settings.n or max(LEAST_ABILITY, len(bias.samples))
    ordinary = instructions["asked"][:count]
    return Mending(
        run=run,
        plan=plan,
        settings=settings,
        folder=run.path / FOLDER / name,
        workspace=workspace,
        split=split,
        sets=(bias, benign, _plain_set("ability", ordinary)),
        instructions=instructions,
        tell=tell,
    )


def _bias_set(
    run: RunDirectory, samples: Sequence[Sample], split: Split, settings: MitigationSettings
) -> QuestionSet:
    kept = set(split.asked)
    asked = [sample for sample in samples if sample.id in kept]
    if settings.n is not None and settings.n < len(asked):
        order = np.random.default_rng([settings.seed, 16]).permutation(len(asked))
        asked = [asked[place] for place in sorted(order[: settings.n].tolist())]
    ids = {sample.id for sample in asked}
    variants = [variant for variant in usable_variants(run) if variant.sample_id in ids]
    if not variants:
        raise UserError(
            f"Run {run.run_id} has no question that passed its gate on the held-out side; let it "
            "come to its end (evenhand resume), or audit more questions (--n)."
        )
    return QuestionSet("bias", asked, variants)


def _benign_set(asked: Sequence[Sample], settings: MitigationSettings) -> QuestionSet:
    """Match each bias-inducing question; with few of them each is matched several times."""
    wished = settings.n or max(LEAST_BENIGN, len(asked))
    pattern = [asked[place % len(asked)] for place in range(wished)]
    matched = matched_benign(pattern, "asked", settings.seed)
    samples = [question.sample(place) for place, question in enumerate(matched)]
    return _plain_set("benign", samples)


def _plain_set(name: Any, samples: Sequence[Sample]) -> QuestionSet:
    return QuestionSet(name, samples, [base_variant(sample) for sample in samples])


def finish(work: Mending, facts: Facts) -> Mitigated:
    """Measure a mitigation that was asked on both sides; writes mitigation.json and .html."""
    found = effects(read_pairs(work), work.settings.seed)
    conclusion = learned(found)
    data = {
        "run": work.run.run_id,
        "mitigation": work.folder.name,
        "how": work.settings.how,
        "settings": work.settings.model_dump(mode="json"),
        "split": work.split.as_json(),
        "asked": {asked.name: len(asked.variants) for asked in work.sets},
        "facts": facts,
        "effects": [one.model_dump(mode="json") for one in found],
        "learned": conclusion.model_dump(mode="json"),
    }
    place = RunDirectory(work.folder)
    place.write_text(RESULT, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    place.write_text(PAGE, mitigation_page(data, found, conclusion))
    return Mitigated(work.folder, found, conclusion, facts)
