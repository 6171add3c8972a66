"""Nouns of persons in French notes: whose they are, and what stands before them."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_phrases import Phrases
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_subjects import subject
from evenhand.tools.notes.french_words import BE, CREWS, person_nouns

_PRESENT = re.compile(
    r"(?:\sd[eu]\s\w+)?\s(?:est\s|était\s)?(?:très\s)?"
    r"(?:présent|prévenu|avisé|choqué|informé|averti|venu|arrivé)(?P<e>e?)\b",
    re.IGNORECASE,
)
"""What is said right behind a word of both sexes: "auxiliaire de vie présente"."""


_ELDERS = frozenset(("mamie", "mamy", "papi", "papy", "tata", "tonton"))


class Nouns(Phrases):
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
        if low == "enfant" and re.search(r"\b\w+\sd['\u2019]une?\s$", before):
            return False  # "le port d'un enfant"
        if low == "enfant" and index == 0 and sentence is self.sentences[0]:
            return True
        if low in ("fille", "garçon") and any(
            each.low == low and each.owner == "other"
            for part in self.sentences
            for each in part.tokens
            if each.word.start < start
        ):
            return False
        if low in ("fille", "garçon", "enfant", "fillette", "garçonnet", "gamin", "gamine"):
            alone = re.search(r",\s(?:petite?\s)?$", before) and re.match(r"\s*(?:,|\.|$)", rest)
            return bool(alone or re.match(r"\s*,?\s*(?:de|d['\u2019]|âgée?\s)?\s*\d", rest)) or (
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
        aged = re.match(r"(?:\s[\w-]+){0,3}?\s*,?\s*(?:de\s|d['\u2019]|âgée?\sde\s)?\s*\d", rest)
        someone = re.search(
            r"(?:^|[.,;:]\s|\b(?:qu['\u2019]|quand\s|où\s|et\s))une?\s(?:jeune\s|vieil\s|vieille\s|autre\s)?$",
            before,
            re.I,
        )
        if (
            low in ("homme", "femme", "monsieur", "dame", "garçon", "fille")
            and someone
            and not aged
            and re.search(r"\w", before[: someone.start() + 1])
            and re.match(r"\s(?:(?:l['\u2019]|lui|le|la|les|qui|en)\s?\b|(?:a|avait|est)\b)", rest)
        ):
            return False  # "un homme l'a frappé": not the patient, of whom the note has spoken
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
        if token.low in _ELDERS and self.opens_with_age(
            sentence, index, sentence.tokens[index - 1].low if index else ""
        ):
            return token.gender == self.before  # "Mamie 92 ans"
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
