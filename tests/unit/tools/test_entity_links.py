"""Decisions about entities: what they come to, how they are kept, and the view that they make."""

import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.rows import Batch, TripleRow
from evenhand.graph_store.store import GraphStore, open_store
from evenhand.tools.entity_links import (
    DECISIONS_FILE,
    EntityDecision,
    accept,
    accepted,
    fold,
    members,
    merged_neighbourhood,
    read_decisions,
    resolve,
    undo,
)

KEYS = "abcdef"
WHEN = "2026-11-30T05:00:00+00:00"


def decision(from_key: str, to_key: str, action: str = "accept") -> EntityDecision:
    return EntityDecision.model_validate(
        {"who": "ann", "when": WHEN, "from_key": from_key, "to_key": to_key, "action": action}
    )


DECISIONS = st.lists(
    st.builds(
        decision,
        st.sampled_from(KEYS),
        st.sampled_from(KEYS),
        st.sampled_from(["accept", "accept", "undo"]),
    ),
    max_size=20,
)


def groups(table: dict[str, str]) -> set[frozenset[str]]:
    return {frozenset(members(key, table)) for key in KEYS}


def connected(decisions: Sequence[EntityDecision]) -> set[frozenset[str]]:
    """The groups of keys that acceptances in force join, by the plainest means."""
    pairs: list[frozenset[str]] = []
    for item in decisions:
        pairs = [pair for pair in pairs if pair != item.pair or item.action == "accept"]
        if item.action == "accept":
            pairs.append(item.pair)
    found = {frozenset([key]) for key in KEYS}
    for pair in pairs:
        touched = {group for group in found if group & pair}
        found = (found - touched) | {frozenset().union(*touched)}
    return found


@given(DECISIONS)
def test_the_table_joins_what_acceptances_in_force_join(decisions: list[EntityDecision]) -> None:
    assert groups(fold(decisions)) == connected(decisions)


@given(DECISIONS)
def test_a_table_has_no_chain_and_no_cycle(decisions: list[EntityDecision]) -> None:
    table = fold(decisions)
    for key in KEYS:
        shown = resolve(key, table)
        assert resolve(shown, table) == shown
        assert shown in members(key, table)
        assert key in members(key, table)
        assert members(key, table) == members(shown, table)


@given(DECISIONS, st.sampled_from(KEYS), st.sampled_from(KEYS), st.booleans())
def test_accept_then_undo_is_as_if_neither_had_been(
    decisions: list[EntityDecision], from_key: str, to_key: str, turned: bool
) -> None:
    said = decision(from_key, to_key)
    if said.pair in {item.pair for item in accepted(decisions)}:
        return
    taken = decision(to_key, from_key, "undo") if turned else decision(from_key, to_key, "undo")
    assert fold([*decisions, said, taken]) == fold(decisions)


@given(DECISIONS, st.integers(0, 19))
def test_undo_leaves_what_would_be_without_that_acceptance(
    decisions: list[EntityDecision], place: int
) -> None:
    in_force = accepted(decisions)
    if not in_force:
        return
    gone = in_force[place % len(in_force)]
    taken = gone.model_copy(update={"action": "undo"})
    assert fold([*decisions, taken]) == fold([item for item in in_force if item != gone])


def test_the_order_of_decisions_counts() -> None:
    said, taken = decision("a", "b"), decision("a", "b", "undo")
    assert fold([said, taken]) == {}
    assert fold([taken, said]) == {"a": "b"}
    assert fold([said, taken, said]) == {"a": "b"}
    assert fold([decision("a", "b"), decision("b", "c")]) == {"a": "c", "b": "c"}
    assert fold([decision("b", "c"), decision("a", "b")]) == {"b": "c", "a": "c"}
    assert fold([decision("a", "b"), decision("a", "c")]) == {"a": "c", "b": "c"}
    assert fold([decision("a", "b"), decision("b", "a")]) == {"a": "b"}


def test_decisions_are_lines_with_who_when_and_what(tmp_path: Path) -> None:
    assert read_decisions(tmp_path) == []
    accept(tmp_path, "pyrexia", "fever", who="ann", when=WHEN)
    undo(tmp_path, "fever", "pyrexia", who="", when=WHEN)
    first, second = (tmp_path / DECISIONS_FILE).read_text().splitlines()
    assert first == (
        f'{{"who":"ann","when":"{WHEN}","from_key":"pyrexia","to_key":"fever","action":"accept"}}'
    )
    assert '"action":"undo"' in second
    assert fold(read_decisions(tmp_path)) == {}


def test_a_torn_line_is_cut_off_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    accept(tmp_path, "pyrexia", "fever", who="ann", when=WHEN)
    path = tmp_path / DECISIONS_FILE
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert len(read_decisions(tmp_path)) == 1
    accept(tmp_path, "doctor", "physician", who="ann", when=WHEN)
    assert len(read_decisions(tmp_path)) == 2
    path.write_bytes(b'{"who": 1}\n' + whole)
    with pytest.raises(UserError, match=r"line 1 is no decision"):
        read_decisions(tmp_path)


