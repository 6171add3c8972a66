"""Nouns of persons in French notes: whose they are, and what stands before them."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_subjects import subject
from evenhand.tools.notes.french_words import BE, CREWS, agreement, person_nouns
from evenhand.tools.notes.words import cased_as

_PRESENT = re.compile(
    r"(?:\sd[eu]\s\w+)?\s(?:est\s|était\s)?(?:très\s)?"
    r"(?:présent|prévenu|avisé|choqué|informé|averti|venu|arrivé)(?P<e>e?)\b",
    re.IGNORECASE,
)
"""What is said right behind a word of both sexes: "auxiliaire de vie présente"."""


class Nouns(FrenchNote):
    """The patient's noun changes with its determiner; relatives and strangers keep theirs."""

    def noun(self, sentence: Sentence, index: int, token: Token) -> None:
        """A noun of a person: the patient's, a relative's, a spouse's, another's."""
        low = token.low
        if low in CREWS:
            own = CREWS[low] is None and self.opens_with_age(
                sentence, index, sentence.tokens[index - 1].low if index else ""
            )
            token.owner, token.gender = "patient" if own else "other", CREWS[low]
            if token.owner == "other" and token.gender is None:
                token.gender = self.shown_sex(low)
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
        if "person" in kinds and not possessed and self.opens_with_age(sentence, index, determiner):
            self.own_noun(sentence, index, token, rows[0])
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
            and self.is_own_work(sentence, place)
        ):
            self.own_noun(sentence, index, token, rows[0])
            return
        if "spouse" in kinds and self.spouse == "swap" and (possessed or low != "femme"):
            self.swap_spouse(sentence, index, token, next(r for r in rows if r[2] == "spouse"))
        token.owner = "other"
        if token.gender is None:
            token.gender = self.shown_sex(low)

    def shown_sex(self, low: str) -> str | None:
        """Return the sex that the note shows of "collègue", "auxiliaire": article or agreement."""
        sexes = set()
        for match in re.finditer(rf"\b{re.escape(low)}\b", self.text, re.IGNORECASE):
            article = re.search(
                r"\b(une?|la|le|cette|ce|du|au)\s$", self.text[: match.start()], re.I
            )
            said = _PRESENT.match(self.text, match.end())
            if article:
                feminine = article[1].lower() in ("une", "la", "cette")
                sexes.add("female" if feminine else "male")
            elif said:
                sexes.add("female" if said["e"] else "male")
        return sexes.pop() if len(sexes) == 1 else None

    def is_own_work(self, sentence: Sentence, place: int) -> bool:
        """Tell "elle est infirmière" from "sa fille est infirmière"."""
        return sentence.tokens[place].low not in BE or subject(sentence, place) == "patient"

    def opens_with_age(self, sentence: Sentence, index: int, determiner: str) -> bool:
        """Tell "Infirmière de 34 ans" at the head of a note from "l'infirmière de garde"."""
        first = sentence is self.sentences[0] and (
            index == 0 or (index == 1 and determiner in ("un", "une", "jeune"))
        )
        rest = self.text[sentence.tokens[index].word.end :]
        return first and bool(
            re.match(
                r"(?:\s[\w-]+){0,3}?\s*,?\s*(?:de\s|d['\u2019])?\s*\d{1,3}\s?(?:ans|a\b|mois)", rest
            )
        )

    def is_patient_noun(self, sentence: Sentence, index: int, low: str) -> bool:
        """Tell the patient from "agressé par un homme", "femme de ménage" and "sage-femme"."""
        start = sentence.tokens[index].word.start
        before, rest = self.text[:start], self.text[sentence.tokens[index].word.end :]
        if re.search(r"sage-$|\bbonhomme$", before, re.I):
            return False
        if re.match(r"\s(?:source|index|zéro)\b", rest) or re.search(
            r"\bpatient\s(?:source|index)\b[^.\n]*$|\b(?:agents|policiers|personnes"
            r"|témoins)\W[^.)]*$",
            before,
            re.IGNORECASE,
        ):
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
            another = re.search(r"\b(?:par|avec|à|sur|contre)\sune?\s$", before, re.IGNORECASE)
            if another and sentence.tokens[index].gender not in (None, self.before):
                return False
            if low == "malade":
                return bool(determined) and sentence.tokens[index - 1].low not in ("de", "d")
            if re.search(r"\b[^\W\d_]+\sd['\u2019]une?\s$", before) and re.search(
                r"\b(?:sœur|soeur|frère|mère|père|fille|fils|épouse|mari|femme|ami|amie"
                r"|conjointe?)\s\S+\s$",
                before,
                re.IGNORECASE,
            ):
                raise CannotRewrite("two_patients", sentence.tokens[index].word.text)
            return not re.search(r"\b(?:autre|deux)\s$", before)
        if low == "enfant" and index == 0 and sentence is self.sentences[0]:
            return True
        if low in ("fille", "garçon") and any(
            each.low == low and each.owner == "other"
            for part in self.sentences
            for each in part.tokens
            if each.word.start < start
        ):
            return False
        if low in ("fille", "garçon", "enfant", "fillette", "garçonnet"):
            alone = re.search(r",\s(?:petite?\s)?$", before) and re.match(r"\s*(?:,|\.|$)", rest)
            return bool(alone or re.match(r"\s*,?\s*(?:de|d['\u2019]|âgée?\s)\s*\d", rest)) or (
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
        if token.low in ("mère", "père", "maman", "papa") and possessed:
            return token.gender == self.before and self.is_childs_parent(sentence, index, rest)
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

    def is_childs_parent(self, sentence: Sentence, index: int, rest: str) -> bool:
        """Tell the patient in "sa fille dit que sa mère parlait normalement"."""
        before = [each for each in sentence.tokens[: index - 1] if each.work == "person"]
        said = re.search(
            r"\b(?:dit|disait|pense|raconte|rapporte|signale|précise|explique)\sque\s(?:son|sa)\s$",
            self.text[: sentence.tokens[index].word.start],
            re.IGNORECASE,
        )
        dead = re.match(r"\s+(?:a\seu|est\s(?:morte?|décédée?)|était\sdiab)", rest)
        child = bool(before) and before[0].low in ("fils", "fille") and before[0].owner == "other"
        return bool(said and child and not dead)

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
        if token.low == "fille" and index and sentence.tokens[index - 1].low == "jeune":
            new = "homme"
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

    def is_child(self, sentence: Sentence, index: int) -> bool:
        """Tell "la petite pleure" from "la petite plaie"."""
        if not index or sentence.tokens[index - 1].low not in ("le", "la"):
            return False
        token = sentence.tokens[index]
        follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
        if follows is None or sentence.gap(index + 1).strip():
            return True
        return (
            follows.work in ("verb", "be", "have")
            or follows.low in ("ne", "n", "se", "s", "l")
            or (token.low == "petit" and follows.low in ("patient",))
        )

    def own_noun_of_child(self, sentence: Sentence, index: int, token: Token) -> None:
        """Change "le petit" to "la petite"; of the other sex it is another child."""
        token.work, token.gender = "person", "male" if token.low == "petit" else "female"
        if token.gender != self.before:
            token.owner = "other"
            return
        token.owner = "patient"
        self.phrase(sentence, index, "petite" if self.before == "male" else "petit")
