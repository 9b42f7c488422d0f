"""Run names: the same run has the same name, so that it is recognised when it is repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import chain

from cdc_contracts.registry.report.audit_report import Span
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey


def name_run(spans: Mapping[Source, Span], fingerprint: str, topics: Mapping[str, str]) -> str:
    """Return the name of a run over a range; `fingerprint` is that of its contract and reading options.

    `topics` are the broker's ids of the topics, as far as it gives them: a recreated topic is another one.
    """
    ranges = [word for source, span in sorted(spans.items()) for word in (*source, span.start, span.end)]
    return _digest([*ranges, *chain.from_iterable(sorted(topics.items())), fingerprint])


def name_batch(key: WriteKey) -> str:
    """Return the name of a batch of a stream: that of the same query, whatever it reads."""
    return _digest([key.writer, key.number])


def name_replay(waiting: Iterable[str], topics: Iterable[str], fingerprint: str) -> str:
    """Return the name of a replay: of the runs whose records wait, of the topics that are asked for."""
    return _digest(["quarantine", *waiting, *topics, fingerprint])


def _digest(words: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()[:16]
