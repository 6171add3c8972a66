"""What a model is asked and what it gives back, and a completion function as a LangChain model.

A provider of our own is one async function, Prompt -> Completion; `chat_model` makes it the
`BaseChatModel` that agents call, so that callbacks and tracing work as with any other model.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Messages = tuple[tuple[str, str], ...]
"""(role, text) pairs; the role is "system", "user" or "assistant"."""

_ROLES = {"human": "user", "ai": "assistant"}
_QUESTION = re.compile(r"<question>(.*?)</question>", re.DOTALL)


@dataclass(frozen=True)
class Prompt:
    """One request to a model, with nothing left to be looked up."""

    messages: Messages
    temperature: float
    max_tokens: int
    seed: int | None = None
    schema: dict[str, Any] | None = None
    """JSON schema that the reply must follow, or None for free text."""
    id: str | None = None
    """The record that is asked for; a server may use it to see a repeated request."""

    @property
    def question(self) -> str:
        """What stands between the last <question> and </question> of the user's last message.

        The whole message where there are no such marks, and "" where no user speaks.
        """
        text = next((text for role, text in reversed(self.messages) if role == "user"), "")
        marked = _QUESTION.findall(text)
        return (marked[-1] if marked else text).strip()


@dataclass(frozen=True)
class Completion:
    """A reply as it came; None where the server does not say."""

    text: str
    finish_reason: str | None = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


FailureKind = Literal["refused", "fault", "unreachable", "permanent"]


class CallFailed(Exception):
    """A call that gave no reply, and whether it is worth another try.

    Attributes:
        kind: "refused": too many requests for now, all callers should slow down; "fault": this
            call went wrong and may go well next time; "unreachable": nobody answers at the
            address; "permanent": the same call will fail again.
        retry_after: Seconds that the server asks to wait, or None.
    """

    def __init__(
        self, message: str, kind: FailureKind = "permanent", *, retry_after: float | None = None
    ) -> None:
        """Keep the sentence for the reader, the kind and the wait."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


Complete = Callable[[Prompt], Awaitable[Completion]]


def chat_model(
    complete: Complete, *, name: str, temperature: float, max_tokens: int, seed: int | None
) -> "BaseChatModel":
    """Return a completion function as a LangChain chat model.

    A call may override `temperature`, `max_tokens`, `seed` and `response_format` (OpenAI's form of
    a JSON schema) as keyword arguments; `request_id` is read from the metadata of its config. The
    reply has `response_metadata["finish_reason"]` and, where tokens are known, `usage_metadata`.
    """
    return _chat_class()(
        complete=complete,
        model_name=name,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
    )


@cache
def _chat_class() -> "Callable[..., BaseChatModel]":
    # LangChain costs half a second to import, and only an audit needs it.
    from langchain_core.callbacks import (
        AsyncCallbackManagerForLLMRun,
        CallbackManagerForLLMRun,
    )
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.outputs import ChatGeneration, ChatResult
    from pydantic import ConfigDict

    class CompletionChat(BaseChatModel):
        """One async function as a chat model."""

        model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

        complete: Complete
        model_name: str
        temperature: float
        max_tokens: int
        seed: int | None

        @property
        def _llm_type(self) -> str:
            return "evenhand"

        def _generate(
            self,
            messages: "list[BaseMessage]",
            stop: list[str] | None = None,
            run_manager: CallbackManagerForLLMRun | None = None,
            **kwargs: Any,
        ) -> ChatResult:
            # A session belongs to the event loop in which the model was opened.
            raise NotImplementedError("this chat model is async: await ainvoke(...)")

        async def _agenerate(
            self,
            messages: "list[BaseMessage]",
            stop: list[str] | None = None,
            run_manager: AsyncCallbackManagerForLLMRun | None = None,
            **kwargs: Any,
        ) -> ChatResult:
            metadata = run_manager.metadata if run_manager else {}
            prompt = Prompt(
                messages=_plain(messages),
                temperature=kwargs.get("temperature", self.temperature),
                max_tokens=kwargs.get("max_tokens", self.max_tokens),
                seed=kwargs.get("seed", self.seed),
                schema=schema_of(kwargs.get("response_format")),
                id=metadata.get("request_id"),
            )
            message = _message(await self.complete(prompt))
            return ChatResult(generations=[ChatGeneration(message=message)])

    return CompletionChat


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return OpenAI's `response_format` for a JSON schema.

    `strict` is asked for only where the schema allows it: OpenAI rejects a strict schema with
    optional keys or open objects.
    """
    wanted: dict[str, Any] = {"name": "reply", "schema": schema}
    if schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
        schema.get("properties", ())
    ):
        wanted["strict"] = True
    return {"type": "json_schema", "json_schema": wanted}


def schema_of(wanted: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the JSON schema in a `response_format`, or None where it asks for none."""
    if not wanted or wanted.get("type") != "json_schema":
        return None
    schema: dict[str, Any] = wanted["json_schema"]["schema"]
    return schema


def _plain(messages: "Sequence[BaseMessage]") -> Messages:
    return tuple(
        (_ROLES.get(str(message.type), str(message.type)), str(message.text))
        for message in messages
    )


def _message(completion: Completion) -> "BaseMessage":
    from langchain_core.messages import AIMessage
    from langchain_core.messages.ai import UsageMetadata

    asked, given = completion.prompt_tokens, completion.completion_tokens
    usage = None
    if asked is not None and given is not None:
        usage = UsageMetadata(input_tokens=asked, output_tokens=given, total_tokens=asked + given)
    return AIMessage(
        content=completion.text,
        response_metadata={"finish_reason": completion.finish_reason},
        usage_metadata=usage,
    )


async def nothing() -> None:
    """Do nothing: the close and the probe of a model that needs none."""
    await asyncio.sleep(0)
