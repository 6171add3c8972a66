"""A model with something put before what it is asked: it stays the model that it is, otherwise."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenhand.tools.completions import Completion, Messages, Prompt, chat_model, response_format
from evenhand.tools.providers import OpenModel


def with_messages(
    model: OpenModel, put: Callable[[Messages], Messages], identity: Mapping[str, str]
) -> OpenModel:
    """Return a model whose every prompt is changed before it is sent.

    Args:
        model: Stays open with whoever opened it.
        put: Messages as they are asked -> as they are sent.
        identity: What of the change an answer depends on; joins the model's own.
    """

    async def complete(prompt: Prompt) -> Completion:
        options: dict[str, Any] = {
            "temperature": prompt.temperature,
            "max_tokens": prompt.max_tokens,
            "seed": prompt.seed,
        }
        if prompt.schema is not None:
            options["response_format"] = response_format(prompt.schema)
        reply = await model.chat.ainvoke(
            list(put(prompt.messages)), {"metadata": {"request_id": prompt.id}}, **options
        )
        usage = reply.usage_metadata
        return Completion(
            reply.text,
            reply.response_metadata.get("finish_reason"),
            usage["input_tokens"] if usage else None,
            usage["output_tokens"] if usage else None,
        )

    # What a call leaves open is always stated in the prompt, so these are never used.
    chat = chat_model(complete, name=model.spec, temperature=0.0, max_tokens=1, seed=None)
    return replace(model, chat=chat, identity={**model.identity, **identity})
