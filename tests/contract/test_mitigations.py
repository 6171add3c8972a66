"""Every way of mending a model: it says what it is, and one more is one more file."""

from pathlib import Path

import pytest

from evenhand.agents import mitigation as folder
from evenhand.agents.mending import MitigationSettings
from evenhand.agents.mitigation import mitigations

A_MITIGATION = '''
from evenhand.agents.mitigation import mitigation


@mitigation(asks_again=False)
async def dropped(work):
    """Do nothing."""
    return {}
'''


@pytest.mark.parametrize("name", mitigations.names())
def test_a_mitigation_says_what_it_is_and_names_a_known_setting(name: str) -> None:
    way = mitigations.get(name)
    assert way.title.endswith(".")
    assert way.played_by is None or way.played_by in MitigationSettings.model_fields


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text(A_MITIGATION)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in mitigations.names()
        assert mitigations.get("dropped").title == "Do nothing."
    finally:
        mitigations.forget("dropped")


def test_help_names_every_way() -> None:
    from click.testing import CliRunner

    from evenhand.ui.commands.mitigate import command

    said = CliRunner().invoke(command, ["--help"]).output
    assert all(name in said for name in mitigations.names())
