import sqlite3
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.store import check_address, open_store


def test_the_default_lies_in_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "new" / "workspace"
    assert check_address("sqlite", workspace) == workspace / "graph.sqlite"
    assert not workspace.exists(), "a check writes nothing"
    open_store("sqlite", workspace).close()
    assert (workspace / "graph.sqlite").is_file()


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "it's mine.db"
    open_store(f"sqlite:{path}", tmp_path / "unused").close()
    assert path.is_file()
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize(
    "address",
    ["bolt://localhost:7687", "neo4j://h", "neo4j+s://h.example/", "bolt+ssc://[::1]:7687"],
)
def test_a_server_is_named_without_being_asked(address: str, tmp_path: Path) -> None:
    assert check_address(address, tmp_path) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["bolt:", "bolt://", "neo4j://h:port", "neo4j://a b", "bolt:h"])
def test_what_is_no_servers_address(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no server's address; expected 'bolt://HOST:PORT'"):
        check_address(address, tmp_path)


def test_a_password_in_the_address_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="NEO4J_USERNAME and NEO4J_PASSWORD") as refused:
        check_address("bolt://ann:s3cret@h", tmp_path)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("address", ["", "sqlite:", "sqlite://x", "postgres://h", "graph.sqlite"])
def test_other_addresses_are_unknown(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is unknown; expected 'sqlite'"):
        open_store(address, tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be opened"):
        open_store(f"sqlite:{tmp_path / 'absent' / 'graph.sqlite'}", tmp_path)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Shopping list: " * 200)
    with pytest.raises(UserError, match="cannot be opened"):
        open_store(f"sqlite:{path}", tmp_path)
    assert path.read_text().startswith("Shopping")


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE answers (key)")
    other.commit()
    with pytest.raises(UserError, match="another program"):
        open_store(f"sqlite:{path}", tmp_path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("answers",)]
    other.close()


def test_a_graph_of_a_newer_version(tmp_path: Path) -> None:
    open_store("sqlite", tmp_path).close()
    newer = sqlite3.connect(tmp_path / "graph.sqlite")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(UserError, match="schema 99; expected 1"):
        open_store("sqlite", tmp_path)
