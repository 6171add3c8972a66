import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from evenhand.tools.statistics.paired_tests import exact_p, mid_p
from evenhand.tools.statistics.power import connor_items, exact_items, least_effect, paired_power


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.floats(0.02, 1), st.floats(-1, 1))
def test_power_is_the_full_trinomial_sum(n: int, discordance: float, share: float) -> None:
    difference = discordance * share
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    b, c = np.array([(b, c) for b in range(n + 1) for c in range(n + 1 - b)]).T
    outcomes = np.stack([b, c, n - b - c], axis=1)
    chance = np.asarray(multinomial.pmf(outcomes, n, [up, down, 1 - up - down]))
    made = paired_power(n, discordance, difference)
    assert made.mid == pytest.approx(float(chance[mid_p(b, c) <= 0.05].sum()), abs=1e-9)
    assert made.exact == pytest.approx(float(chance[exact_p(b, c) <= 0.05].sum()), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.02, 0.5), st.sampled_from([0.05, 0.1, 0.3]))
def test_the_items_needed_are_enough_and_fewer_are_not(noise: float, effect: float) -> None:
    discordance = noise + effect
    needed = exact_items(discordance, effect).n_scored
    assert paired_power(needed, discordance, effect).mid >= 0.9
    assert paired_power(needed - 1, discordance, effect).mid < 0.9
    if discordance >= 2 * effect:
        assert needed <= connor_items(discordance, effect).n_scored <= 1.05 * needed + 1


def test_too_few_items_show_nothing() -> None:
    assert least_effect(4, 0.1) is None
    assert paired_power(0, 0.1, 0.05).mid == 0


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="difference"):
        connor_items(0.05, 0.1)
    with pytest.raises(ValueError, match="refusal"):
        connor_items(0.2, 0.1, refusal=1)
