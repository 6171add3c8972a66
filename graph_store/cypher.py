"""All Cypher of the Neo4j store, each query named for what it answers.

Values come only as parameters. Labels and relationship types cannot be parameters; they come from
the tables of schema.py, and a triple's type through `relation_type`, checked once more here.
Nothing here is newer than Neo4j 5.0. Answers are scalars, lists and explicit maps, never nodes.

Cypher sorts null last where SQLite sorts it first: hence `x IS NOT NULL, x` in ORDER BY.
"""

from evenhand.graph_store.schema import (
    FOUND_BY,
    IDENTIFIER,
    KNOWN_BY,
    LABELS,
    LINK_TYPES,
    SCHEMA_LABEL,
    Label,
    LinkType,
)

_RECORD_LABELS: tuple[Label, ...] = tuple(label for label in LABELS if label != "Entity")


def _constraint(label: str, names: tuple[str, ...]) -> str:
    unique = ", ".join(f"n.{name}" for name in names)
    return (
        f"CREATE CONSTRAINT evenhand_{label.lower()} IF NOT EXISTS "
        f"FOR (n:{label}) REQUIRE ({unique}) IS UNIQUE"
    )


def _index(label: str, name: str) -> str:
    return (
        f"CREATE INDEX evenhand_{label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"
    )


CREATE_SCHEMA = (
    _constraint(SCHEMA_LABEL, ("id",)),
    *(_constraint(label, names) for label, names in KNOWN_BY.items()),
    *(_index(label, name) for label, name in FOUND_BY),
)
AWAIT_INDEXES = "CALL db.awaitIndexes(60)"
READ_VERSION = f"MATCH (s:{SCHEMA_LABEL} {{id: 'evenhand'}}) RETURN s.version AS version"
MARK_VERSION = (
    f"MERGE (s:{SCHEMA_LABEL} {{id: 'evenhand'}}) "
    "ON CREATE SET s.version = $version RETURN s.version AS version"
)
ANY_OF_OUR_LABELS = f"MATCH (n:{'|'.join(LABELS)}) RETURN labels(n) AS labels LIMIT 1"
# Leaves nothing: it needs the rights to add nodes, relationships and properties, and to delete.
TRY_TO_WRITE = f"""
    CREATE (a:{SCHEMA_LABEL} {{id: $id}})-[r:RELATED_TO {{run: $id}}]->(b:{SCHEMA_LABEL})
    SET a.version = 0 DETACH DELETE a, b
"""
# Writers take turns, so that no two lock the same nodes in different order. The counter is how:
# setting it holds the node's lock until the transaction ends.
TAKE_TURN = f"""
    MATCH (s:{SCHEMA_LABEL} {{id: 'evenhand'}}) SET s.turn = coalesce(s.turn, 0) + 1
"""

MERGE_ENTITIES = """
    UNWIND $rows AS row MERGE (n:Entity {id: row[0]}) ON CREATE SET n.full_id = row[1]
"""
TRIPLE_PROPERTIES = (
    "key",
    "run",
    "source_id",
    "subject",
    "predicate",
    "object",
    "hop",
    "origin",
    "id",
    "position",
)
"""In this order, after the ids of its entities, in a row of merge_triples: there are many rows, and
as maps they would carry these names each."""


def merge_nodes(label: Label) -> str:
    """Return the query that merges nodes of a label and replaces their properties."""
    return f"""
        UNWIND $rows AS row
        MERGE (n:{_known(label, LABELS)} {{run: row.run, id: row.id}}) SET n = row.properties
    """


def merge_bare_nodes(label: Label) -> str:
    """Return the query that makes nodes of a label where they are not there yet."""
    return f"UNWIND $rows AS row MERGE (n:{_known(label, LABELS)} {{run: row.run, id: row.id}})"


def merge_triples(type_: str) -> str:
    """Return the query that merges triples of a type; their entities are there already."""
    if not IDENTIFIER.fullmatch(type_) or type_ in LINK_TYPES:
        raise ValueError(f"{type_!r} is no relationship type of a triple")
    kept = ", ".join(
        f"r.{name} = row[{place}]" for place, name in enumerate(TRIPLE_PROPERTIES, start=2)
    )
    return f"""
        UNWIND $rows AS row
        MATCH (subject:Entity {{id: row[0]}})
        MATCH (object:Entity {{id: row[1]}})
        MERGE (subject)-[r:{type_} {{key: row[2]}}]->(object)
        ON CREATE SET {kept}
    """


