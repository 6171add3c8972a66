"""Counterfactual notes: one attribute of the patient rewritten, and a gate that checks it by diff.

`rewrite_note` is exact or says that it cannot; `check_note` is independent of it and of any model.
Words lie in tables beside the modules: english.csv, french.csv, content.csv, life_stages.csv,
values.csv.
"""

from evenhand.tools.notes.edits import Edit, RewrittenNote
from evenhand.tools.notes.rewriting import rewrite_note

__all__ = ["Edit", "RewrittenNote", "rewrite_note"]
