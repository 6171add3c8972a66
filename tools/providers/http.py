"""A server by its address alone."""

from dataclasses import replace

from evenhand.tools.providers import ModelSettings, OpenModel, provider
from evenhand.tools.providers.openai import Client, Server, clean_url, server_model


@provider(
    form="http/<address>[#model]",
    packages=("aiohttp",),
    check=lambda settings: _check(settings),
    host=lambda settings: _server(settings).host,
)
async def http(settings: ModelSettings) -> OpenModel:
    """An OpenAI-compatible server by its address: http/localhost:8080/v1#model.

    Without #model the first model that the server lists is taken; opening asks for that list. The
    key is EVENHAND_HTTP_KEY, if the server needs one: a vendor's key is never sent to an address
    that was merely typed in.
    """
    server = _server(settings)
    if not server.model:
        client = Client(server)
        try:
            listed = await client.models()
        finally:
            await client.close()
        server = replace(server, model=listed[0] if listed else "default")
    return await server_model(settings, server)


def _check(settings: ModelSettings) -> None:
    _server(settings)


def _server(settings: ModelSettings) -> Server:
    address, _, model = settings.name.partition("#")
    return Server("http", clean_url(address), model, "EVENHAND_HTTP_KEY")
