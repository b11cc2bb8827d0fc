"""Recorded traces that are no plain text: compressed with gzip, Chakra's protobuf, Nsight Systems' SQLite; and how they are
damaged."""

import gzip
import sqlite3

import damage
import models

EXECUTION = b"""{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [
{"id": 2, "name": "aten::mm", "inputs": {"values": []}, "attrs": []},
{"id": 3, "name": "record_param_comms", "inputs": {"values": []}, "attrs": [
 {"name": "collective_name", "value": "broadcast"}, {"name": "dtype", "value": "Float"}, {"name": "in_msg_nelems", "value": 10},
 {"name": "pg_name", "value": "0"}, {"name": "pg_size", "value": 2}, {"name": "global_rank_start", "value": 0},
 {"name": "global_rank_stride", "value": 1}]},
{"id": 4, "name": "record_param_comms", "inputs": [[[9, 6, 0, 48, 4, "cuda:0"]], 1, 2, 0, "all_to_allv", [], []]},
{"id": 6, "name": "## process_group:init ##", "inputs": {"values": ["[{\\"pg_name\\": \\"0\\", \\"ranks\\": [0, 1]}]"]}}]}"""
JSONIZED = b"""{"global_metadata": {}, "workload_graph": [
{"id": "1", "name": "gemm", "type": "COMP_NODE", "durationMicros": "12", "attr": [{"name": "is_cpu_op", "boolVal": false}]},
{"id": "2", "name": "ncclDevKernel_AllReduce", "type": "COMM_COLL_NODE", "durationMicros": 30, "ctrlDeps": ["1"],
 "attr": [{"name": "comm_size", "int64Val": "4096"}, {"name": "comm_type", "int64Val": "0"}, {"name": "pg_name", "stringVal": "0"}]}]}"""


# ---- compressed


def of_gzip(random, content):
    text = gzip.decompress(content)
    what = random.random()
    if what < 0.3:
        return damage.of_bytes(random, content)
    if what < 0.36:  # a part after the other, which unfold to a thousand times as much
        part = gzip.compress(random.choice([b" ", b"\0", b"[", b"{", b'"', b"9", b"1,"]) * (1 << 26), 6)
        return gzip.compress(text[: random.randrange(len(text))]) + part * random.choice([1, 4, 64])
    if what < 0.45:
        event = b'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1},'
        return gzip.compress(b'{"traceEvents":[' + event * random.choice([1000, 1_000_000]) + b"{}]}", 1)
    return gzip.compress(damage.of_json(random, text), 1)


# ---- Chakra: messages with their lengths before them

CHAKRA = {"Metadata": {2: "Attribute"}, "Node": {10: "Attribute"}, "Attribute": {}}


def chakra(messages):
    out = bytearray()
    for fields in messages:
        content = models.written(fields)
        out += models.varint(len(content)) + content
        if len(out) > damage.LARGEST:
            raise damage.TooLarge
    return bytes(out)


def small_chakra():
    attribute = lambda name, number, value: models.message(10, models.text(1, name), models.Field(number, 0, value))
    node = lambda i, name, kind, *more: [models.Field(1, 0, i), models.text(2, name), models.Field(3, 0, kind),
                                         models.Field(7, 0, 12), *more]
    group = models.message(10, models.text(1, "pg_name"), models.text(29, "0"))
    return chakra([[models.text(1, "0.0.4"), models.message(2, models.text(1, "schema"), models.text(29, "1.1"))],
                   node(1, "gemm", 4, attribute("is_cpu_op", 27, 0)), node(2, "load", 2), node(3, "send", 5, attribute("comm_size", 9, 64)),
                   node(4, "gradients", 7, attribute("comm_size", 9, 4096), attribute("comm_type", 9, 0), group)])


