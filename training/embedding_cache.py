"""Sentence vectors that are computed once: for the fit, its refits and every arm."""

import hashlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.training.lent import Embedder

log = logging.getLogger(__name__)

_TEXTS_AT_ONCE = 1_024
"""Of a part: what a kill costs, about ten seconds of a CPU."""
_KEY_BYTES = 32


class EmbeddingCache:
    """Vectors by text; with a folder, they outlive the process.

    A part is a safetensors file with keys (SHA-256 of the text) and vectors, renamed into place,
    so that a kill in the middle loses a part and tears none. Notes are not in it.

    Args:
        embedder: What computes the missing ones; its name is part of every key.
        folder: Where parts lie; None keeps them in memory only.
    """

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        """Read the parts that are there.

        Raises:
            UserError: A part cannot be read.
        """
        self._embedder = embedder
        self._folder = folder
        self._vectors: dict[bytes, NDArray[np.float32]] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for part in sorted(folder.glob("*.safetensors")):
                self._read(part)

    @property
    def embedder(self) -> Embedder:
        """The same embedder, with a memory."""
        return Embedder(self._embedder.name, self.embed)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, d), computing each different one at most once."""
        keys = [self._key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True)}
        missing = {key: text for key, text in missing.items() if key not in self._vectors}
        new = list(missing)
        for start in range(0, len(new), _TEXTS_AT_ONCE):
            part = new[start : start + _TEXTS_AT_ONCE]
            vectors = self._embedder.embed([missing[key] for key in part])
            self._vectors.update(zip(part, vectors, strict=True))
            self._write(part, vectors)
            log.info("embedded %d of %d new texts", start + len(part), len(new))
        if not keys:
            return np.empty((0, 0), dtype=np.float32)
        return np.stack([self._vectors[key] for key in keys])

    def _key(self, text: str) -> bytes:
        named = f"{self._embedder.name}\x1f{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()

    def _write(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        if self._folder is None:
            return
        from safetensors.numpy import save_file

        numbers = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        name = hashlib.sha256(numbers.tobytes()).hexdigest()[:16]
        new = self._folder / f".{name}.{os.getpid()}"
        save_file({"keys": numbers, "vectors": np.ascontiguousarray(vectors)}, new)
        os.replace(new, self._folder / f"{name}.safetensors")

    def _read(self, part: Path) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            found = load_file(part)
            pairs = zip(found["keys"], found["vectors"], strict=True)
            self._vectors.update((key.tobytes(), vector) for key, vector in pairs)
        except (SafetensorError, KeyError, ValueError) as error:
            raise UserError(
                f"{part}: these sentence vectors cannot be read; delete the file, they are "
                "computed again."
            ) from error
