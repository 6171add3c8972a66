"""Gender in English notes, by rules: each gendered word is the patient's, another's, or unclear.

The patient's words change; relatives, staff and quoted speakers keep theirs. A pronoun that could
mean another person of the same sex is unclear, and the note is then refused, not guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.tools.notes.edits import CannotRewrite, Edit
from evenhand.tools.notes.english_check import check_complete
from evenhand.tools.notes.english_her import is_unclear_her
from evenhand.tools.notes.english_letters import sex_letters
from evenhand.tools.notes.english_nouns import CHILD, ONE_PARENT, Nouns
from evenhand.tools.notes.english_people import (
    STAFF,
    called_as,
    is_alternative,
    named_people,
    people_by_deed,
    unsexed_people,
    without_s,
)
from evenhand.tools.notes.english_pronouns import referent
from evenhand.tools.notes.english_reading import Person, Reading
from evenhand.tools.notes.english_rivals import check_rival
from evenhand.tools.notes.english_words import (
    counterpart,
    gender_of,
    is_object,
    kind_of,
    respelt,
)
from evenhand.tools.notes.words import (
    Word,
    cased_as,
    first_person_quotes,
    is_shouted,
)

_EPONYM = re.compile(r"\s*(?:bundle|[-\u2013]?\s*Purkinje)", re.IGNORECASE)
_STAIN = re.compile(r"\s*(?:stain|slide|section|2\b|-2\b)", re.IGNORECASE)


@dataclass
class English(Nouns):
    """One note, read word by word."""

    def read(self) -> list[Edit]:
        """Return the edits; [] where the note does not state the patient's gender.

        Raises:
            CannotRewrite: It states it, and a word's owner or form is unclear.
        """
        quotes = first_person_quotes(self.text)
        self.letters()
        spoken = [word for word in self.words if any(a <= word.start < b for a, b in quotes)]
        self.kept.update(word.start for word in spoken)
        self.misspelt()
        gendered = [word for word in self.words if kind_of(word.low) and word not in spoken]
        for word in gendered:
            if word.start not in self.taken and kind_of(word.low) != "pronoun":
                self.noun(word)
        self.names()
        self.people += self.one_of_several()
        self.people += [
            Person(word, called_as(self.text, word), "staff" if word.low in STAFF else "unsexed")
            for word in unsexed_people(self.text, self.words)
            if word.start not in self.taken
        ]
        known = {person.word.start for person in self.people} | self.taken
        self.people += [
            Person(word, None, "unsexed")
            for word in (
                *named_people(self.text, self.words),
                *people_by_deed(self.text, self.words),
            )
            if word.start not in known and not kind_of(word.low)
        ]
        self.people.sort(key=lambda person: person.word.start)
        pronouns = [without_s(word) for word in gendered if kind_of(word.low) == "pronoun"]
        self.kept.update(word.start for word in pronouns if self.is_abbreviation(word))
        self.pronouns([word for word in pronouns if word.start not in self.kept])
        self.kept.update(person.word.start for person in self.people)
        edits = sorted(self.edits, key=lambda edit: edit.start)
        check_complete(self.text, edits, self.before, self.kept | self.taken)
        return edits

    def one_of_several(self) -> list[Person]:
        """Return the person in "one of the girls"."""
        return [
            Person(
                word, "female" if word.low in ("girls", "women", "ladies") else "male", "stranger"
            )
            for word in self.words
            if word.low in ("girls", "women", "ladies", "boys", "men", "lads")
            and re.search(
                r"\bone of (?:the|those|these)\s(?:\w+\s)?$", self.text[: word.start], re.I
            )
        ]

    def misspelt(self) -> None:
        """Sex words with one slip of the keys ("femlae") are the patient's."""
        for word in self.words:
            meant = respelt(word.low)
            if meant and gender_of(meant) == self.before:
                new = cased_as(word.text, counterpart(meant, self.after))
                self.change(word.start, word.end, new, "noun")
            elif meant:
                self.other_sex.append(word.text)
                self.taken.add(word.start)

    def letters(self) -> None:
        """M and F beside an age or in a form's field."""
        for letter in sex_letters(self.text):
            if letter.sex != self.before:
                self.other_sex.append(letter.text)
                self.taken.add(letter.start)
                continue
            new = self.after[0].upper() if len(letter.text) == 1 else self.after
            new = new.lower() if letter.text.islower() else cased_as(letter.text, new)
            self.change(letter.start, letter.end, new, "letter")

    def is_abbreviation(self, word: Word) -> bool:
        """Tell HE of a stain and the bundle of His from pronouns."""
        rest = self.text[word.end :]
        if word.text == "His" and (_EPONYM.match(rest) or self.text[: word.start].endswith("of ")):
            return True
        if not (word.text.isupper() and len(word.text) > 1):
            return False
        return bool(_STAIN.match(rest)) or not is_shouted(self.text, word.start, word.end)

    def pronouns(self, pronouns: Sequence[Word]) -> None:
        """Change the pronouns that mean the patient."""
        for word in pronouns:
            if gender_of(word.low) != self.before:
                self.others_pronoun(word)
        seen: list[Word] = []
        nouns = [word for word in self.words if self.is_mention(word)]
        for word in pronouns:
            if gender_of(word.low) != self.before:
                continue
            if is_alternative(self.text, word) or (
                word.low in ("his", "her") and self.before_patient_kin(word)
            ):
                self.kept.add(word.start)  # "he/she"; the parent's own: "the mother says her son"
                continue
            reading = Reading(self.text, self.words, word, self.people, [*nouns, *seen])
            if word.low not in ("his", "hers"):
                self.same_clause(word, seen)
            if referent(reading) == "patient":
                check_rival(reading, self.before)
                if word.low == "her" and is_unclear_her(self.text, word):
                    raise CannotRewrite("unclear_her", self.text[word.start : word.end + 15])
                new = counterpart(word.low, self.after, self.text, word)
                self.change(word.start, word.end, cased_as(word.text, new), "pronoun")
                seen.append(word)
            else:
                self.kept.add(word.start)

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
        said = kin and (
            kin[0].before.lower() in CHILD
            or (kin[0].rule == "kin" and kin[0].before.lower() in ONE_PARENT)
        )
        between = self.text[word.end : kin[0].start] if kin else ""
        return (
            bool(said)
            and bool(re.fullmatch(r"\s+(?:[\w-]+\s+){0,2}", between))
            and (kin[0].rule == "kin" or bool(re.search(r"\d", between)) is False)
        )

    def others_pronoun(self, word: Word) -> None:
        """A pronoun of the other sex: another person's, or the note contradicts itself."""
        gender = gender_of(word.low)
        self.kept.add(word.start)
        known = [
            person
            for person in self.people
            if person.gender in (gender, None)
            and person.word.start < word.start + 80
            and (person.gender or abs(word.sentence - person.word.sentence) <= 2)
        ]
        spouses = [person for person in known if person.role == "spouse"]
        if spouses and self.spouse == "swap":
            if known[-1].role != "spouse" or len(known) > len(spouses):
                raise CannotRewrite("spouse_pronoun", word.text)
            new = counterpart(word.low, self.before, self.text, word)
            self.change(word.start, word.end, cased_as(word.text, new), "spouse")
            return
        if not known:
            if not is_alternative(self.text, word):
                self.other_sex.append(word.text)
            return
        before = [person for person in known if person.word.start < word.start]
        nearest = before[-1] if before else known[0]
        if nearest.gender is None and before:
            # "Manager came with her; he needs": from here on the manager is a man.
            self.people = [
                Person(each.word, gender, each.role) if each.word.low == nearest.word.low else each
                for each in self.people
            ]
