"""A French pronoun beside another person or a thing: it is refused where either fits."""

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
    agreement,
    person_nouns,
    thing_gender,
)

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
_STAFF_DOES = re.compile(
    r"\s+(?:souhait\w+\s(?:le\s|la\s)?(?:re)?voir|voulait\s(?:le\s|la\s)?revoir|a\sdemandé\sun"
    r"|demande\sun|accepte|attend\s(?:la|le)\spatiente?|préconise|conseille|prescrit|recommande"
    r"|propose|a\s(?:prescrit|conseillé|préconisé|accepté|proposé)|passe(?:ra)?\s(?:le|la|voir)"
    r"|a\sfait\s(?:un\scourrier|le\spansement|une\sordonnance)|n['\u2019]a\spas\spu\s(?:débou"
    r"|pos|join)"
    r"|suspecte|a\smis\s(?:de\s|un|une|sous)|a\sposé)\b",
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


class Beside(FrenchNote):
    """Refuses il and elle that somebody or something near could claim."""

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
        first = [each.low for each in (sentence.tokens[:index] or sentence.earlier)][:3]
        if first[:1] in (["aucun"], ["aucune"], ["absence"], ["sans"]) or first[:1] == ["pas"]:
            return  # "Pas de fracture. Elle est gelée"
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
