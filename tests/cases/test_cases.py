"""The adapter: each operation of a case -> our own entry point. It translates words only.

An operation that is not here raises UnknownOp: a failure, never a skip.
"""

import base64
import contextlib
import csv
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import neo4j
import numpy as np
import pytest
from neo4j.exceptions import Neo4jError

from evenhand.agents.judge import rubric_messages
from evenhand.agents.rubrics import rubrics
from evenhand.graph_store import cypher, neo4j_store
from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.neo4j_connection import GraphUnavailable
from evenhand.graph_store.records import Answer, Sample, Triple, child_id
from evenhand.graph_store.rows import Batch
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.graph_store.schema import relation_type
from evenhand.graph_store.store import GraphStore, open_store
from evenhand.graph_store.sync import batch_of
from evenhand.tools.association import association_scores
from evenhand.tools.code_values import read_codes
from evenhand.tools.column_kinds import summarise_table, typed_cells
from evenhand.tools.entities import canonical_key
from evenhand.tools.facts import extract_facts
from evenhand.tools.hops import answer_triples, parse_triplets
from evenhand.tools.notes import rewrite_note
from evenhand.tools.notes.edits import RewrittenNote
from evenhand.tools.notes.few_shot import extract_rewrite
from evenhand.tools.notes.gate import check_note
from evenhand.tools.notes.lexicon import check_pairs, swap_all
from evenhand.tools.option_questions import (
    OptionRun,
    PolarCounts,
    PolarItem,
    ambiguous_bias,
    chosen_option,
    chosen_texts,
    count_polar,
    disambiguated_bias,
    is_unknown,
    order_changes_answer,
)
from evenhand.tools.pair_files import join_ids
from evenhand.tools.scoring import (
    LabelScores,
    compare_scores,
    likeliest_labels,
    read_generation,
)
from evenhand.tools.scoring.forward_scores import last_places
from evenhand.tools.scoring.label_requests import plan_requests
from evenhand.tools.scoring.tree_scores import asked_tokens, label_log_probs
from evenhand.tools.statistics.bootstrap import (
    bootstrap_difference,
    bootstrap_groups,
    bootstrap_items,
)
from evenhand.tools.statistics.clusters import clustered_proportion
from evenhand.tools.statistics.divergence import js_divergence
from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.statistics.families import benjamini_hochberg, holm
from evenhand.tools.statistics.group_rates import (
    compare_groups,
    equal_opportunity,
    group_rates,
    rate_gap,
    ratio,
)
from evenhand.tools.statistics.odds_ratios import odds_ratio
from evenhand.tools.table_files import read_rows, write_csv
from evenhand.tools.triage.metrics import net_mean_disadvantage
from evenhand.tools.triage.pairs import Direction, pairs_of, urgency
from evenhand.tools.verdicts import (
    Criterion,
    PairRun,
    Verdict,
    aggregate,
    majority,
    pairwise_verdict,
    parse_label,
    parse_score,
    rubric_score,
)
from evenhand.training.fit_quality import fit_quality
from evenhand.training.label_tokens import encode_chat, encode_prompts
from evenhand.training.language_examples import build_example, make_labels, padded_batch
from evenhand.training.language_models import four_bit_here
from evenhand.training.lent import FitProgress, TorchBase
from evenhand.training.lora_targets import resolve_lora_targets
from evenhand.training.lora_training import LoraTraining, TrainedAdapter, train_adapter
from evenhand.training.preflight import leak_check
from evenhand.training.splits import shared_patients, split_by_patient

Given = Mapping[str, Any]
Got = dict[str, Any]
RUN = "kg-demo-0123abcd"
ANSWER_ID = child_id(child_id("demo-0-0123abcd", "v", 0, "base"), "a", 0, "multi_hop")


class UnknownOp(Exception):
    """The adapter has no entry point for this operation."""


