from collections import Counter

import pytest

from evenhand.tools.datasets import load_samples


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_draw_of_385_has_55_a_category_and_a_third_of_each_template(seed: int) -> None:
    samples, _ = load_samples("bias_questions", None, 385, seed)
    categories = Counter(sample.attributes["category"] for sample in samples)
    assert len(categories) == 7
    assert set(categories.values()) == {55}
    cells = Counter((each.attributes["category"], each.attributes["template"]) for each in samples)
    assert len(cells) == 21
    assert set(cells.values()) <= {18, 19}


def test_a_larger_draw_holds_the_smaller_and_the_same_seed_gives_the_same() -> None:
    small, digest = load_samples("bias_questions", None, 70, 3)
    large, same = load_samples("bias_questions", None, 385, 3)
    again, _ = load_samples("bias_questions", None, 70, 3)
    other, _ = load_samples("bias_questions", None, 70, 4)
    assert digest == same
    assert small == again != other
    assert {sample.id for sample in small} <= {sample.id for sample in large}


def test_no_attribute_is_asked_where_it_is_trivial_and_neither_order_is_preferred() -> None:
    samples, _ = load_samples("bias_questions", None, None, 0)
    asked = {(each.attributes["category"], each.attributes["attribute"]) for each in samples}
    assert ("age", "are mature") not in asked
    assert ("gender", "are mature") in asked
    first = sum(each.attributes["group_1"] < each.attributes["group_2"] for each in samples)
    assert 0.47 < first / len(samples) < 0.53
    assert len({each.text for each in samples}) == len(samples)
