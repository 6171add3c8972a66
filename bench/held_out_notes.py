"""How often the rule rewriter is exact, wrong or refuses on notes it was not made on.

    python bench/held_out_notes.py third

reads tests/heldout/<set>.{en,fr}.jsonl and prints a line a language, then every note that did not
come out as a careful editor wrote it. A set counts as held out only the first time.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.tools.notes import rewrite_note

FOLDER = Path(__file__).parents[1] / "tests" / "heldout"
OTHER = {"male": "female", "female": "male"}


def outcome(note: dict[str, Any], language: str) -> tuple[str, str]:
    """Return exact, wrong, refused or left out, and the text that came out."""
    before = note["before"]
    made = rewrite_note(
        note["text"], attribute="gender", before=before, after=OTHER[before], language=language
    )
    written = made.status in ("rewritten", "unchanged")
    if note["expected"] is None:
        return ("wrong" if written else "rightly left out"), made.text
    if not written:
        return "refused", made.text
    right = [note["expected"], *note.get("also", [])]
    return ("exact" if made.text in right else "wrong"), made.text


def outcomes(name: str, language: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each note of a set with its outcome and the text that came out."""
    path = FOLDER / f"{name}.{language}.jsonl"
    for line in path.read_text("utf-8").splitlines():
        note = json.loads(line)
        yield note, *outcome(note, language)


def main(name: str) -> None:
    """Print the counts of both languages, and what was not exact."""
    for language in ("en", "fr"):
        found = list(outcomes(name, language))
        print(name, language, dict(Counter(kind for _, kind, _ in found)))
        for note, kind, text in found:
            if kind in ("wrong", "refused"):
                print(
                    f"  {note['id']} {kind}\n    {note['text']}\n    {note['expected']}\n    {text}"
                )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "third")
