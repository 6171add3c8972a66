"""Gender in French notes, by rules: nouns, titles, pronouns, and every word that agrees.

The patient's words change, with the determiner and the adjectives, participles that agree with
them; relatives, staff and things keep theirs. A word that could agree with the patient and with
something else is unclear, and the note is then refused, not guessed.
"""

import re
from dataclasses import dataclass, field

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite, Edit, SpousePolicy
from evenhand.tools.notes.french_reading import (
    Owner,
    Sentence,
    Token,
    owner_of,
    read_sentences,
    subject,
)
from evenhand.tools.notes.french_words import (
    BE,
    BEFORE_NOUNS,
    CREWS,
    GROUPS,
    PREPOSITIONS,
    agreement,
    person_nouns,
)
from evenhand.tools.notes.lexicon import given_name
from evenhand.tools.notes.words import cased_as, first_person_quotes, words_of


@dataclass
class French:
    """One note that is being read for one direction of change."""

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

    def read(self) -> list[Edit]:
        """Return the edits; [] where the note does not state the patient's gender.

        Raises:
            CannotRewrite: It states it, and a word's owner or form is unclear.
        """
        self.sentences = read_sentences(self.text, words_of(self.text))
        quotes = first_person_quotes(self.text)
        self.letters()
        self.titles()
        for sentence in self.sentences:
            for index, token in enumerate(sentence.tokens):
                if any(a <= token.word.start < b for a, b in quotes):
                    continue
                if token.word.start in self.taken:
                    token.owner, token.work = "patient", "person"
                    continue
                self.token(sentence, index, token)
        self.names()
        return sorted(self.edits, key=lambda edit: edit.start)

    def change(self, start: int, end: int, new: str, rule: str) -> None:
        """Note an edit."""
        old = self.text[start:end]
        self.taken.add(start)
        if old != new:
            self.edits.append(Edit(start, end, old, new, rule))

    def letters(self) -> None:
        """M, H, F beside an age, and the form's field."""
        for pattern in (patterns.FIELD, patterns.LETTER):
            for match in pattern.finditer(self.text):
                group = next(name for name, value in match.groupdict().items() if value)
                word, (start, end) = match[group], match.span(group)
                sex = "female" if word.lower()[0] == "f" else "male"
                if sex != self.before:
                    self.other_sex.append(word)
                    self.taken.add(start)
                    continue
                new = patterns.LETTERS.get(word) or cased_as(word, patterns.LETTERS[word.lower()])
                if word == "F" and (
                    pattern is patterns.FIELD or re.search(r"\bM\b\s?/", self.text)
                ):
                    new = "M"
                self.change(start, end, new, "letter")

    def titles(self) -> None:
        """M., Monsieur, Mme, Madame before a name."""
        for match in patterns.TITLE.finditer(self.text):
            title = match["title"]
            names = match["names"].split()
            start, end = match.span("title")
            if title in ("M.", "Mr", "Mr.") and (
                not names or names[0].lower() in patterns.NO_NAMES
            ):
                continue
            if start in self.taken:
                continue
            if title in ("Monsieur", "Madame") and not names and self.is_addressed(start):
                continue
            sex = "male" if title[:2] in ("M.", "Mr", "Mo") else "female"
            stranger = self.surname and names and names[-1] != self.surname
            if sex != self.before or stranger:
                self.taken.add(start)
                self.strangers.append((start, sex))
                continue
            new = patterns.TITLES[title]
            if title in ("Mme", "Mlle") and re.search(r"\bMr\b", self.text):
                new = "Mr"
            self.change(start, end, new, "title")
            if self.new_name and names:
                name_at = match.start("names") + len(match["names"]) - len(match["names"].lstrip())
                self.change(name_at, match.end("names"), self.new_name, "name")
            elif len([name for name in names if not name.isupper() or len(name) > 1]) > 1:
                raise CannotRewrite("given_name", match["names"].strip())

    @property
    def strangers(self) -> list[tuple[int, str]]:
        """Titles of other people: place, sex."""
        return self._strangers

    _strangers: list[tuple[int, str]] = field(default_factory=list)

    def is_addressed(self, start: int) -> bool:
        """Tell "ce monsieur" (a noun) from a title."""
        return bool(
            re.search(r"\b(?:ce|un|le|la|une|cette|du|au)\s+(?:\w+\s+)?$", self.text[:start], re.I)
        )

    def token(self, sentence: Sentence, index: int, token: Token) -> None:
        """Sort one word; change it where it is the patient's."""
        low = token.low
        if token.work == "person":
            self.noun(sentence, index, token)
        elif low in ("il", "elle"):
            self.pronoun(sentence, index, token)
        elif low == "lui" and self.before == "male":
            self.stressed(sentence, index, token)
        elif low in ("le", "la"):
            self.clitic(sentence, index, token)
        elif low in ("celui", "celle") and sentence.next_low(index) == "ci":
            if ("male" if low == "celui" else "female") == self.before:
                raise CannotRewrite("ambiguous_pronoun", f"{token.word.text}-ci")
        elif token.work == "agrees":
            self.agree(sentence, index, token)
        elif token.work == "noun":
            previous = sentence.tokens[index - 1] if index else None
            if previous and previous.low in patterns.TITLE_WORDS and token.word.text[0].isupper():
                token.owner, token.work = previous.owner, "person"
                token.gender = previous.gender
                return
            token.owner = "thing"
            self.unknown(sentence, index, token)

    def unknown(self, sentence: Sentence, index: int, token: Token) -> None:
        """Refuse a word after "il est" that is in no table: how it agrees is not known."""
        place = index - 1
        while place >= 0 and sentence.tokens[place].work == "adverb":
            place -= 1
        if (
            place == index - 1 >= 0
            and sentence.tokens[place].owner == "patient"
            and sentence.tokens[place].work in ("agrees", "person")
            and sentence.gap(index) == " "
            and patterns.ADJECTIVE.search(token.low)
        ):
            raise CannotRewrite("unknown_agreement", token.word.text)
        if place < 1 or sentence.tokens[place].work != "be" or sentence.gap(index).strip():
            return
        if token.word.text.isupper() or subject(sentence, place) != "patient":
            return
        raise CannotRewrite("unknown_agreement", token.word.text)

    def noun(self, sentence: Sentence, index: int, token: Token) -> None:
        """A noun of a person: the patient's, a relative's, a spouse's, another's."""
        low = token.low
        if low in CREWS:
            token.owner, token.gender = "other", CREWS[low]
            return
        rows = person_nouns()[low]
        kinds = {row[2] for row in rows}
        masculine, feminine, _ = rows[0]
        token.gender = "male" if low == masculine else "female"
        if masculine == feminine:
            token.gender = None
        determiner = sentence.tokens[index - 1].low if index else ""
        possessed = determiner in ("sa", "son", "ses", "leur", "mon", "ma") or (
            index > 1
            and sentence.tokens[index - 2].low in ("sa", "son")
            and determiner in patterns.PRE_ALL
        )
        if "noun" in kinds and not (possessed and kinds & {"kin", "spouse"}):
            row = next(row for row in rows if row[2] == "noun")
            if self.is_patient_noun(sentence, index, low):
                self.own_noun(sentence, index, token, row)
                return
        if "kin" in kinds and self.is_patient_kin(sentence, index, token, possessed=possessed):
            self.own_noun(sentence, index, token, next(row for row in rows if row[2] == "kin"))
            return
        place = index - 1
        while place >= 0 and sentence.tokens[place].low in {"un", "une", *patterns.PRE_ALL}:
            place -= 1
        earlier = sentence.tokens[place].low if place >= 0 else ""
        if (
            "person" in kinds
            and low.startswith("infirmi")
            and (earlier == "comme" or earlier in BE)
        ):
            self.own_noun(sentence, index, token, rows[0])
            return
        if "spouse" in kinds and self.spouse == "swap" and (possessed or low != "femme"):
            self.swap_spouse(sentence, index, token, next(r for r in rows if r[2] == "spouse"))
        token.owner = "other"

    def is_patient_noun(self, sentence: Sentence, index: int, low: str) -> bool:
        """Tell the patient from "agressé par un homme", "femme de ménage" and "sage-femme"."""
        start = sentence.tokens[index].word.start
        before, rest = self.text[:start], self.text[sentence.tokens[index].word.end :]
        if re.search(r"sage-$|\bbonhomme$", before, re.I):
            return False
        if low in ("patient", "patiente", "pt", "pte", "malade", "intéressé", "intéressée"):
            determined = index and sentence.tokens[index - 1].low in (
                "le",
                "la",
                "un",
                "une",
                "ce",
                "cette",
                "du",
                "au",
                "de",
                "d",
                "l",
                "jeune",
                "vieille",
            )
            if low == "malade":
                return bool(determined) and sentence.tokens[index - 1].low not in ("de", "d")
            return not re.search(r"\b(?:autre|deux)\s$", before)
        if low in ("fille", "garçon", "enfant", "fillette", "garçonnet"):
            return bool(re.match(r"\s*,?\s*(?:de|d['\u2019]|âgée?\s)\s*\d", rest)) or (
                bool(
                    re.search(
                        r"\b(?:l['\u2019]|jeune\s|petite?\s|cette\s|ce\s|cet\s|la\s|le\s"
                        r"|un\s|une\s)$",
                        before,
                        re.I,
                    )
                )
                and not re.search(
                    r"\bde\s(?:la|l['\u2019])\s?$|\b(?:par|avec)\s(?:un|une)\s$", before, re.I
                )
            )
        if re.search(
            r"\b(?:par|avec|contre|autre|d['\u2019]autres)\s(?:une?\s|cet\s"
            r"|cette\s)?(?:autre\s|jeune\s)?$",
            before,
            re.I,
        ):
            return bool(re.match(r"\s(?:de\s)?\d+\sans", rest)) and False
        return True

    def is_patient_kin(
        self, sentence: Sentence, index: int, token: Token, *, possessed: bool
    ) -> bool:
        """Tell "mère de 3 enfants" and the child in "la mère amène sa fille"."""
        rest = self.text[token.word.end :]
        if patterns.CHILDREN.match(rest) and not possessed:
            return True
        if token.low not in ("fils", "fille") or not possessed or token.gender != self.before:
            return False
        earlier = [each.low for each in sentence.tokens[: max(0, index - 1)]]
        parents = [place for place, low in enumerate(earlier) if low in patterns.PARENTS]
        return (
            bool(parents)
            and earlier[-1:] != ["et"]
            and any(
                each.work in ("verb", "have", "noun")
                for each in sentence.tokens[parents[0] : index - 1]
            )
        )

    def own_noun(
        self, sentence: Sentence, index: int, token: Token, row: tuple[str, str, str]
    ) -> None:
        """Change the patient's noun with its determiner and the adjectives before it."""
        token.owner = "patient"
        sex = token.gender
        if sex is None:
            if row[0] != "enfant" and row[0] != "malade":
                return
            determiner = sentence.tokens[index - 1].low if index else ""
            sex = (
                "female"
                if determiner in ("une", "cette") or (determiner == "la" and row[0] == "malade")
                else ("male" if determiner in ("un", "cet") or determiner in ("le", "ce") else None)
            )
            if sex is None:
                return
        if sex != self.before:
            self.other_sex.append(token.word.text)
            return
        new = row[1] if self.before == "male" else row[0]
        self.phrase(sentence, index, new)

    def swap_spouse(
        self, sentence: Sentence, index: int, token: Token, row: tuple[str, str, str]
    ) -> None:
        """Change husband and wife, with what stands before; what agrees with them is not known."""
        for later in sentence.tokens[index + 1 :]:
            if later.work == "agrees" and later.segment <= token.segment + 1:
                entry = agreement(later.low)
                if entry and entry[0] != entry[1]:
                    raise CannotRewrite("spouse_agreement", later.word.text)
        new = row[1] if token.low == row[0] else row[0]
        self.phrase(
            sentence, index, new, toward="female" if token.low == row[0] else "male", rule="spouse"
        )

    def phrase(
        self,
        sentence: Sentence,
        index: int,
        new: str,
        *,
        toward: str | None = None,
        rule: str = "noun",
    ) -> None:
        """Replace a noun and adapt "le", "du", "cet", "jeune", "vieille" before it."""
        toward = toward or self.after
        token = sentence.tokens[index]
        head = cased_as(token.word.text, new)
        self.change(token.word.start, token.word.end, head, rule)
        place, first = index - 1, new
        while (
            place >= 0
            and sentence.tokens[place].low in patterns.PRE_ALL
            and sentence.gap(place + 1) == " "
        ):
            low = sentence.tokens[place].low
            adjective = (
                patterns.PRE.get(low, low)
                if toward == "female"
                else patterns.PRE_MALE.get(low, low)
            )
            if (
                toward == "male"
                and patterns.VOWEL.match(first)
                and adjective in ("vieux", "nouveau")
            ):
                adjective = {"vieux": "vieil", "nouveau": "nouvel"}[adjective]
            word = sentence.tokens[place].word
            self.change(word.start, word.end, cased_as(word.text, adjective), rule)
            first, place = adjective, place - 1
        if place >= 0 and sentence.gap(place + 1).strip() in ("", "'", "\u2019"):
            self.determiner(sentence, place, first, toward, rule)

    def determiner(
        self, sentence: Sentence, place: int, first: str, toward: str, rule: str
    ) -> None:
        """Replace the determiner before a phrase that now begins with `first`."""
        tokens = sentence.tokens
        token = tokens[place]
        low = token.low
        vowel = bool(patterns.VOWEL.match(first))
        end = tokens[place + 1].word.start
        start = token.word.start
        before = tokens[place - 1].low if place else ""
        if low in ("le", "la", "l") and before in ("de", "à"):
            start = tokens[place - 1].word.start
            lead = before
        elif low in ("du", "au"):
            lead = "de" if low == "du" else "à"
        elif low in ("le", "la", "l"):
            lead = ""
        elif low in ("de", "d"):
            self.change(
                start,
                end,
                cased_as(self.text[start : token.word.end], "d'" if vowel else "de "),
                rule,
            )
            return
        else:
            new = patterns.simple_determiner(low, toward, vowel)
            if new:
                self.change(start, token.word.end, cased_as(token.word.text, new), rule)
            return
        new = patterns.definite(lead, toward, vowel)
        self.change(
            start,
            end,
            cased_as(self.text[start : start + 2] if lead else token.word.text[:1], new)
            if self.text[start].isupper()
            else new,
            rule,
        )

    def pronoun(self, sentence: Sentence, index: int, token: Token) -> None:
        """Il and elle: the patient, another person, a thing, or nobody ("il y a")."""
        token.gender = "male" if token.low == "il" else "female"
        rest = self.text[token.word.end : token.word.end + 120]
        if (token.low == "il" and patterns.IMPERSONAL.match(rest)) or self.is_inverted(token):
            token.owner = "thing"
            return
        others = [
            each
            for each in self.near(sentence, token)
            if each.work == "person"
            and each.low not in GROUPS
            and each.owner == "other"
            and each.gender in (token.gender, None)
        ]
        if token.gender != self.before:
            token.owner = "other" if others else "thing"
            things = [each for each in self.near(sentence, token) if each.work == "noun"]
            if not others and not (
                things and (patterns.THING_VERB.match(rest) or token.low == "il")
            ):
                self.other_sex.append(token.word.text)
            return
        own_sex = [each for each in others if each.gender == token.gender]
        stressed = index and sentence.tokens[index - 1].low in PREPOSITIONS
        if own_sex and not (stressed and own_sex[-1] in sentence.tokens):
            self.beside_other(sentence, token, own_sex[-1], rest)
        if patterns.THING_VERB.match(rest) and any(
            each.work == "noun" for each in self.near(sentence, token)
        ):
            sure = re.match(
                r"\s+est\s+(?:présente?|traitée?|améliorée?|aggravée?|calmée?|soulagée?|évaluée?)\b"
                r"|\s+(?:s['\u2019]|se\s)",
                rest,
            )
            if sure:
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "thing"
            return
        token.owner = "patient"
        new = "elle" if self.before == "male" else "il"
        if self.before == "female" and index and sentence.tokens[index - 1].low in PREPOSITIONS:
            new = "lui"
            if sentence.tokens[index - 1].low == "d":
                start = sentence.tokens[index - 1].word.start
                self.change(
                    start,
                    token.word.end,
                    cased_as(self.text[start : start + 1], "de lui")
                    if self.text[start].isupper()
                    else "de lui",
                    "pronoun",
                )
                return
        if self.before == "female" and re.match(r"-mêmes?\b", rest):
            new = "lui"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def is_inverted(self, token: Token) -> bool:
        """Tell "y a-t-il"."""
        return bool(re.search(r"\by\s+a-t-$", self.text[: token.word.start], re.I))

    def near(self, sentence: Sentence, token: Token) -> list[Token]:
        """Return the words of this sentence and the one before, up to the word."""
        place = self.sentences.index(sentence)
        earlier = self.sentences[place - 1].tokens if place else []
        return [*earlier, *(each for each in sentence.tokens if each.word.start < token.word.start)]

    def beside_other(self, sentence: Sentence, token: Token, other: Token, rest: str) -> None:
        """Another person of the patient's sex is near: refuse unless the sentence decides."""
        here = other in sentence.tokens
        before = (
            sentence.tokens if here else self.sentences[self.sentences.index(sentence) - 1].tokens
        )
        place = before.index(other)
        oblique = any(
            each.low in ("par", "avec", "chez", "à", "de", "pour", "d", "du")
            for each in before[max(0, place - 2) : place]
        )
        family = any(each.low in ("familiaux", "atcd") for each in before)
        named = any(
            each.owner == "patient"
            for each in sentence.tokens
            if each.word.start < token.word.start
            and each.word.start > (other.word.start if here else -1)
        )
        if patterns.OTHER_VERB.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")
        if named or family or oblique:
            return
        said = here and re.search(r"\b(?:que|qu)\W*$", self.text[: token.word.start], re.I)
        if said:
            return
        raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")

    def stressed(self, sentence: Sentence, index: int, token: Token) -> None:
        """Lui after a preposition; before a verb it has no gender."""
        previous = sentence.tokens[index - 1].low if index else ""
        if previous in PREPOSITIONS or self.text[token.word.end :].startswith(("-même", "-meme")):
            named = any(each.owner == "patient" for each in sentence.tokens[:index])
            if not named and any(
                each.owner == "other"
                and each.gender == "male"
                and each.work == "person"
                and each not in sentence.tokens
                for each in self.near(sentence, token)
            ):
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "patient"
            if previous == "de":
                start = sentence.tokens[index - 1].word.start
                new = "D'elle" if self.text[start].isupper() else "d'elle"
                self.change(start, token.word.end, new, "pronoun")
            else:
                self.change(
                    token.word.start, token.word.end, cased_as(token.word.text, "elle"), "pronoun"
                )

    def clitic(self, sentence: Sentence, index: int, token: Token) -> None:
        """Le and la before a verb: "la douleur le réveille"."""
        rest = self.text[token.word.end : token.word.end + 40]
        if not patterns.CLITIC_VERB.match(rest) or not index:
            return
        previous = sentence.tokens[index - 1]
        noun_before = previous.work in ("noun", "person", "agrees") and sentence.gap(index) == " "
        if previous.low not in patterns.CLITIC_BEFORE and not noun_before:
            return
        if previous.low == "de" and not re.match(r"\s+\w+(?:er|ir|re)\b", rest):
            return
        sex = "male" if token.low == "le" else "female"
        if sex != self.before:
            return
        things = [
            each for each in sentence.tokens[:index] if each.owner == "other" and each.gender == sex
        ]
        if things and things[-1].word.start > token.word.start - 40 and previous is not things[-1]:
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        new = "la" if sex == "male" else "le"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")
        if index + 1 < len(sentence.tokens):
            sentence.tokens[index + 1].work = "verb"

    def agree(self, sentence: Sentence, index: int, token: Token) -> None:
        """Change an adjective or participle that is said of the patient."""
        previous = sentence.tokens[index - 1] if index else None
        entry = agreement(
            token.low, predicative=bool(previous and previous.work in ("be", "adverb"))
        )
        if entry is None:
            token.owner, token.gender = "thing", "male"
            return
        masculine, feminine, _ = entry
        form = (
            self.before if masculine == feminine else "male" if token.low == masculine else "female"
        )
        token.gender = form
        if form != self.before:
            token.owner = self.owner_or_other(sentence, index, form)
            if token.owner == "patient":
                self.mismatches.append(token.word.text)
            return
        if self.has_object(sentence, index):
            token.owner = "patient"
            # Right without agreement; a note that agrees all the same is female.
            if self.before == "female":
                self.change(
                    token.word.start,
                    token.word.end,
                    cased_as(token.word.text, masculine),
                    "agreement",
                )
            return
        if masculine == feminine:
            token.owner = self.owner_or_other(sentence, index, form)
            return
        token.owner = owner_of(sentence, index, form)
        if token.owner == "patient":
            new = feminine if self.before == "male" else masculine
            if not new:
                raise CannotRewrite("unknown_agreement", token.word.text)
            self.change(
                token.word.start, token.word.end, cased_as(token.word.text, new), "agreement"
            )
            if (
                previous is not None
                and previous.low in BEFORE_NOUNS
                and not sentence.gap(index).strip()
            ):
                self.adjective_before(previous, new)
            if (
                previous is not None
                and previous.low in ("tout", "toute")
                and token.low in ("seul", "seule")
            ):
                word = previous.word
                other = "toute" if self.before == "male" else "tout"
                self.change(word.start, word.end, cased_as(word.text, other), "agreement")

    def adjective_before(self, token: Token, noun: str) -> None:
        """Change "ancien" with "fumeur"."""
        table = patterns.PRE if self.before == "male" else patterns.PRE_MALE
        new = table.get(token.low)
        if new == "vieux" and patterns.VOWEL.match(noun):
            new = "vieil"
        if new and token.word.start not in self.taken:
            self.change(
                token.word.start, token.word.end, cased_as(token.word.text, new), "agreement"
            )

    _mismatches: list[str] = field(default_factory=list)

    @property
    def mismatches(self) -> list[str]:
        """Words of the other gender that are said of the patient: the note does not agree."""
        return self._mismatches

    def owner_or_other(self, sentence: Sentence, index: int, form: str) -> Owner | None:
        """Return the owner of a word that will not change; unclear is no fault there."""
        try:
            return owner_of(sentence, index, form)
        except CannotRewrite:
            return "thing"

    def has_object(self, sentence: Sentence, index: int) -> bool:
        """Tell "s'est fracturé le poignet": the participle does not agree with the subject."""
        reflexive = re.search(
            r"\bs['\u2019]\s*(?:est|était|étant)\s+(?:\w+ment\s+)?$",
            self.text[: sentence.tokens[index].word.start],
            re.I,
        )
        return bool(reflexive) and bool(
            re.match(
                r"\s+(?:le|la|les|l['\u2019]|un|une|des|compte)\b",
                self.text[sentence.tokens[index].word.end :],
            )
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
