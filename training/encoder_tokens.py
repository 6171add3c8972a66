"""Texts as tokens of a vocabulary of their own: byte-level BPE, and batches of similar length."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenIds: TypeAlias = NDArray[np.int64]
"""Tokens of one text, <s> first and </s> last, shape (length,)."""

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
"""The special tokens of RoBERTa, in its order: <pad> is 1."""
START, PAD, END, _, MASK = range(len(SPECIAL))
_BATCHES_SORTED = 16
"""Batches drawn together and then sorted by length: enough to pad little, few enough to stay
random."""


def train_tokenizer(texts: Sequence[str], *, size: int, least: int) -> "Tokenizer":
    """Learn a byte-level BPE vocabulary; no text is unknown to it, and none else is read.

    Args:
        texts: In any order; the vocabulary depends on their words' counts alone.
        size: Tokens at most, specials included.
        least: Times that a pair must occur to become a token.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=least,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(map(_writable, texts), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        (SPECIAL[END], END), (SPECIAL[START], START), add_prefix_space=False
    )
    return tokenizer


def load_tokenizer(path: Path) -> "Tokenizer":
    """Read a kept vocabulary.

    Raises:
        UserError: The file is missing or damaged.
    """
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(path.read_text("utf-8"))
    # The library raises Exception itself where a file is damaged.
    except Exception as error:
        raise UserError(
            f"{path}: no vocabulary ({type(error).__name__}); fit the mimic again."
        ) from error


def encode(
    tokenizer: "Tokenizer", texts: Sequence[str], longest: int
) -> tuple[list[TokenIds], int]:
    """Return each text's tokens, and how many texts were too long.

    Of a text that is too long the middle is cut out: it begins with why the patient came and ends
    with the attribute, and neither may be lost.

    Args:
        tokenizer: As train_tokenizer makes them.
        texts: Shape (n,).
        longest: Tokens of a text at most, <s> and </s> included, at least 4.
    """
    found = tokenizer.encode_batch([_writable(text) for text in texts])
    ids = [np.array(one.ids, dtype=np.int64) for one in found]
    head = longest // 2
    cut = [np.concatenate([one[:head], one[head - longest :]]) for one in ids if len(one) > longest]
    shortened = iter(cut)
    return [next(shortened) if len(one) > longest else one for one in ids], len(cut)


def padded(ids: Sequence[TokenIds]) -> NDArray[np.int64]:
    """Return texts as one array, <pad> behind the shorter ones, shape (n, longest)."""
    found = np.full((len(ids), max(map(len, ids))), PAD, dtype=np.int64)
    for row, one in enumerate(ids):
        found[row, : len(one)] = one
    return found


def epoch_batches(
    lengths: Sequence[int], batch_size: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Deal all texts into batches of similar length, in a drawn order.

    Args:
        lengths: Tokens of each text, shape (n,).
        batch_size: Texts in a batch; the last may have fewer.
        rng: Of the draw.

    Returns:
        Places of the texts, each once.
    """
    drawn = rng.permutation(len(lengths))
    known = np.asarray(lengths)
    step = batch_size * _BATCHES_SORTED
    batches = []
    for start in range(0, len(drawn), step):
        some = drawn[start : start + step]
        ordered = some[np.argsort(known[some], kind="stable")]
        batches += [ordered[at : at + batch_size] for at in range(0, len(ordered), batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def equal_lengths(lengths: Sequence[int], most_tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield places of texts of one length, so that nothing is padded.

    Args:
        lengths: Tokens of each text, shape (n,).
        most_tokens: Of a batch, unless one text has more.
    """
    known = np.asarray(lengths)
    for length in np.unique(known):
        places = np.flatnonzero(known == length)
        step = max(1, most_tokens // int(length))
        yield from (places[start : start + step] for start in range(0, len(places), step))


def _writable(text: str) -> str:
    """Return text that UTF-8 can hold: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