def test_opposites_never_become_one_not_even_by_a_third(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exclude each other"):
        accept(tmp_path, "hypotension", "hypertension", who="", when=WHEN)
    accept(tmp_path, "hypotension", "pressure disorder", who="", when=WHEN)
    with pytest.raises(UserError, match="'hypotension' and 'hypertension' exclude each other"):
        accept(tmp_path, "pressure disorder", "hypertension", who="", when=WHEN)
    assert len(read_decisions(tmp_path)) == 1


def test_what_is_one_is_not_accepted_again_and_what_is_not_cannot_be_undone(
    tmp_path: Path,
) -> None:
    for from_key, to_key in (("sickness", "illness"), ("illness", "disease")):
        accept(tmp_path, from_key, to_key, who="", when=WHEN)
    for pair in (("sickness", "disease"), ("illness", "illness")):
        with pytest.raises(UserError, match="one entity already, shown as 'disease'"):
            accept(tmp_path, *pair, who="", when=WHEN)
    with pytest.raises(UserError, match="'sickness' 'illness'"):
        undo(tmp_path, "sickness", "disease", who="", when=WHEN)
    assert len(read_decisions(tmp_path)) == 2


def test_many_who_decide_at_once_lose_nothing(tmp_path: Path) -> None:
    names = [f"name{letter}" for letter in "abcdefghij"]
    threads = [
        threading.Thread(target=accept, args=(tmp_path, *pair), kwargs={"who": "ann", "when": WHEN})
        for pair in pairwise(names)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table = fold(read_decisions(tmp_path))
    assert set(members(names[0], table)) == set(names)


def fact(subject: str, predicate: str, object_: str, source: str = "demo-0-00000000") -> TripleRow:
    return TripleRow(
        run="r1",
        source_id=source,
        subject=subject,
        predicate=predicate,
        object=object_,
        subject_key=subject,
        object_key=object_,
        hop=1,
        origin="rules",
        id=f"{source}/t0-00000000",
    )


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[GraphStore]]:
    folder = tmp_path_factory.mktemp("graphs")
    opened = [open_store(f"sqlite:{folder / name}", folder) for name in ("exact", "merged")]
    yield opened
    for store in opened:
        store.close()


TRIPLES = st.lists(
    st.builds(
        fact, st.sampled_from(KEYS), st.sampled_from(["causes", "treats"]), st.sampled_from(KEYS)
    ),
    max_size=12,
)


@given(TRIPLES, DECISIONS, st.sampled_from(KEYS), st.integers(0, 4))
def test_the_view_is_the_graph_with_the_shown_keys(
    graphs: list[GraphStore],
    triples: list[TripleRow],
    decisions: list[EntityDecision],
    key: str,
    hops: int,
) -> None:
    """Walked over the exact graph with a table, or over one that was written with it."""
    table = fold(decisions)
    exact, merged = graphs
    for store in graphs:
        store.drop_run("r1")
    exact.write_batch(Batch(triples=triples))
    # Each keeps its words: a fact of two members is two triples in the exact graph.
    shown = {
        (triple.subject, triple.predicate, triple.object): fact(
            resolve(triple.subject, table),
            f"{triple.subject} {triple.predicate} {triple.object}",
            resolve(triple.object, table),
        )
        for triple in triples
    }
    merged.write_batch(Batch(triples=list(shown.values())))
    seen = merged_neighbourhood(exact, key, table, hops=hops, limit=1_000)
    wanted = merged.neighbourhood(resolve(key, table), hops=hops, limit=1_000)
    assert {f"{triple.subject} {triple.predicate} {triple.object}" for triple in seen.triples} == {
        triple.predicate for triple in wanted.triples
    }
    distances = {(resolve(item.key, table), item.distance) for item in seen.entities}
    assert distances == {(item.key, item.distance) for item in wanted.entities}
    paged = [
        triple
        for offset in range(0, len(seen.triples), 2)
        for triple in merged_neighbourhood(
            exact, key, table, hops=hops, limit=2, offset=offset
        ).triples
    ]
    assert tuple(paged) == seen.triples


@given(TRIPLES, st.sampled_from(KEYS), st.integers(0, 3), st.integers(1, 5), st.integers(0, 5))
def test_without_a_decision_the_view_is_the_store_s_own_answer(
    graphs: list[GraphStore],
    triples: list[TripleRow],
    key: str,
    hops: int,
    limit: int,
    offset: int,
) -> None:
    store = graphs[0]
    store.drop_run("r1")
    store.write_batch(Batch(triples=triples))
    seen = merged_neighbourhood(store, key, {}, hops=hops, limit=limit, offset=offset, run="r1")
    assert seen == store.neighbourhood(key, hops=hops, limit=limit, offset=offset, run="r1")


def test_a_pair_has_the_facts_of_both_and_after_undo_its_own(
    graphs: list[GraphStore], tmp_path: Path
) -> None:
    store = graphs[0]
    store.drop_run("r1")
    facts = [fact("patient", "has", "belly pain"), fact("abdominal pain", "suggests", "ulcer")]
    store.write_batch(Batch(triples=facts))
    before = merged_neighbourhood(store, "belly pain", {}, hops=3)
    accept(tmp_path, "belly pain", "abdominal pain", who="ann", when=WHEN)
    table = fold(read_decisions(tmp_path))
    for key in ("belly pain", "abdominal pain"):
        found = merged_neighbourhood(store, key, table)
        assert set(found.triples) == set(facts)
    reached = merged_neighbourhood(store, "patient", table, hops=2)
    assert {item.key for item in reached.entities} >= {"ulcer"}
    undo(tmp_path, "belly pain", "abdominal pain", who="ann", when=WHEN)
    table = fold(read_decisions(tmp_path))
    assert merged_neighbourhood(store, "belly pain", table, hops=3) == before
    assert merged_neighbourhood(store, "nobody", table).entities == ()
