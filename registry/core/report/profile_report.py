"""Profile report: the profile section of a report, from the tally of a run."""

from __future__ import annotations

from collections import Counter

from cdc_contracts.registry.core.report.reported_profile import (
    LagBucket,
    ReportedColumn,
    ReportedLag,
    ReportedResends,
    ReportedTable,
    ReportedTopic,
)
from cdc_contracts.registry.core.stats.position_sequences import GOES_BACK, REPEATS
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.topic_profiles import (
    MOST_BUCKET,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
)


def report_profile(tally: Tally) -> tuple[ReportedTopic, ...]:
    """Return the profile of each topic that was read."""
    profiles = tally.profiles or TopicProfiles()
    topics = sorted({source.topic for source in tally.partitions})
    tables: dict[str, list[ReportedTable]] = {topic: [] for topic in topics}
    for key, table in profiles.kept().items():
        tables[key.topic].append(_table(key, table))
    lags: dict[str, list[ReportedLag]] = {topic: [] for topic in topics}
    for line, lag in sorted(profiles.lags.items()):
        lags[line.topic].append(_lag(line.until, lag))
    return tuple(
        ReportedTopic(
            topic=topic,
            rows=profiles.rows.get(topic, 0),
            other_rows=profiles.rows.get(topic, 0) - sum(table.rows for table in tables[topic]),
            tables=tuple(tables[topic]),
            lag=tuple(lags[topic]),
            resends=_resends(tally, topic),
        )
        for topic in topics
    )


def _table(key: ProfiledTable, table: TableProfile) -> ReportedTable:
    columns = table.kept()
    return ReportedTable(
        table=key.table,
        contract=key.contract,
        rows=table.rows,
        ops=dict(sorted(table.ops.items())),
        columns=tuple(
            ReportedColumn(
                name=name, absent=table.rows - one.present, nulls=one.nulls, texts=one.texts, empty=one.empty,
                replaced=one.replaced, shortest=one.shortest, longest=one.longest, characters=one.characters,
            )
            for name, one in columns.items()
        ),
        other_values=table.values - sum(one.present for one in columns.values()),
    )  # fmt: skip


def _lag(until: str, lag: LagProfile) -> ReportedLag:
    return ReportedLag(
        until="process-time" if until == "process-time" else "kafka-timestamp",
        messages=lag.messages,
        unknown=lag.unknown,
        least=lag.least,
        most=lag.most,
        buckets=tuple(LagBucket(_end_of(bucket), lag.buckets[bucket]) for bucket in sorted(lag.buckets)),
    )


def _end_of(bucket: int) -> int | None:
    """Return the milliseconds that the lags of a bucket are below."""
    if bucket == MOST_BUCKET:
        return None
    return 0 if bucket < 0 else int(2**bucket)


def _resends(tally: Tally, topic: str) -> ReportedResends | None:
    sequences, counts = tally.statistics.sequences, Counter[str]()
    if not any(line.topic == topic for line in sequences.segments):
        return None
    for (line, cause), stretch in sequences.breaches().items():
        if line.topic == topic:
            counts[cause] += stretch.count
    return ReportedResends(repeated=counts[REPEATS], back=counts[GOES_BACK])
