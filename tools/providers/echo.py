"""Models that answer always alike: for wiring, and for judges that misbehave."""

import json
import re
from typing import Any

from evenhand.tools.completions import Completion, Prompt
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider

GARBAGE = '}{ "score": maybe ;; <<1..2>> \N{REPLACEMENT CHARACTER}\nverdict = [[['
REFUSAL = "I'm sorry, but I can't help with that."
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


@provider(form="echo/<text>", in_process=True)
async def echo(settings: ModelSettings) -> OpenModel:
    """Answers the same text always; echo/prompt repeats the question, echo/1.24 scores everything.

    echo/garbage is unreadable, echo/refusal refuses. A number answers with JSON in which every key
    that the schema asks for has this number, within its bounds or not; without a schema the key is
    "score".
    """

    async def complete(prompt: Prompt) -> Completion:
        return Completion(_reply(settings.name, prompt))

    return completion_model("echo", settings, complete, identity={"text": settings.name})


def _reply(name: str, prompt: Prompt) -> str:
    if name == "prompt":
        return prompt.question
    if name == "garbage":
        return GARBAGE
    if name == "refusal":
        return REFUSAL
    if _NUMBER.fullmatch(name):
        return json.dumps(_filled(prompt.schema or {"properties": {"score": {}}}, json.loads(name)))
    return name


def _filled(schema: dict[str, Any], number: float) -> Any:
    """Return an object with the number under every key of the schema, nested objects included."""
    keys = schema.get("properties")
    return {key: _filled(part, number) for key, part in keys.items()} if keys else number
