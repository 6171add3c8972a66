"""In what two runs differ: plan, models, prompts, data."""

from dataclasses import dataclass
from typing import Any

from evenhand.graph_store.run_directory import Manifest

_PLAN_FIELDS = (
    "dataset",
    "n",
    "seed",
    "attributes",
    "intersections",
    "draws",
    "added",
    "asked",
    "controls",
    "repeats",
    "rubrics",
    "fit_settings",
)


@dataclass(frozen=True)
class PlanDifference:
    """Something in which the two runs' plans, prompts or models differ."""

    name: str
    """Such as "target.model" or "prompt target.multi_hop.en"."""
    first: str
    second: str


def plan_differences(first: Manifest, second: Manifest) -> list[PlanDifference]:
    """Name what two runs differ in: plan, models, prompts, data."""
    said = [_said(manifest) for manifest in (first, second)]
    names = dict.fromkeys((*said[0], *said[1]))
    both = [(name, said[0].get(name, "-"), said[1].get(name, "-")) for name in names]
    return [PlanDifference(name, a, b) for name, a, b in both if a != b]


def _said(manifest: Manifest) -> dict[str, str]:
    plan = manifest.plan
    facts: dict[str, Any] = {name: plan.get(name) for name in _PLAN_FIELDS}
    for role, model in plan.get("roles", {}).items():
        facts |= {f"{role}.{field}": value for field, value in model.items()}
    facts["against"] = (plan.get("against") or {}).get("model")
    facts |= {f"prompt {name}": value for name, value in manifest.prompt_hashes.items()}
    facts["data"] = manifest.dataset_hash
    return {name: _text(value) for name, value in facts.items() if value not in (None, "", [], {})}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join("+".join(one) if isinstance(one, list) else str(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
