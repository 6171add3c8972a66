"""The terminal: results on stdout, progress and questions on stderr, no secret on either."""

import json
import sys
from typing import Any

from rich.console import Console

from evenhand.graph_store.redact import redact


def results() -> Console:
    """Return the console for results; on a pipe it is as wide as the widest line needs."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)


def messages() -> Console:
    """Return the console for progress and questions (stderr)."""
    return Console(stderr=True, highlight=False, markup=False)


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout; text from models stays as it is, secrets do not."""
    print(redact(json.dumps(value, ensure_ascii=False, indent=2)))


def print_text(text: str) -> None:
    """Print text as it stands, without styles."""
    results().print(redact(text), soft_wrap=True)


def has_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