def merge_links(type_: LinkType, start: Label, end: Label) -> str:
    """Return the query that merges links of a type between two labels; their ends are there."""
    return f"""
        UNWIND $rows AS row
        MATCH (start:{_known(start, LABELS)} {_end(start, "start")})
        MATCH (end:{_known(end, LABELS)} {_end(end, "end")})
        MERGE (start)-[r:{_known(type_, LINK_TYPES)} {{key: row.properties.key}}]->(end)
        SET r = row.properties
    """


def _end(label: Label, side: str) -> str:
    return "{" + ", ".join(f"{name}: row.{side}_{name}" for name in KNOWN_BY[label]) + "}"


def _known(name: str, allowed: tuple[str, ...]) -> str:
    if name not in allowed:
        raise ValueError(f"{name!r} is not one of {allowed}")
    return name


def _of_any_label(pattern: str, rest: str) -> str:
    """Return a query over records of each label, so that each uses its own index."""
    return " UNION ALL ".join(pattern.format(label=label) + rest for label in _RECORD_LABELS)


_OF_RUN = "($run IS NULL OR r.run = $run)"
_TRIPLE = """
    r.run AS run, r.source_id AS source_id, r.subject AS subject, r.predicate AS predicate,
    r.object AS object, coalesce(subject.full_id, subject.id) AS subject_key,
    coalesce(object.full_id, object.id) AS object_key, r.hop AS hop, r.origin AS origin,
    r.id AS id, r.position AS position
"""

ENTITY_OF_KEY = "MATCH (e:Entity {id: $id}) RETURN elementId(e) AS entity"
# A self loop matches in both directions: hence DISTINCT.
TRIPLES_AT_ENTITIES = f"""
    UNWIND $entities AS entity
    MATCH (e:Entity)-[r]-(:Entity) WHERE elementId(e) = entity AND {_OF_RUN}
    WITH DISTINCT entity, r ORDER BY r.key
    WITH entity, collect(r)[..$wanted] AS triples
    RETURN entity,
        [r IN triples | [elementId(r), elementId(startNode(r)), elementId(endNode(r))]] AS triples
"""
TRIPLES_OF_ELEMENTS = f"""
    MATCH (subject)-[r]->(object) WHERE elementId(r) IN $elements
    RETURN elementId(r) AS element, {_TRIPLE}
"""
TRIPLES_OF_SOURCE = f"""
    MATCH (subject:Entity)-[r]->(object:Entity) WHERE r.source_id = $source AND {_OF_RUN}
    WITH subject, r, object ORDER BY r.run, r.hop, r.position, r.key SKIP $offset LIMIT $limit
    RETURN {_TRIPLE}
"""

CHAIN_OF_RECORD = _of_any_label(
    "MATCH (n:{label} {{run: $run, id: $record}})",
    """-[:JUDGES|ANSWERS|VARIANT_OF*0..]->(step)
    RETURN DISTINCT labels(step)[0] AS label, step.id AS id, properties(step) AS properties
    """,
)
JUDGEMENTS_OF_RECORDS = f"""
    UNWIND $records AS record
    MATCH (subject:{"|".join(_RECORD_LABELS)} {{run: record[0], id: record[1]}})
    MATCH (subject)<-[:JUDGES]-(j:Judgement)
    WITH record, j
    ORDER BY j.rubric IS NOT NULL, j.rubric, j.dimension IS NOT NULL, j.dimension,
        j.judge IS NOT NULL, j.judge, j.id
    RETURN record[0] AS run, record[1] AS record, j.id AS id, properties(j) AS properties
"""
VARIANTS_CHANGING_ONLY = """
    MATCH (sample:Sample {id: $sample})<-[change:PERTURBS {attribute: $attribute}]-(v:Variant)
    WHERE ($run IS NULL OR sample.run = $run)
        AND NOT EXISTS { MATCH (v)-[other:PERTURBS]->() WHERE other.key <> change.key }
    OPTIONAL MATCH (v)<-[:ANSWERS]-(answer:Answer)
    WITH v, change, answer
    ORDER BY v.run, v.position IS NOT NULL, v.position, v.id,
        answer.arm IS NOT NULL, answer.arm, answer.repeat IS NOT NULL, answer.repeat, answer.id
    SKIP $offset LIMIT $limit
    RETURN v.run AS run, v.id AS variant, change.from AS before, change.to AS after,
        answer.id AS answer, properties(answer) AS properties
"""

