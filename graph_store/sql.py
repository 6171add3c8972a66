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
    # Pages (40 MB): with SQLite's own 1,000 nearly every batch would be copied and synced twice.
    "PRAGMA wal_autocheckpoint = 10000",
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

# The variants that change one attribute and no other, and that the gate did not reject.
_CHANGING_ONLY = """
    change.type = 'PERTURBS' AND change.attribute = :attribute
    AND NOT EXISTS (
        SELECT 1 FROM link other
        WHERE other.start_node = change.start_node AND other.type = 'PERTURBS'
            AND other.number <> change.number
    )
    AND NOT EXISTS (
        SELECT 1 FROM link checks JOIN node verdict ON verdict.number = checks.start_node
        WHERE checks.end_node = change.start_node AND checks.type = 'JUDGES'
            AND json_extract(verdict.properties, '$.rubric') = 'validity'
            AND json_extract(verdict.properties, '$.value') = 'rejected'
    )
"""
_SCORED = """
    json_extract({answer}.properties, '$.status') = 'ok'
    AND json_extract({answer}.properties, '$.repeat') = 0
    AND EXISTS (
        SELECT 1 FROM triple WHERE triple.source_id = {answer}.id AND triple.run = {answer}.run
    )
"""
GROUP_DIFFERENCE = f"""
    WITH pair (id, base_id) AS MATERIALIZED (
        SELECT answer.id, base_answer.id
        FROM link change
        JOIN link asked ON asked.end_node = change.start_node AND asked.type = 'ANSWERS'
        JOIN node answer ON answer.number = asked.start_node
        JOIN link made ON made.end_node = change.end_node AND made.type = 'VARIANT_OF'
        JOIN node base ON base.number = made.start_node
            AND json_extract(base.properties, '$.arm') = 'base'
        JOIN link asked_base ON asked_base.end_node = base.number AND asked_base.type = 'ANSWERS'
        JOIN node base_answer ON base_answer.number = asked_base.start_node
            AND json_extract(base_answer.properties, '$.arm')
                = json_extract(answer.properties, '$.arm')
        WHERE change.run = :run AND {_CHANGING_ONLY}
            AND {_SCORED.format(answer="answer")} AND {_SCORED.format(answer="base_answer")}
    ),
    stated (pair, side, subject_node, type, object_node, hop) AS (
        SELECT DISTINCT pair.id, 'variant', subject_node, type, object_node, hop
        FROM pair CROSS JOIN triple ON triple.source_id = pair.id AND triple.run = :run
        WHERE :hop IS NULL OR hop = :hop
        UNION
        SELECT DISTINCT pair.id, 'base', subject_node, type, object_node, hop
        FROM pair CROSS JOIN triple ON triple.source_id = pair.base_id AND triple.run = :run
        WHERE :hop IS NULL OR hop = :hop
    ),
    sides (subject_node, type, object_node, hop, n, side) AS (
        SELECT subject_node, type, object_node, hop, count(*), min(side)
        FROM stated GROUP BY pair, subject_node, type, object_node, hop
    ),
    contrast AS (
        SELECT subject_node, type, object_node, hop,
            sum(n = 1 AND side = 'variant') AS only_variant,
            sum(n = 1 AND side = 'base') AS only_base,
            sum(n = 2) AS both
        FROM sides GROUP BY subject_node, type, object_node, hop
    )
    SELECT subject.id, contrast.type, object.id, contrast.hop, only_variant, only_base, both,
        (SELECT count(*) FROM pair)
    FROM contrast
    JOIN node subject ON subject.number = contrast.subject_node
    JOIN node object ON object.number = contrast.object_node
    WHERE only_variant + only_base > 0
    ORDER BY abs(only_variant - only_base) DESC, only_variant + only_base DESC,
        contrast.hop, subject.id, contrast.type, object.id
    LIMIT :limit OFFSET :offset
"""
# CROSS JOIN is SQLite's way to say "in this order": without statistics it starts elsewhere, and a
# thousand samples take ten seconds.
CHANGED_CASES = f"""
    SELECT change.run, sample.id, variant.id, change.before, change.after,
        json_extract(answer.properties, '$.arm'),
        base.id, json_extract(base.properties, '$.text'),
        answer.id, json_extract(answer.properties, '$.text'),
        verdict.id, json_extract(verdict.properties, '$.judge'),
        json_extract(verdict.properties, '$.reason')
    FROM link change
    JOIN node sample ON sample.number = change.end_node
    JOIN node variant ON variant.number = change.start_node
    CROSS JOIN link asked ON asked.end_node = variant.number AND asked.type = 'ANSWERS'
    CROSS JOIN node answer ON answer.number = asked.start_node
    CROSS JOIN link judged ON judged.end_node = answer.number AND judged.type = 'JUDGES'
    CROSS JOIN node verdict ON verdict.number = judged.start_node
    JOIN link compared ON compared.start_node = verdict.number AND compared.type = 'COMPARES_WITH'
    JOIN node base ON base.number = compared.end_node
    WHERE (:run IS NULL OR change.run = :run) AND {_CHANGING_ONLY}
        AND json_extract(verdict.properties, '$.rubric') = 'paired_change'
        AND coalesce(json_extract(verdict.properties, '$.dimension'), 'any') = 'any'
        AND json_extract(verdict.properties, '$.value') = 1
    ORDER BY change.run, coalesce(json_extract(sample.properties, '$.position'), -1), sample.id,
        coalesce(json_extract(variant.properties, '$.position'), -1), variant.id,
        coalesce(json_extract(answer.properties, '$.arm'), ''), answer.id, verdict.id
    LIMIT :limit OFFSET :offset
"""
# Several askings of one kind in a run (another target in the same run) would be one row here: the
# workflow makes none, as a run has one target.
_ASKINGS = """
    FROM node answer
    JOIN link asked ON asked.start_node = answer.number AND asked.type = 'ANSWERS'
    JOIN node variant ON variant.number = asked.end_node
    JOIN link made ON made.start_node = variant.number AND made.type = 'VARIANT_OF'
    JOIN node sample ON sample.number = made.end_node
    WHERE answer.label = 'Answer' AND answer.run IN (SELECT value FROM json_each(:runs))
"""
ASKINGS_OF_RUNS = f"""
    SELECT sample.id, variant.id, max(json_extract(variant.properties, '$.group')),
        json_extract(answer.properties, '$.arm') AS arm,
        json_extract(answer.properties, '$.repeat') AS repeat
    {_ASKINGS}
    GROUP BY sample.id, variant.id, arm, repeat
    ORDER BY max(coalesce(json_extract(sample.properties, '$.position'), -1)), sample.id,
        max(coalesce(json_extract(variant.properties, '$.position'), -1)), variant.id,
        coalesce(arm, ''), coalesce(repeat, -1)
    LIMIT :limit OFFSET :offset
"""
ANSWERS_TO_VARIANT = """
    SELECT answer.run, answer.id, answer.properties
    FROM node variant
    JOIN link asked ON asked.end_node = variant.number AND asked.type = 'ANSWERS'
    JOIN node answer ON answer.number = asked.start_node
    WHERE variant.id = :variant AND variant.label = 'Variant'
        AND variant.run IN (SELECT value FROM json_each(:runs))
        AND json_extract(answer.properties, '$.arm') IS :arm
        AND json_extract(answer.properties, '$.repeat') IS :repeat
    ORDER BY answer.run, answer.id DESC
"""

# With min() alone beside it, SQLite takes `name` from the row that has the smallest key.
ENTITY_NAMES = """
    WITH stated (entity, key, name) AS (
        SELECT subject_node, key, subject FROM triple WHERE (:run IS NULL OR run = :run)
        UNION ALL
        SELECT object_node, key, object FROM triple
        WHERE object_node <> subject_node AND (:run IS NULL OR run = :run)
    )
    SELECT node.id, named.name, named.degree
    FROM (SELECT entity, name, min(key), count(*) AS degree FROM stated GROUP BY entity) named
    JOIN node ON node.number = named.entity
    ORDER BY named.degree DESC, node.id LIMIT :limit OFFSET :offset
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
