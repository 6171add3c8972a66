"""A vLLM server."""

from evenhand.graph_store.errors import UserError
from evenhand.tools.providers import ModelSettings, OpenModel, provider
from evenhand.tools.providers.openai import Server, clean_url, server_model


@provider(
    form="vllm/<model>",
    packages=("aiohttp",),
    check=lambda settings: _check(settings),
    host=lambda settings: _server(settings).host,
)
async def vllm(settings: ModelSettings) -> OpenModel:
    """A model that a vLLM server at base_url serves; its key, if it has one, is VLLM_API_KEY."""
    return await server_model(settings, _server(settings))


def _check(settings: ModelSettings) -> None:
    _server(settings)


def _server(settings: ModelSettings) -> Server:
    if not settings.base_url:
        raise UserError(
            f"Model vllm/{settings.name} has no address; expected that of a running vLLM server, "
            "such as --base-url http://localhost:8000/v1."
        )
    return Server("vllm", clean_url(settings.base_url), settings.name, "VLLM_API_KEY")
