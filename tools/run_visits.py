"""The visits of a run: which take part, how they were chosen, and what their columns mean.

What the samples do not hold is in the run directory: flow.json the flow table, visits.json the
mapping with the direction of the scale, and the compared groups, the reference first.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.counterfactual_visits import PAIR_ARMS, Showing
from evenhand.tools.visit_mapping import Direction, VisitMapping
from evenhand.tools.visit_rows import FlowStep
from evenhand.tools.visits import Visits

FLOW, VISITS = "flow.json", "visits.json"
TRAIN, AUDIT = "train", "audit"
_REFERENCES = {"gender": ("male", "female")}
"""The reference group first, as in the counterfactual paper."""


@dataclass(frozen=True)
class RunVisits:
    """The visits of a run.

    Attributes:
        visits: Samples, flow table, mapping, attribute.
        groups: The compared groups, the reference first.
        decider: Whose decisions: a name of the mapping, or the label's column.
    """

    visits: Visits
    groups: tuple[str, ...]
    decider: str

    @property
    def attribute(self) -> str:
        """The attribute that is changed."""
        return self.visits.attribute

    @property
    def mapping(self) -> VisitMapping:
        """What the columns mean."""
        return self.visits.mapping

    @property
    def flow(self) -> tuple[FlowStep, ...]:
        """The flow table, from the rows read to the visits that take part."""
        return self.visits.flow

    @property
    def levels(self) -> tuple[str, ...]:
        """The scale, lowest number first."""
        return self.mapping.levels

    @property
    def direction(self) -> Direction:
        """What a higher number means."""
        return self.mapping.direction

    @cached_property
    def audit(self) -> tuple[Sample, ...]:
        """The half that is shown to the mimic in every arm."""
        return tuple(sample for sample in self.visits.samples if sample.split == AUDIT)

    def group_of(self, sample: Sample) -> str:
        """Return the patient's own group."""
        return sample.attributes[self.attribute]


def compared_groups(
    samples: Sequence[Sample], attribute: str, wished: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the groups to compare, the reference first.

    Args:
        samples: Visits that know their group.
        attribute: Whose groups.
        wished: As a plan names them; () for all that occur, the commonest first (gender: as in the
            paper, male first).

    Raises:
        UserError: A wished group does not occur, or one is wished alone.
    """
    seen = Counter(sample.attributes[attribute] for sample in samples)
    for name in wished:
        if name not in seen:
            raise UserError(
                f"No visit has {attribute} {name!r}; groups there: {', '.join(seen)}. "
                "Name two or more of them with --groups."
            )
    if wished:
        if len(set(wished)) < 2:
            raise UserError(f"One group, {wished[0]!r}, cannot be compared; name two or more.")
        return tuple(dict.fromkeys(wished))
    first = [name for name in _REFERENCES.get(attribute, ()) if name in seen]
    rest = sorted((name for name in seen if name not in first), key=lambda name: -seen[name])
    return (*first, *rest)


def only_groups(visits: Visits, groups: Sequence[str]) -> Visits:
    """Leave out the visits of other groups, with a line in the flow table where there are any."""
    kept = tuple(s for s in visits.samples if s.attributes[visits.attribute] in groups)
    lost = len(visits.samples) - len(kept)
    if not lost:
        return visits
    step = FlowStep("other_group", f"{visits.attribute} that is not compared", lost, len(kept))
    return Visits(kept, (*visits.flow, step), visits.mapping, visits.attribute)


def write_visits(run: RunDirectory, chosen: RunVisits) -> None:
    """Keep what the samples do not hold, in one step."""
    content = {
        "attribute": chosen.attribute,
        "groups": chosen.groups,
        "decider": chosen.decider,
        "mapping": chosen.mapping.model_dump(mode="json"),
    }
    for name, value in ((FLOW, [asdict(step) for step in chosen.flow]), (VISITS, content)):
        run.write_text(name, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_run_visits(run: RunDirectory) -> RunVisits:
    """Return the visits of a run that has loaded them.

    Raises:
        UserError: It has not, or the file is damaged.
    """
    path = run.path / VISITS
    try:
        content: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        steps = json.loads((run.path / FLOW).read_text("utf-8"))
        flow = tuple(FlowStep(**step) for step in steps)
        mapping = VisitMapping.model_validate(content["mapping"])
        attribute, groups, decider = (content[k] for k in ("attribute", "groups", "decider"))
    except FileNotFoundError:
        raise UserError(
            f"Run {run.run_id} has no {VISITS}: it holds no visits, or was stopped before they "
            "were loaded."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error}); start the run again.") from None
    visits = Visits(tuple(run.samples()), flow, mapping, attribute)
    return RunVisits(visits, tuple(groups), decider)


def read_showing(run: RunDirectory, chosen: RunVisits) -> Showing:
    """Return how the visits of a run are shown, as its plan says."""
    manifest = run.manifest
    plan = manifest.plan
    return Showing(
        attribute=chosen.attribute,
        groups=chosen.groups,
        arms=tuple(plan.get("arms") or PAIR_ARMS),
        language=chosen.mapping.language,
        spouse=plan.get("spouse", "keep"),
        made_by=str(plan.get("roles", {}).get("rewriter", {}).get("model", "rules")),
        maker=manifest.prompt_hashes.get(few_shot_name(chosen.mapping.language), ""),
    )


def few_shot_name(language: str) -> str:
    """Return the name under which a manifest keeps the hash of the rewriter's exemplars."""
    return f"rewriter.few_shot.{language}"


def run_levels(run: RunDirectory) -> tuple[str, ...]:
    """Return the scale of a run, lowest number first; () for a run without visits."""
    return read_run_visits(run).levels if (run.path / VISITS).is_file() else ()