_CHANGING_ONLY = """
    NOT EXISTS { MATCH (variant)-[other:PERTURBS]->() WHERE other.key <> change.key }
    AND NOT EXISTS {
        MATCH (variant)<-[:JUDGES]-(gate:Judgement)
        WHERE gate.rubric = 'validity' AND gate.value = 'rejected'
    }
"""
PAIRS_OF_ANSWERS = f"""
    MATCH (base_answer:Answer)-[:ANSWERS]->(base:Variant {{arm: 'base'}})-[:VARIANT_OF]->(s:Sample)
    MATCH (s)<-[change:PERTURBS]-(variant:Variant)<-[:ANSWERS]-(answer:Answer)
    WHERE change.run = $run AND change.attribute = $attribute AND {_CHANGING_ONLY}
        AND answer.status = 'ok' AND answer.repeat = 0
        AND base_answer.status = 'ok' AND base_answer.repeat = 0
        AND base_answer.arm = answer.arm
    RETURN answer.id AS answer, base_answer.id AS base
"""
SOURCES_OF_TRIPLES = """
    MATCH (:Entity)-[r]->(:Entity) WHERE r.run = $run RETURN DISTINCT r.source_id AS source
"""
# $sides says of each answer in which pairs it is, and on which side.
GROUP_DIFFERENCE = """
    MATCH (subject:Entity)-[r]->(object:Entity)
    WHERE r.run = $run AND ($hop IS NULL OR r.hop = $hop) AND $sides[r.source_id] IS NOT NULL
    UNWIND $sides[r.source_id] AS stated
    WITH DISTINCT stated[0] AS pair, stated[1] AS side, subject, type(r) AS type, object,
        r.hop AS hop
    WITH pair, subject, type, object, hop, count(*) AS n, min(side) AS side
    WITH coalesce(subject.full_id, subject.id) AS subject_key, type,
        coalesce(object.full_id, object.id) AS object_key, hop,
        sum(CASE WHEN n = 1 AND side = 'variant' THEN 1 ELSE 0 END) AS only_variant,
        sum(CASE WHEN n = 1 AND side = 'base' THEN 1 ELSE 0 END) AS only_base,
        sum(CASE WHEN n = 2 THEN 1 ELSE 0 END) AS both
    WHERE only_variant + only_base > 0
    RETURN subject_key, type, object_key, hop, only_variant, only_base, both
    ORDER BY abs(only_variant - only_base) DESC, only_variant + only_base DESC, hop,
        subject_key, type, object_key
    SKIP $offset LIMIT $limit
"""
CHANGED_CASES = f"""
    MATCH (sample:Sample)<-[change:PERTURBS]-(variant:Variant)
    WHERE change.attribute = $attribute AND ($run IS NULL OR change.run = $run)
        AND {_CHANGING_ONLY}
    MATCH (variant)<-[:ANSWERS]-(answer:Answer)<-[:JUDGES]-(verdict:Judgement)
    WHERE verdict.rubric = 'paired_change' AND verdict.value = 1
        AND coalesce(verdict.dimension, 'any') = 'any'
    MATCH (verdict)-[:COMPARES_WITH]->(base)
    WITH sample, change, variant, answer, verdict, base
    ORDER BY change.run, coalesce(sample.position, -1), sample.id, coalesce(variant.position, -1),
        variant.id, coalesce(answer.arm, ''), answer.id, verdict.id
    SKIP $offset LIMIT $limit
    RETURN change.run AS run, sample.id AS sample_id, variant.id AS variant_id,
        change.from AS before, change.to AS after, answer.arm AS arm,
        base.id AS base_answer_id, base.text AS base_text, answer.id AS answer_id,
        answer.text AS text, verdict.id AS judgement_id, verdict.judge AS judge,
        verdict.reason AS reason
"""
ASKINGS_OF_RUNS = """
    MATCH (answer:Answer)-[:ANSWERS]->(variant:Variant)-[:VARIANT_OF]->(sample:Sample)
    WHERE answer.run IN $runs AND answer.id IS NOT NULL
    WITH sample.id AS sample_id, variant.id AS variant_id, answer.arm AS arm,
        answer.repeat AS repeat, max(variant.group) AS group,
        max(coalesce(sample.position, -1)) AS sample_position,
        max(coalesce(variant.position, -1)) AS variant_position
    RETURN sample_id, variant_id, group, arm, repeat
    ORDER BY sample_position, sample_id, variant_position, variant_id, coalesce(arm, ''),
        coalesce(repeat, -1)
    SKIP $offset LIMIT $limit
"""
ANSWERS_TO_VARIANTS = """
    UNWIND $variants AS variant_id
    MATCH (variant:Variant {id: variant_id})<-[:ANSWERS]-(answer:Answer)
    WHERE variant.run IN $runs
    RETURN variant_id AS variant, answer.run AS run, answer.id AS id,
        properties(answer) AS properties
    ORDER BY run, id DESC
"""
ENTITY_NAMES = f"""
    MATCH (e:Entity)-[r]-(:Entity) WHERE {_OF_RUN}
    WITH DISTINCT e, r
    WITH e, count(*) AS degree,
        min([r.key, CASE WHEN startNode(r) = e THEN r.subject ELSE r.object END]) AS first
    RETURN coalesce(e.full_id, e.id) AS key, first[1] AS name, degree
    ORDER BY degree DESC, key SKIP $offset LIMIT $limit
"""

