"""No secret passes a write: every text that goes to disk or a terminal goes through here."""

import json
import os
import re

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)", re.IGNORECASE
)
_SHORTEST_SECRET = 6
"""Shorter values of such variables ("1", "none") are no secrets and would blank out plain words."""

_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai|ghp|glpat|lsv2)[-_][A-Za-z0-9_\-]{12,}"),
    re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}"),
    re.compile(
        r"(?i)\b(api[-_]?key|authorization|password|secret|token)(\"?\s*[:=]\s*\"?)"
        r"(?!\s)[^\s\",;}&\\]{6,}"
    ),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)
_REPLACEMENTS = ("[redacted]", r"\1 [redacted]", r"\1\2[redacted]", "[redacted]")


def _secret_values() -> list[str]:
    found = {
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    }
    # A value with quotes or backslashes stands escaped in a line of JSON.
    found |= {json.dumps(value)[1:-1] for value in found}
    # Longest first: a secret that contains another one is replaced whole.
    return sorted(found, key=len, reverse=True)


def redact(text: str) -> str:
    """Return the text with every known secret replaced by "[redacted]".

    Known are the values of environment variables whose name says so (KEY, TOKEN, SECRET,
    PASSWORD, CREDENTIAL), and what has the form of a key, a bearer header or a password in an
    address.
    """
    for value in _secret_values():
        text = text.replace(value, "[redacted]")
    for pattern, replacement in zip(_PATTERNS, _REPLACEMENTS, strict=True):
        text = pattern.sub(replacement, text)
    return text
