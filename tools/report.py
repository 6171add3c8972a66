"""The report of a run: report.html, which needs nothing but itself, and report.json."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

from markupsafe import Markup

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.plots.palette import css_classes, css_variables
from evenhand.tools.sections import (
    ReportContext,
    Section,
    fill,
    load_context,
    model_of,
    sections,
)
from evenhand.tools.sections.relation_overlap import order_data, order_lines
from evenhand.tools.triage.run_pairs import is_mimic
from evenhand.tools.verdicts import counts_as_verdict
from evenhand.tools.wording import counted, group

COUNTERFACTUAL = "counterfactual"


def write_report(run: RunDirectory, section_names: Sequence[str]) -> tuple[Path, Path]:
    """Write report.html and report.json into the run directory, each in one step.

    Args:
        run: A run; stages that have not run yet show as empty sections.
        section_names: Sections in their order (agents/recipes/*.toml).

    Returns:
        Paths of report.html and report.json.

    Raises:
        UserError: An unknown section; nothing is written then.
    """
    chosen = [sections.get(name) for name in section_names]
    context = load_context(run)
    page = report_html(context, chosen)
    data = json.dumps(report_data(context), indent=2, ensure_ascii=False, allow_nan=False)
    return run.write_text("report.html", page), run.write_text("report.json", data + "\n")


def report_html(context: ReportContext, chosen: Sequence[Section]) -> str:
    """Return the page: no script, no outside request, light, dark and print."""
    style, style_hash = page_style()
    return fill(
        "report.html",
        context=context,
        title=question(context.plan),
        facts=facts(context),
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=style_hash,
        parts=[(one, Markup(one.render(context))) for one in chosen],  # noqa: S704
    )


def page_style() -> tuple[str, str]:
    """Return the style sheet of our pages, and the hash by which a page's policy allows it."""
    style = f"\n{css_variables()}{css_classes()}{_stylesheet()}"
    return style, _csp_hash(style)


def question(plan: Mapping[str, Any]) -> str:
    """Return the question of an audit, as far as its plan, as JSON, states it."""
    names = [group(name) for name in plan.get("attributes", ())]
    changed = " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "attributes"
    model = model_of(plan, "target")
    target = "the embedded local model" if model == "local" else _named(model)
    if plan.get("recipe") == COUNTERFACTUAL:
        source = str(plan.get("dataset") or "this data set")
        whose = f"decisions in {source}"
        if not is_mimic(model):
            whose = f"levels that {target} gives to the visits of {source}"
        return f"Do the {whose} change with the patient's {changed}?"
    if plan.get("relations"):
        return f"Does {target} take sides between groups, however it is asked?"
    return f"Do the answers of {target} change with the patient's {changed}?"


def _named(model: str) -> str:
    """Return a model as a headline names it: a file by its own name, not by the way there."""
    provider, _, place = model.partition("/")
    if provider == "replay" or place.startswith(("/", ".", "~")):
        return f"{provider}/{PurePath(place).name}"
    return model


def facts(context: ReportContext) -> list[str]:
    """Return what the page's header states: data, answers or pairs, who judged, the day."""
    data = f"{context.plan.get('dataset', '')}, {counted(len(context.samples), 'case')}"
    day = context.manifest.created[:10]
    if context.plan.get("recipe") != COUNTERFACTUAL:
        judge = f"judge {context.model('judge')}"
        return [data, counted(len(context.answers), "answer"), judge, day]
    view = context.triage
    if view is None:
        return [data, day]
    decider = [f"decider {view.decider}"] if view.decider else []
    pairs = counted(len(view.main), "pair")
    return [data, *decider, f"asked {context.model('target')}", pairs, day]


def report_data(context: ReportContext) -> dict[str, Any]:
    """Return what report.json holds; measurements stand there as in measurements.jsonl."""
    manifest = context.manifest
    relations = context.plan.get("relations")
    order = {"relation_order": order_data(order_lines(context))} if relations else {}
    return {
        "run": manifest.run,
        "created": manifest.created,
        "plan": dict(manifest.plan),
        "dataset_hash": manifest.dataset_hash,
        "seed": manifest.seed,
        "versions": manifest.versions,
        "models": manifest.models,
        "prompt_hashes": manifest.prompt_hashes,
        "measurements": [one.model_dump(mode="json") for one in context.measurements],
        **order,
        "unscored": unscored_counts(context),
        "samples": len(context.samples),
        "answers": len(context.answers),
        "calls": len(context.calls),
    }


def unscored_counts(context: ReportContext) -> dict[str, dict[str, int]]:
    """Return what could not be scored: answers by way of asking, verdicts, questions."""
    lost: dict[str, Counter[str]] = {}
    for answer in context.answers:
        if answer.status != "ok":
            lost.setdefault(answer.arm, Counter())[f"answer_{answer.status}"] += 1
    for judgement in context.judgements:
        counted = counts_as_verdict(judgement.rubric, judgement.reason_code)
        if judgement.status != "ok" and counted:
            lost.setdefault(judgement.rubric, Counter())[judgement.status] += 1
    for variant in context.variants:
        if variant.id in context.rejections:
            lost.setdefault(variant.group, Counter())["gate_rejected"] += 1
        elif variant.status != "ok":
            lost.setdefault(variant.group, Counter())[f"variant_{variant.status}"] += 1
    return {name: dict(counts) for name, counts in lost.items()}


def _stylesheet() -> str:
    return (files("evenhand.tools") / "report.css").read_text("utf-8")


def _csp_hash(style: str) -> str:
    """Return the hash by which the policy allows this one style sheet, and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
