"""The models of an audit of decisions that are asked for levels: one, or two on the same pairs.

A target is a mimic ("mimic/NAME"), fitted to the training half, or a language model as it is
("local", "torch/...", "openai/..."), asked for the probability of each level and fitted to nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.agents.plan import Plan, RoleModel
from evenhand.graph_store.errors import UserError
from evenhand.tools.finetune import check_packages
from evenhand.tools.scoring import ScorerSettings, check_scorer, label_scorers, scorer_host
from evenhand.tools.triage.run_pairs import AGAINST, MIMIC
from evenhand.training.mimics import mimics

DEFAULT_MIMIC = "random_forest"


@dataclass(frozen=True)
class LabelTarget:
    """A model that is asked, and where what is its own lies.

    Attributes:
        model: As the plan names it.
        folder: Inside the run: "" for the model under audit, "against" for the second.
        kind: Registered name of the mimic; None for a model that is asked as it is.
    """

    model: RoleModel
    folder: str
    kind: str | None

    @property
    def name(self) -> str:
        """How it is called in progress and reports."""
        return self.model.model

    @property
    def settings(self) -> ScorerSettings:
        """How a model that is asked as it is is opened."""
        return ScorerSettings(base_url=self.model.base_url)

    @property
    def host(self) -> str | None:
        """Where prompts are sent; None: nothing leaves this machine."""
        return None if self.kind else scorer_host(self.spec, self.settings)

    @property
    def spec(self) -> str:
        """'backend/name' of a model that is asked as it is."""
        path = self.model.path
        return f"{self.name}/{path}" if self.name == "local" and path else self.name


def mimic_kind(target: str) -> str | None:
    """Return the registered kind of "mimic" or "mimic/NAME"; None where the target is no mimic.

    Raises:
        UserError: A mimic of an unknown kind.
    """
    provider, _, name = target.partition("/")
    if provider != MIMIC:
        return None
    return mimics.get(name or DEFAULT_MIMIC).name


def label_targets(plan: Plan) -> Iterator[LabelTarget]:
    """Yield the models of a plan that are asked for levels, the one under audit first.

    Raises:
        UserError: A mimic of an unknown kind.
    """
    target = plan.roles["target"]
    yield LabelTarget(target, "", mimic_kind(target.model))
    if plan.against is not None:
        yield LabelTarget(plan.against, AGAINST, mimic_kind(plan.against.model))


def checked_target(model: RoleModel) -> RoleModel:
    """Return a target with its full name, once it is known that it can be asked.

    Raises:
        UserError: No such mimic or model, or its packages are not installed.
    """
    kind = mimic_kind(model.model)
    if kind is not None:
        check_packages(mimics.get(kind))
        return model.model_copy(update={"model": f"{MIMIC}/{kind}"})
    if model.model.partition("/")[0] not in label_scorers.names():
        known = [MIMIC, *(f"{MIMIC}/{name}" for name in mimics.names())]
        known += [label_scorers.get(name).form for name in label_scorers.names()]
        raise UserError(
            f"An audit of decisions asks a mimic of who decided, or a model that gives levels "
            f"probabilities, not {model.model!r}; expected one of: {', '.join(known)}. Name it "
            "with --target."
        )
    target = LabelTarget(model, "", None)
    check_scorer(target.spec, target.settings)
    return model
