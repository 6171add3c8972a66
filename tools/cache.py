"""Answers kept across runs: what was paid for once is not asked again."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact

_BUSY_SECONDS = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID
"""


def answer_key(*asked: Any) -> bytes:
    """Return the SHA-256 of everything that an answer depends on, as canonical JSON."""
    plain = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).digest()


class AnswerCache:
    """Replies by key in one SQLite file; several processes may use it at the same time.

    A key is written once: the first reply stays. A kill loses nothing that was put.

    Args:
        path: The file; made if missing, with its folder.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file.

        Raises:
            UserError: The file is there and is no such cache.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise UserError(
                f"Answer cache {path.name} in {path.parent} cannot be used ({error}); move or "
                "delete it to begin a new one."
            ) from None

    def get(self, key: bytes) -> dict[str, Any] | None:
        """Return the fields of the kept reply, or None."""
        row = self._database.execute("SELECT reply FROM answer WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        fields: dict[str, Any] = json.loads(row[0])
        return fields

    def put(self, key: bytes, fields: Mapping[str, Any]) -> None:
        """Keep a reply; its texts are redacted. A known key keeps what it has."""
        clean = {
            name: redact(value) if isinstance(value, str) else value
            for name, value in fields.items()
        }
        self._database.execute(
            "INSERT OR IGNORE INTO answer VALUES (?, ?)", (key, json.dumps(clean))
        )

    def __len__(self) -> int:
        """Return the number of kept replies."""
        count: int = self._database.execute("SELECT count(*) FROM answer").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return the cache itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()
