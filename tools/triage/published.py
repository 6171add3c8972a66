"""The paper's own labels, which its tables do not always put on what its equations define.

Found by recomputing Table 3 from the counts of Appendix C: both NATS are swapped in either column,
and the four probabilities of the Bordeaux column stand in one another's rows. We follow the
equations everywhere; this prints what the paper would have printed, for whoever compares.
"""

from collections.abc import Mapping
from typing import Literal

Site = Literal["bordeaux", "mimic_iv"]
SITES: tuple[Site, Site] = ("bordeaux", "mimic_iv")

BY_EQUATION = (
    "p_down_there", "p_up_there", "p_down_back", "p_up_back",
    "dts_back", "dts_there", "nats_down", "nats_up",
)  # fmt: skip
"""Rows of Table 3 by what their labels say; there is M->F, back is F->M."""

PUBLISHED: dict[Site, dict[str, str]] = {
    "bordeaux": {
        "p_down_there": "p_up_back",
        "p_up_there": "p_down_there",
        "p_down_back": "p_up_there",
        "p_up_back": "p_down_back",
        "nats_down": "nats_up",
        "nats_up": "nats_down",
    },
    "mimic_iv": {"nats_down": "nats_up", "nats_up": "nats_down"},
}
"""Row of Table 3 -> the quantity that is printed there, where it is another one."""


def as_published(numbers: Mapping[str, float], site: Site) -> dict[str, float]:
    """Return the numbers under the labels that the paper's Table 3 prints them at.

    Args:
        numbers: By the names of BY_EQUATION, defined as in the paper's equations.
        site: Which column of the table.
    """
    moved = PUBLISHED[site]
    return {label: numbers[moved.get(label, label)] for label in BY_EQUATION if label in numbers}


def row_words(a: str, b: str) -> dict[str, str]:
    """Return the label of each row for groups a (reference) and b, in the paper's symbols."""
    return {
        "p_down_there": f"P_down({a}->{b})",
        "p_up_there": f"P_up({a}->{b})",
        "p_down_back": f"P_down({b}->{a})",
        "p_up_back": f"P_up({b}->{a})",
        "dts_back": f"DTS_{a}|{b}",
        "dts_there": f"DTS_{b}|{a}",
        "nats_down": "NATS(-)",
        "nats_up": "NATS(+)",
    }