def of_chakra(random, content):
    if random.random() < 0.2:
        return damage.of_bytes(random, content)
    messages, at = [], 0
    try:
        while at < len(content):
            size, at = models.read_varint(content, at)
            messages.append(models.parsed(content[at : at + size], "Node" if messages else "Metadata", CHAKRA))
            at += size
        for _ in range(random.choice([1, 1, 2, 8])):
            i = random.randrange(len(messages))
            if random.random() < 0.15:
                messages[i:i] = [messages[i]] * random.choice([1, 100, 3000])
            messages[i] = models.changed(random, messages[i])
        return chakra(messages)
    except (IndexError, RecursionError, damage.TooLarge):  # what was changed holds itself, or too much
        return damage.of_bytes(random, content)


# ---- Nsight Systems

NSIGHT = """
CREATE TABLE StringIds (id INTEGER, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum'), (3, 'cudaLaunchKernel');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER,
 correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, 0, 7, 5, 16777216, 1), (2000, 6000, 0, 8, 0, 16777216, 2),
 (1000, 2000, 1, 7, 0, 16777216, 1), (9, 3, 1, 7, 0, 16777216, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER,
 correlationId INTEGER, globalPid INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4000, 4500, 0, 7, 6, 16777216, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 16777217, 5, 3);
CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, globalTid INTEGER, text TEXT, textId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0, 9000, 16777217, 'ProfilerStep#3', NULL), (0, 9000, 16777217, NULL, 1);
"""
# Tables that are something else than what an export has.
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
FOREIGN = [
    "DROP TABLE StringIds; CREATE VIEW StringIds AS " + MANY.format(10**12) + "SELECT i AS id, 'x' AS value FROM n WHERE i < 0",
    "DROP TABLE StringIds; CREATE VIEW StringIds(id, value) AS SELECT 1, hex(zeroblob(900000000))",
    "DROP TABLE StringIds; CREATE TABLE StringIds (id INTEGER, value TEXT AS (hex(zeroblob(450000000 + id))))",
    "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS " + MANY.format(10**12)
    + "SELECT i AS start, i AS \"end\", 0 AS deviceId, 7 AS streamId, 0 AS correlationId, 16777216 AS globalPid, 1 AS demangledName FROM n",
    # More devices than any machine, of one process that all ranges belong to.
    MANY.format(4000) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, i, 7, 0, 0, 1 FROM n;"
    + MANY.format(30_000) + "INSERT INTO NVTX_EVENTS SELECT i, i + 1, 16777217, 'r', NULL FROM n",
    # Every name has to be looked for.
    MANY.format(60_000) + "INSERT INTO StringIds SELECT i + 10, 'k' FROM n;"
    + MANY.format(60_000) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, 0, 7, 0, 16777216, i + 10 FROM n",
    MANY.format(50_000) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, 0, i, 0, 16777216, 1 FROM n",
]


def nsight(scratch):
    scratch.unlink(missing_ok=True)
    database = sqlite3.connect(scratch)
    database.executescript(NSIGHT)
    database.close()
    return scratch.read_bytes()


def of_nsight(random, content, scratch):
    what = random.random()
    if what < 0.3:
        return damage.of_bytes(random, content)
    scratch.write_bytes(content)
    database = sqlite3.connect(scratch)
    if what < 0.36:
        database.executescript(random.choice(FOREIGN))
    for _ in range(random.choice([1, 1, 3])):
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        change(random, database, random.choice(tables))
    database.commit()
    database.close()
    return scratch.read_bytes()


def change(random, database, table):
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    column, value = random.choice(columns), random.choice(
        [-1, 0, 1, 2**31, 2**62, -(2**63), 2**63 - 1, 1e308, -1.5, "", "x" * 100_000, "\u202e\x1b[31m", b"\xff\xfe", b"", None])
    what = random.randrange(8)
    try:
        if what == 0:
            database.execute(f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})")
        elif what == 1:
            database.execute(f"DROP TABLE {table}")
        elif what == 2:
            database.execute(f'ALTER TABLE {table} DROP COLUMN "{column}"')
        elif what == 3:
            database.execute(f"INSERT INTO {table} SELECT * FROM {table}")
        else:
            some = "" if random.random() < 0.3 else f" WHERE rowid = {random.randrange(1, 4)}"
            database.execute(f'UPDATE {table} SET "{column}" = ?{some}', (value,))
    except sqlite3.Error:  # what SQLite itself refuses
        pass
