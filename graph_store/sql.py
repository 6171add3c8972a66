"""All SQL of the embedded store, each query named for what it answers.

Values come only as parameters. `number` is SQLite's own row number, which stays inside this store.
An entity's `run` is '', since it belongs to none. Works from SQLite 3.33 on with JSON functions:
the oldest that Python 3.11 meets in current Linux distributions.
"""

# ruff: noqa: S608    (queries are put together from constants of this module alone)

from evenhand.graph_store.schema import SCHEMA_VERSION

APPLICATION_ID = 0x45564E48
"""Marks a file as ours ("EVNH")."""

READ_APPLICATION_ID = "PRAGMA application_id"
READ_VERSION = "PRAGMA user_version"
COUNT_TABLES = "SELECT count(*) FROM sqlite_master"
SETTINGS = (
    "PRAGMA foreign_keys = ON",
    # A committed batch survives a power failure as well as a kill.
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -65536",
)
READ_JOURNAL_MODE = "PRAGMA journal_mode"
USE_WAL = "PRAGMA journal_mode = WAL"

BEGIN_WRITE = "BEGIN IMMEDIATE"
BEGIN_READ = "BEGIN"
COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"

CREATE = (
    """
    CREATE TABLE node (
        number INTEGER PRIMARY KEY,
        label TEXT NOT NULL,
        run TEXT NOT NULL,
        id TEXT NOT NULL,
        properties TEXT NOT NULL,
        UNIQUE (id, run, label)
    )
    """,
    "CREATE INDEX node_by_run ON node (run, label)",
    """
    CREATE TABLE triple (
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL,
        run TEXT NOT NULL,
        source_id TEXT NOT NULL,
        subject_node INTEGER NOT NULL REFERENCES node,
        object_node INTEGER NOT NULL REFERENCES node,
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL,
        hop INTEGER NOT NULL,
        origin TEXT NOT NULL,
        id TEXT NOT NULL,
        position INTEGER NOT NULL
    )
    """,
    # The key stands in the index so that an entity's first triples are read without a sort.
    "CREATE INDEX triple_by_subject ON triple (subject_node, key)",
    "CREATE INDEX triple_by_object ON triple (object_node, key)",
    "CREATE INDEX triple_by_source ON triple (source_id, run)",
    "CREATE INDEX triple_by_run ON triple (run)",
    """
    CREATE TABLE link (
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL,
        run TEXT NOT NULL,
        start_node INTEGER NOT NULL REFERENCES node,
        end_node INTEGER NOT NULL REFERENCES node,
        attribute TEXT,
        before TEXT,
        after TEXT
    )
    """,
    "CREATE INDEX link_by_start ON link (start_node, type)",
    "CREATE INDEX link_by_end ON link (end_node, type)",
    "CREATE INDEX link_by_run ON link (run)",
)
MARK_AS_OURS = f"PRAGMA application_id = {APPLICATION_ID}"
MARK_VERSION = f"PRAGMA user_version = {SCHEMA_VERSION}"

MERGE_NODE = """
    INSERT INTO node (label, run, id, properties) VALUES (?, ?, ?, ?)
    ON CONFLICT (id, run, label) DO UPDATE SET properties = excluded.properties
    WHERE properties <> excluded.properties
"""
MERGE_BARE_NODE = """
    INSERT INTO node (label, run, id, properties) VALUES (?, ?, ?, '{}')
    ON CONFLICT (id, run, label) DO NOTHING
"""
MERGE_TRIPLE = """
    INSERT INTO triple (
        key, type, run, source_id, subject, predicate, object, hop, origin, id, position,
        subject_node, object_node
    ) VALUES (
        ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
        (SELECT number FROM node WHERE id = ? AND run = '' AND label = 'Entity'),
        (SELECT number FROM node WHERE id = ? AND run = '' AND label = 'Entity')
    )
    ON CONFLICT (key) DO NOTHING
"""
MERGE_LINK = """
    INSERT INTO link (key, type, run, attribute, before, after, start_node, end_node)
    VALUES (
        ?, ?, ?, ?, ?, ?,
        (SELECT number FROM node WHERE id = ? AND run = ? AND label = ?),
        (SELECT number FROM node WHERE id = ? AND run = ? AND label = ?)
    )
    ON CONFLICT (key) DO UPDATE SET before = excluded.before, after = excluded.after
    WHERE (before, after) IS NOT (excluded.before, excluded.after)
"""

_TRIPLE_COLUMNS = """
    triple.run, triple.source_id, triple.subject, triple.predicate, triple.object,
    subject_entity.id, object_entity.id, triple.hop, triple.origin, triple.id, triple.position
"""
_TRIPLE_ENDS = """
    JOIN node subject_entity ON subject_entity.number = triple.subject_node
    JOIN node object_entity ON object_entity.number = triple.object_node
"""

