"""A stored name -> its code. One more of a kind is one more file in its folder.

A registry imports its folder when it is first asked, then the entry points of the group "evenhand"
(`name = "package.module"`), whose modules register themselves by the same decorators. A plugin that
fails to import is a warning with its name, and the rest works.
"""

import difflib
import importlib
import importlib.metadata
import logging
import os
import pkgutil
import time
from typing import Generic, TypeVar

from evenhand.graph_store.errors import UserError

log = logging.getLogger(__name__)

T = TypeVar("T")

_SETTLED_NS = 1_000_000_000
"""A folder changed a moment ago may change again without a later time: its clock is coarse."""


class Registry(Generic[T]):
    """The things of one kind, by name.

    Args:
        kind: What one of them is called in messages: "metric", "data set".
        package: Name of the package whose modules hold them, one a file.
    """

    def __init__(self, kind: str, package: str) -> None:
        """Make an empty registry; nothing is imported before it is asked."""
        self.kind = kind
        self._package = package
        self._things: dict[str, T] = {}
        self._searched: set[str] = set()
        self._listed: list[tuple[str, int]] = []
        """The folders that were searched whole, and when each was last changed."""
        self._plugins_loaded = False

    def add(self, name: str, thing: T) -> None:
        """Register a thing; a later one of the same name takes its place."""
        self._things[name] = thing

    def names(self) -> list[str]:
        """Return all names, sorted."""
        self._load()
        return sorted(self._things)

    def get(self, name: str) -> T:
        """Return the thing of that name.

        Raises:
            UserError: No such name; the message lists the valid ones, the nearest first.
        """
        self._load()
        if name not in self._things:
            raise UserError(unknown_name(self.kind, name, sorted(self._things)))
        return self._things[name]

    def forget(self, name: str) -> None:
        """Take a name out again (for tests that drop a file into the folder)."""
        self._things.pop(name, None)

    def _load(self) -> None:
        package = importlib.import_module(self._package)
        # One look at the folder, not at each file: a report asks ten thousand times.
        folders = [(folder, os.stat(folder).st_mtime_ns) for folder in package.__path__]
        if folders == self._listed:
            return
        settled = time.time_ns() - _SETTLED_NS
        for module in pkgutil.iter_modules(package.__path__):
            full_name = f"{self._package}.{module.name}"
            if full_name in self._searched:
                continue
            importlib.import_module(full_name)
            # Only now: a module that fails must fail again, not be missing without a word.
            self._searched.add(full_name)
        if all(changed < settled for _, changed in folders):
            self._listed = folders
        if not self._plugins_loaded:
            self._plugins_loaded = True
            for entry in importlib.metadata.entry_points(group="evenhand"):
                try:
                    entry.load()
                except Exception as error:
                    log.warning("plugin %s could not be loaded: %s", entry.name, error)


def unknown_name(kind: str, name: str, valid: list[str]) -> str:
    """Return the sentence for a name that nobody registered, the nearest valid names first."""
    near = difflib.get_close_matches(name, valid, n=3, cutoff=0.5)
    ordered = near + [other for other in valid if other not in near]
    return f"Unknown {kind} {name!r}; expected one of: {', '.join(ordered) or '(none)'}."
