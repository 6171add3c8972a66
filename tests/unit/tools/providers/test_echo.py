import asyncio
import json
from typing import Any

import pytest

from evenhand.tools.completions import response_format
from evenhand.tools.providers import ModelSettings, open_model

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "age": {"type": "number", "minimum": 0, "maximum": 1},
        "more": {"type": "object", "properties": {"gender": {"type": "number"}}},
    },
}


def reply(spec: str, schema: dict[str, Any] | None = None) -> str:
    async def work() -> str:
        model = await open_model(spec, ModelSettings())
        text = "An example: <question>no</question>\nNow: <question>Why? </question> Answer."
        options: Any = {"response_format": response_format(schema)} if schema else {}
        message = await model.chat.ainvoke([("system", "s"), ("user", text)], **options)
        return str(message.text)

    return asyncio.run(work())


def test_a_text_and_the_question() -> None:
    assert reply("echo/It is malaria / dengue.") == "It is malaria / dengue."
    assert reply("echo/prompt") == "Why?"


def test_a_number_is_the_value_of_every_key_asked_for() -> None:
    assert json.loads(reply("echo/1.24", SCHEMA)) == {"age": 1.24, "more": {"gender": 1.24}}
    assert reply("echo/1.24") == '{"score": 1.24}'
    assert json.loads(reply("echo/-1", SCHEMA))["age"] == -1


def test_what_only_looks_like_a_number_is_text() -> None:
    assert reply("echo/007") == "007"


def test_garbage_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(reply("echo/garbage", SCHEMA))
