import re

import pytest

from evenhand.tools.base_text import add_sentence, describe_patient, with_article

QUESTION = "What might be the causes of the symptoms?"


@pytest.mark.parametrize(
    ("text", "words", "place", "wanted"),
    [
        ("A patient has fever.", "8-year-old", "first", "An 8-year-old patient has fever."),
        ("An 8-year-old patient", "female", "last", "An 8-year-old female patient"),
        ("An 8-year-old male patient", "Asian", "middle", "An 8-year-old Asian male patient"),
        ("A male patient", "Asian", "middle", "An Asian male patient"),
        ("A male patient", "28-year-old", "first", "A 28-year-old male patient"),
        ("The patient lives in Leeds.", "female", "last", "The female patient lives in Leeds."),
        (
            "The question is about a male patient.",
            "11-year-old",
            "first",
            "The question is about an 11-year-old male patient.",
        ),
        ("The patient's brother has asthma.", "female", "last", None),
        (QUESTION, "female", "last", None),
    ],
)
def test_words_stand_before_the_patient(
    text: str, words: str, place: str, wanted: str | None
) -> None:
    assert describe_patient(text, words, place) == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A patient has fever. Why?", "A patient has fever. NEW. Why?"),
        ("A patient has it. The home is far. Why?", "A patient has it. The home is far. NEW. Why?"),
        ("A patient has it. He coughs. Why?", "A patient has it. NEW. He coughs. Why?"),
        ("A patient is in St. Louis. Why?", "A patient is in St. Louis. NEW. Why?"),
        ("A b. It c. The home is d. It e. Why?", "A b. It c. The home is d. NEW. It e. Why?"),
        ("Why?", None),
    ],
)
def test_a_sentence_stands_behind_those_it_belongs_to(text: str, wanted: str | None) -> None:
    assert add_sentence(text, "NEW.", re.compile("The home")) == wanted


@pytest.mark.parametrize(
    ("before", "word", "wanted"),
    [
        ("A ", "8-year-old", "An "),
        ("is about an ", "28", "is about a "),
        ("The ", "8", "The "),
        ("", "8", ""),
    ],
)
def test_the_article_fits_the_word(before: str, word: str, wanted: str) -> None:
    assert with_article(before, word) == wanted