ENTITY_OF_KEY = "SELECT number FROM node WHERE id = ? AND run = '' AND label = 'Entity'"
# A self loop is found by its subject alone.
TRIPLES_AT_ENTITY = """
    SELECT number, subject_node, object_node FROM (
        SELECT key, number, subject_node, object_node FROM triple
        WHERE subject_node = :entity AND (:run IS NULL OR run = :run)
        UNION ALL
        SELECT key, number, subject_node, object_node FROM triple
        WHERE object_node = :entity AND subject_node <> :entity AND (:run IS NULL OR run = :run)
        ORDER BY key
    ) LIMIT :limit
"""
TRIPLE_OF_NUMBER = f"""
    SELECT {_TRIPLE_COLUMNS}, triple.subject_node, triple.object_node
    FROM triple {_TRIPLE_ENDS} WHERE triple.number = ?
"""
TRIPLES_OF_SOURCE = f"""
    SELECT {_TRIPLE_COLUMNS} FROM triple {_TRIPLE_ENDS}
    WHERE triple.source_id = :source AND (:run IS NULL OR triple.run = :run)
    ORDER BY triple.run, triple.hop, triple.position, triple.key
    LIMIT :limit OFFSET :offset
"""

CHAIN_OF_RECORD = """
    WITH RECURSIVE chain (number) AS (
        SELECT number FROM node WHERE id = :record AND run = :run
        UNION
        SELECT link.end_node FROM chain JOIN link ON link.start_node = chain.number
        WHERE link.type IN ('JUDGES', 'ANSWERS', 'VARIANT_OF')
    )
    SELECT node.label, node.id, node.properties FROM chain JOIN node USING (number)
"""
JUDGEMENTS_OF_RECORD = """
    SELECT judgement.id, judgement.properties
    FROM node subject
    JOIN link ON link.end_node = subject.number AND link.type = 'JUDGES'
    JOIN node judgement ON judgement.number = link.start_node
    WHERE subject.id = :record AND subject.run = :run
    ORDER BY json_extract(judgement.properties, '$.rubric'),
        json_extract(judgement.properties, '$.dimension'),
        json_extract(judgement.properties, '$.judge'), judgement.id
"""
VARIANTS_CHANGING_ONLY = """
    SELECT variant.run, variant.id, change.before, change.after, answer.id, answer.properties
    FROM node sample
    JOIN link change ON change.end_node = sample.number AND change.type = 'PERTURBS'
    JOIN node variant ON variant.number = change.start_node
    LEFT JOIN link asked ON asked.end_node = variant.number AND asked.type = 'ANSWERS'
    LEFT JOIN node answer ON answer.number = asked.start_node
    WHERE sample.id = :sample AND sample.label = 'Sample' AND (:run IS NULL OR sample.run = :run)
        AND change.attribute = :attribute
        AND NOT EXISTS (
            SELECT 1 FROM link other
            WHERE other.start_node = variant.number AND other.type = 'PERTURBS'
                AND other.number <> change.number
        )
    ORDER BY variant.run, json_extract(variant.properties, '$.position'), variant.id,
        json_extract(answer.properties, '$.arm'), json_extract(answer.properties, '$.repeat'),
        answer.id
    LIMIT :limit OFFSET :offset
"""

RUNS = """
    SELECT id, properties FROM node WHERE label = 'Run'
    ORDER BY json_extract(properties, '$.created'), id LIMIT :limit OFFSET :offset
"""
RUN_OF_ID = "SELECT properties FROM node WHERE id = :run AND run = :run AND label = 'Run'"

_ENTITIES = """
    FROM node WHERE label = 'Entity' AND (:run IS NULL OR number IN (
        SELECT subject_node FROM triple WHERE run = :run
        UNION SELECT object_node FROM triple WHERE run = :run
        UNION SELECT end_node FROM link WHERE run = :run AND type = 'MENTIONS'
    ))
"""
_RECORD_NODES = "FROM node WHERE label <> 'Entity' AND (:run IS NULL OR run = :run)"
COUNT_NODES = f"""
    SELECT label, count(*) {_RECORD_NODES} GROUP BY label
    UNION ALL SELECT label, count(*) {_ENTITIES} GROUP BY label
"""
COUNT_TRIPLES = """
    SELECT type, count(*) FROM triple WHERE (:run IS NULL OR run = :run) GROUP BY type
"""
COUNT_LINKS = """
    SELECT type, count(*) FROM link WHERE (:run IS NULL OR run = :run) GROUP BY type
"""
ALL_NODES = f"""
    SELECT label, run, id, properties {_RECORD_NODES}
    UNION ALL SELECT label, run, id, properties {_ENTITIES}
"""
ALL_TRIPLES = f"""
    SELECT triple.type, triple.key, {_TRIPLE_COLUMNS} FROM triple {_TRIPLE_ENDS}
    WHERE (:run IS NULL OR triple.run = :run)
"""
ALL_LINKS = """
    SELECT link.type, link.key, link.run, start.label, start.id, finish.label, finish.id,
        link.attribute, link.before, link.after
    FROM link
    JOIN node start ON start.number = link.start_node
    JOIN node finish ON finish.number = link.end_node
    WHERE (:run IS NULL OR link.run = :run)
"""

DROP_RUN = (
    "DELETE FROM triple WHERE run = :run",
    "DELETE FROM link WHERE run = :run",
    "DELETE FROM node WHERE run = :run AND label <> 'Entity'",
)
DROP_ENTITIES_LEFT_ALONE = """
    DELETE FROM node WHERE label = 'Entity'
        AND NOT EXISTS (SELECT 1 FROM triple WHERE subject_node = node.number)
        AND NOT EXISTS (SELECT 1 FROM triple WHERE object_node = node.number)
        AND NOT EXISTS (SELECT 1 FROM link WHERE end_node = node.number)
"""
