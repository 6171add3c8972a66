"""Prompts and labels as token ids, the same way for training, scoring and generating.

A label is what follows a prompt *in context*: prompt, separator and label are tokenised together,
for a tokenizer may join the blank before a label to it, and the bare word is then another token.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evenhand.graph_store.errors import UserError

TokenIds = tuple[int, ...]
_TAIL = 64
"""Characters at a prompt's end that labels are tried after: the end of any prompt's last word."""


class TextTokenizer(Protocol):
    """What is asked of a tokenizer.

    Attributes:
        name: Of the model it belongs to, for messages.
        first: Id that a sequence begins with and the tokenizer itself would add; None where none.
        end: Id that ends an answer; None where the tokenizer has none.
        specials: Texts that stand for one control token each.
        has_chat: Whether there is a chat template.
    """

    name: str
    first: int | None
    end: int | None
    specials: tuple[str, ...]
    has_chat: bool

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text; control tokens that stand in it are one id, none added."""
        ...

    def chat(self, system: str, user: str) -> str:
        """Return the templated text of one question, up to where the answer begins."""
        ...


class HubTokenizer:
    """A tokenizer of transformers.

    Args:
        tokenizer: As AutoTokenizer gives it.
        name: Of the model, for messages.
    """

    def __init__(self, tokenizer: Any, name: str = "") -> None:
        """Find out what the tokenizer adds to a text by itself."""
        self.name = name or str(getattr(tokenizer, "name_or_path", "") or "model")
        self._tokenizer = tokenizer
        added = list(tokenizer("").input_ids)
        starts = bool(added) and added[0] == tokenizer.bos_token_id
        self.first: int | None = tokenizer.bos_token_id if starts else None
        self.end: int | None = tokenizer.eos_token_id
        self.specials: tuple[str, ...] = tuple(
            sorted({str(text) for text in tokenizer.all_special_tokens}, key=len, reverse=True)
        )
        self.has_chat = bool(tokenizer.chat_template)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, without added control tokens."""
        if not texts:
            return []
        # transformers warns of texts longer than the context; who scores checks that itself.
        # Half a surrogate pair, which a file may hold and UTF-8 may not, becomes a question mark.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encoded = self._tokenizer(whole, add_special_tokens=False, verbose=False)
        return [list(ids) for ids in encoded.input_ids]

    def chat(self, system: str, user: str) -> str:
        """Return the templated text of one question, up to where the answer begins."""
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": user})
        try:
            text = self._tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:
            # A template is a program of the model's author: whatever it raises is its refusal.
            raise UserError(
                f"The chat template of {self.name} cannot lay out a question"
                f"{' with a system text' if system else ''} ({type(error).__name__}: {error}); "
                "use another model, or plain prompts (--no-chat)."
            ) from None
        return str(text)


@dataclass(frozen=True)
class LabelTokens:
    """Labels as token ids that follow a prompt.

    Attributes:
        labels: Their texts, shape (L,).
        ids: Token ids of each, shape (L,) of sequences, none empty.
        context: Ids that stand between the prompt's own and the labels', such as a blank.
        ended: Whether each label's last id is the end token, because one label begins another.
    """

    labels: tuple[str, ...]
    ids: tuple[TokenIds, ...]
    context: TokenIds = ()
    ended: bool = False

    @property
    def longest(self) -> int:
        """Tokens of the longest label."""
        return max(map(len, self.ids))

    def require_first_tokens(self, backend: str) -> TokenIds:
        """Return the first token of each label, for a backend that can see only one.

        Raises:
            UserError: Two labels share it, or a label has several tokens.
        """
        seen: dict[int, str] = {}
        for label, ids in zip(self.labels, self.ids, strict=True):
            if ids[0] in seen:
                raise UserError(
                    f"Labels {seen[ids[0]]!r} and {label!r} begin with the same token, and "
                    f"{backend} sees one token only; use a torch/ model, or other labels."
                )
            seen[ids[0]] = label
        return tuple(ids[0] for ids in self.ids)


@dataclass(frozen=True)
class Encoded:
    """Prompts as ids up to where a label begins.

    Attributes:
        prompts: Token ids of each, shape (n,) of sequences.
        labels: What may follow, the same after each of them.
    """

    prompts: tuple[TokenIds, ...]
    labels: LabelTokens


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels.

    Raises:
        UserError: Fewer than two, one twice, or an empty one.
    """
    found = tuple(labels)
    if len(found) < 2:
        raise UserError(f"{len(found)} labels were given; a choice needs at least two.")
    twice = [label for place, label in enumerate(found) if label in found[:place]]
    if twice:
        raise UserError(f"Label {twice[0]!r} stands there twice; name each label once.")
    if not all(label.strip() for label in found):
        raise UserError("A label is empty; write each as the model would answer it.")
    return found


