"""Flags that several verbs share, and the reading of their values."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from evenhand.agents.plan import Plan, RoleModel
from evenhand.agents.recipe import ASKED_ARMS, load_recipe
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import AskedArm, ShownArm
from evenhand.graph_store.registry import unknown_name
from evenhand.tools.counterfactual_visits import PAIR_ARMS
from evenhand.ui.settings import RoleChoice, Settings

Command = TypeVar("Command", bound=Callable[..., Any])

MODEL_ROLES = ("target", "judge", "generator", "attacker", "rewriter")


class SampleCount(click.ParamType[int | None]):
    """A whole number above 0, or "all"."""

    name = "N|all"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Return the number; None for "all"."""
        text = str(value).strip().lower()
        if text == "all":
            return None
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            self.fail(f"{value!r} is no number of samples; expected 1 or more, or 'all'.")
        return int(text)


class RelationsOption(click.Option):
    """--relations, whose help lists what is registered when it is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the flag and the names of all relations, those of plugins included."""
        from evenhand.tools.relations import relations

        names = ", ".join(relations.names())
        return f"--{self.name} {self.metavar}", f"Metamorphic (the recipe's): {names}; A+B a pair."


def workspace_options(command: Command) -> Command:
    """Add --config and --runs-dir."""
    command = click.option(
        "--runs-dir", metavar="FOLDER", help="Where runs are kept (default: evenhand-runs)."
    )(command)
    return click.option(
        "--config", metavar="FILE", help="Settings as TOML (default: ./evenhand.toml)."
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def graph_option(command: Command) -> Command:
    """Add --graph."""
    return click.option(
        "--graph", metavar="ADDRESS", help="sqlite, sqlite:PATH or bolt://HOST:7687."
    )(command)


def plan_options(command: Command) -> Command:
    """Add the flags that make up a plan."""
    for role in reversed(MODEL_ROLES):
        command = click.option(
            f"--{role}-base-url",
            metavar="URL",
            help=f"OpenAI-compatible server of the {role}.",
        )(command)
    for role in reversed(MODEL_ROLES):
        usual = "local" if role == "target" else "rules"
        command = click.option(
            f"--{role}", metavar="MODEL", help=f"'provider/name', local or rules ({usual})."
        )(command)
    for option in reversed(_PLAN_OPTIONS):
        command = option(command)
    return command


_PLAN_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--recipe", default="kg", show_default=True, help="Line of research to follow."),
    click.option("--dataset", default="demo", show_default=True, help="Registered data set."),
    click.option("--path", metavar="FILE", help="File of the data set, or its Hugging Face id."),
    click.option("--n", type=SampleCount(), default="all", help="Samples to draw (all)."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of all draws."),
    click.option("--attributes", metavar="A,B", help="Changed one at a time: age,gender."),
    click.option("--intersections", metavar="A+B", help="Changed together: age+gender."),
    click.option("--relations", metavar="A,A+B", cls=RelationsOption),
    click.option("--categories", metavar="A,B", help="Samples of these alone: religion,age (all)."),
    click.option("--votes", type=click.IntRange(1), help="Metamorphic: askings a question (3)."),
    click.option("--draws", metavar="A=N", help="New values a question: location=4."),
    click.option("--added", metavar="A,B|none", help="Put in where the source lacks it."),
    click.option("--asked", metavar="A,B", help="Ways to ask: original,no_hop,multi_hop (all)."),
    click.option("--controls", metavar="A,B|none", help="Noise controls: repeat,placebo (both)."),
    click.option("--encoder", metavar="NAME", help="Model of BERTScore: a folder or a name."),
    click.option("--repeats", type=click.IntRange(1), default=1, help="Askings in the repeat arm."),
    click.option("--rubrics", metavar="A,B", help="What is judged (all that the judge can)."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="Of the target (0.5)."),
    click.option("--max-tokens", type=click.IntRange(1), help="Of the target's answers (400)."),
    click.option("--base-url", metavar="URL", help="Server of every role named openai/..."),
    click.option("--gguf", metavar="FILE", help="Weights for `local`, instead of the built-in."),
    click.option("--max-calls", type=click.IntRange(1), help="Stop at so many calls."),
    click.option("--budget-usd", type=click.FloatRange(0, min_open=True), help="Stop at this."),
    click.option("--max-in-flight", type=click.IntRange(1), help="Calls at once, at most (16)."),
    click.option("--graph", metavar="ADDRESS", help="Knowledge graph: sqlite, or bolt://HOST."),
    click.option("--map", "mapping", metavar="FILE", help="Decisions: what the columns mean."),
    click.option("--decider", metavar="NAME", help="Decisions: whose (the data set's label)."),
    click.option("--groups", metavar="A,B", help="Decisions: compared, the reference first."),
    click.option("--arms", metavar="A,B", help="Decisions: full,text_only,tabular_only (all)."),
    click.option(
        "--spouse",
        type=click.Choice(["keep", "swap"]),
        default="keep",
        help="Decisions: whether husband and wife in a note change too (keep).",
    ),
    click.option("--against", metavar="MODEL", help="Decisions: a second model, the same pairs."),
    click.option(
        "--fit",
        "fit_settings",
        multiple=True,
        metavar="KIND.NAME=VALUE",
        help="Decisions: a mimic's setting, such as lora.epochs=2.",
    ),
    click.option(
        "--refits", type=click.IntRange(3), help="Decisions: mimics again (10, costly ones 3)."
    ),
    click.option("--balanced", is_flag=True, help="Decisions: weigh rare levels in the fit."),
    click.option(
        "--published-list", is_flag=True, help="Decisions: leave notes out as paper 2 did."
    ),
    click.option("--volume", type=float, help="What if it held for so many visits ..."),
    click.option("--period", metavar="WORDS", help="... in this period: 'a year in France' ..."),
    click.option("--volume-source", metavar="WORDS", help="... a number that is from here ..."),
    click.option(
        "--share",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.5,
        help="... of which the second group makes this share (0.5).",
    ),
)


def names_list(text: str | None) -> tuple[str, ...]:
    """Read "age,gender" as names; () for nothing."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def names_or_none(text: str | None) -> tuple[str, ...] | None:
    """Read "repeat,placebo" as names and "none" as no name; None where nothing was said."""
    names = names_list(text)
    return () if names == ("none",) else names or None


def counts_by_name(text: str | None) -> dict[str, int]:
    """Read "location=4,age=2" as numbers by name.

    Raises:
        UserError: A part is no name with a whole number of 1 or more behind "=".
    """
    counts: dict[str, int] = {}
    for part in names_list(text):
        name, _, count = (piece.strip() for piece in part.partition("="))
        if not name or not (count.isascii() and count.isdigit() and int(count)):
            raise UserError(
                f"{part!r} is no number of values; expected an attribute, '=' and 1 or more, such "
                "as location=4."
            )
        counts[name] = int(count)
    return counts


def groups_list(text: str | None) -> tuple[tuple[str, ...], ...]:
    """Read "age+gender,age+location" as groups of names.

    Raises:
        UserError: A group holds fewer than two different names.
    """
    groups = tuple(
        tuple(part.strip() for part in group.split("+") if part.strip())
        for group in names_list(text)
    )
    for group in groups:
        if len(set(group)) < 2:
            raise UserError(
                f"Intersection {'+'.join(group)!r} is one attribute; expected two or more that "
                "are changed together, such as age+gender. Name one alone with --attributes."
            )
    return groups


def ways_to_ask(text: str | None) -> tuple[AskedArm, ...]:
    """Read "no_hop,multi_hop" as ways to ask; () for all of the recipe.

    Raises:
        UserError: A way that nobody knows.
    """
    known: dict[str, AskedArm] = {arm: arm for arm in ASKED_ARMS}
    for name in names_list(text):
        if name not in known:
            raise UserError(unknown_name("way of asking", name, list(known)))
    return tuple(known[name] for name in names_list(text))


def shown_arms(text: str | None) -> tuple[ShownArm, ...]:
    """Read "full,text_only" as arms of an audit of decisions; () for all of the recipe.

    Raises:
        UserError: An arm that nobody knows.
    """
    known: dict[str, ShownArm] = {arm: arm for arm in PAIR_ARMS}
    for name in names_list(text):
        if name not in known:
            raise UserError(unknown_name("arm", name, list(known)))
    return tuple(known[name] for name in names_list(text))


def plan_from(settings: Settings, flags: dict[str, Any]) -> Plan:
    """Make the Plan that the flags of `plan_options` ask for; names are not checked yet."""
    flags = _with_target(settings, flags)
    return Plan(
        recipe=flags["recipe"],
        dataset=flags["dataset"],
        path=flags["path"],
        n=flags["n"],
        seed=flags["seed"],
        attributes=names_list(flags["attributes"]),
        intersections=groups_list(flags["intersections"]),
        relations=names_list(flags["relations"]),
        categories=names_list(flags["categories"]),
        votes=flags["votes"],
        draws=counts_by_name(flags["draws"]),
        added=names_or_none(flags["added"]),
        asked=ways_to_ask(flags["asked"]),
        rubrics=names_list(flags["rubrics"]),
        controls=names_or_none(flags["controls"]),
        encoder=flags["encoder"],
        repeats=flags["repeats"],
        roles=settings.role_models(**{role: _role_choice(role, flags) for role in MODEL_ROLES}),
        max_calls=settings.max_calls,
        budget_usd=settings.budget_usd,
        max_in_flight=settings.max_in_flight,
        graph=settings.graph,
        mapping=flags["mapping"],
        decider=flags["decider"],
        compared=names_list(flags["groups"]),
        arms=shown_arms(flags["arms"]),
        spouse=flags["spouse"],
        against=_against(settings, flags),
        fit_settings=fit_settings(flags["fit_settings"]),
        refits=flags["refits"],
        class_weights="balanced" if flags["balanced"] else None,
        published_list=flags["published_list"],
        volume=flags["volume"],
        period=flags["period"],
        volume_source=flags["volume_source"],
        share=flags["share"],
    )


def fit_settings(words: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read "lora.epochs=2" as settings by kind of mimic.

    Raises:
        UserError: A word of another form.
    """
    found: dict[str, dict[str, str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        kind, dot, setting = name.strip().partition(".")
        if not (equals and dot and kind and setting and value.strip()):
            raise UserError(
                f"{word!r} is no setting of a mimic; expected kind, '.', name, '=' and value, such "
                "as lora.epochs=2."
            )
        found.setdefault(kind, {})[setting] = value.strip()
    return found


def _against(settings: Settings, flags: dict[str, Any]) -> RoleModel | None:
    """Return the second model; where its server is named for all, it is asked there."""
    model = flags["against"]
    if not model:
        return None
    served = model.partition("/")[0] not in ("mimic", "local", "torch")
    base_url = flags["base_url"] or settings.role_models()["target"].base_url
    return RoleModel(model=model, base_url=base_url if served else None)


def _with_target(settings: Settings, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags with the recipe's own target where neither flags nor settings name one."""
    named = settings.roles.get("target")
    if flags["target"] or flags["gguf"] or (named is not None and named.model):
        return flags
    return {**flags, "target": load_recipe(flags["recipe"]).target}


def _role_choice(role: str, flags: dict[str, Any]) -> RoleChoice:
    model = flags[role]
    shared = flags["base_url"] if (model or "").startswith("openai/") else None
    choice = {"model": model, "base_url": flags[f"{role}_base_url"] or shared}
    if role == "target":
        choice |= {"temperature": flags["temperature"], "max_tokens": flags["max_tokens"]}
    if flags["gguf"] and (model == "local" or (model is None and role == "target")):
        choice["path"] = flags["gguf"]
    return RoleChoice(**choice)
