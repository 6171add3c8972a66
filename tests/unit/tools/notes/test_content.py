"""Sex-specific and sex-associated content, by the start of a word; the paper's search beside."""

import pytest

from evenhand.tools.notes.content import as_published, sex_content


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("20 weeks pregnant, LMP unsure", "en", ("20 weeks", "pregnant", "LMP")),
        ("s/p TURP, PSA 0.1", "en", ("TURP", "PSA")),
        ("enceinte de 20 SA", "fr", ("enceinte", "20 SA")),
        ("adénome de la prostate", "fr", ("prostate",)),
        ("works at a computer, commuter train", "en", ()),
        ("cervical spine tenderness, collar on", "en", ()),
        ("born at 36 weeks' gestation", "en", ()),
        ("happening at school; copenhagen", "en", ()),
        ("multiple injuries, IVF + abx, ANC 0.3", "en", ()),
        ("full ROM of the knee, para 1 g given, torn lip frenulum", "en", ()),
        ("multip, para 2, SROM at 3", "en", ("multip", "para 2", "SROM")),
        ("DPA nocturne, récupération à terme", "fr", ()),
        ("au sein du service, dans les règles de l'art", "fr", ()),
    ],
)
def test_specific_content(text: str, language: str, found: tuple[str, ...]) -> None:
    assert sex_content(text, language).specific == found


def test_what_a_relative_has_is_not_the_patients() -> None:
    assert sex_content("His wife is pregnant. He has a cough.", "en").specific == ()
    assert sex_content("Family history: mother with ovarian cancer.", "en").specific == ()
    assert sex_content("Sa mère a un cancer de l'ovaire.", "fr").specific == ()
    assert sex_content("Brought by husband for vaginal bleeding.", "en").specific


def test_associated_content_is_no_bar() -> None:
    content = sex_content("She has breast cancer on letrozole.", "en")
    assert content.specific == ()
    assert content.associated == ("breast", "letrozole")
    assert sex_content("sternum, breastbone pain", "en").associated == ()


def test_the_papers_search_finds_inside_words() -> None:
    assert as_published("works at a computer", "en") == ("uter",)
    assert as_published("Hépatite d'origine peni", "fr") == ("peni",)
    assert as_published("fever", "en") == ()
