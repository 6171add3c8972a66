"""Every colour has a light and a dark value, and words reach a contrast of 4.5 on both grounds."""

import re

import pytest

from evenhand.tools.plots.palette import PALETTE, arm_role, css_classes, css_variables

WORDS = ("text", "secondary", "accent", "ok", "refused", "error", "unparsable", "changed-edge")


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("role", WORDS)
@pytest.mark.parametrize("ground", ["background", "panel"])
@pytest.mark.parametrize("scheme", [0, 1])
def test_words_can_be_read_on_both_grounds(role: str, ground: str, scheme: int) -> None:
    assert _contrast(PALETTE[role][scheme], PALETTE[ground][scheme]) >= 4.5


@pytest.mark.parametrize("piece", ["removed", "added"])
@pytest.mark.parametrize("scheme", [0, 1])
def test_changed_words_can_be_read_on_their_tint(piece: str, scheme: int) -> None:
    assert _contrast(PALETTE["text"][scheme], PALETTE[piece][scheme]) >= 4.5


def test_every_role_reaches_the_page_in_both_schemes() -> None:
    for role, pair in PALETTE.items():
        assert re.findall(rf"--{role}: (#\w+);", css_variables()) == list(pair)
        assert f".fill-{role} {{ fill: var(--{role}) }}" in css_classes()


def test_arms_repeat_their_colours_after_five() -> None:
    assert [arm_role(i) for i in (0, 4, 5)] == ["arm-1", "arm-5", "arm-1"]