RUNS = """
    MATCH (r:Run) WITH r ORDER BY r.created IS NOT NULL, r.created, r.id SKIP $offset LIMIT $limit
    RETURN r.id AS id, properties(r) AS properties
"""
RUN_OF_ID = "MATCH (r:Run {run: $run, id: $run}) RETURN properties(r) AS properties"

_ENTITY_OF_RUN = "EXISTS { MATCH (n)-[r]-() WHERE r.run = $run }"
COUNT_ALL_NODES = " UNION ALL ".join(
    f"MATCH (n:{label}) RETURN '{label}' AS label, count(n) AS count" for label in LABELS
)
COUNT_NODES_OF_RUN = " UNION ALL ".join(
    f"MATCH (n:{label}) WHERE "
    + (_ENTITY_OF_RUN if label == "Entity" else "n.run = $run AND n.id IS NOT NULL")
    + f" RETURN '{label}' AS label, count(n) AS count"
    for label in LABELS
)
COUNT_RELATIONSHIPS = f"""
    MATCH ()-[r]->() WHERE r.run IS NOT NULL AND {_OF_RUN}
    RETURN type(r) AS type, count(*) AS count
"""
ALL_NODES = " UNION ALL ".join(
    f"MATCH (n:{label}) WHERE $run IS NULL OR "
    + (_ENTITY_OF_RUN if label == "Entity" else "n.run = $run")
    + f" RETURN '{label}' AS label, n.run AS run, coalesce(n.full_id, n.id) AS id, "
    "properties(n) AS properties"
    for label in LABELS
)
ALL_TRIPLES = f"""
    MATCH (subject:Entity)-[r]->(object:Entity) WHERE {_OF_RUN}
    RETURN type(r) AS type, r.key AS key, {_TRIPLE}
"""
ALL_LINKS = f"""
    MATCH (start)-[r:{"|".join(LINK_TYPES)}]->(end) WHERE {_OF_RUN}
    RETURN type(r) AS type, r.key AS key, r.run AS run, labels(start)[0] AS start_label,
        coalesce(start.full_id, start.id) AS start_id, labels(end)[0] AS end_label,
        coalesce(end.full_id, end.id) AS end_id, r.attribute AS attribute, r.from AS before,
        r.to AS after
"""

# A drop that is cut off leaves a Run that says so: the next sync drops it whole.
MARK_AS_DROPPED = "MATCH (r:Run {run: $run, id: $run}) SET r.created = '', r.synced = NULL"
DROP_RELATIONSHIPS = """
    MATCH ()-[r]->() WHERE r.run = $run WITH r LIMIT $limit DELETE r RETURN count(*) AS deleted
"""
DROP_ENTITIES_LEFT_ALONE = """
    MATCH (e:Entity) WHERE NOT EXISTS { (e)--() } WITH e LIMIT $limit
    DELETE e RETURN count(*) AS deleted
"""


def drop_nodes(label: Label) -> str:
    """Return the query that deletes a run's nodes of a label."""
    return f"""
        MATCH (n:{_known(label, _RECORD_LABELS)}) WHERE n.run = $run AND n.id IS NOT NULL
        WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS deleted
    """


DROP_RUN = (
    DROP_RELATIONSHIPS,
    DROP_ENTITIES_LEFT_ALONE,
    *(drop_nodes(label) for label in reversed(_RECORD_LABELS)),
)
"""In this order; the Run itself goes last."""
