"""How stages, costs, times and plans are said, in the terminal and in the workbench alike."""

from dataclasses import dataclass

from evenhand.agents.estimate import Estimate
from evenhand.agents.jobs import StageProgress
from evenhand.agents.plan import Plan, Role, RoleModel
from evenhand.graph_store.redact import redact
from evenhand.tools.triage.pairs import urgency
from evenhand.tools.triage.run_pairs import is_mimic
from evenhand.tools.wording import counted, short_arm, status

STAGE_WORDS = {
    "load": "Load samples",
    "fit": "Fit a mimic",
    "extract": "Extract triples",
    "verbalise": "Write base questions",
    "perturb": "Change attributes",
    "gate": "Check the changes",
    "answer": "Ask the target",
    "judge": "Judge the answers",
    "rewrite": "Rewrite answers",
    "measure": "Measure",
    "report": "Write the report",
}

OWN_LABEL = "the data set's own label"
_NO_CONTROL = "none: noise cannot be told from an effect"

ROLE_TASKS: dict[Role, str] = {
    "target": "answers the questions: the model under audit",
    "generator": "writes the base questions",
    "attacker": "changes one attribute at a time",
    "rewriter": "rewords for the placebo arm",
    "judge": "compares and scores the answers",
}


@dataclass(frozen=True)
class Fact:
    """One line of a plan: what it is called and what it says."""

    label: str
    value: str
    term: str = ""
    """Its entry in the glossary, if it has one."""


def duration(seconds: float | None) -> str:
    """Return "under 1 min", "about 6 min", "about 2 h 10 min", or "not known beforehand"."""
    if seconds is None:
        return "not known beforehand"
    if seconds < 60:
        return "under 1 min"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if hours == 0:
        return f"about {minutes} min"
    return f"about {hours} h" + (f" {rest} min" if rest else "")


def cost(usd: float | None) -> str:
    """Return "$0.42", "under $0.01", or that a price is not known."""
    if usd is None:
        return "price not known"
    return "under $0.01" if 0 < usd < 0.01 else f"${usd:,.2f}"


def rate(per_minute: float | None) -> str:
    """Return "12 a minute"; empty where there is none yet."""
    if not per_minute:
        return ""
    return f"{per_minute:,.0f} a minute" if per_minute >= 10 else f"{per_minute:.1f} a minute"


def attempts(stage: StageProgress, *, running: bool = True) -> str:
    """Return how far a stage is, in words: "84 of 160, 12 a minute, 2 refused"."""
    done = f"{stage.done:,} of {stage.total:,}" if stage.total > 1 else ""
    speed = "" if stage.finished or not running else rate(stage.per_minute)
    counts = [
        # "84 of 84" says already how many were well.
        f"{n:,}" if name == "ok" else f"{n:,} {status(name)}"
        for name, n in stage.counts.items()
        if n and not (name == "ok" and done)
    ]
    note = stage.note if running and not stage.finished else ""
    return ", ".join(part for part in (done, speed, note, *counts) if part) or (
        "done" if stage.finished else "working" if running else "begun"
    )


def player(model: RoleModel) -> str:
    """Return who plays a role: "rules (deterministic, no model)", "openai/gpt-4o at host"."""
    if model.model == "rules":
        return "rules (deterministic, no model)"
    place = f" at {model.base_url}" if model.base_url else ""
    file = f" ({model.path})" if model.path else ""
    return f"{model.model}{place}{file}"


def plan_facts(plan: Plan, estimate: Estimate) -> list[Fact]:
    """Return what a plan asks of whom, and what it costs and shows, line by line.

    Args:
        plan: A checked plan.
        estimate: Its estimate.
    """
    return [*asked_facts(plan), *cost_facts(plan, estimate)]


def asks_labels(plan: Plan) -> bool:
    """Say whether a checked plan asks a decider for levels of visits, and not for answers."""
    return plan.asked == ("labels",)


def asked_facts(plan: Plan) -> list[Fact]:
    """Return what is asked of whom, whatever n is."""
    if asks_labels(plan):
        return _decision_facts(plan)
    source = f" ({plan.path})" if plan.path else ""
    roles = [(role, plan.roles[role]) for role in ROLE_TASKS if role != "target"]
    facts = [
        Fact("Target", player(plan.roles["target"]), "target"),
        Fact("Data", f"{plan.dataset}{source}, seed {plan.seed}", "seed"),
        *(_relation_facts(plan) if plan.relations else _attribute_facts(plan)),
        Fact("Judged", ", ".join(name.replace("_", " ") for name in plan.rubrics), "rubric"),
    ]
    facts += [
        Fact(role.capitalize(), player(model), role)
        for role, model in roles
        if model.model != "rules"
    ]
    return [*facts, Fact("Knowledge graph", graph_place(plan.graph), "graph")]


