"""Talks on disk, and the HTML they become."""

from pathlib import Path

import pytest

from evenhand.agents.draft import Draft
from evenhand.agents.jobs import RunState, StageProgress
from evenhand.ui.glossary import glossary
from evenhand.ui.screens import chat_html
from evenhand.ui.talks import Said, Talk, Talks

EVIL = "<img src=x onerror=alert(1)> ${alert(2)} {{alert(3)}} & ![p](http://pictures.example/x)"


def test_a_talk_comes_back_as_it_was(tmp_path: Path) -> None:
    talks = Talks(tmp_path)
    talk = Talk(draft=Draft(target="local", n=6), ready=True, run="r").add("person", EVIL)
    talks.save("abcdef0123456789", talk)
    assert Talks(tmp_path).load("abcdef0123456789") == talk
    assert talks.load("0000000000000000") == Talk()


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "ABCDEFGH", "a" * 33, "short"])
def test_an_id_that_is_none_is_neither_read_nor_written(tmp_path: Path, key: str) -> None:
    talks = Talks(tmp_path / "in")
    talks.save(key, Talk(run="r"))
    assert talks.load(key) == Talk()
    assert not list(tmp_path.iterdir())


def test_a_talk_of_another_version_is_said_to_be_unreadable(tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "abcdefgh.json").write_text('{"turns": 3}')
    assert "another version" in Talks(tmp_path).load("abcdefgh").turns[0].text


def test_no_secret_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    Talks(tmp_path).save("abcdefgh", Talk().add("person", "my key is very-secret-value"))
    assert "very-secret-value" not in (tmp_path / "talks" / "abcdefgh.json").read_text()


def test_what_anybody_writes_stays_text() -> None:
    page = chat_html.turns([Said(who="person", text=EVIL), Said(who="error", text=EVIL)])
    page += chat_html.problem(EVIL)
    page += chat_html.strip(RunState("failed", message=EVIL), stopping=False)
    page += chat_html.strip(
        RunState("running", (StageProgress(EVIL, 1, 2),), warnings=(EVIL,)), stopping=False
    )
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_strip_says_stage_done_rate_time_left_and_trouble() -> None:
    stage = StageProgress(
        "answer", done=84, total=160, counts={"refused": 2}, first_done=0, first_at=0, last_at=60
    )
    shown = chat_html.strip(RunState("running", (stage,)), stopping=False)
    for part in ("Running", "ask the target", "84 of 160", "84 a minute", "refused 2", "errors 0"):
        assert part in shown
    assert "width:52%" in shown
    assert "under 1 min left" in shown
    assert "in flight" in chat_html.strip(RunState("running", (stage,)), stopping=True)


def test_every_term_of_the_plan_is_in_the_glossary() -> None:
    from evenhand.agents.estimate import check_plan, estimate
    from evenhand.agents.plan import Plan, RoleModel
    from evenhand.ui.words import plan_facts

    plan = check_plan(Plan(n=2, roles={"target": RoleModel(model="planted/fair")}))
    facts = plan_facts(plan, estimate(plan))
    assert {fact.term for fact in facts if fact.term} <= set(glossary())
    said = {(fact.label, fact.value) for fact in facts}
    assert ("Text is sent to", "this machine only") in said
    assert ("Knowledge graph", "sqlite in the workspace") in said
    assert all(sentence.endswith(".") for sentence in glossary().values())
