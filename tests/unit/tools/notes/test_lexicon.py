"""Tables of pairs are checked; the plain swap changes every gendered word once."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.notes.english_words import counterpart, gender_of, kind_of
from evenhand.tools.notes.french_words import agreement
from evenhand.tools.notes.lexicon import check_pairs, swap_all


def test_a_sound_table_has_no_problem() -> None:
    assert check_pairs([("uncle", "aunt"), ("Mr.", "Mrs.")], ["uncle", "aunt", "mr.", "mrs."]) == []


def test_each_fault_is_named_with_its_pair() -> None:
    problems = check_pairs(
        [("his", "her"), ("his", "hers"), ("desk", "table"), ("he", "sche")],
        ["his", "her", "hers", "desk", "table", "he"],
    )
    assert [(each.why, each.word) for each in problems] == [
        ("ambiguous_source", "his"),
        ("not_gendered", "desk"),
        ("unknown_word", "sche"),
    ]


@given(
    st.lists(
        st.sampled_from(
            [
                "he",
                "she",
                "him",
                "man",
                "woman",
                "boy",
                "wife",
                "husband",
                "son",
                "pain",
                "the",
                "5mg",
            ]
        )
    )
)
def test_swapping_all_twice_is_identity(words: list[str]) -> None:
    text = " ".join(words)
    twice = swap_all(swap_all(text.replace("him", "he")))
    assert twice == text.replace("him", "he")


def test_every_word_of_the_table_has_a_counterpart_of_the_other_gender() -> None:
    for low in ("man", "lady", "widow", "husband", "he", "himself", "mother"):
        other = "female" if gender_of(low) == "male" else "male"
        assert kind_of(counterpart(low, other)) == kind_of(low)
        assert gender_of(counterpart(low, other)) == other


def test_french_forms() -> None:
    assert (agreement("agressive") or ())[:2] == ("agressif", "agressive")
    assert (agreement("désaturé") or ())[:2] == ("désaturé", "désaturée")
    assert agreement("dyspnée") is None
    assert agreement("mobilité") is None
