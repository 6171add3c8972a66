"""Answers of a causal language model of transformers: many prompts in one batch, a seed each.

What is drawn for a prompt depends on its own seed alone; the numbers that it is drawn from differ
in their last digits with the batch, so two runs may part where two words are as good as equal.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.training.label_tokens import TokenIds, encode_chat, without_control_tokens
from evenhand.training.language_models import LanguageModel

Turns = Sequence[tuple[str, str]]
"""(role, text) pairs; the role is "system", "user" or "assistant"."""

REPEAT_PENALTY = 1.1
"""As of the embedded model: small models go round in circles without it."""
PENALISED = 64
"""Tokens back that the penalty looks at, as in llama.cpp."""
_SHRINK = 0.5
"""A batch is cut down to those that still answer once fewer than this share do."""


@dataclass(frozen=True)
class Draw:
    """How one answer is drawn.

    Attributes:
        temperature: 0 takes the likeliest token always.
        most: Tokens, at most.
        seed: Of the draw.
    """

    temperature: float
    most: int
    seed: int


@dataclass(frozen=True)
class Generated:
    """One answer.

    Attributes:
        text: Without control tokens.
        tokens: How many were drawn.
        ended: Whether the model ended it; else it was cut.
    """

    text: str
    tokens: int
    ended: bool


def encode_turns(opened: LanguageModel, turns: Turns) -> TokenIds:
    """Return the ids of a conversation up to where the next answer begins.

    In chat form where the tokenizer has a template, else the texts one below the other.

    Raises:
        UserError: The template cannot lay out these turns.
    """
    tokenizer = opened.tokenizer
    plain = [(role, without_control_tokens(text, tokenizer.specials)) for role, text in turns]
    if not tokenizer.has_chat:
        return encode_chat(tokenizer, ["\n\n".join(text for _, text in plain) + "\n"])[0]
    try:
        text = opened.hub_tokenizer.apply_chat_template(
            [{"role": role, "content": text} for role, text in plain],
            tokenize=False,
            add_generation_prompt=True,
        )
    except Exception as error:
        # A template is a program of the model's author: whatever it raises is its refusal.
        raise UserError(
            f"The chat template of {tokenizer.name} cannot lay out the prompt "
            f"({type(error).__name__}: {error}); use another model."
        ) from None
    return encode_chat(tokenizer, [str(text)])[0]


def generate(
    opened: LanguageModel, prompts: Sequence[TokenIds], draws: Sequence[Draw]
) -> list[Generated]:
    """Return an answer to each prompt.

    Args:
        opened: Model and tokenizer.
        prompts: Token ids, shape (n,) of sequences, n at least 1.
        draws: How each is drawn, shape (n,).
    """
    import torch

    with torch.inference_mode():
        return _Batch(opened, prompts, draws).run()


class _Batch:
    """The answers of one batch in the making; rows leave it as they end."""

    def __init__(
        self, opened: LanguageModel, prompts: Sequence[TokenIds], draws: Sequence[Draw]
    ) -> None:
        import torch

        self._opened = opened
        self._draws = draws
        self._random = [np.random.default_rng(draw.seed) for draw in draws]
        self._seen: list[list[int]] = [list(prompt) for prompt in prompts]
        self._made: list[list[int]] = [[] for _ in prompts]
        self._ended = [False] * len(prompts)
        self._rows = list(range(len(prompts)))
        self._ends = _end_tokens(opened)
        longest = max(map(len, prompts))
        ids = np.full((len(prompts), longest), opened.pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            # On the left: the next token then stands at the same place in every row.
            ids[row, longest - len(prompt) :] = prompt
            mask[row, longest - len(prompt) :] = 1
        self._ids = torch.from_numpy(ids).to(opened.device)
        self._mask = torch.from_numpy(mask).to(opened.device)
        self._cache: Any = None
        # Its name was changed within transformers 5.
        accepted = inspect.signature(opened.model.forward).parameters
        self._cache_name = "cache" if "cache" in accepted else "past_key_values"

    def run(self) -> list[Generated]:
        while self._rows:
            chosen = [self._next(row, scores) for row, scores in self._scores()]
            going = [row for row in self._rows if not self._is_over(row)]
            if not going:
                break
            self._advance(chosen, going)
        decode = self._opened.hub_tokenizer.decode
        return [
            Generated(decode(made, skip_special_tokens=True).strip(), len(made), ended)
            for made, ended in zip(self._made, self._ended, strict=True)
        ]

    def _scores(self) -> list[tuple[int, "np.ndarray[Any, np.dtype[np.float64]]"]]:
        positions = (self._mask.cumsum(-1) - 1).clamp(min=0)[:, -self._ids.shape[1] :]
        found = self._opened.model(
            input_ids=self._ids,
            attention_mask=self._mask,
            position_ids=positions,
            **{self._cache_name: self._cache},
            use_cache=True,
            logits_to_keep=1,
        )
        self._cache = getattr(found, self._cache_name, None) or found.past_key_values
        last = found.logits[:, -1].double().cpu().numpy()
        return list(zip(self._rows, last, strict=True))

    def _next(self, row: int, scores: "np.ndarray[Any, np.dtype[np.float64]]") -> int:
        """Draw a token; a row that is over is only carried along."""
        if self._is_over(row):
            return self._opened.pad
        recent = list(set(self._seen[row][-PENALISED:]))
        scores[recent] = np.where(
            scores[recent] > 0, scores[recent] / REPEAT_PENALTY, scores[recent] * REPEAT_PENALTY
        )
        token = _drawn(scores, self._draws[row].temperature, self._random[row])
        if token in self._ends:
            self._ended[row] = True
        else:
            self._made[row].append(token)
            self._seen[row].append(token)
        return token

    def _is_over(self, row: int) -> bool:
        return self._ended[row] or len(self._made[row]) >= self._draws[row].most

    def _advance(self, chosen: Sequence[int], going: Sequence[int]) -> None:
        import torch

        kept = list(range(len(self._rows)))
        if len(going) <= _SHRINK * len(self._rows):
            kept = [place for place, row in enumerate(self._rows) if row in set(going)]
            places = torch.tensor(kept, device=self._ids.device)
            self._cache.batch_select_indices(places)
            self._mask = self._mask[places]
            self._rows = [self._rows[place] for place in kept]
        self._ids = torch.tensor([[chosen[place]] for place in kept], device=self._ids.device)
        self._mask = torch.cat([self._mask, torch.ones_like(self._ids)], dim=1)


def _drawn(
    scores: "np.ndarray[Any, np.dtype[np.float64]]", temperature: float, rng: np.random.Generator
) -> int:
    if temperature == 0:
        return int(scores.argmax())
    shares = np.exp((scores - scores.max()) / temperature)
    summed = np.cumsum(shares)
    return int(np.searchsorted(summed, rng.random() * summed[-1], side="right"))


def _end_tokens(opened: LanguageModel) -> frozenset[int]:
    """Return the ids that end an answer, as the model and its tokenizer say."""
    stated = getattr(opened.model, "generation_config", None)
    ends = getattr(stated, "eos_token_id", None)
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(int(end) for end in (*listed, opened.tokenizer.end) if end is not None)
