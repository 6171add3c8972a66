"""No secret passes a write: every text that goes to disk or a terminal goes through here."""

import json
import os
import re
from functools import lru_cache

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)", re.IGNORECASE
)
_SHORTEST_SECRET = 6
"""Shorter values of such variables ("1", "none") are no secrets and would blank out plain words."""

# Between a name and its secret: a pair of JSON, one inside a string of JSON, or plain words. What
# follows may not begin with a sign of JSON's own, or the line would no longer be JSON.
_BETWEEN = r"""(?:"\s*:\s*"|\\"\s*:\s*\\"|'?\s*[:=]\s*(?:\\?["'])?)(?![\s:\]])"""
_VALUE = r"""[^\s"',;}&\\]{6,}"""
# A scheme alone wants a digit behind it: these are doctors' notes, and a "basic metabolic panel" is
# no credential.
_PATTERNS = (
    (r"\b(?:sk|pk|rk|hf|gsk|xai|ghp|glpat|lsv2)[-_](?=[\w\-]*\d)[\w\-]{12,}", "[redacted]"),
    (rf"(?i)\b(authorization{_BETWEEN}(?:bearer|basic|token)\s+){_VALUE}", r"\1[redacted]"),
    (r"(?i)\b(bearer)\s+(?=[\w.~+/=\-]*\d)[\w.~+/=\-]{16,}", r"\1 [redacted]"),
    (r"(?i)\b(basic)\s+(?=[\w+/]*\d)[\w+/]{16,}={0,2}", r"\1 [redacted]"),
    (
        rf"(?i)(?<![^\W_])(api[-_]?key|password|passwd|secret|token)({_BETWEEN}){_VALUE}",
        r"\1\2[redacted]",
    ),
    (r"""(?i)([?&](?:key|api_key|apikey|token|sig|signature)=)[^&\s"'\\]{6,}""", r"\1[redacted]"),
    (r"\bAIza[\w\-]{20,}", "[redacted]"),
    (r"""(?<=://)[^/\s:@"'\\]+:[^/\s@"'\\]+(?=@)""", "[redacted]"),
)
_COMPILED = tuple((re.compile(pattern, re.ASCII), mask) for pattern, mask in _PATTERNS)


@lru_cache(maxsize=1_024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _secret_values() -> list[str]:
    # Names first: reading every value costs more than all else here, and this is asked each write.
    stated = (os.environ.get(name, "") for name in os.environ if _is_secret(name))
    found = {value for value in stated if len(value) >= _SHORTEST_SECRET}
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
    for pattern, mask in _COMPILED:
        text = pattern.sub(mask, text)
    return text
