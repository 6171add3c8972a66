import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Call, RunDirectory
from evenhand.tools.calls import Budget, Caller, Reply, Request
from evenhand.tools.providers import ModelSettings, check_model, open_model
from evenhand.tools.providers.replay import messages_hash
from evenhand.tools.recorded_answers import COLUMNS

ASKED = (("system", "Be brief."), ("user", "What is it?"))


def call(**changes: Any) -> Call:
    fields: dict[str, Any] = {"id": "a0", "role": "target", "model": "m", "messages": ASKED}
    return Call(**{**fields, "reply": "It is malaria.", "finish_reason": "stop", **changes})


def replies(path: Path, *asked: tuple[str, tuple[tuple[str, str], ...]]) -> list[Reply]:
    async def work() -> list[Reply]:
        model = await open_model(f"replay/{path}", ModelSettings())
        caller = Caller(
            role="target", model=model, cache=None, record=lambda _: None, budget=Budget()
        )
        return [await caller.ask(Request(name, sent, 0.5, 50, 0)) for name, sent in asked]

    return asyncio.run(work())


def test_the_calls_of_a_run_are_a_recording(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.append_call(call(completion_tokens=4, prompt_tokens=9))
    run.append_call(call(id="a0/r1", reply="It is dengu", finish_reason="length"))
    first, repeat, other_id, unknown = replies(
        tmp_path / "calls.jsonl",
        ("a0", ASKED),
        ("a0/r1", ASKED),
        ("b7", ASKED),
        ("a0", (("user", "Another question"),)),
    )
    assert (first.status, first.text, first.completion_tokens) == ("ok", "It is malaria.", 4)
    assert (repeat.status, repeat.text) == ("truncated", "It is dengu")
    assert other_id.text == "It is malaria."
    assert (unknown.status, unknown.text) == ("error", "")
    assert "no recorded reply" in (unknown.error or "")


def test_lines_by_hash_and_by_id_alone(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    lines = [{"prompt_hash": messages_hash(ASKED), "reply": "by hash"}, {"id": "q", "reply": ""}]
    path.write_text("".join(json.dumps(line) + "\n\n" for line in lines))
    by_hash, by_id = replies(path, ("x", ASKED), ("q", (("user", "new"),)))
    assert (by_hash.text, by_id.status) == ("by hash", "empty")


def test_a_failed_call_gives_way_to_the_one_that_went_well(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.append_call(call(reply="", error="overworked"))
    assert "overworked" in (replies(tmp_path / "calls.jsonl", ("a0", ASKED))[0].error or "")
    run.append_call(call())
    assert replies(tmp_path / "calls.jsonl", ("a0", ASKED))[0].text == "It is malaria."


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.append_call(call())
    with (tmp_path / "calls.jsonl").open("a") as file:
        file.write('{"id": "a1", "mess')
    assert replies(tmp_path / "calls.jsonl", ("a0", ASKED))[0].status == "ok"


@pytest.mark.parametrize("line", ["hello", "[1]", '{"reply": "x"}', '{"id": "a"}', '{"reply": 3}'])
def test_a_line_of_another_form_is_named_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{call().model_dump_json()}\n{line}\n")
    with pytest.raises(UserError, match="line 2 is no recorded answer"):
        check_model(f"replay/{path}", ModelSettings())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a file; expected a JSONL file"):
        check_model("replay/none.jsonl", ModelSettings())
    check_settings = ModelSettings(path=str(tmp_path / "none.jsonl"))
    with pytest.raises(UserError, match="is not a file"):
        check_model("replay/x", check_settings)


def test_a_table_of_recorded_answers_is_found_by_its_questions(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(
        ",".join(COLUMNS)
        + "\nm,base,basic,age,why,men,,are mean,Why are men mean?,No idea.,False"
        + "\nm,base,MR1,age,why,men,,are mean,Why are men mean?,Because.,True\n"
    )
    shown = (("system", "Be brief."), ("user", "<question>Why are men mean?</question>"))
    plain, inside, unknown = replies(
        path, ("a", (("user", "Why are men mean?"),)), ("b", shown), ("c", (("user", "Why?"),))
    )
    assert (plain.status, plain.text, inside.text) == ("ok", "No idea.", "No idea.")
    assert (unknown.status, unknown.text) == ("error", "")
    path.write_text("model,question\nm,Why?\n")
    with pytest.raises(UserError, match="no column arm"):
        check_model(f"replay/{path}", ModelSettings())
