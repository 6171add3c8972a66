"""Where a French note shows the sex outside its grammar: letters, titles, given names."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.lexicon import given_name
from evenhand.tools.notes.words import cased_as

_PARTICLES = frozenset(
    ("Le", "La", "Les", "De", "Du", "Des", "Ben", "El", "Van", "Von", "Da", "Di")
)
"""First words of surnames: "Le Floch" has no given name."""


class Titles(FrenchNote):
    """Letters, titles and names."""

    def letters(self) -> None:
        """M, H, F beside an age, and the form's field."""
        for pattern in (patterns.FIELD, patterns.LETTER):
            for match in pattern.finditer(self.text):
                group = next(name for name, value in match.groupdict().items() if value)
                word, (start, end) = match[group], match.span(group)
                if start in self.taken:
                    continue
                sex = "female" if word.lower()[0] in "f\u2640" else "male"
                if sex != self.before:
                    self.other_sex.append(word)
                    self.taken.add(start)
                    continue
                new = patterns.LETTERS.get(word) or cased_as(word, patterns.LETTERS[word.lower()])
                if word == "F" and (
                    (pattern is patterns.FIELD and not re.search(r"\b(?:H/F|F/H)\b", match[0]))
                    or re.search(r"\bM\b\s?/", self.text)
                ):
                    new = "M"
                self.change(start, end, new, "letter")

    def titles(self) -> None:
        """M., Monsieur, Mme, Madame before a name."""
        for match in patterns.TITLE.finditer(self.text):
            title = match["title"]
            names = match["names"].split()
            start, end = match.span("title")
            if title in ("M.", "Mr", "Mr.", "MR", "MR.") and (
                not names or names[0].lower() in patterns.NO_NAMES
            ):
                continue
            if start in self.taken:
                continue
            if title in ("Monsieur", "Madame") and not names and self.is_addressed(start):
                continue
            sex = "male" if title[:2] in ("M.", "Mr", "Mo", "MR", "MO") else "female"
            stranger = self.surname and names and names[-1] != self.surname
            if sex != self.before or stranger:
                self.taken.add(start)
                continue
            new = patterns.TITLES[title]
            if title in ("Mme", "Mlle", "MME", "MLLE") and re.search(r"\bMr\b", self.text, re.I):
                new = "MR" if title.isupper() else "Mr"
            self.change(start, end, new, "title")
            if self.new_name and names:
                name_at = match.start("names") + len(match["names"]) - len(match["names"].lstrip())
                self.change(name_at, match.end("names"), self.new_name, "name")
            elif (
                len(
                    [
                        name
                        for name in names
                        if (not name.isupper() or len(name) > 1) and name not in _PARTICLES
                    ]
                )
                > 1
                and not self.text.isupper()
            ):
                raise CannotRewrite("given_name", match["names"].strip())

    def is_addressed(self, start: int) -> bool:
        """Tell "ce monsieur" (a noun) from a title."""
        return bool(
            re.search(r"\b(?:ce|un|le|la|une|cette|du|au)\s+(?:\w+\s+)?$", self.text[:start], re.I)
        )

    def names(self) -> None:
        """Refuse a given name of the patient."""
        if self.new_name:
            return
        for sentence in self.sentences:
            for index, token in enumerate(sentence.tokens):
                word = token.word
                if not given_name(word.text, self.before):
                    continue
                before = sentence.tokens[max(0, index - 3) : index]
                if any(
                    each.owner == "other"
                    or each.low in ("dr", "saint", "st", "de", "maladie", "hôpital", "rue")
                    for each in before
                ):
                    continue
                raise CannotRewrite("given_name", word.text)
