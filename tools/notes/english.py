"""Gender in English notes, by rules: each gendered word is the patient's, another's, or unclear.

The patient's words change; relatives, staff and quoted speakers keep theirs. A pronoun that could
mean another person of the same sex is unclear, and the note is then refused, not guessed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evenhand.tools.notes.edits import CannotRewrite, Edit, SpousePolicy
from evenhand.tools.notes.english_pronouns import Person, Reading, Role, referent
from evenhand.tools.notes.english_words import counterpart, gender_of, is_object, kind_of
from evenhand.tools.notes.lexicon import given_name
from evenhand.tools.notes.words import (
    Word,
    cased_as,
    first_person_quotes,
    is_shouted,
    words_of,
)

_EPONYM = re.compile(r"\s*(?:bundle|[-\u2013]?\s*Purkinje)", re.IGNORECASE)
_STAIN = re.compile(r"\s*(?:stain|slide|section|2\b|-2\b)", re.IGNORECASE)
_OTHER_PERSON = re.compile(
    r"[ -](?:\w+ )?(?:nurse|doctor|physician|provider|staff|officer|caller|bystander|friend|partner"
    r"|partners|relatives?|members?|neighbou?r|roommate|colleague|guard|catheter|condom|pattern"
    r"|urinal|genital\w*|escort|chaperone|interpreter|sex|gender|hormones?)\b",
    re.IGNORECASE,
)
_BY_STRANGER = re.compile(
    r"\b(?:by|from|with|against|another|other|unknown|unidentified|some|that)\s+"
    r"(?:an?\s+|the\s+|another\s+|some\s+)?(?:\w+\s+)?$",
    re.IGNORECASE,
)
_AGED = re.compile(
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty))\W{0,2}"
    r"(?:years?|yrs?|months?|mos?|weeks?|wks?|days?|yo|y/o|y\.o\.?)?[\s-]*(?:old)?,?\s+"
    r"(?:[\w-]+\s+){0,3}$",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?<![\d.,/])(?P<age>\d{1,3})(?P<unit>[ -]?(?:yo|y/o|y\.o\.|yr|yrs|years?(?:[ -]old)?"
    r"|mo|m/o|months?(?:[ -]old)?)\.?)?(?P<gap>[ /-]?)(?P<letter>[MF])(?![\w/+.-]*\d|\w)"
)
_LETTER_FIRST = re.compile(
    r"(?<![\w.])(?P<letter>[MF])[ /](?P<age>\d{1,3})(?![\d.,/]|\s*(?:mg|ml))"
)
_FIELD = re.compile(
    r"\b(?:sex|gender)\b\s*[:=\u2013-]?\s*(?P<letter>M|F|male|female)\b(?!\s*[/|])", re.IGNORECASE
)
_FAHRENHEIT = range(93, 110)
_NOT_AN_AGE_AFTER = re.compile(
    r"\s*(?:old\b|ago\b|f/u|follow|IU\b|units?\b|mg|mL|catheter|sheath|foley|introducer|stent|NaCl"
    r"|HCl|KCl|solution|temp|fever|degrees)",
    re.IGNORECASE,
)
_TEMPERATURE = re.compile(
    r"(?:\bT(?:emp(?:erature)?|max)?|fever|febrile|\u00b0|to|of|at)\b\W*(?:(?:is|was|of"
    r"|to|up to|at)\b\W*)?$",
    re.IGNORECASE,
)
_TITLE_NAME = re.compile(r"\.?\s+(?P<names>[A-Z][\w'\u2019-]+(?:\s+[A-Z][\w'\u2019-]+)*)")
_PREDICATE = re.compile(
    r"\b(?:is|was|being|as|,|and)\s*(?:an?|the|now)?\s*(?:[\w-]+\s){0,2}$", re.IGNORECASE
)
_OF_OWN = re.compile(r"\s+(?:of|to)\s+(?:\d|an?\b|one|two|three|four|five|six|several|twins|young)")
_PARENT = frozenset(
    [
        "mother",
        "father",
        "mom",
        "mum",
        "dad",
        "parents",
        "parent",
        "grandmother",
        "grandfather",
        "grandparents",
        "aunt",
        "uncle",
        "stepmother",
        "stepfather",
        "grandma",
        "grandpa",
        "family",
        "caregiver",
        "guardian",
        "teacher",
    ]
)
_CHILD = frozenset(
    [
        "son",
        "daughter",
        "grandson",
        "granddaughter",
        "boy",
        "girl",
        "nephew",
        "niece",
        "stepson",
        "stepdaughter",
    ]
)


@dataclass
class English:
    """One note that is being read for one direction of change."""

    text: str
    before: str
    after: str
    spouse: SpousePolicy = "keep"
    surname: str | None = None
    new_name: str | None = None
    edits: list[Edit] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    other_sex: list[str] = field(default_factory=list)

    @cached_property
    def words(self) -> list[Word]:
        """The words of the note."""
        return words_of(self.text)

    def read(self) -> list[Edit]:
        """Return the edits; [] where the note does not state the patient's gender.

        Raises:
            CannotRewrite: It states it, and a word's owner or form is unclear.
        """
        quotes = first_person_quotes(self.text)
        self.letters()
        gendered = [
            word
            for word in self.words
            if kind_of(word.low) and not any(a <= word.start < b for a, b in quotes)
        ]
        for word in gendered:
            if word.start not in self.taken and kind_of(word.low) != "pronoun":
                self.noun(word)
        self.names()
        pronouns = [word for word in gendered if kind_of(word.low) == "pronoun"]
        self.pronouns([word for word in pronouns if not self.is_abbreviation(word)])
        return sorted(self.edits, key=lambda edit: edit.start)

    def change(self, start: int, end: int, new: str, rule: str) -> None:
        """Note an edit and the place as the patient's."""
        self.edits.append(Edit(start, end, self.text[start:end], new, rule))
        self.taken.add(start)

    def letters(self) -> None:
        """M and F beside an age or in a form's field."""
        letter = "M" if self.before == "male" else "F"
        other = "F" if letter == "M" else "M"
        for match in self.letter_matches():
            start, end = match.span("letter")
            word = match["letter"]
            if word.upper() == letter or word.lower() == self.before:
                new = other if len(word) == 1 else self.after
                new = new.lower() if word.islower() else cased_as(word, new)
                self.change(start, end, new, "letter")
            elif start not in self.taken:
                self.other_sex.append(word)
                self.taken.add(start)

    def letter_matches(self) -> Iterable[re.Match[str]]:
        """Return the places where M or F is the patient's sex."""
        yield from _FIELD.finditer(self.text)
        for match in _LETTER.finditer(self.text):
            if self.is_age(match):
                yield match
        for match in _LETTER_FIRST.finditer(self.text):
            if not re.search(r"\w\s*$", self.text[max(0, match.start() - 2) : match.start()]):
                yield match

    def is_age(self, match: re.Match[str]) -> bool:
        """Tell 67M, 67 yo M and 67 M of a person from 5 M IU, 101F and a 16F catheter."""
        if _NOT_AN_AGE_AFTER.match(self.text, match.end()):
            return False
        if match["unit"]:
            return True
        before = self.text[: match.start()].rstrip(" \t(")
        opens = (
            not before
            or before[-1] in ".\n:;-"
            or re.search(
                r"\b(?:an?|pt|patient|this|is|for|elderly|obese|old)$", before, re.IGNORECASE
            )
        )
        age = int(match["age"])
        if not 0 < age < 120:
            return False
        if match["letter"] == "F" and age in _FAHRENHEIT:
            if _TEMPERATURE.search(before):
                return False
            if re.search(r"\b(?:is|for)$", before) and not re.search(
                r"\b(?:pt|patient|this) is$", before
            ):
                return False
            if not opens:
                raise CannotRewrite("unclear_letter", match[0])
        if match["gap"] == " " or match["letter"] == "M":
            return bool(opens) or bool(
                re.match(
                    r"\s+(?:with|w/|c/o|who|presents?|p/w|here|s/p|h/o|BIB)",
                    self.text[match.end() :],
                )
            )
        return True

    def is_abbreviation(self, word: Word) -> bool:
        """Tell HE of a stain and the bundle of His from pronouns."""
        rest = self.text[word.end :]
        if word.text == "His" and (_EPONYM.match(rest) or self.text[: word.start].endswith("of ")):
            return True
        if not (word.text.isupper() and len(word.text) > 1):
            return False
        return bool(_STAIN.match(rest)) or not is_shouted(self.text, word.start, word.end)

    def noun(self, word: Word) -> None:
        """Sort a noun, title, role, relative or spouse: change it, or remember the person."""
        kind = kind_of(word.low)
        if kind == "title":
            self.title(word)
        elif (kind == "noun" and self.is_patient_noun(word)) or kind == "role":
            self.own(word, "noun")
        elif kind == "kin" and self.is_patient_kin(word):
            self.own(word, "kin")
        elif kind == "spouse" and self.spouse == "swap":
            self.people.append(Person(word, gender_of(word.low), "spouse"))
            other = "male" if gender_of(word.low) == "female" else "female"
            new = cased_as(word.text, counterpart(word.low, other))
            self.change(word.start, word.end, new, "spouse")
        else:
            role: Role = (
                "spouse" if kind == "spouse" else "relative" if kind == "kin" else "stranger"
            )
            self.people.append(Person(word, gender_of(word.low), role))

    def own(self, word: Word, rule: str) -> None:
        """Change the patient's own noun; one of the other sex is kept in mind."""
        if gender_of(word.low) == self.before:
            new = cased_as(word.text, counterpart(word.low, self.after))
            self.change(word.start, word.end, new, rule)
        else:
            self.other_sex.append(word.text)

    def title(self, word: Word) -> None:
        """Mr, Ms, Mrs, Miss before a name; with another surname it is another person."""
        match = _TITLE_NAME.match(self.text, word.end)
        if not match or not word.text[0].isupper():
            return
        names = match["names"].split()
        if self.surname and names[-1] != self.surname:
            self.people.append(Person(word, gender_of(word.low), "stranger"))
            return
        if gender_of(word.low) != self.before:
            self.people.append(Person(word, gender_of(word.low), "stranger"))
            return
        end, new = self.new_title(word)
        self.change(word.start, end, new, "title")
        known = {name for _, name in self.surnames}
        if len(known | {names[-1]}) > 1:
            raise CannotRewrite("two_surnames", *sorted(known | {names[-1]}))
        self.surnames.append((word.start, names[-1]))
        if self.new_name:
            self.change(*match.span("names"), self.new_name, "name")
        elif len(names) > 1:
            raise CannotRewrite("given_name", match["names"])

    @cached_property
    def surnames(self) -> list[tuple[int, str]]:
        """The surnames that stand after the patient's titles, with their places."""
        return []

    def new_title(self, word: Word) -> tuple[int, str]:
        """Return the end of the old title, its dot included, and the new one."""
        dotted = self.text.startswith(".", word.end)
        end = word.end + dotted
        new = cased_as(word.text, counterpart(word.low, self.after))
        style = re.search(r"\b(?:Mrs?|Ms|Dr)\.", self.text) if word.low == "miss" else None
        return end, new + ("." if dotted or style else "")

    def is_patient_noun(self, word: Word) -> bool:
        """Tell "a 40-year-old man" and "the man" from "a male nurse" and "hit by a man"."""
        before, rest = self.text[: word.start], self.text[word.end :]
        if _AGED.search(before[-60:]):
            return not re.search(r"\b(?:his|her|their)\s[\w\s-]*$", before[-60:], re.IGNORECASE)
        if _OTHER_PERSON.match(rest) or re.search(r"\bsex with\b.{0,15}$", before):
            return False
        if any(person.word.low == word.low for person in self.people):
            raise CannotRewrite("ambiguous_noun", word.text)
        if _BY_STRANGER.search(before):
            return False
        if re.search(r"\b(?:his|her|the)\s(?!patient)\w+,\s+an?\s+(?:\w+\s+)?$", before):
            return False
        if gender_of(word.low) != self.before and re.search(r",\s+an?\s+(?:\w+\s+)?$", before):
            return False
        if re.search(r"\b(?:his|her|their)\s+(?:baby|little|young|older?)?\s*$", before, re.I):
            return self.is_patient_kin(word)
        return True

    def is_patient_kin(self, word: Word) -> bool:
        """Tell the patient ("mother of two", "the mother says her son") from a relative."""
        before = self.text[: word.start]
        if _OF_OWN.match(self.text, word.end) and _PREDICATE.search(before[-40:]):
            return True
        if re.search(r"\b(?:single|new|stay-at-home)\s$", before, re.IGNORECASE):
            return bool(_PREDICATE.search(before[-40:]))
        if word.low not in _CHILD or gender_of(word.low) != self.before:
            return False
        said_by = [
            each
            for each in self.words
            if each.sentence == word.sentence and each.start < word.start and each.low in _PARENT
        ]
        owned = re.search(r"\b(?:his|her|their|the)\s+(?:[\w-]+\s+){0,2}$", before, re.IGNORECASE)
        if not said_by or not owned:
            return False
        between = self.text[said_by[0].end : owned.start()]
        return not re.search(r"\b(?:and|with|his|her)\s*$", between, re.IGNORECASE)

    def names(self) -> None:
        """Refuse a given name of the patient: it states the sex, and no other name is its twin."""
        if self.new_name:
            return
        for word in self.words:
            if not word.text[:1].isupper() or not given_name(word.text, self.before):
                continue
            before, rest = self.text[: word.start], self.text[word.end :]
            if re.search(r"(?:\w['\u2019]s|\b(?:Dr|St|Saint|Nurse|Hospital)\.?)\s$", before):
                continue
            if re.match(r"['\u2019]?s?\s(?:disease|syndrome|sign|test|Hospital|Street)\b", rest):
                continue
            near = self.text[max(0, word.start - 25) : word.start].lower()
            if any(person.word.low in near for person in self.people):
                continue
            raise CannotRewrite("given_name", word.text)

    def pronouns(self, pronouns: Sequence[Word]) -> None:
        """Change the pronouns that mean the patient."""
        seen: list[Word] = []
        nouns = [word for word in self.words if self.is_mention(word)]
        for word in pronouns:
            if word.low in ("his", "her") and self.before_patient_kin(word):
                continue  # the parent's own: "the mother says her son"
            gender = gender_of(word.low)
            reading = Reading(self.text, self.words, word, self.people, [*nouns, *seen])
            if gender == self.before:
                self.same_clause(word, seen)
                if referent(reading) == "patient":
                    new = counterpart(word.low, self.after, self.text, word)
                    self.change(word.start, word.end, cased_as(word.text, new), "pronoun")
                    seen.append(word)
            else:
                self.others_pronoun(word, gender)

    def same_clause(self, word: Word, seen: Sequence[Word]) -> None:
        """Refuse "she gave her": two people, and either may be the patient."""
        if not seen or not (
            word.low == "him" or (word.low == "her" and is_object(self.text, word))
        ):
            return
        subject = seen[-1]
        between = self.text[subject.end : word.start]
        others = [person for person in self.people if person.gender in (self.before, None)]
        if (
            subject.sentence == word.sentence
            and subject.low in ("he", "she")
            and re.fullmatch(r"\s+(?:[\w'\u2019]+\s+){1,2}", between)
            and not re.search(r"\b(?:it|that|to|with|around|behind|near|if|when)\b", between)
            and others
        ):
            raise CannotRewrite("ambiguous_pronoun", self.text[subject.start : word.end])

    def is_mention(self, word: Word) -> bool:
        """Tell the words that name the patient."""
        return word.start in self.taken or word.low in ("patient", "pt")

    def before_patient_kin(self, word: Word) -> bool:
        """Tell the possessive in "the mother says her son", which is the mother's."""
        kin = [
            edit
            for edit in self.edits
            if edit.rule in ("kin", "noun") and 0 < edit.start - word.end < 30
        ]
        said = kin and kin[0].before.lower() in _CHILD
        between = self.text[word.end : kin[0].start] if kin else ""
        return (
            bool(said)
            and bool(re.fullmatch(r"\s+(?:[\w-]+\s+){0,2}", between))
            and (kin[0].rule == "kin" or bool(re.search(r"\d", between)) is False)
        )

    def others_pronoun(self, word: Word, gender: str) -> None:
        """A pronoun of the other sex: another person's, or the note contradicts itself."""
        known = [
            person
            for person in self.people
            if person.gender in (gender, None) and person.word.start < word.start + 80
        ]
        if known and self.spouse == "swap" and known[-1].role == "spouse":
            if any(person.role != "spouse" and person.gender == gender for person in known):
                raise CannotRewrite("spouse_pronoun", word.text)
            other = self.before
            new = counterpart(word.low, other, self.text, word)
            self.change(word.start, word.end, cased_as(word.text, new), "spouse")
        elif not known:
            self.other_sex.append(word.text)