def templated(
    tokenizer: TextTokenizer,
    prompts: Iterable[str],
    *,
    chat: bool | None = None,
    system: str = "",
    cue: str = "",
) -> list[str]:
    """Return prompts as the model reads them: chat form where there is a template.

    Control tokens that stand in a prompt's own text are broken by a blank: a note may not end its
    turn and speak for the system.

    Args:
        tokenizer: Of the model.
        prompts: Texts up to where the answer begins.
        chat: True or False to insist; None: where the tokenizer has a template.
        system: Text of the system; in plain form it stands before each prompt.
        cue: Last line of each prompt in plain form, such as "Level:"; in chat form the turn that
            begins says that an answer comes.

    Raises:
        UserError: No template where chat form is asked, or one that drops the system text.
    """
    plain = [without_control_tokens(prompt, tokenizer.specials) for prompt in prompts]
    if chat is None:
        chat = tokenizer.has_chat
    if not chat:
        before, after = f"{system}\n\n" if system else "", f"\n{cue}" if cue else ""
        return [f"{before}{prompt}{after}" for prompt in plain]
    if not tokenizer.has_chat:
        raise UserError(
            f"{tokenizer.name} has no chat template, so it cannot be asked in chat form; use "
            "plain prompts (--no-chat), or the model's chat version."
        )
    # One call of the template, then filled in: it is slow, and puts nothing else between.
    mark = "\u2063question\u2063"
    frame = tokenizer.chat(without_control_tokens(system, tokenizer.specials), mark)
    if system and without_control_tokens(system, tokenizer.specials).strip() not in frame:
        raise UserError(
            f"The chat template of {tokenizer.name} drops the system text, so the model would "
            "never read the instruction; put it into the prompts, or use another model."
        )
    before, found, after = frame.partition(mark)
    if not found:
        raise UserError(
            f"The chat template of {tokenizer.name} drops the question; use plain prompts "
            "(--no-chat), or another model."
        )
    return [f"{before}{prompt.strip()}{after}" for prompt in plain]


def encode_chat(tokenizer: TextTokenizer, texts: Sequence[str]) -> list[TokenIds]:
    """Return the ids of templated texts, each beginning with exactly one start token.

    The one way for training, scoring and generating. A template may write the start token itself;
    a second one is then not added.
    """
    return [_started(tokenizer, ids) for ids in tokenizer.encode(texts)]


def encode_prompts(
    tokenizer: TextTokenizer,
    prompts: Sequence[str],
    labels: Sequence[str],
    *,
    separator: str | None = None,
    chat: bool | None = None,
    system: str = "",
    cue: str = "",
) -> Encoded:
    """Return prompts and labels as token ids.

    Args:
        tokenizer: Of the model.
        prompts: Texts up to where the answer begins.
        labels: At least two.
        separator: Between prompt and label; None: nothing in chat form, else a blank unless the
            prompt ends in one.
        chat: As in `templated`.
        system: Likewise.
        cue: Likewise.

    Raises:
        UserError: As in `templated` and `check_labels`, two labels have the same ids, or labels
            that are not tokenised alike after all prompts.
    """
    in_chat = tokenizer.has_chat if chat is None else chat
    texts = templated(tokenizer, prompts, chat=in_chat, system=system, cue=cue)
    if separator is None:
        separator = "" if in_chat or all(text[-1:].isspace() for text in texts) else " "
    found = label_tokens(tokenizer, texts[0] if texts else "", labels, separator)
    probe = tokenizer.encode([text + separator + found.labels[0] for text in texts])
    own = found.ids[0][:-1] if found.ended else found.ids[0]
    cut = len(own)
    for text, ids in zip(texts, probe, strict=True):
        if tuple(ids[len(ids) - cut :]) != own:
            raise UserError(
                f"Label {found.labels[0]!r} is not made of the same tokens after every prompt: "
                f"one ends in {text[-20:]!r}; end all prompts alike."
            )
    contexts = [_started(tokenizer, ids[: len(ids) - cut]) for ids in probe]
    return Encoded(tuple(contexts), found)


def label_tokens(
    tokenizer: TextTokenizer, prompt: str, labels: Sequence[str], separator: str = " "
) -> LabelTokens:
    """Return the token ids of labels as they stand after a prompt.

    Where one label's ids begin another's ("1", "10"), every label is scored with its end token.

    Args:
        tokenizer: Of the model.
        prompt: As the model reads it; only its end matters.
        labels: At least two.
        separator: Between prompt and label.

    Raises:
        UserError: As in `check_labels`; two labels have the same ids; or one begins another and
            the tokenizer has no end token.
    """
    known = check_labels(labels)
    tail = prompt[-_TAIL:]
    bare = tokenizer.encode([tail])[0]
    whole = tokenizer.encode([tail + separator + label for label in known])
    shared = _shared(whole)
    # What all labels begin with is theirs, unless it is the separator's: "1", "10" share a "1".
    with_blank = tokenizer.encode([tail + separator])[0]
    start = min(shared, max(_shared([whole[0], with_blank]), _shared([whole[0], bare])))
    ids = [tuple(tokens[start:]) for tokens in whole]
    for place, own in enumerate(ids):
        if not own or own in ids[:place]:
            other = known[ids.index(own)] if own else ""
            raise UserError(
                f"Labels {other!r} and {known[place]!r} are the same tokens to {tokenizer.name}; "
                "use labels that differ."
            )
    ended = any(one != other and other[: len(one)] == one for one in ids for other in ids)
    if ended and tokenizer.end is None:
        raise UserError(
            f"One of the labels {', '.join(known)} begins another and {tokenizer.name} has no end "
            "token that tells them apart; use labels of which none begins another."
        )
    if ended:
        ids = [(*own, int(tokenizer.end or 0)) for own in ids]
    return LabelTokens(known, tuple(ids), tuple(whole[0][len(bare) : start]), ended)


def _shared(sequences: Sequence[Sequence[int]]) -> int:
    """Return how many ids all sequences begin with."""
    count = 0
    for column in zip(*sequences, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count


def _started(tokenizer: TextTokenizer, ids: Sequence[int]) -> TokenIds:
    first = tokenizer.first
    if first is None or (ids and ids[0] == first):
        return tuple(ids)
    return (first, *ids)


def without_control_tokens(text: str, specials: Sequence[str]) -> str:
    """Return a text with a blank in each control token: nobody may be spoken for."""
    for special in specials:
        if special in text:
            text = text.replace(special, f"{special[0]} {special[1:]}")
    return text


Encode = Callable[[Sequence[str]], list[list[int]]]
