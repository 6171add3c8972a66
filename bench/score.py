"""Bulk label scoring against the obvious ways: `python bench/score.py KTAS_FILE [--runs 5]`.

Four ways to get a level for each prompt of real visits, both sexes, in the arms of the audit:

- tree: `score_labels` of evenhand, each distinct token computed once
- pipeline: the counterfactual paper's own procedure, the text-generation pipeline of transformers
  with two new tokens, the better of one by one and batches of 16 (the other is timed once)
- padded: batches of 16, padded, logits of the last position

They take turns, the medians are compared. Log-probabilities are compared with one forward pass a
prompt. Then: tokens computed against distinct nodes, share of the measured matmul peak, profile.

`--small` is for CI: a tiny random model and the shipped visits, no numbers worth keeping, but the
same checks. `--memory` scores 10,000 and 100,000 rows with the tiny model and compares peaks.
"""

import argparse
import asyncio
import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.tools.datasets import load_visits
from evenhand.tools.finetune import decisions
from evenhand.tools.notes import rewrite_note
from evenhand.tools.scoring import LogProbs, Work, compare_scores
from evenhand.tools.scoring.forward_scores import ReadyModel, ready_model, score_tokens
from evenhand.tools.scoring.prefix_tree import build_tree
from evenhand.tools.scoring.products import PROFILED
from evenhand.tools.scoring.torch import torch_base
from evenhand.tools.visit_prompts import visit_renderer, visit_template, with_exemplars
from evenhand.training.label_tokens import Encoded, HubTokenizer, encode_prompts, templated
from evenhand.training.language_models import open_language_model
from evenhand.training.mimic_rows import ARMS, MimicArm, MimicRows

BATCH = 16
TOLERANCE = 1e-3
KTAS_WORDS = {
    "1": "resuscitation",
    "2": "emergency",
    "3": "urgent",
    "4": "less urgent",
    "5": "not urgent",
}
OTHER = {"female": "male", "male": "female"}


@dataclass(frozen=True)
class Model:
    """A model with what asks it."""

    model: Any
    hub_tokenizer: Any
    tokenizer: HubTokenizer
    ready: ReadyModel
    token_budget: int = 0


@dataclass(frozen=True)
class Task:
    """Prompts of one setting."""

    name: str
    texts: list[str]
    encoded: Encoded


def both_sexes(samples: Sequence[Any], levels: Sequence[str], language: str) -> list[MimicRows]:
    """Return visits as they are and with the other sex, the note rewritten by rules too.

    A note that the rules refuse is left out of the pair's second side as it is out of an audit.
    """
    kept, notes = [], []
    for sample in samples:
        sex = sample.attributes["gender"]
        note = rewrite_note(
            sample.text, attribute="gender", before=sex, after=OTHER[sex], language=language
        )
        if note.status in ("rewritten", "unchanged"):
            kept.append(sample)
            notes.append(note.text or sample.text)
    rows = decisions(kept, levels).rows
    sexes = tuple(OTHER[str(value)] for value in rows.categories["gender"])
    flipped = replace(rows, texts=tuple(notes), categories={**rows.categories, "gender": sexes})
    return [rows, flipped]