def test_case(
    case: dict[str, Any],
    differences: Callable[[Given, Given], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    given = case["input"]
    if given["op"] not in OPS:
        raise UnknownOp(given["op"])
    monkeypatch.chdir(tmp_path)
    for address in STORES.get(given["op"], ("",)):
        if address == "neo4j":
            address = request.getfixturevalue("neo4j_address")
        got = OPS[given["op"]]({**given, "address": address})
        assert not differences(case["expected"], got)


def test_every_expected_failure_names_work_to_come(later: list[dict[str, Any]]) -> None:
    for entry in later:
        assert entry["what"]
        assert not set(entry["ops"]) & set(OPS), "an operation that is here is not to come"


# A: counterfactual notes


_SKIPPED = ("age_inconsistent_content", "explicit_gender_identity")


def _note_status(note: RewrittenNote) -> str:
    """The cases call a note that is left out for what it says "skipped"."""
    if note.status == "sex_specific" or note.reason in _SKIPPED:
        return "skipped"
    if note.status == "unchanged":
        return "already_target" if note.reason == "already_target" else "no_change"
    return note.status


def rewrite(given: Given) -> Got:
    note = rewrite_note(
        given["text"],
        attribute=given["attribute"],
        before=str(given["source_value"]),
        after=str(given["target_value"]),
        language=given.get("lang", "en"),
        surname=given.get("patient_surname"),
        new_name=given.get("new_name"),
    )
    return {
        "status": _note_status(note),
        "text": note.text,
        "reason": note.reason,
        "evidence": note.evidence,
        "flags": note.flags,
        "spans": [list(note.moved(*span)) for span in given.get("spans", [])],
        "counted_as_pair": note.is_pair,
        "counted_as_robust": note.is_pair,
        "data_error": note.reason == "data_error",
        "must_record": "spouse_policy" if note.spouse else "",
    }


def swap_all_(given: Given) -> Got:
    once = swap_all(given["text"])
    same = swap_all(once) == given["text"]
    return {"text": once, "property": "swap_all(swap_all(x)) == x" if same else "not identity"}


def lexicon_validate(given: Given) -> Got:
    problems = check_pairs([(a, b) for a, b in given["pairs"]], given["known_words"])
    return {
        "status": "error" if problems else "ok",
        "problems": [{"pair": list(each.pair), "why": each.why} for each in problems],
        "problems_why": [why for each in problems for why in (each.why, f"{each.why}:{each.word}")],
    }


def extract_rewrite_(given: Given) -> Got:
    text = extract_rewrite(given["original"], given["reply"])
    return {"status": "refused" if text is None else "rewritten", "text": text}


_GATE_WORDS = ("number_changed", "negation_changed", "other_change", "whitespace")


def verify_rewrite(given: Given) -> Got:
    verdict = check_note(
        given["original"],
        given["rewritten"],
        given["attribute"],
        given.get("source_value", "male"),
        given.get("target_value", "female"),
        given.get("lang", "en"),
    )
    other = verdict.reason_code in _GATE_WORDS
    return {
        "status": "accepted" if verdict.accepted else "rejected",
        "reason": "non_target_edit" if other else verdict.reason_code,
        "evidence": verdict.evidence,
    }


# B: replies of judges

_STATUS_WORDS = {"refused": "refusal", "unparsable": "unparsed"}
_REASON_WORDS = ("non_finite", "wrong_type", "duplicate_key")
_OUR_WORDS = {"refusal": "refused", "unparsed": "unparsable"}


def _status(verdict: Verdict) -> str:
    """The cases call some reasons a status, and a whole value of a cut reply "recovered"."""
    if verdict.reason_code in _REASON_WORDS:
        return verdict.reason_code
    if verdict.status == "ok" and "truncated" in verdict.flags:
        return "recovered"
    return _STATUS_WORDS.get(verdict.status, verdict.status)


def parse_judge(given: Given) -> Got:
    if given["kind"] == "label":
        verdict = parse_label(
            given["raw"], labels=given["labels"], finish_reason=given.get("finish_reason")
        )
    else:
        low, high = given["scale"]
        verdict = parse_score(
            given["raw"],
            low=low,
            high=high,
            key=given.get("criterion", "score"),
            finish_reason=given.get("finish_reason"),
        )
    return {
        "status": _status(verdict),
        "value": verdict.value,
        "raw_value": verdict.raw_value,
        "reason": verdict.reason,
        "flags": verdict.flags,
    }


def aggregate_(given: Given) -> Got:
    shares = {k: given[k] for k in ("max_failed_share",) if k in given}
    statuses = [_OUR_WORDS.get(str(word), str(word)) for word in given["statuses"]]
    result = aggregate(given["values"], statuses, statistic=given["stat"], **shares)
    return {
        "value": result.value,
        "n_used": result.n_used,
        "n_failed": result.n_failed,
        "warning": result.warning,
    }


def rubric(given: Given) -> Got:
    result = rubric_score([Criterion(*criterion) for criterion in given["criteria"]])
    return {"value": result.value, "n_na": result.n_na}


def pairwise(given: Given) -> Got:
    first, second = given["runs"][0]["order"]
    orders = {(first, second): (first, second), (second, first): (second, first)}
    verdict = pairwise_verdict(
        [PairRun(orders[tuple(run["order"])], run["pick"]) for run in given["runs"]]
    )
    value = "tie" if verdict.status == "tie" else verdict.value
    return {"value": value, "status": _status(verdict), "flags": verdict.flags}


# C: triplets and graph


def _answer(text: str) -> Answer:
    return Answer(
        id=ANSWER_ID,
        status="ok",
        variant_id=ANSWER_ID.rpartition("/")[0],
        arm="multi_hop",
        model="echo/case",
        prompt_hash="0123abcd",
        text=text,
    )


def parse_triplets_(given: Given) -> Got:
    raw = given["raw"]
    parsed = parse_triplets(raw, split_coordination=given.get("split_coordination", False))
    scores = association_scores(raw, {}, answer_triples(_answer(raw)))
    return {
        "triplets": parsed.triplets,
        "rejected": len(parsed.rejected),
        "reject_reasons": [reason for _, reason in parsed.rejected],
        "status": parsed.status,
        "downstream_metrics": scores["age"],
    }


def extract_triplets(given: Given) -> Got:
    piece, times = given.get("text_repeat", ("", 0))
    result = extract_facts(given.get("text", "") + piece * times + given.get("text_append", ""))
    facts = result.facts
    return {
        "triplets": [[f.subject, f.predicate, f.object] for f in facts if not f.negated],
        "negated": [[f.subject, f.predicate, f.object] for f in facts if f.negated],
        "status": result.status,
        "chars_seen_reported": result.chars_seen > 0,
    }


def node_keys(given: Given) -> Got:
    return {"n_nodes": len({canonical_key(name) for name in given["names"]})}


def _triple(words: Iterable[str], position: int = 0) -> Triple:
    subject, predicate, object_ = words
    return Triple(
        id=child_id(ANSWER_ID, "t", position, subject, predicate, object_),
        source_id=ANSWER_ID,
        subject=subject,
        predicate=predicate,
        object=object_,
        subject_key=canonical_key(subject),
        object_key=canonical_key(object_),
        hop=1,
        origin="target",
    )


def relation_types(given: Given) -> Got:
    with open_store(given["address"], Path()) as store:
        triples = [_triple(("a", raw, "b"), i) for i, raw in enumerate(given["raw"])]
        store.write_batch(batch_of(RUN, triples))
        stored = {row.predicate for row in store.triples_of(ANSWER_ID)}
    return {
        "types": [relation_type(raw) for raw in given["raw"]],
        "raw_kept": stored == set(given["raw"]),
    }


class _Seen:
    """What reaches a database while a store works: statements, and the values apart from them."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.values: list[Any] = []

    @contextlib.contextmanager
    def store(self, address: str) -> Iterator[GraphStore]:
        seen = self

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:
                seen.add(statement, values)
                return super().execute(statement, values)

            def executemany(self, statement: str, rows: Any, /) -> sqlite3.Cursor:
                kept = list(rows)
                seen.add(statement, *kept)
                return super().executemany(statement, kept)

        connect, run = sqlite3.connect, neo4j.ManagedTransaction.run

        def run_and_see(tx: Any, statement: Any, values: Any = None) -> Any:
            seen.add(statement, values)
            return run(tx, statement, values)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                sqlite3, "connect", lambda *a, **named: connect(*a, **named, factory=Connection)
            )
            patch.setattr(neo4j.ManagedTransaction, "run", run_and_see)
            with open_store(address, Path()) as store:
                yield store

    def add(self, statement: str, *values: Any) -> None:
        self.statements.append(statement)
        self.values += values

    def in_statements(self, words: Iterable[str]) -> bool:
        return any(word in statement for word in words for statement in self.statements)

    def in_values(self, words: Iterable[str]) -> bool:
        return all(any(word in repr(values) for values in self.values) for word in words)


def _sample(position: int) -> Sample:
    return Sample(id=f"demo-{position}-0123abcd", dataset="demo", position=position, text="text")


def store_triplet(given: Given) -> Got:
    seen = _Seen()
    subject, predicate, object_ = given["triplet"]
    risky = [word for word in given["triplet"] if not word.isalnum()]
    with seen.store(given["address"]) as store:
        store.write_batch(batch_of(RUN, [_sample(i) for i in range(given["existing_nodes"])]))
        store.write_batch(batch_of(RUN, [_triple((subject, predicate, object_))]))
        row = store.triples_of(ANSWER_ID)[0]
        nodes = store.stats().nodes
        exported = [item["type"] for item in store.export(RUN)["relationships"]]
    return {
        "nodes_after": nodes["Sample"],
        "query_has_user_text": seen.in_statements(risky),
        "uses_parameters": seen.in_values([repr(word)[1:-1] for word in risky]),
        "relation_type": next(name for name in exported if name != "MENTIONS"),
        "raw_relation_kept_as_property": row.predicate == predicate,
        "subject_stored_verbatim": row.subject == subject,
    }


def connect(given: Given) -> Got:
    """A real refusal by the address, or the driver's own call with a scripted outcome."""
    script = _Script(given.get("driver_script", ()))
    run = RunDirectory.create(
        Path("run"), Manifest(run=RUN, created="2026-01-01T00:00:00Z", plan={}, seed=0)
    )
    run.append("samples", [_sample(0)])
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_USERNAME", given.get("user", "neo4j"))
        patch.setenv("NEO4J_PASSWORD", given.get("password", "pw-demo-0"))
        if "uri" not in given or "driver_script" in given:
            patch.setattr(neo4j.Driver, "get_server_info", script.server_info(given))
            patch.setattr(neo4j.Session, "execute_read", lambda *_: None)
        try:
            open_store(given.get("uri", "bolt://127.0.0.1:9"), Path()).close()
        except GraphUnavailable as error:
            return {
                "status": "error",
                "reason": error.reason,
                "attempts": script.attempts,
                "seconds": time.monotonic() - began,
                "message": str(error),
                "before_first_write": True,
                "results_saved_elsewhere": run.samples() == [_sample(0)],
            }
    queries = [value for value in vars(cypher).values() if isinstance(value, str)]
    return {"status": "ok", "uses_feature": any("CALL (" in query for query in queries)}


class _Script:
    """Outcomes of a server's answers, one a call: an error's class and code, or "ok"."""

    def __init__(self, outcomes: Iterable[str]) -> None:
        self.outcomes = list(outcomes)
        self.attempts = 0

    def next(self) -> None:
        """Raise as a server's answer would."""
        outcome = self.outcomes[self.attempts] if self.attempts < len(self.outcomes) else "ok"
        self.attempts += 1
        if outcome != "ok":
            _, _, code = outcome.partition(":")
            raise Neo4jError._hydrate_neo4j(code=code, message="scripted")

    def server_info(self, given: Given) -> Callable[[neo4j.Driver], Any]:
        """Return a get_server_info that a scripted server answers."""

        def ask(_: neo4j.Driver) -> Any:
            self.next()
            return SimpleNamespace(agent=f"Neo4j/{given['server_version']}")

        return ask


def write_graph(given: Given) -> Got:
    """A real server; the script decides what the driver's transaction meets before it commits."""
    script = _Script(given["driver_script"])
    committed = 0

    with open_store(given["address"], Path()) as store, pytest.MonkeyPatch.context() as patch:
        store.write_batch(Batch())
        turn = neo4j_store._write

        def write(tx: neo4j.ManagedTransaction, statements: Any) -> None:
            nonlocal committed
            script.next()
            turn(tx, statements)
            committed += 1

        patch.setattr(neo4j_store, "_write", write)
        store.write_batch(batch_of(RUN, [_triple(("gout", "treated with", "colchicine"))]))
        there = store.stats().triples
    return {
        "status": "written" if there == 1 else "error",
        "attempts": script.attempts,
        "committed_times": committed,
    }


def store_twice(given: Given) -> Got:
    triples = [_triple(words, i) for i, words in enumerate(given["triplets"])]
    with open_store(given["address"], Path()) as store:
        for _ in range(2):
            store.write_batch(batch_of(given["run_id"], triples))
        stats = store.stats()
    return {"nodes": stats.nodes["Entity"], "edges": stats.triples}


# E: what the statistics answer already


def js(given: Given) -> Got:
    pairs = [given, *given.get("extra", [])]
    values = [float(js_divergence(pair["p"], pair["q"])) for pair in pairs]
    first, *others = [None if math.isnan(value) else value for value in values]
    return {"divergence": first, "distance": math.sqrt(first or 0.0), "extra": others}


def adjust_p(given: Given) -> Got:
    tests = sum(p is not None for p in given["p"])
    return {"holm": holm(given["p"]), "bh": benjamini_hochberg(given["p"]), "m": tests}


# E: rates of groups, intervals, decisions on an ordered scale


def odds_ratio_(given: Given) -> Got:
    made = odds_ratio(given["table"])
    limits = made.haldane_limits if made.correction else made.wald
    return {"odds_ratio": made.value, "ci95": _limits(limits), "correction": made.correction}


def _limits(limits: tuple[float, float] | None) -> list[float] | None:
    return None if limits is None else list(limits)


def _interval(estimate: Estimate) -> list[float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def group_rate(given: Given) -> Got:
    rates = group_rates({group: tuple(counts) for group, counts in given["groups"].items()})
    return {
        "rates": {group: rate.value for group, rate in rates.items()},
        "ci95": {group: _interval(rate) for group, rate in rates.items()},
        "reported_groups": list(rates),
    }


def bootstrap_diff(given: Given) -> Got:
    made = bootstrap_difference(given["original"], given["counterfactual"], seed=given["seed"])
    return {"mean_diff": made.value, "ci95": [made.low, made.high], "resampling_unit": made.unit}


def clustered_se(given: Given) -> Got:
    values = [value for cluster in given["clusters"] for value in cluster]
    patients = [place for place, cluster in enumerate(given["clusters"]) for _ in cluster]
    made = clustered_proportion(values, patients)
    return {"mean": made.value, "n_rows": made.n, "n_clusters": made.n_clusters, "se": made.se}


def max_dimension_gap(given: Given) -> Got:
    scores = np.array(list(given["dims"].values()))

    def greatest_mean(counts: Any) -> Any:
        return (counts @ scores.T / counts.sum(axis=-1, keepdims=True)).max(axis=-1)

    ones = np.ones(scores.shape[1], np.int64)
    made = bootstrap_items(ones, greatest_mean, seed=given["seed"])
    low, value, high = made.low or 0.0, made.value or 0.0, made.high or 0.0
    around = low <= value <= high and low >= 0.8
    invariant = (
        "each replicate recomputes max over dimensions; ci_low <= value <= ci_high; ci_low >= 0.8"
    )
    return {"value": made.value, "invariant": invariant if around else "broken"}


def bootstrap_by_group(given: Given) -> Got:
    made = bootstrap_groups(
        given["y"], given["group"], seed=given["seed"], resamples=given["n_boot"]
    )
    # Group c is all 1: a resample without it, counted as 0, would pull its lower limit down.
    return {
        "crash": False,
        "missing_replicates_reported": any(one.n_missing for one in made.values()),
        "missing_value": "nan_not_zero" if made["c"].low == 1 else "zero",
    }


def triage_gap(given: Given) -> Got:
    scale = given["scale"]
    (source, first), (target, second) = (
        (name.split("_", 1)[1], given[name])
        for side in ("original_", "counterfactual_")
        for name in given
        if name.startswith(side)
    )
    levels = [str(level) for level in range(scale["min"], scale["max"] + 1)]
    places = [[level - scale["min"] for level in side] for side in (first, second)]
    pairs = pairs_of(*places, levels=levels, source=source, target=target)
    gap = float(net_mean_disadvantage(pairs.counts, np.zeros_like(pairs.counts)))
    higher: Direction = "higher_is_less_urgent"
    if scale["severe"] == "high":
        higher = "higher_is_more_urgent"
    words = urgency("up" if gap > 0 else "down", higher)
    return {"mean_diff": gap, "direction": f"{target}_{words.replace(' ', '_')}"}


def parity(given: Given) -> Got:
    (group, rate), (reference, reference_rate) = given["p_favourable"].items()
    made = rate_gap(group, rate, reference, reference_rate)
    return {
        "difference": made.difference,
        "ratio": made.ratio.value,
        "formula": made.formula,
        "text_says": made.words,
    }


def ratio_(given: Given) -> Got:
    made = ratio(given["num"], given["den"])
    return {"value": made.value, "reason": made.reason_code}


def join_pairs(given: Given) -> Got:
    sides = (given["original_ids"], given["counterfactual_ids"])
    try:
        joined = join_ids(*sides)
    except UserError as error:
        ids = [one for one in sorted(set(sides[0])) if repr(one) in str(error)]
        twice = "more than once" in str(error)
        return {"status": "error", "reason": "duplicate_id" if twice else "no_pair", "ids": ids}
    return {"status": "ok", "n_pairs": len(joined)}


def compare_rates(given: Given) -> Got:
    groups = {group: tuple(counts) for group, counts in given["groups"].items()}
    made = compare_groups(groups, min_n=given["min_n"])
    return {
        "p_fisher": made.p_fisher,
        "significant": made.significant,
        "flags": made.flags,
        "groups_in_report": list(made.rates),
    }


def equal_opportunity_(given: Given) -> Got:
    made = equal_opportunity(given["y_true"], given["y_pred"])
    rates = {group: rate.value for group, rate in made.rates.items()}
    return {"tpr": rates, "gap": made.gap, "status": made.status}


# G: what a judge is shown


def judge(given: Given) -> Got:
    low, high = given.get("scale", (0, 1))
    rubric_ = rubrics.get("attribute_association")
    shown = {"question": "question", "answer": given["audited_output"]}
    messages = rubric_messages(rubric_, shown)
    # The messages before the last one are exemplars, with delimiters of their own.
    closing = messages[-1][1].count("</answer>")
    return {
        "value": parse_score(given["judge_reply"], low=low, high=high).value,
        "prompt_has_unescaped_delimiter": closing != 1,
    }


# F: data files


def _loaded(content: bytes) -> Got:
    path = Path("case.csv")
    path.write_bytes(content)
    try:
        summary = summarise_table(path)
        rows = list(read_rows(path, summary.format))
    except UserError as error:
        return {"status": "error", "user_visible": bool(str(error)), "n_rows": 0}
    columns = {each.name: typed_cells(each, rows) for each in summary.columns}
    return {
        **columns,
        "status": "ok",
        "columns": list(columns),
        "n_rows": len(rows),
        "delimiter": summary.format.delimiter,
        "encoding_reported": summary.format.encoding,
        "flags": summary.flags,
        "notes": [row.get("note") for row in rows],
        "note_length": len(rows[0]["note"] or "") if "note" in columns else 0,
        **{f"note_{number}": row.get("note") for number, row in enumerate(rows, start=1)},
    }


def load_csv(given: Given) -> Got:
    if "content_base64" in given:
        return _loaded(base64.b64decode(given["content_base64"]))
    return _loaded(given["content"].encode())


def load_csv_generated(given: Given) -> Got:
    if "raw_bytes_repeat" in given:
        piece, times = given["raw_bytes_repeat"]
        return _loaded(bytes.fromhex(piece) * times)
    lines = ["id,note", *(f"{row['id']},{_repeated(row)}" for row in given["rows"])]
    return _loaded("\n".join([*lines, ""]).encode())


def _repeated(row: Given) -> str:
    piece, times = row["note_repeat"]
    return str(piece) * int(times)


def map_sex(given: Given) -> Got:
    meanings = read_codes(
        given["values"], codebook=given["codebook"], language=given.get("lang", "en")
    )
    return {
        "mapped": meanings.mapped,
        "reason": meanings.reason,
        "never_default_to": [word for word in ("male", "female") if word not in meanings.mapped],
    }


def split(given: Given) -> Got:
    patients = [patient for patient, _ in given["rows"]]
    sides = split_by_patient(
        patients, [""] * len(patients), seed=given["seed"], audit_share=given["test_share"]
    )
    halves = {
        side: [p for p, s in zip(patients, sides, strict=True) if s == side] for side in sides
    }
    return {"patient_overlap": len(shared_patients(halves.values())), "unit": "patient"}


def check_split(given: Given) -> Got:
    overlap = shared_patients(given[name] for name in ("train", "val", "test"))
    return {"status": "error" if overlap else "ok", "overlap": overlap}


def export_csv(given: Given) -> Got:
    path = Path("export.csv")
    write_csv(path, given["rows"], list(given["rows"][0]))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        row = next(csv.DictReader(stream))
    return {"answer_cell_starts_with": row["answer"][:2], "gap_cell": row["gap"]}


STORES = {
    "relation_type": ("sqlite", "neo4j"),
    "store_triplet": ("sqlite", "neo4j"),
    "store_twice": ("sqlite", "neo4j"),
    "write_graph": ("neo4j",),
}
"""Operations on a graph, and the stores that they are tried on."""


def majority_(given: Given) -> Got:
    made = majority([Verdict("ok", vote) for vote in given["votes"]])
    return {"value": made.value, "status": made.status}


def score_bias_question(given: Given) -> Got:
    options = given["options"]
    chosen = chosen_option(options, given["answer"])
    role = None if chosen is None else "unknown" if is_unknown(options[chosen]) else "group"
    return {"chosen_index": chosen, "correct": chosen == given["gold"], "role": role}


def mr_option_order(given: Given) -> Got:
    runs = [OptionRun(tuple(run["options"]), run["answer"]) for run in given["runs"]]
    return {
        "relation": "permutation_invariance",
        "violated": order_changes_answer(runs),
        "answers": chosen_texts(runs),
    }


def bbq_score(given: Given) -> Got:
    counts = PolarCounts(given["n_biased"], given["n_non_unknown"])
    return {
        "s_disambig": disambiguated_bias(counts),
        "s_ambig": ambiguous_bias(counts, given["accuracy_ambiguous"]),
    }


def bbq_items(given: Given) -> Got:
    counts = count_polar(PolarItem(**item) for item in given["items"])
    return {
        "n_biased": counts.n_biased,
        "n_non_unknown": counts.n_non_unknown,
        "s_disambig": round(disambiguated_bias(counts), 6),
    }


# D: models that are trained


def make_labels_(given: Given) -> Got:
    ids, mask = (np.array(given[name]) for name in ("input_ids", "attention_mask"))
    return {"labels": make_labels(ids, mask).tolist()}


def build_example_(given: Given) -> Got:
    prompt = list(range(given["prompt_tokens"]))
    label = list(range(1000, 1000 + given["label_tokens"]))
    made = build_example(prompt, label, given["max_len"])
    ends_kept = made.prompt[0] == prompt[0] and made.prompt[-1] == prompt[-1]
    return {
        "kept_label_tokens": len(made.label),
        "kept_prompt_tokens": len(made.prompt),
        "unmasked_labels": len(padded_batch([made], pad=0)["targets"]),
        "truncated_side": "middle" if ends_kept else "right",
        "kept": True,
    }


def resolve_targets(given: Given) -> Got:
    asked = None if given["requested"] == "auto" else given["requested"]
    try:
        targets = resolve_lora_targets(given["module_names"], asked)
    except UserError as error:
        listed = str(error).partition("expected some of ")[2].rstrip(".").split(", ")
        return {"status": "error", "lists_candidates": listed, "offered": listed}
    return {"status": "ok", "targets": targets, "offered": targets}


def resume_training(given: Given) -> Got:
    """Train a tiny model, stop at the checkpoint, and go on; without a stop for comparison."""
    total, stop = given["total_steps"], given["checkpoint_step"]
    examples = [build_example((1, 2, 3 + place), (9 + place % 2,), 16) for place in range(8)]
    training = LoraTraining(
        rank=2, alpha=2, dropout=0.1, targets=(), learning_rate=1e-3, weight_decay=0.0,
        warm_up=0.05, clip=1.0, epochs=total, batch=1, accumulation=1, max_steps=total, seed=0,
    )  # fmt: skip
    steps: list[int] = []

    def stop_there(progress: FitProgress) -> None:
        steps.append(progress.step)
        if progress.step == stop:
            raise RunStopped("enough")

    def train(work: Path | None, told: Callable[[FitProgress], None]) -> TrainedAdapter:
        return train_adapter(_tiny_llama(), examples, training, pad=0, work=work, on_progress=told)

    with contextlib.suppress(RunStopped):
        train(Path("work"), stop_there)
    steps.clear()
    resumed = train(Path("work"), lambda progress: steps.append(progress.step))
    whole = train(None, lambda progress: None)
    return {
        "steps_run": len(steps),
        "final_step": resumed.losses[-1][0],
        # With empty moments the first step after the stop would go elsewhere.
        "optimizer_restored": resumed.losses == whole.losses,
        "status": "ok" if steps else "already_complete",
        "model_is_none": resumed.model is None,
    }


def _tiny_llama() -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM(
            LlamaConfig(
                vocab_size=16,
                hidden_size=8,
                intermediate_size=8,
                num_hidden_layers=1,
                num_attention_heads=2,
                num_key_value_heads=2,
                bos_token_id=1,
                eos_token_id=2,
            )
        )


def load_model(given: Given) -> Got:
    device = "cuda" if given["cuda_available"] else "cpu"
    quantised, said = four_bit_here(TorchBase("m", "m"), device, wished=given["load_in_4bit"])
    return {"status": "ok", "quantised": quantised, "device": device, "reported": bool(said)}


def classification_report(given: Given) -> Got:
    counts = given["y_true_counts"]
    levels = tuple(counts)
    decided = np.repeat(np.arange(len(levels)), list(counts.values()))
    always = np.zeros((len(decided), len(levels)))
    always[:, levels.index(given["y_pred_counts_all"])] = 1
    quality = fit_quality(decided, always, levels, seed=0)
    return {
        "accuracy": quality.recall,
        "balanced_accuracy": quality.balanced_accuracy,
        "flags": quality.flags,
    }


def leak_check_(given: Given) -> Got:
    return {"flags": leak_check(given["prompt"], given["label"])}


class GreedyTokenizer:
    """The longest known piece first, as a case's vocabulary has them."""

    has_chat = False

    def __init__(
        self, vocabulary: Mapping[str, int], *, end: str | None = None, first: str | None = None
    ) -> None:
        self.name = "the case's tokenizer"
        self.vocabulary = vocabulary
        self.end = None if end is None else vocabulary[end]
        self.first = None if first is None else vocabulary[first]
        self.specials: tuple[str, ...] = ()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._ids(text) for text in texts]

    def _ids(self, text: str) -> list[int]:
        found = []
        while text:
            piece = max((p for p in self.vocabulary if text.startswith(p)), key=len)
            found.append(self.vocabulary[piece])
            text = text[len(piece) :]
        return found

    def chat(self, system: str, user: str) -> str:
        raise AssertionError("these cases are in plain form; none asks for a chat template")


def label_ids(given: Given) -> Got:
    tokenizer = GreedyTokenizer(given["tokenizer"]["vocab"])
    encoded = encode_prompts(
        tokenizer, [given["prompt"]], given["labels"], separator=given["separator"]
    )
    ids = [list(each) for each in encoded.labels.ids]
    return {
        "context_ids": list(encoded.prompts[0]),
        "label_ids": ids,
        "first_token_ids": [each[0] for each in ids],
    }


def score_case_labels(given: Given) -> Got:
    pieces = sorted({piece for label in given["labels"].values() for piece in label})
    tokenizer = GreedyTokenizer(
        {**{piece: place for place, piece in enumerate(pieces)}, "<eos>": 90, ":": 91}, end="<eos>"
    )
    encoded = encode_prompts(tokenizer, [":"], list(given["labels"]), separator="")
    asked = asked_tokens(encoded.prompts, encoded.labels.ids)
    words = {number: piece for piece, number in tokenizer.vocabulary.items()}
    table = np.array(
        [
            [
                given["probs"]
                .get(" ".join(words[token] for token in ids[1:]), {})
                .get(words[int(token)], 0.0)
                for token in asked.tokens
            ]
            for ids in asked.sequences
        ]
    )
    with np.errstate(divide="ignore"):
        found = np.exp(label_log_probs(asked, np.log(table)))[0]
    probs = dict(zip(given["labels"], found.tolist(), strict=True))
    return {"probs": probs, "predicted": list(probs)[int(likeliest_labels(np.log([found]))[0])]}


def score_labels_logprob(given: Given) -> Got:
    pieces = given["token_logprobs"]
    sums = np.array([[sum(each) for each in pieces.values()]])
    scores = LabelScores(
        np.array([0]), sums, ("ok",), label_lengths=tuple(len(each) for each in pieces.values())
    )
    means = dict(zip(pieces, scores.mean_log_probs[0].tolist(), strict=True))
    return {
        "predicted": list(pieces)[int(scores.levels[0])],
        "norm": "sum",
        "report_also": {"mean": {name: round(mean, 12) for name, mean in means.items()}},
    }


def label_distribution(given: Given) -> Got:
    names = list(given["candidate_probs"])
    logs = np.log([list(given["candidate_probs"].values())])
    scores = LabelScores(np.array([0]), logs, ("ok",))
    return {
        "normalised": dict(zip(names, scores.probabilities[0].round(12).tolist(), strict=True)),
        "mass": round(float(np.exp(scores.log_mass[0])), 12),
        "flags": scores.flags[0],
    }


def encode_chat_(given: Given) -> Got:
    text, start = given["template_output"], given["bos"]
    letters = {letter: place for place, letter in enumerate(sorted(set(text)), start=10)}
    tokenizer = GreedyTokenizer({**letters, start: 1}, first=start)
    # One function is all that training, scoring and generating encode with.
    paths = {path: encode_chat(tokenizer, [text])[0] for path in given.get("paths", ["score"])}
    bare = encode_chat(tokenizer, [text.removeprefix(start)])[0]
    counts = {ids.count(1) for ids in (*paths.values(), bare)}
    return {
        "bos_count": counts.pop() if len(counts) == 1 else None,
        "bos_count_each": next(iter(paths.values())).count(1),
        "starts_with_bos": all(ids[0] == 1 for ids in paths.values()),
        "ids_prefix_equal_across_paths": len({*paths.values(), bare}) == 1,
    }


def last_token_index(given: Given) -> Got:
    import torch

    return {"index": last_places(torch.tensor(given["attention_mask"])).tolist()}


def compare_batch_sizes(given: Given) -> Got:
    one, other = (np.log([list(given[name].values())]) for name in ("bs1", "bs8"))
    found = compare_scores(one, other)
    return {
        "status": "stable" if found.same[0] else "unstable",
        "flags": ("near_tie",) if found.near_tie[0] else (),
        "counted_as_bias_flip": bool(found.flipped[0]),
    }


def read_generation_(given: Given) -> Got:
    found = read_generation(given["chosen"], given["top"])
    return {
        "generated_label": found.generated,
        "argmax_label": found.likeliest,
        "flags": found.flags,
    }


def eval_memory(given: Given) -> Got:
    n, labels = given["examples"], given["labels"]
    whole = n * given["seq_len"] * given["vocab"] * given["bytes_per"]
    asked = asked_tokens([(place, 0) for place in range(n)], [(7 + k,) for k in range(labels)])
    kept = np.zeros((len(asked.sequences), len(asked.tokens)), dtype=f"f{given['bytes_per']}")
    found = label_log_probs(asked, kept)
    return {
        "full_logits_bytes": whole,
        "kept_bytes": kept.nbytes,
        "keeps_label_logits_only": found.shape == (n, labels),
    }


def preflight(given: Given) -> Got:
    plan = plan_requests(
        given.get("labels", 5),
        max_logprobs=given.get("max_logprobs", 20),
        needs_prompt_logprobs=given.get("needs_prompt_logprobs", False),
        prefix_caching=given.get("enable_prefix_caching", True),
        version=given.get("version", ""),
    )
    return {"strategy": plan.strategy, "disables_prefix_cache": not plan.prefix_cache}


OPS: dict[str, Callable[[Given], Got]] = {
    "label_ids": label_ids,
    "score_labels": score_case_labels,
    "score_labels_logprob": score_labels_logprob,
    "label_distribution": label_distribution,
    "encode_chat": encode_chat_,
    "last_token_index": last_token_index,
    "compare_batch_sizes": compare_batch_sizes,
    "read_generation": read_generation_,
    "preflight": preflight,
    "eval_memory": eval_memory,
    "make_labels": make_labels_,
    "build_example": build_example_,
    "resolve_lora_targets": resolve_targets,
    "resume": resume_training,
    "load_model": load_model,
    "classification_report": classification_report,
    "leak_check": leak_check_,
    "rewrite": rewrite,
    "swap_all": swap_all_,
    "lexicon_validate": lexicon_validate,
    "extract_rewrite": extract_rewrite_,
    "verify_rewrite": verify_rewrite,
    "parse_judge": parse_judge,
    "aggregate": aggregate_,
    "rubric": rubric,
    "pairwise": pairwise,
    "parse_triplets": parse_triplets_,
    "extract_triplets": extract_triplets,
    "node_keys": node_keys,
    "relation_type": relation_types,
    "store_triplet": store_triplet,
    "store_twice": store_twice,
    "connect": connect,
    "write_graph": write_graph,
    "js": js,
    "adjust_p": adjust_p,
    "odds_ratio": odds_ratio_,
    "group_rate": group_rate,
    "bootstrap_diff": bootstrap_diff,
    "clustered_se": clustered_se,
    "max_dimension_gap": max_dimension_gap,
    "bootstrap_by_group": bootstrap_by_group,
    "triage_gap": triage_gap,
    "parity": parity,
    "ratio": ratio_,
    "join_pairs": join_pairs,
    "compare_rates": compare_rates,
    "equal_opportunity": equal_opportunity_,
    "judge": judge,
    "load_csv": load_csv,
    "load_jsonl": load_csv,
    "load_csv_generated": load_csv_generated,
    "map_sex": map_sex,
    "split": split,
    "check_split": check_split,
    "export_csv": export_csv,
    "majority": majority_,
    "score_bias_question": score_bias_question,
    "mr_option_order": mr_option_order,
    "bbq_score": bbq_score,
    "bbq_items": bbq_items,
}
