"""A French note that is being read for one direction of change: its words, and the edits so far."""

from dataclasses import dataclass, field

from evenhand.tools.notes.edits import Edit, SpousePolicy
from evenhand.tools.notes.french_reading import Sentence, Token


@dataclass
class FrenchNote:
    """What all parts of the reader share."""

    text: str
    before: str
    after: str
    spouse: SpousePolicy = "keep"
    surname: str | None = None
    new_name: str | None = None
    edits: list[Edit] = field(default_factory=list)
    other_sex: list[str] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    sentences: list[Sentence] = field(default_factory=list)

    def change(self, start: int, end: int, new: str, rule: str) -> None:
        """Note an edit."""
        old = self.text[start:end]
        self.taken.add(start)
        if old != new:
            self.edits.append(Edit(start, end, old, new, rule))

    def near(self, sentence: Sentence, token: Token) -> list[Token]:
        """Return the words of this sentence and the one before, up to the word."""
        place = self.sentences.index(sentence)
        earlier = self.sentences[place - 1].tokens if place else []
        return [*earlier, *(each for each in sentence.tokens if each.word.start < token.word.start)]
