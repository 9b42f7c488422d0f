"""The content of an output directory according to the records of finished runs, read without our code."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote

import fastavro
import pyarrow.parquet as pq
from changelogs import NAMES

COORDINATES = ("topic", "partition", "offset", "row_index")
TABLES = {name: table for table, name in NAMES.items()}


def run_records(directory):
    """The records of the finished runs, as JSON documents."""
    return [json.loads(path.read_text()) for path in sorted((directory / "_runs").glob("*.json"))]


def read_output(directory, name):
    """The rows of `changes`, `control`, `quarantine` or `ledger`, in order of where they come from."""
    parts = [part["path"] for record in run_records(directory) for part in record["files"] if part["table"] == name]
    rows = read_files(directory / part for part in parts)
    return sorted(rows, key=lambda row: tuple(row.get(name, 0) for name in COORDINATES))


def read_table(directory, table):
    """The rows of a typed table in any format, in order of where they come from."""
    return in_order(table_files(directory, table))


def read_kept(directory, kind, table):
    """The rows of `current` or `deleted` of a table, in order of the changes that they are there by."""
    return in_order(kept_files(directory, kind, table))


def in_order(paths):
    rows = read_files(paths)
    for row in rows:
        if "__partition" in row:  # Iceberg has a `_partition` of its own
            row["_partition"] = row.pop("__partition")
    return sorted(rows, key=lambda row: tuple(row[f"_{name}"] for name in COORDINATES))


def read_files(paths):
    return [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]


def table_files(directory, table):
    """The files that hold the rows of a typed table now."""
    found = [one for record in run_records(directory) for one in record["tables"] if one["table"] == table]
    if format_of(directory) == "parquet":
        return [str(directory / part["path"]) for one in found for part in one["files"]]
    return kept_files(directory, "tables", table)


def format_of(directory):
    (found,) = {record["table_format"] for record in run_records(directory)}
    return found


def kept_files(directory, kind, table):
    """The files that hold the rows of a table of `tables`, `current` or `deleted` now."""
    if format_of(directory) == "delta":
        return delta_files(directory / kind / quote(table, safe="."))
    return iceberg_files(directory / kind / table.replace(".", "/"))


def delta_files(folder):
    """The files of the latest version of a Delta table: its log of JSON commits, added up."""
    files = {}
    for commit in sorted((folder / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            for action, reported in json.loads(line).items():
                if action == "add":
                    assert "deletionVector" not in reported, "files are read whole here"
                    files[reported["path"]] = str(folder / unquote(reported["path"]))
                elif action == "remove":
                    files.pop(reported["path"], None)
    return list(files.values())


def iceberg_files(folder):
    """The files of the current snapshot of an Iceberg table: metadata, list of manifests, manifests."""
    hint = (folder / "metadata" / "version-hint.text").read_text().strip()
    metadata = json.loads((folder / "metadata" / f"v{hint}.metadata.json").read_text())
    current = next(one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["current-snapshot-id"])
    entries = [entry for one in _avro(current["manifest-list"]) for entry in _avro(one["manifest_path"])]
    there = [entry["data_file"] for entry in entries if entry["status"] != 2]
    assert not any(one["content"] for one in there), "files are read whole here"
    return [_path(one["file_path"]) for one in there]


def check_outputs(directory, topic, log):
    """The directory holds what the changelog comes to: all of it, once, and nothing else."""
    messages, offsets = {}, Counter()
    for partition, value in log.messages:
        messages[partition, offsets[partition]] = value
        offsets[partition] += 1

    for table, wanted in log.rows.items():
        rows = read_table(directory, table)
        assert [(row["_topic"], row["_row_index"]) for row in rows] == [(topic, 0)] * len(wanted), table
        assert [{name: row[name] for name in wanted[0]} for row in rows] == wanted, table

    changed = sorted((row["_partition"], row["_offset"]) for rows in log.rows.values() for row in rows)
    assert [(row["partition"], row["offset"]) for row in read_output(directory, "changes")] == changed
    for row in (held := read_output(directory, "quarantine")):
        assert row["value"] == messages[row["partition"], row["offset"]]
    places = [(row["partition"], row["offset"]) for row in held]
    assert len(set(places)) == len(places) == sum(counts["quarantined"] for counts in log.counts.values())
    check_ledger(directory, log)


def check_current(directory, log):
    """The current rows are those that the source has at the end, each by its newest change; the other keys are gone."""
    for table, wanted in log.current.items():
        keys, names = TABLES[table].primary_key, ("_op", "_partition", "_offset", "_position", *TABLES[table].types)
        rows = read_kept(directory, "current", table)
        found = {tuple(row[name] for name in keys): {name: row[name] for name in names} for row in rows}
        assert len(found) == len(rows), table
        assert found == wanted, table
        assert not any(row["_absent"] or row["_raw"] for row in rows), table
        gone = [tuple(row[name] for name in keys) for row in read_kept(directory, "deleted", table)]
        assert len(set(gone)) == len(gone), table
        assert set(gone) >= log.gone[table], table
        assert not set(gone) & wanted.keys(), table


def check_ledger(directory, log):
    """The ledgers of all runs together account for every message once, partition by partition."""
    total = defaultdict(Counter)
    spans = defaultdict(list)
    for row in read_output(directory, "ledger"):
        spans[row["partition"]].append((row["start"], row["end"]))
        for name in ("read", "conforming", "control", "tombstone", "quarantined", "gaps", "repeated", "dropped"):
            total[row["partition"]][name] += row[name]
    for partition, counts in log.counts.items():
        assert total[partition] == Counter(
            {**counts, "read": counts.total(), "gaps": 0, "repeated": 0, "dropped": 0}
        ), partition
        ranges = sorted(span for span in spans[partition] if span[0] < span[1])
        assert [start for start, _ in ranges] == [0, *[end for _, end in ranges[:-1]]]
        assert ranges[-1][1] == counts.total()


def digest_of(directory, log):
    """The digest of all that the directory holds, whatever the files: rows in order, each value by its own text."""
    import hashlib

    digest = hashlib.sha256()
    for table in log.rows:
        current = read_kept(directory, "current", table) if (directory / "current").exists() else []
        for row in chain(read_table(directory, table), current):
            digest.update(repr(sorted(row.items())).encode())
    for name in ("changes", "control", "quarantine", "repeats"):
        for row in read_output(directory, name):
            digest.update(repr(sorted(row.items())).encode())
    return digest.hexdigest()


def _avro(location):
    with Path(_path(location)).open("rb") as file:
        return list(fastavro.reader(file))


def _path(location):
    return location.removeprefix("file://").removeprefix("file:")
