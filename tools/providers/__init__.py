"""What a provider is: where models of one kind come from, by the name before the slash.

One provider is one file beside this one, an async function with the decorator `@provider`; its name
is the provider's. It gets the settings, with `name` as what follows the slash, and returns an
OpenModel. Provider modules import their packages inside functions: listing names must stay cheap.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.graph_store.registry import Registry
from evenhand.tools.completions import Complete, chat_model, nothing
from evenhand.tools.model_names import check_installed, find_kind

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel


@dataclass(frozen=True)
class ModelSettings:
    """How a role's model is opened; calls may override temperature, max_tokens and seed.

    The defaults of temperature and max_tokens are the target's in paper 1, section 4.1.
    """

    name: str = ""
    """What follows the slash of 'provider/name'; `open_model` fills it in."""
    temperature: float = 0.5
    max_tokens: int = 400
    seed: int | None = None
    base_url: str | None = None
    """Address of an OpenAI-compatible server."""
    path: str | None = None
    """A GGUF file for `local`, a recording for `replay`, an adapter's folder for `torch`."""
    slots: int = 0
    """Calls in flight at most; 0: what the provider thinks best."""


@dataclass(frozen=True)
class OpenModel:
    """A model that can be called. Close it when the work is done."""

    spec: str
    """'provider/name', as it stands in answers and reports."""
    chat: "BaseChatModel"
    identity: dict[str, str]
    """What really answers (file, SHA-256, address without secrets): manifest and cache key."""
    host: str | None
    """Where prompts are sent; None: nothing leaves this machine."""
    max_in_flight: int
    close: Callable[[], Awaitable[None]]
    probe: Callable[[], Awaitable[None]] = nothing
    """Raises a UserError if the model cannot be reached; costs no call."""


Open = Callable[[ModelSettings], Awaitable[OpenModel]]


def _no_check(settings: ModelSettings) -> None:
    """Accept everything."""


def _nowhere(settings: ModelSettings) -> str | None:
    """Nothing leaves this machine."""
    return None


@dataclass(frozen=True)
class Provider:
    """A provider and what must be known before anything is opened."""

    name: str
    open: Open
    form: str
    """How its models are written: "openai/<model>"."""
    packages: tuple[str, ...]
    check: Callable[[ModelSettings], None]
    host: Callable[[ModelSettings], str | None]
    in_process: bool

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.open.__doc__ or self.name).strip().splitlines()[0]


providers: Registry[Provider] = Registry("model provider", __name__)


def provider(
    *,
    form: str,
    packages: tuple[str, ...] = (),
    check: Callable[[ModelSettings], None] = _no_check,
    host: Callable[[ModelSettings], str | None] = _nowhere,
    in_process: bool = False,
) -> Callable[[Open], Open]:
    """Register an async function as a provider under its own name.

    Args:
        form: How its models are written; "[...]" marks what may be left out.
        packages: Import names of what must be installed.
        check: Raises a UserError for settings that cannot work, without a call or a connection.
        host: The outbound host that the settings lead to, or None if nothing leaves the machine.
        in_process: True if the model runs in this process and so costs nothing.
    """

    def register(function: Open) -> Open:
        name = function.__name__
        providers.add(name, Provider(name, function, form, packages, check, host, in_process))
        return function

    return register


def find_provider(spec: str) -> tuple[Provider, str]:
    """Return the provider of 'provider/name' and the name, which may be empty.

    Raises:
        UserError: No such provider, or no name where one is needed.
    """
    return find_kind(providers, spec, also=("rules",))


def check_model(spec: str, settings: ModelSettings) -> None:
    """Check at plan time, without a call, that a model can be opened.

    Raises:
        UserError: Unknown name, package not installed, file missing, key not set.
    """
    found, name = find_provider(spec)
    check_installed(spec, found.packages)
    found.check(replace(settings, name=name))


def model_host(spec: str, settings: ModelSettings) -> str | None:
    """Return the outbound host of a model at plan time; None: nothing leaves the machine.

    Raises:
        UserError: Unknown name.
    """
    found, name = find_provider(spec)
    return found.host(replace(settings, name=name))


async def open_model(spec: str, settings: ModelSettings) -> OpenModel:
    """Open a model by 'provider/name' (or "local").

    Raises:
        UserError: As in `check_model`.
    """
    check_model(spec, settings)
    found, name = find_provider(spec)
    return await found.open(replace(settings, name=name))


def completion_model(
    kind: str,
    settings: ModelSettings,
    complete: Complete,
    *,
    identity: dict[str, str],
    host: str | None = None,
    max_in_flight: int = 16,
    close: Callable[[], Awaitable[None]] = nothing,
    probe: Callable[[], Awaitable[None]] = nothing,
) -> OpenModel:
    """Return an OpenModel of the provider `kind` around a completion function."""
    spec = f"{kind}/{settings.name}" if settings.name else kind
    chat = chat_model(
        complete,
        name=spec,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
    )
    in_flight = settings.slots or max_in_flight
    return OpenModel(spec, chat, {"provider": kind, **identity}, host, in_flight, close, probe)
