"""An English note that is being read one way: its words, and the edits so far."""

from dataclasses import dataclass, field
from functools import cached_property

from evenhand.tools.notes.edits import Edit, SpousePolicy
from evenhand.tools.notes.english_reading import Person
from evenhand.tools.notes.words import Word, words_of


@dataclass
class EnglishNote:
    """What all parts of the reader share."""

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
    kept: set[int] = field(default_factory=set)
    """Places of words that were read and stay: another person's, quoted, an abbreviation."""

    surnames: list[tuple[int, str]] = field(default_factory=list)
    """The surnames that stand after the patient's titles, with their places."""

    @cached_property
    def words(self) -> list[Word]:
        """The words of the note."""
        return words_of(self.text)

    def change(self, start: int, end: int, new: str, rule: str) -> None:
        """Note an edit and the place as the patient's."""
        self.edits.append(Edit(start, end, self.text[start:end], new, rule))
        self.taken.add(start)
