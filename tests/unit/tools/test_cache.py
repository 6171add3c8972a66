from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.cache import AnswerCache, answer_key


def test_what_was_put_is_there_in_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    key = answer_key({"model": "x"}, (("user", "Fièvre?"),), 0)
    with AnswerCache(path) as cache:
        assert cache.get(key) is None
        cache.put(key, {"text": "Fièvre — \u2028 oui", "prompt_tokens": None})
        cache.put(key, {"text": "another"})
    with AnswerCache(path) as cache:
        assert cache.get(key) == {"text": "Fièvre — \u2028 oui", "prompt_tokens": None}
        assert len(cache) == 1


def test_two_writers(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with AnswerCache(path) as first, AnswerCache(path) as second:
        for i in range(50):
            (first if i % 2 else second).put(answer_key(i), {"text": str(i)})
        assert len(first) == len(second) == 50
        assert second.get(answer_key(1)) == {"text": "1"}


def test_a_secret_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "vsecret-0123456789")
    path = tmp_path / "cache.sqlite"
    with AnswerCache(path) as cache:
        cache.put(b"k", {"text": 'say "vsecret-0123456789"', "seconds": 1.5})
        assert cache.get(b"k") == {"text": 'say "[redacted]"', "seconds": 1.5}
    written = b"".join(part.read_bytes() for part in tmp_path.iterdir())
    assert b"vsecret" not in written


def test_another_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_text("my notes, which are long enough to be no header of a database at all\n" * 20)
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"cache\.sqlite.*cannot be used"):
        AnswerCache(path)
    assert path.read_bytes() == before


def test_a_key_depends_on_every_part_and_not_on_the_order_of_keys() -> None:
    assert answer_key({"a": 1, "b": 2}, 0) == answer_key({"b": 2, "a": 1}, 0)
    keys = {answer_key("ab", "c"), answer_key("a", "bc"), answer_key("a", ["bc"]), answer_key("1")}
    assert len(keys | {answer_key(1)}) == 5