def make_task(
    model: Model,
    name: str,
    dataset: str,
    path: str | None,
    *,
    visits: int,
    arms: Sequence[MimicArm],
    exemplar_tokens: int = 0,
) -> Task:
    """Render the first visits of a seeded draw in some arms."""
    chosen, _ = load_visits(dataset, path, None, 0)
    samples = [s for s in chosen.samples if s.split == "audit"]
    order = np.random.default_rng(0).permutation(len(samples))[: visits + visits // 4]
    mapping = chosen.mapping
    sides = both_sexes([samples[place] for place in order], mapping.levels, mapping.language)
    sides = [side.take(range(min(visits, len(side)))) for side in sides]
    words = KTAS_WORDS if dataset == "ktas" else {}
    template = visit_template(mapping, ("gender",), level_words=words)
    if exemplar_tokens:
        train = [s for s in chosen.samples if s.split == "train"]
        for count in range(1, 40):
            shown = train[:count]
            template = with_exemplars(
                template.model_copy(update={"exemplars": ()}),
                decisions(shown, mapping.levels).rows,
                [str(sample.label) for sample in shown],
            )
            head = visit_renderer(template).render(sides[0].take([0]))
            if len(model.tokenizer.encode(head)[0]) >= exemplar_tokens:
                break
    renderer = visit_renderer(template)
    prompts = [
        prompt
        for arm in arms
        for side in sides
        for prompt in renderer.render(side.shown_in(arm, ("gender",)))
    ]
    cue = renderer.cue
    encoded = encode_prompts(model.tokenizer, prompts, mapping.levels, cue=cue)
    return Task(name, templated(model.tokenizer, prompts, cue=cue), encoded)


def tree(model: Model, task: Task) -> tuple[LogProbs, Work]:
    """Score as evenhand does."""
    found = np.full((len(task.texts), len(task.encoded.labels.ids)), np.nan)
    work = Work()
    for part in score_tokens(
        model.ready,
        task.encoded.prompts,
        task.encoded.labels.ids,
        token_budget=model.token_budget,
    ):
        found[part.places] = part.log_probs
        work += part.work
    return found, work


def padded(model: Model, task: Task) -> LogProbs:
    """Score in padded batches, logits of the last position; labels of one token."""
    import torch

    labels = torch.tensor([ids[0] for ids in task.encoded.labels.ids])
    found = []
    for start in range(0, len(task.texts), BATCH):
        batch = task.encoded.prompts[start : start + BATCH]
        width = max(map(len, batch))
        ids = torch.zeros((len(batch), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(batch):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            mask[row, width - len(prompt) :] = 1
        places = (mask.cumsum(1) - 1).clamp(min=0)
        with torch.inference_mode():
            logits = model.model(
                input_ids=ids, attention_mask=mask, position_ids=places, logits_to_keep=1
            ).logits[:, -1]
        found.append(torch.log_softmax(logits.float(), -1)[:, labels].numpy())
    return np.concatenate(found).astype(np.float64)


def alone(model: Model, task: Task, places: Sequence[int]) -> LogProbs:
    """Score with one plain forward pass a prompt, the reference."""
    import torch

    labels = torch.tensor([ids[0] for ids in task.encoded.labels.ids])
    rows = []
    for place in places:
        with torch.inference_mode():
            ids = torch.tensor([task.encoded.prompts[place]])
            logits = model.model(input_ids=ids, logits_to_keep=1).logits[0, -1]
        rows.append(torch.log_softmax(logits.double(), -1)[labels].numpy())
    return np.array(rows)


def pipeline(model: Model, task: Task, batch: int) -> list[str]:
    """Generate two tokens a prompt as the paper does."""
    from transformers import pipeline as hub_pipeline

    tokenizer = model.hub_tokenizer
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    generate = hub_pipeline("text-generation", model=model.model, tokenizer=tokenizer)
    made = generate(
        task.texts,
        batch_size=batch,
        max_new_tokens=2,
        do_sample=False,
        return_full_text=False,
        add_special_tokens=False,
    )
    return [one[0]["generated_text"] for one in made]


def compare(model: Model, task: Task, runs: int, with_pipeline: bool) -> None:
    """Let the ways take turns and print their medians and ratios."""
    lengths = [len(ids) for ids in task.encoded.prompts]
    ways: dict[str, Callable[[], object]] = {
        "tree": lambda: tree(model, task),
        "padded": lambda: padded(model, task),
    }
    if with_pipeline:
        alone_way, batch_way = "pipeline, one by one", f"pipeline, batches of {BATCH}"
        ways[alone_way] = lambda: pipeline(model, task, 1)
        ways[batch_way] = lambda: pipeline(model, task, BATCH)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(runs):
        if number == 1 and with_pipeline:
            # The better of the two goes on, the other has been timed once.
            del ways[max((alone_way, batch_way), key=lambda name: seconds[name][0])]
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    print(
        f"\n{task.name}: {len(task.texts)} prompts of {statistics.mean(lengths):.0f} tokens "
        f"(most {max(lengths)}), {runs} runs in turn, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    for name, median in medians.items():
        print(
            f"    {name:24} {median:8.2f} s (from {min(seconds[name]):.2f} to "
            f"{max(seconds[name]):.2f}), {1000 * median / len(task.texts):6.1f} ms a prompt, "
            f"{median / medians['tree']:5.2f} times tree, {len(seconds[name])} runs"
        )
    paper = [median for name, median in medians.items() if name.startswith("pipeline")]
    if paper:
        print(f"    as fast as the paper's procedure: {min(paper) / medians['tree']:.2f} times")
    print(f"    as fast as padded batches:        {medians['padded'] / medians['tree']:.2f} times")


def check(model: Model, task: Task, most: int) -> None:
    """Print and require what does not depend on the machine.

    Raises:
        SystemExit: A bound of the issue does not hold.
    """
    found, work = tree(model, task)
    nodes = len(build_tree(task.encoded.prompts))
    places = np.linspace(0, len(task.texts) - 1, min(most, len(task.texts))).astype(int).tolist()
    same = compare_scores(found[places], alone(model, task, places))
    batches = compare_scores(found, padded(model, task))
    print(
        f"    tokens: {work.prompt_tokens} in prompts, {nodes} distinct, {work.computed_tokens} "
        f"computed ({work.computed_tokens / nodes:.4f} of distinct)"
    )
    for name, agreement in (("one forward pass a prompt", same), ("padded batches", batches)):
        print(
            f"    against {name}: {len(agreement.same)} prompts, log-probabilities within "
            f"{agreement.difference.max():.1e}, other argmax {int((~agreement.same).sum())}, of "
            f"them no near tie {int(agreement.flipped.sum())}"
        )
        if agreement.difference.max() > TOLERANCE or agreement.flipped.any():
            raise SystemExit(f"{task.name}: scores differ from {name}")
    if work.computed_tokens > 1.05 * nodes or np.isnan(found).any():
        raise SystemExit(f"{task.name}: tokens computed twice, or prompts unscored")


def matmul_peak() -> float:
    """Return the best rate of a large matrix product, in floating-point operations a second."""
    import torch

    left, right = torch.randn(2048, 2048), torch.randn(2048, 2048)
    best = float("inf")
    for _ in range(12):
        began = time.perf_counter()
        torch.mm(left, right)
        best = min(best, time.perf_counter() - began)
    return 2 * 2048**3 / best


def profile(model: Model, task: Task) -> None:
    """Print the share of the matmul peak, and where the rest of the time goes."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as torch_profile

    peak = matmul_peak()
    began = time.perf_counter()
    _, work = tree(model, task)
    seconds = time.perf_counter() - began
    layers = [part for name, part in model.model.named_parameters() if "layers." in name]
    products = 2 * sum(part.numel() for part in layers if part.dim() == 2) * work.computed_tokens
    head = model.model.get_output_embeddings().weight.numel()
    products += 2 * head * len(set(task.encoded.prompts))
    print(
        f"    matmul peak {peak / 1e9:.0f} GFLOP/s; scoring {products / seconds / 1e9:.0f} GFLOP/s "
        f"in products of weights, {products / seconds / peak:.1%} of it"
    )
    with torch_profile(activities=[ProfilerActivity.CPU]) as made:
        tree(model, task)
    events = made.key_averages()
    whole = sum(event.self_cpu_time_total for event in events)
    shares: dict[str, float] = {}
    for event in events:
        shares[_group(event.key)] = shares.get(_group(event.key), 0) + event.self_cpu_time_total
    parts = ", ".join(
        f"{name} {share / whole:.0%}"
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
    )
    print(f"    profile: {parts}; outside torch {max(0.0, 1 - whole / 1e6 / seconds):.0%} at most")


def _group(name: str) -> str:
    if name in ("aten::mm", "aten::addmm", "aten::addmm_", PROFILED):
        return "products of weights"
    if "attention" in name:
        return "attention"
    return "everything else"


def tiny_model(folder: Path) -> None:
    """Save a random model of two layers with a byte tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = {piece: place for place, piece in enumerate(["<end>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(tokens, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)  # noqa: S106
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        initializer_range=0.3,
        eos_token_id=0,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def open_model(name: str) -> Model:
    """Load a model in float32 on the CPU."""
    opened = open_language_model(torch_base(name))
    return Model(opened.model, opened.hub_tokenizer, opened.tokenizer, ready_model(opened.model))


def memory() -> None:
    """Score 10,000 and 100,000 rows in a process each; print peaks and what is kept.

    Raises:
        SystemExit: The larger one took more than a tenth more.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tiny_model(folder / "tiny")
        peaks = {}
        for rows in (10_000, 100_000):
            file = folder / f"{rows}.csv"
            with file.open("w") as stream:
                stream.write("prompt\n")
                stream.writelines(f"Row {row % 997} {row}. Level:\n" for row in range(rows))
            command = [sys.executable, __file__, "--memory-of", str(file)]
            began = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
            peaks[rows] = float(done.stdout.split()[-1])
            print(
                f"    {rows:7} rows: peak {peaks[rows]:.0f} MB, "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
    growth = peaks[100_000] / peaks[10_000]
    print(f"    100,000 rows take {growth:.3f} times the memory of 10,000")
    if growth > 1.1:
        raise SystemExit("memory grows with the rows")


def memory_of(file: Path) -> None:
    """Score a file with the tiny model beside it and print this process's peak in MB."""
    from evenhand.tools.bulk_scores import prompt_column, score_file
    from evenhand.tools.scoring import ScorerSettings, open_scorer

    async def score() -> None:
        scorer = await open_scorer(
            f"torch/{file.parent / 'tiny'}", ScorerSettings(token_budget=512)
        )
        await score_file(prompt_column(file, ["1", "2", "3"]), scorer, file.with_suffix(""))

    asyncio.run(score())
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Run what is asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("ktas", nargs="?", help="data.csv of KTAS")
    parser.add_argument("--model", default="local")
    parser.add_argument("--visits", type=int, default=80)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-pipeline", action="store_true", help="leave the slow baseline out")
    parser.add_argument("--token-budget", type=int, default=0, help="of one pass of the tree")
    parser.add_argument("--only", default="", help="settings whose name holds this")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(2)
    if given.memory_of:
        memory_of(given.memory_of)
    elif given.memory:
        memory()
    elif given.small:
        small()
    else:
        whole(given)


def small() -> None:
    """Every check on a tiny model and shipped visits."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        tiny_model(Path("tiny"))
        model = open_model("tiny")
        task = make_task(model, "demo_visits, three arms", "demo_visits", None, visits=4, arms=ARMS)
        compare(model, task, 1, with_pipeline=True)
        check(model, task, 12)
        profile(model, task)


def whole(given: argparse.Namespace) -> None:
    """The issue's table."""
    import torch
    import transformers

    model = replace(open_model(given.model), token_budget=given.token_budget)
    print(
        f"{given.model}: {model.ready.method}; torch {torch.__version__}, transformers "
        f"{transformers.__version__}, {torch.get_num_threads()} threads"
    )
    settings: list[tuple[str, str, str | None, int, Sequence[MimicArm], int]] = [
        ("demo_visits, three arms", "demo_visits", None, given.visits, ARMS, 0)
    ]
    if given.ktas:
        settings = [
            ("KTAS, three arms", "ktas", given.ktas, given.visits, ARMS, 0),
            ("KTAS, full arm", "ktas", given.ktas, given.visits, ("full",), 0),
            *settings,
            ("KTAS, few-shot", "ktas", given.ktas, max(2, given.visits // 8), ARMS, 1500),
        ]
    settings = [each for each in settings if given.only in each[0]]
    for name, dataset, path, visits, arms, shots in settings:
        task = make_task(
            model, name, dataset, path, visits=visits, arms=arms, exemplar_tokens=shots
        )
        compare(model, task, given.runs, not given.no_pipeline)
        check(model, task, 60 if not shots else 12)
        profile(model, task)


if __name__ == "__main__":
    main()