def _attribute_facts(plan: Plan) -> list[Fact]:
    return [
        Fact("Changed", _changed(plan), "attribute"),
        Fact("Put in where lacking", ", ".join(plan.added or ()) or "nothing", "added"),
        Fact("Asked", ", ".join(short_arm(arm) for arm in plan.asked), "multi_hop"),
        Fact("Noise controls", _controls(plan), "control"),
    ]


def _relation_facts(plan: Plan) -> list[Fact]:
    votes = plan.votes or 1
    often = f"{counted(votes, 'time')} each" + (", the majority counts" if votes > 1 else "")
    only = [Fact("Categories", ", ".join(plan.categories))] if plan.categories else []
    return [
        Fact("Relations", ", ".join(plan.relations)),
        *only,
        Fact("Asked", often),
        Fact("Noise controls", ", ".join(plan.controls or ()) or _NO_CONTROL, "control"),
    ]


def _decision_facts(plan: Plan) -> list[Fact]:
    """Return whose decisions are mimicked, what is changed, and in which arms it is shown."""
    source = f" ({plan.path})" if plan.path else ""
    weights = ", rare levels weigh more" if plan.class_weights else ""
    groups = f", groups {', '.join(plan.compared)}" if plan.compared else ""
    spouse = "; husband and wife change too" if plan.spouse == "swap" else ""
    asked = [plan.roles["target"], *([plan.against] if plan.against else ())]
    fitted = any(is_mimic(model.model) for model in asked)
    controls = [
        f"repeat ({plan.refits} mimics fitted again)" if name == "repeat" and fitted else name
        for name in plan.controls or ()
    ]
    higher = urgency("up", plan.direction)
    return [
        Fact("Target", f"{_label_player(plan.roles['target'])}{weights}", "mimic"),
        *([Fact("Set against", _label_player(plan.against))] if plan.against else ()),
        Fact("Decider", plan.decider or OWN_LABEL, "decider"),
        Fact("Direction", f"a higher level number is {higher}", "direction"),
        Fact("Data", f"{plan.dataset}{source}, seed {plan.seed}", "seed"),
        Fact("Changed", f"{', '.join(plan.attributes)}{groups}{spouse}", "attribute"),
        Fact("Notes rewritten by", player(plan.roles["rewriter"]), "rewriter"),
        Fact("Arms", ", ".join(short_arm(arm) for arm in plan.arms), "arm"),
        Fact("Noise controls", ", ".join(controls) or _NO_CONTROL, "control"),
        Fact("Knowledge graph", graph_place(plan.graph), "graph"),
    ]


def _label_player(model: RoleModel) -> str:
    """Return who gives the levels: "mimic/lora, a mimic of who decided"."""
    if is_mimic(model.model):
        return f"{model.model}, a mimic of who decided"
    return f"{player(model)}, asked as it is"


def graph_place(address: str) -> str:
    """Return where a graph is kept: "sqlite in the workspace", "Neo4j at bolt://127.0.0.1:7687"."""
    if address == "sqlite":
        return "sqlite in the workspace"
    scheme, _, rest = address.partition(":")
    return f"sqlite at {rest}" if scheme == "sqlite" else f"Neo4j at {redact(address)}"


def cost_facts(plan: Plan, estimate: Estimate) -> list[Fact]:
    """Return the lines that follow n: calls, cost, time, smallest difference, where text goes."""
    calls = ", ".join(f"{role} {n:,}" for role, n in estimate.calls.items() if n)
    questions = counted(estimate.samples, "visit" if asks_labels(plan) else "question")
    where = ", ".join(estimate.hosts) if estimate.hosts else "this machine only"
    return [
        Fact(
            "Calls, at most",
            f"{estimate.total_calls:,} for {questions}" + (f" ({calls})" if calls else ""),
        ),
        Fact("Cost", cost(estimate.cost_usd) + _cap(plan)),
        Fact("Time", duration(estimate.seconds)),
        Fact("What this n can show", estimate.least_effect, "power"),
        Fact("Text is sent to", where),
    ]


def _changed(plan: Plan) -> str:
    """Return "age, gender, location (4 values); together: age+gender"."""
    draws = {name: plan.draws_of((name,)) for name in plan.attributes}
    alone = [f"{name} ({n} values)" if n > 1 else name for name, n in draws.items()]
    groups = ["+".join(group) for group in plan.intersections]
    return ", ".join(alone) + (f"; together: {', '.join(groups)}" if groups else "")


def _controls(plan: Plan) -> str:
    names = [
        f"repeat ({counted(plan.repeats, 'time')})" if name == "repeat" else name
        for name in plan.controls or ()
    ]
    return ", ".join(names) or _NO_CONTROL


def _cap(plan: Plan) -> str:
    caps = [f"at most {plan.max_calls:,} calls"] if plan.max_calls else []
    caps += [f"at most ${plan.budget_usd:,.2f}"] if plan.budget_usd else []
    return f" (stops at {' or '.join(caps).replace('at most ', '')})" if caps else ""
