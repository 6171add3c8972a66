"""Prompts: read from a text file, filled in one pass, hashed.

A prompt file is a list of messages, each after a line "### system", "### user" or "### assistant".
Placeholders are {names}; they are filled in one pass, so braces in what is filled in do no harm.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

Messages = tuple[tuple[str, str], ...]
"""(role, text) pairs, role one of system, user, assistant."""

_HEADING = re.compile(r"^### (system|user|assistant)\n", re.MULTILINE)
_OUR_TAG = re.compile(
    r"<(?=\\*\s*/?\s*(?:question|source|answer(?:_[ab])?|triples|text)\b)", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace each {name} that has a value; other braces stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)


def parse_messages(text: str) -> Messages:
    """Split the text of a prompt file into its messages.

    Raises:
        ValueError: The text does not begin with a message heading.
    """
    parts = _HEADING.split(text)
    if parts[0].strip() or len(parts) < 3:
        raise ValueError("a prompt file begins with '### system', '### user' or '### assistant'")
    return tuple((parts[i], parts[i + 1].strip()) for i in range(1, len(parts), 2))


@cache
def read_prompt(name: str) -> Messages:
    """Read agents/prompts/<name>.txt, where name is <agent>.<use>.<language>."""
    return parse_messages(_prompt_file(name).read_text("utf-8"))


@cache
def prompt_hash(name: str) -> str:
    """Return the first 12 hex digits of the SHA-256 of a prompt file."""
    return hashlib.sha256(_prompt_file(name).read_bytes()).hexdigest()[:12]


def fill_messages(messages: Messages, values: Mapping[str, str]) -> Messages:
    """Fill the placeholders of every message.

    Values are untrusted text: a closing tag in them cannot end the part they stand in, because
    the tags that delimit it are broken up.
    """
    safe = {name: _disarm(value) for name, value in values.items()}
    return tuple((role, fill(text, safe)) for role, text in messages)


def _disarm(text: str) -> str:
    r"""Put a backslash behind the "<" of each of our tags; taking one away there undoes it."""
    return _OUR_TAG.sub(r"<\\", text)


def _prompt_file(name: str) -> Traversable:
    return files("evenhand.agents") / "prompts" / f"{name}.txt"
