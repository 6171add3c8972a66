"""Nouns, titles and names in English notes: the patient's, another person's, or unclear."""

import re

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.english_note import EnglishNote
from evenhand.tools.notes.english_people import is_own_role, of_another
from evenhand.tools.notes.english_reading import Person, Role
from evenhand.tools.notes.english_words import counterpart, gender_of, kind_of
from evenhand.tools.notes.lexicon import given_name
from evenhand.tools.notes.words import Word, cased_as, is_shouted

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
_TITLE_NAME = re.compile(
    r"\.?\s+(?P<names>(?:[A-Z]\.?\s+)*(?:[A-Z][\w'\u2019-]+(?:\s+[A-Z][\w'\u2019-]+)*|[A-Z]\b\.?))"
)
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
ONE_PARENT = frozenset(
    (
        "mother",
        "father",
        "mom",
        "mum",
        "dad",
        "mommy",
        "mummy",
        "daddy",
        "grandmother",
        "grandfather",
    )
)
_CHILD_SAYS = re.compile(
    r"\b(?:says|said|states|stated|reports|reported|thinks|found|noticed|tells|told us"
    r"|going back to"
    r"|went (?:back )?to|called on|checked on|visited|lives with|brought)\s(?:that\s)?(?:his"
    r"|her)\s$"
)
CHILD = frozenset(
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


class Nouns(EnglishNote):
    """The patient's nouns and titles change; other people are remembered for the pronouns."""

    def noun(self, word: Word) -> None:
        """Sort a noun, title, role, relative or spouse: change it, or remember the person."""
        kind = kind_of(word.low)
        if kind == "title":
            self.title(word)
        elif (kind == "noun" and self.is_patient_noun(word)) or (
            kind == "role" and is_own_role(self.text, word)
        ):
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
        elif len([name for name in names if len(name.strip(".")) > 1]) > 1 and not is_shouted(
            self.text, *match.span("names")
        ):
            raise CannotRewrite("given_name", match["names"])

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
        if word.low in ("male", "female") and of_another(before, rest):
            return False
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
        if word.sentence and word.low in ("man", "woman", "boy", "girl", "lady", "gentleman"):
            # "A man shot him": not the patient, of whom the note has spoken before.
            spoken = (
                re.search(
                    r"(?:^|[.;:,]\s*|\b(?:when|that|and)\s)an?\s(?:\w+\s)?$", before, re.IGNORECASE
                )
                and any(each.sentence < word.sentence for each in self.words)
                and re.match(
                    r"\s(?:he|she|who|whom|in|with|he['\u2019]d|came|shot|hit|grabbed|pushed"
                    r"|attacked|punched|saw|found|called)\b",
                    rest,
                )
            )
            if spoken:
                raise CannotRewrite("ambiguous_noun", word.text)
        if re.search(r"\b(?:his|her|their)\s+(?:baby|little|young|older?)?\s*$", before, re.I):
            return self.is_patient_kin(word)
        return True

    def is_patient_kin(self, word: Word) -> bool:
        """Tell the patient ("mother of two", "the mother says her son") from a relative."""
        before = self.text[: word.start]
        if _OF_OWN.match(self.text, word.end) and (
            _PREDICATE.search(before[-40:]) or not before.strip()
        ):
            return True
        if re.search(r"\b(?:single|new|stay-at-home)\s$", before, re.IGNORECASE):
            return bool(_PREDICATE.search(before[-40:]))
        if gender_of(word.low) != self.before:
            return False
        if word.low in ONE_PARENT:
            return self.is_childs_parent(word)
        if word.low not in CHILD:
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
        if said_by[0].sentence == 0 and re.fullmatch(
            r"\s(?:attends|attended|presents|presented|arrives|arrived|came|comes|here)\s"
            r"(?:in\s|today\s)?with\s*",
            between,
            re.IGNORECASE,
        ):
            return bool(
                re.search(r"\d", owned[0]) or re.match(r",?\s(?:who|aged)\b", self.text[word.end :])
            )
        return not re.search(r"\b(?:and|with|his|her)\s*$", between, re.IGNORECASE)

    def is_childs_parent(self, word: Word) -> bool:
        """Tell the patient in "daughter says her mother sounded normal"."""
        child = next(
            (
                person
                for person in reversed(self.people)
                if person.word.low in CHILD and person.role == "relative"
            ),
            None,
        )
        first = min(each.start for each in self.words if each.sentence == word.sentence)
        if child is None or child.word.start < first:
            return False
        possessive = "his" if child.gender == "male" else "her"
        between = self.text[child.word.end : word.start]
        if not re.search(rf"\b{possessive}\s$", between):
            return False
        if re.match(
            r"\s+(?:died|has|had|was diagnosed|with|suffered|is dead)\b", self.text[word.end :]
        ):
            return False
        return bool(_CHILD_SAYS.search(between)) and not re.search(
            r"\b(?:with|from|like)\b", between
        )

    def names(self) -> None:
        """Refuse a given name of the patient: it states the sex, and no other name is its twin."""
        if self.new_name:
            return
        for word in self.words:
            if word.low in ("jane", "john") and re.match(r"\s+Doe\b", self.text[word.end :], re.I):
                if (word.low == "john") == (self.before == "male"):
                    new = "John" if word.low == "jane" else "Jane"
                    self.change(word.start, word.end, cased_as(word.text, new), "name")
                else:
                    self.other_sex.append(word.text)
                continue
            if not word.text[:1].isupper() or not given_name(word.text.title(), self.before):
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
