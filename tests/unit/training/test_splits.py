from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.training.splits import shared_patients, split_by_patient

Visit = tuple[str, str]
VISITS = st.lists(
    st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("123")), min_size=1, max_size=60
)


@given(VISITS, st.integers(0, 2**31))
def test_no_patient_is_on_both_sides(visits: list[Visit], seed: int) -> None:
    patients = [patient for patient, _ in visits]
    sides = split_by_patient(patients, [level for _, level in visits], seed=seed)
    halves = {
        side: [p for p, s in zip(patients, sides, strict=True) if s == side] for side in set(sides)
    }
    assert shared_patients(halves.values()) == []


@given(st.lists(st.sampled_from("123"), min_size=1, max_size=80), st.integers(0, 2**31))
def test_with_one_visit_a_patient_each_stratum_is_halved(levels: list[str], seed: int) -> None:
    sides = split_by_patient([str(i) for i in range(len(levels))], levels, seed=seed)
    for level in set(levels):
        count = Counter(side for side, each in zip(sides, levels, strict=True) if each == level)
        assert abs(count["train"] - count["audit"]) <= 1


def test_the_seed_decides_and_a_share_is_kept() -> None:
    patients, levels = [str(i) for i in range(300)], ["1", "2", "3"] * 100
    first = split_by_patient(patients, levels, seed=1)
    assert first == split_by_patient(patients, levels, seed=1)
    assert first != split_by_patient(patients, levels, seed=2)
    fifth = split_by_patient(patients, levels, seed=1, audit_share=0.2)
    assert fifth.count("audit") == 60


def test_ids_are_compared_trimmed_and_case_folded() -> None:
    sides = split_by_patient(["P23 ", "p23", "p4"], ["1", "1", "1"], seed=0)
    assert sides[0] == sides[1]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_is_inside_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match="audit_share"):
        split_by_patient(["a"], ["1"], seed=0, audit_share=share)
