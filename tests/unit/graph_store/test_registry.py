import importlib.metadata
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.registry import Registry, unknown_name

DECLARES = """
from evenhand.graph_store.registry import Registry
colours: Registry[int] = Registry("colour", __name__)
"""
RED = "from {package} import colours\ncolours.add('red', 1)\n"
BROKEN = "import no_such_module_anywhere\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package with a registry and one thing in it, in a folder of its own."""
    name = "colours_for_tests"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(DECLARES)
    (folder / "red.py").write_text(RED.format(package=name))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [])
    yield name
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]


def registry(package: str) -> Registry[int]:
    colours = importlib.import_module(package).colours
    assert isinstance(colours, Registry)
    return colours


def test_nothing_is_imported_before_it_is_asked(package: str) -> None:
    colours = registry(package)
    assert f"{package}.red" not in sys.modules
    assert colours.names() == ["red"]
    assert colours.get("red") == 1


def test_a_file_dropped_into_the_folder_is_found(package: str, tmp_path: Path) -> None:
    colours = registry(package)
    assert colours.names() == ["red"]
    (tmp_path / package / "blue.py").write_text(RED.format(package=package).replace("red", "blue"))
    importlib.invalidate_caches()
    assert colours.names() == ["blue", "red"]
    colours.forget("blue")
    colours.forget("never there")
    assert colours.names() == ["red"]


def test_an_unknown_name_lists_the_valid_ones_nearest_first(package: str) -> None:
    colours = registry(package)
    colours.add("azure", 2)
    with pytest.raises(UserError, match=r"^Unknown colour 'rad'; expected one of: red, azure\.$"):
        colours.get("rad")
    assert unknown_name("colour", "x", []) == "Unknown colour 'x'; expected one of: (none)."


def test_a_later_thing_takes_the_place_of_an_earlier_one(package: str) -> None:
    colours = registry(package)
    colours.add("red", 7)
    assert colours.get("red") in (1, 7)
    colours.add("red", 7)
    assert colours.get("red") == 7


@dataclass
class Plugin:
    """Stands for an entry point; only the two members that the registry uses."""

    name: str
    colours: Registry[int] | None

    def load(self) -> None:
        if self.colours is None:
            raise ImportError("no such package")
        self.colours.add(self.name, 3)


def test_a_plugin_that_fails_is_a_warning_and_the_rest_works(
    package: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    colours = registry(package)
    plugins = [Plugin("broken", None), Plugin("green", colours)]
    asked: list[str] = []

    def entry_points(group: str) -> list[Plugin]:
        asked.append(group)
        return plugins

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    with caplog.at_level(logging.WARNING):
        assert colours.names() == ["green", "red"]
        assert colours.names() == ["green", "red"]
    assert asked == ["evenhand"], "once"
    assert caplog.text.count("plugin broken could not be loaded: no such package") == 1


def test_a_broken_file_of_the_folder_is_an_error_each_time(package: str, tmp_path: Path) -> None:
    """Our own file is no plugin: it must not vanish from the list without a word."""
    (tmp_path / package / "broken.py").write_text(BROKEN)
    colours = registry(package)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
            colours.names()
