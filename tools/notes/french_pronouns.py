"""Il, elle, lui, le and la in French notes: the patient, another person, a thing, or nobody."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_patterns import ANIMALS, FEMALE_ANIMALS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import (
    CREWS,
    DONE_TO_PATIENTS,
    GROUPS,
    PREPOSITIONS,
    UNITS,
    VERBS,
    agreement,
    person_nouns,
    thing_gender,
)
from evenhand.tools.notes.words import cased_as

_SAW = re.compile(
    r"\s+(?:ne\s+)?l['\u2019]\s?(?:a|avait|aurait)\s+(?:pas\s+|bien\s+|jamais\s+)?(?:vue?"
    r"|rappelée?|prise?\sen\scharge|trouvée?"
    r"|retrouvée?|entendue?"
    r"|découverte?|relevée?|amenée?|conduite?|accompagnée?|ramassée?|portée?|secourue?|massée?"
    r"|réveillée?"
    r"|examinée?|adressée?|laissée?|déposée?)\b",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"\s+(?:passe(?:ra)?|va\spasser|demande|conseille|préconise|propose|souhaite|prescrit"
    r"|rappelle(?:ra)?|viendra"
    r"|suspecte|préfère|recommande|adresse|a\s(?:prescrit|demandé|conseillé|adressé|appelé)"
    r"|est\sresté(?:e)?\ssur)\b",
    re.IGNORECASE,
)
_COMES = re.compile(
    r"\s+(?:arrive|va\sarriver|est\sen\sroute|est\sau\scourant|rappelle(?:ra)?|attend\s(?:en"
    r"|dans|à|dehors))\b",
    re.IGNORECASE,
)
_NOT_OWN_WORRY = re.compile(
    r"\s+(?:ne\speut\splus\ss|travaille|part\b|doit|l['\u2019]a\b|a\strouvé|a\svu|vit\sloin"
    r"|habite\sloin)",
    re.I,
)
_PATIENTS_STATE = re.compile(
    r"\s+(?:est\s(?:très\s|peu\s)?(?:essoufflé|fébrile|douloureu|algique|confus|somnolent"
    r"|conscient|pâle|gris"
    r"|dyspnéique|apyrétique|tombé|diabétique|asthmatique|fumeu|opéré|hypertendu|agité"
    r"|désorienté|sous\s)"
    r"|tousse|vomit|a\svomi|boite|marche\savec|a\smal)",
    re.IGNORECASE,
)
_NOUN_NEXT = re.compile(
    r"\s+\w*(?:ure|ûre|tion|sion|aire|oire|ière|ance|ence|ment|eur|age|ette|tte)s?\b", re.I
)
_MODALS = frozenset(
    (
        "dû",
        "pu",
        "voulu",
        "doit",
        "peut",
        "veut",
        "va",
        "vient",
        "devait",
        "pouvait",
        "voulait",
        "allait",
        "venu",
        "venue",
        "faut",
        "pourrait",
        "viendra",
        "fallu",
        "repasse",
        "passe",
        "aller",
        "venir",
        "essayé",
        "peuvent",
    )
)
_SUBJECTS = frozenset(("on", "qui", "ne", "il", "elle", "ils", "elles", "je"))
_STAFF_DOES = re.compile(
    r"\s+(?:souhait\w+\s(?:le\s|la\s)?(?:re)?voir|voulait\s(?:le\s|la\s)?revoir|a\sdemandé\sun"
    r"|demande\sun|accepte|attend\s(?:la|le)\spatiente?|préconise|conseille|prescrit|recommande"
    r"|propose|a\s(?:prescrit|conseillé|préconisé|accepté|proposé)|passe(?:ra)?\s(?:le|la|voir)"
    r"|a\sfait\s(?:un\scourrier|le\spansement|une\sordonnance)|n['\u2019]a\spas\spu\s(?:débou"
    r"|pos|join)"
    r"|suspecte|a\smis\s(?:de\s|un|une|sous)|a\sposé)\b",
    re.IGNORECASE,
)
_DONE_TO_THINGS = re.compile(
    r"\s+(?:décri\w+|cot\w+|évalu\w+|ressen\w+|localis\w+|pren\w+|retir\w+|enl[eè]v\w+|arrêt\w+"
    r"|remet\w*"
    r"|oubli\w+|lav\w+|nettoy\w+|appliqu\w+|chiffr\w+|port\w+|tenait|garde\b|signal\w+|attribu\w+)",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\s+(?:a\s(?:appelé|alerté|prévenu|donné|fait\s(?:le|un)|mis\s(?:de\s|un|une)|passé\ssous"
    r"|vu\sla|désinfecté|nettoyé)"
    r"|n['\u2019]a\spas\s(?:laissé|voulu\sdonner)|a\s(?:laissé\sson|fui)|est\sparti\b|revient"
    r"|rentre|est\sabsente?|est\sen\scongé|gardait|surveillait|arrive\b|repasse|rappelle"
    r"|rappellera|est\srepartie?|est\sau\scourant|est\sen\sroute"
    r"|attend\s(?:dehors|en\ssalle|dans|la\spatiente|le\spatient)"
    r"|(?:dit|pense|précise|raconte|signale)\sque?\s?(?:son\spère|sa\smère|le\spatient"
    r"|la\spatiente))\b",
    re.IGNORECASE,
)
_ILL = re.compile(
    r"\s+(?:ne\s|n['\u2019])?(?:s['\u2019]est|se\s|est\s(?:tomb|pâle|confus|conscient|fébrile"
    r"|somnolent|agité"
    r"|désorient|algique|douloureu|essouffl|dyspnéi)|tousse|vomi|a\s(?:vomi|chuté|perdu|mal|pris"
    r"|bu|de\sla)|présente"
    r"|souffre|respire|marche|mange|boit|dort|pleure|refuse|crache|saigne|allait|parlait|avait)",
    re.IGNORECASE,
)
_OF_A_THING = re.compile(
    r"\s+(?:n['\u2019]|ne\s)?(?:(?:est|était|reste|restait|semble|paraît|a\sété|avait\sété)\s"
    r"(?:(?:pas|très|peu|bien|encore|toujours|aussi|assez|plus)\s){0,2}(?P<word>[^\W\d_]+)"
    r"|l['\u2019]a\b|l['\u2019]empêche|le\s\w+|la\s\w+|fait\b|gêne)",
    re.IGNORECASE,
)
"""What may be said of a wound, a pain or a drug as of a person."""
_SOMEONE_THERE = re.compile(
    r"(?:^|[.\n;]\s*)(?P<who>[^\W\d_]{3,})(?:[\s'\u2019][\w'\u2019]+){0,3}?"
    r"\s(?:présente?|sur\splace|au\stél(?:éphone)?)\s?[,:(]\s*$"
)
"""Whoever is said to be there ("Moniteur présent, il a vu") may be who is meant next."""
_FOLLOWED = re.compile(r"^\s+\w+\s\w+\ssuivie?\sd", re.IGNORECASE)
_OF_PERSON = re.compile(
    r"-ci\s+(?:n['\u2019]a\spas\sd|ne\sse\s(?:plaint|souvient)|a\s(?:pris|bu|chuté|fait|présenté"
    r"|refusé|vomi)|dit|décrit"
    r"|refuse|se\splaint|vit|présente|allègue|rapporte|signale|prend|nie|déclare|explique"
    r"|souhaite)\b",
    re.IGNORECASE,
)


class Pronouns(FrenchNote):
    """The patient's pronouns change; one that could be another's is refused."""

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
            and (each.gender in (token.gender, None) or self.is_staff(each, token))
        ]
        if token.gender != self.before and not others:
            others = [
                each
                for part in self.sentences[: self.sentences.index(sentence)]
                for each in part.tokens
                if each.work == "person"
                and each.owner == "other"
                and each.gender == token.gender
                and each.low not in GROUPS
            ]
        if token.gender != self.before:
            token.owner = "other" if others else "thing"
            things = [each for each in self.near(sentence, token) if each.work == "noun"]
            if not others and not (
                things and (patterns.THING_VERB.match(rest) or token.low == "il")
            ):
                self.other_sex.append(token.word.text)
            return
        if token.gender == self.before and self.couple(token):
            raise CannotRewrite("ambiguous_pronoun", "couple")
        own_sex = [each for each in others if each.gender == token.gender]
        stressed = index and sentence.tokens[index - 1].low in PREPOSITIONS
        if re.match(r"\s+lui\s+(?:a|avait)\s+(?:donné|mis|fait)", rest) and any(
            each.owner == "other" and each.work == "person" and each.gender == token.gender
            for part in self.sentences[: self.sentences.index(sentence)]
            for each in part.tokens
        ):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        if others and self.is_others(sentence, token, others[-1], rest):
            token.owner = "other"
            return
        if self.is_staff_spliced(sentence, index, rest):
            token.owner = "other"
            return
        if own_sex and not (stressed and own_sex[-1] in sentence.tokens):
            self.beside_other(sentence, token, own_sex[-1], rest)
        self.beside_epicene(sentence, index, others, rest)
        self.beside_thing(sentence, index, rest)
        animal = re.match(r"\s+est\s+(?:vaccin|tatou|puc|connue?\b|à\sjour|agressi)", rest)
        if (patterns.TREATED_FOR.match(rest) or animal) and any(
            each.low in patterns.ANIMALS for each in self.near(sentence, token)
        ):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        if patterns.THING_VERB.match(rest) and any(
            each.work == "noun" and thing_gender(each.low) in (None, token.gender)
            for each in self.near(sentence, token)
            if each.low not in UNITS and each.owner != "patient"
        ):
            sure = re.match(
                r"\s+est\s+(?:présente?|traitée?(?!\s+pour\b)|améliorée?|aggravée?|calmée?"
                r"|soulagée?|évaluée?)\b"
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
            if sentence.tokens[index - 1].low == "d" and "." in sentence.gap(index):
                new = "il"
            elif sentence.tokens[index - 1].low == "d":
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
        if (
            self.before == "female"
            and (index == 0 or sentence.gap(index).strip())
            and re.match(r"\s+(?:et\s|aussi\b|non\b)", rest)
        ):
            new = "lui"
        if self.before == "female" and re.search(
            r"\bc['\u2019]est\s$", self.text[: token.word.start], re.I
        ):
            new = "lui"
        if self.before == "female" and re.match(r"-mêmes?\b|-memes?\b", rest):
            new = "lui"
        if_before = re.search(r"\b(s)(?:i\s+|['\u2019]\s?)$", self.text[: token.word.start], re.I)
        if if_before and new in ("il", "elle"):
            start = if_before.start()
            lead = "s'il" if new == "il" else "si elle"
            if "\u2019" in self.text and new == "il":
                lead = "s\u2019il"
            self.change(start, token.word.end, self.cased_lead(start, token, lead), "pronoun")
            return
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def beside_epicene(
        self, sentence: Sentence, index: int, others: list[Token], rest: str
    ) -> None:
        """Refuse "kiné : il l'a trouvé": nothing shows the sex of the other, who may have acted."""
        token = sentence.tokens[index]
        someone = _SOMEONE_THERE.search(self.text[: token.word.start])
        if someone and not any(each.owner == "patient" for each in sentence.tokens[:index]):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({someone['who']})")
        if not others or others[-1].gender is not None or others[-1].low in ANIMALS:
            return
        other = others[-1]
        between = [
            each
            for each in self.near(sentence, token)
            if other.word.start < each.word.start < token.word.start
        ]
        if any(each.owner == "patient" for each in between) or _ILL.match(rest):
            return
        if _PATIENTS_STATE.match(rest):
            return
        if patterns.OTHER_VERB.match(rest) or _DID.match(rest) or _COMES.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")

    def beside_thing(self, sentence: Sentence, index: int, rest: str) -> None:
        """Refuse "La plaie est profonde. Elle a été suturée": the thing or the patient?"""
        token = sentence.tokens[index]
        if any(each.owner == "patient" for each in sentence.tokens[:index]):
            return
        head = next(
            (
                each
                for each in (sentence.tokens[:index] or sentence.earlier)
                if each.work in ("noun", "person") or each.low in ("il", "elle", "on", *ANIMALS)
            ),
            None,
        )
        if head is not None and head.low in ANIMALS and head in sentence.tokens:
            if (head.low in FEMALE_ANIMALS) == (token.gender == "female"):
                raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({head.word.text})")
            return
        if head is None or head.low.endswith("algie"):
            return
        earlier = sentence.tokens[:index] or sentence.earlier
        told = any(each.work in ("verb", "be", "have") for each in earlier)
        heads = [head] if told else [each for each in earlier if each.work == "noun"]
        if not any(
            each.work == "noun" and each.low not in UNITS and thing_gender(each.low) == token.gender
            for each in heads
        ):
            return
        if any(each.owner == "patient" for each in earlier):
            return
        match = _OF_A_THING.match(rest)
        if not match:
            return
        said = agreement(match["word"].lower(), predicative=True) if match["word"] else None
        done = said is not None and said[0] in DONE_TO_PATIENTS and not _FOLLOWED.search(rest)
        if match["word"] and (said is None or said[2] == "person" or done):
            return
        raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({head.word.text})")

    def is_staff_spliced(self, sentence: Sentence, index: int, rest: str) -> bool:
        """Tell the other person in "Coloc en salle d'attente, elle a appelé le 15".

        Raises:
            CannotRewrite: The words after the pronoun do not say who it is.
        """
        token = sentence.tokens[index]
        others = [
            each
            for each in sentence.tokens[:index]
            if each.work == "person" and each.owner == "other" and each.low not in GROUPS
        ]
        if not others or not re.search(r"[,;:(]\s*$", self.text[: token.word.start]):
            if re.search(r"\bc['\u2019]est\s$", self.text[: token.word.start], re.I) and re.match(
                r"\s+qui\b", rest
            ):
                near = [
                    each
                    for each in self.near(sentence, token)
                    if each.work == "person"
                    and each.owner == "other"
                    and each.gender in (None, token.gender)
                ]
                if near and _DID.match(rest.replace(" qui", "", 1)):
                    return True
                if near:
                    raise CannotRewrite("ambiguous_pronoun", token.word.text)
            return False
        other = others[-1]
        named = any(
            each.owner == "patient" and other.word.start < each.word.start < token.word.start
            for each in sentence.tokens
        )
        fits = other.gender in (None, token.gender) or other.low in CREWS
        if not fits or named or other.low in ANIMALS:
            return False
        between = self.text[other.word.end : token.word.start]
        place = sentence.tokens.index(other)
        governed = any(
            each.low in PREPOSITIONS for each in sentence.tokens[max(0, place - 3) : place]
        )
        staff = other.low in CREWS or any(
            row[2] == "person" for row in person_nouns().get(other.low, [])
        )
        if staff and _STAFF_DOES.match(rest) and between.count(",") <= 1:
            return True
        if governed or between.count(",") > 1 or len(between) > 70:
            return False
        if _DID.match(rest):
            return True
        if other.gender is None and not _ILL.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")
        return False

    def cased_lead(self, start: int, token: Token, lead: str) -> str:
        """Return "s'il" or "si elle" in the capitals of what it replaces."""
        if token.word.text.isupper():
            return lead.upper()
        return lead[0].upper() + lead[1:] if self.text[start].isupper() else lead

    def is_others(self, sentence: Sentence, token: Token, other: Token, rest: str) -> bool:
        """Tell the speaker in "il dit qu'il l'a vue tomber" and the doctor in ": il passe voir"."""
        between = self.text[other.word.end : token.word.start]
        if len(between) > 60:
            return False
        if other in sentence.tokens and _SAW.match(rest):
            return True
        staff = other.low in CREWS or any(
            row[2] == "person" for row in person_nouns().get(other.low, [("", "", "person")])
        )
        if (
            staff
            and re.fullmatch(r"(?:[^,:;.]{0,20}[,:;(]|\sdit\squ['\u2019])\s*", between)
            and _ADVISES.match(rest)
        ):
            return True
        return bool(re.fullmatch(r"\s*,\s*", between) and _COMES.match(rest))

    def this_one(self, sentence: Sentence, token: Token) -> None:
        """Celui-ci, celle-ci: the patient, where only a person does that and nobody is near."""
        rest = self.text[token.word.end :]
        rivals = [
            each
            for each in self.near(sentence, token)
            if each.work == "person"
            and each.owner == "other"
            and each.gender in (self.before, None)
            and each.low not in ANIMALS
            and each.low not in GROUPS
        ]
        if rivals or not _OF_PERSON.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text}-ci")
        token.owner, token.work, token.gender = "patient", "person", self.before
        new = "celle" if self.before == "male" else "celui"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def couple(self, token: Token) -> bool:
        """Tell a note of two people ("couple en voiture") that never says who is the patient."""
        before = self.text[: token.word.start]
        pair = re.search(
            r"\bcouple\b|\bmère et fille\b|\bpère et fils\b|\b(?:deux|les)\s(?:frères|sœurs"
            r"|soeurs)\b",
            before,
            re.I,
        )
        named = any(
            each.owner == "patient" and each.work == "person"
            for part in self.sentences
            for each in part.tokens
        )
        return bool(pair) and not named

    def is_staff(self, each: Token, token: Token) -> bool:
        """Whether a person of staff, named in the masculine by custom, may be the other pronoun."""
        return token.gender != self.before and each.low in CREWS and each.low not in ANIMALS

    def is_inverted(self, token: Token) -> bool:
        """Tell "y a-t-il"."""
        return bool(re.search(r"\by\s+a-t-$", self.text[: token.word.start], re.I))

    def beside_other(self, sentence: Sentence, token: Token, other: Token, rest: str) -> None:
        """Another person of the patient's sex is near: refuse unless the sentence decides."""
        here = other in sentence.tokens
        before = (
            sentence.tokens if here else self.sentences[self.sentences.index(sentence) - 1].tokens
        )
        place = before.index(other)
        oblique = any(
            each.low
            in (
                "par",
                "avec",
                "chez",
                "à",
                "de",
                "pour",
                "d",
                "du",
                "après",
                "selon",
                "sur",
                "contre",
                "envers",
            )
            for each in before[max(0, place - 2) : place]
        )
        told = not here and any(
            each.owner == "patient" and each.word.start > other.word.start
            for each in before
            if each.work == "person" or each.low in ("il", "elle")
        )
        family = any(each.low in ("familiaux", "atcd") for each in before)
        named = any(
            each.owner == "patient"
            for each in sentence.tokens
            if each.word.start < token.word.start
            and each.word.start > (other.word.start if here else -1)
        )
        gap = self.text[other.word.end : token.word.start]
        spliced = here and re.search(r"[,;]\s*$", gap) and "," not in gap.rstrip(", ;")
        present = re.match(
            r"\s+est\s+(?:très\s)?(?:présente?|joignable|prévenue?|en\ssalle|au\scourant"
            r"|épuisée?|énervée?|inquiète?"
            r"|à\sjour)\b|\s+lui\s+(?:a|avait|donne|fait)\b",
            rest,
        )
        worried = here and re.fullmatch(
            r"\s(?:est\s)?inqui[eè]te?\s(?:car|que|qu['\u2019]|parce\squ['\u2019])\s?", gap
        )
        if worried and not _NOT_OWN_WORRY.match(rest):
            return
        told_so = here and re.search(
            r"^\slui\s(?:a|avait)\s(?:dit|conseillé|demandé|prescrit|proposé)\b.*,\smais\s$", gap
        )
        if told_so:
            return
        examined = not here and re.search(
            r"^\s*(?:(?:à\sl['\u2019](?:arrivée|examen|accueil)|aux\surgences)\b[^.]*,\s"
            r"|(?:aujourd['\u2019]hui|actuellement|ce\sjour|à\sl['\u2019](?:arrivée|examen"
            r"|accueil)),?\s)$",
            self.text[(sentence.tokens[0].word.start) : token.word.start],
            re.IGNORECASE,
        )
        if examined:
            return
        staff = (
            other.low in CREWS
            or other.low in patterns.TITLE_WORDS
            or any(row[0] == row[1] for row in person_nouns().get(other.low, []))
            or bool(
                re.search(
                    r"\b(?:dr|docteur|pr)\.?\s$", self.text[: other.word.start], re.IGNORECASE
                )
            )
        )
        if not here and staff and _PATIENTS_STATE.match(rest):
            return
        if present or (spliced and not oblique):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")
        if patterns.OTHER_VERB.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")
        if named or family or oblique or told:
            return
        said = here and re.search(r"\b(?:que|qu)\W*$", self.text[: token.word.start], re.I)
        if said:
            return
        raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({other.word.text})")

    def stressed(self, sentence: Sentence, index: int, token: Token) -> None:
        """Lui after a preposition; before a verb it has no gender."""
        previous = sentence.tokens[index - 1].low if index else ""
        if (index == 0 or sentence.gap(index).strip()) and re.match(
            r"\s+(?:et\s|aussi\b|non\b)|\s*,", self.text[token.word.end :]
        ):
            if any(
                each.work == "person" and each.owner == "other"
                for each in self.near(sentence, token)
            ):
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "patient"
            new = cased_as(token.word.text, "elle")
            self.change(token.word.start, token.word.end, new, "pronoun")
            return
        if previous in PREPOSITIONS or self.text[token.word.end :].startswith(("-même", "-meme")):
            named = any(each.owner == "patient" for each in sentence.tokens[:index])
            if not named and any(
                each.owner == "other"
                and each.gender in (None, "male")
                and each.low not in GROUPS
                and each.low not in ANIMALS
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

    def unknown_clitic(self, sentence: Sentence, index: int, token: Token, rest: str) -> None:
        """Le and la before a verb of no list: a thing's where one was named, else unclear.

        Raises:
            CannotRewrite: It may be the patient.
        """
        sex = "male" if token.low == "le" else "female"
        if sex != self.before:
            return
        things = [
            each
            for each in self.near(sentence, token)
            if each.work == "noun" and each.low not in UNITS and thing_gender(each.low) == sex
        ]
        if things and _DONE_TO_THINGS.match(rest):
            token.owner = "thing"
            return
        unsure = any(
            (
                each.work == "noun"
                and each.low not in UNITS
                and thing_gender(each.low) in (None, sex)
            )
            or (each.work == "person" and each.owner == "other" and each.gender in (None, sex))
            for each in self.near(sentence, token)
        )
        if unsure:
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        new = "la" if sex == "male" else "le"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def clitic(self, sentence: Sentence, index: int, token: Token) -> None:
        """Le and la before a verb: "la douleur le réveille"."""
        rest = self.text[token.word.end : token.word.end + 40]
        if not index or _NOUN_NEXT.match(rest):
            return
        previous = sentence.tokens[index - 1]
        verb_next = previous.work == "person" and sentence.next_low(index) in VERBS
        subject_before = verb_next or previous.low in _SUBJECTS
        modal = previous.low in _MODALS and re.match(r"\s+\w+(?:er|ir|re)\b", rest)
        if not patterns.CLITIC_VERB.match(rest):
            if (subject_before or modal) and not sentence.gap(index).strip():
                self.unknown_clitic(sentence, index, token, rest)
            return
        noun_before = previous.work in ("noun", "person", "agrees") and sentence.gap(index) == " "
        infinitive = previous.low in _MODALS and re.match(r"\s+\w+(?:er|ir|re)\b", rest)
        if (
            previous.low not in patterns.CLITIC_BEFORE
            and not noun_before
            and not (infinitive or modal)
        ):
            return
        if previous.low == "de" and not re.match(r"\s+\w+(?:er|ir|re)\b", rest):
            return
        sex = "male" if token.low == "le" else "female"
        if sex != self.before:
            return
        things = [
            each for each in sentence.tokens[:index] if each.owner == "other" and each.gender == sex
        ]
        if things and modal and things[-1].low not in GROUPS:
            place = sentence.tokens.index(things[-1])
            acts = not any(each.low in PREPOSITIONS for each in sentence.tokens[:place])
            between = [each.low for each in sentence.tokens[place + 1 : index]]
            if acts and not {"il", "elle", "que", "qu", "qui"} & {*between}:
                things = []  # who acts is not who is carried
        if things and things[-1].word.start > token.word.start - 40 and previous is not things[-1]:
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        new = "la" if sex == "male" else "le"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")
        if index + 1 < len(sentence.tokens):
            sentence.tokens[index + 1].work = "verb"
