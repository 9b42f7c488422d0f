"""HTML profile: the profile section of the page of a report."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.report.html_findings import facts
from cdc_contracts.registry.core.report.html_markup import (
    Markup,
    cell,
    element,
    fold,
    heading,
    join,
    more,
    name_of,
    row,
    table,
)
from cdc_contracts.registry.core.report.profile_wording import (
    COLUMN_HEAD,
    TABLE_HEAD,
    bucket_words,
    column_cells,
    lag_words,
    op_shares,
    other_words,
    resend_words,
)
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.report_wording import count_of, share
from cdc_contracts.registry.core.report.reported_profile import ReportedLag, ReportedTable, ReportedTopic
from cdc_contracts.registry.core.report.svg_timeline import bar

_MOST_TOPICS: Final = 50
_MOST_TABLES: Final = 100
_MOST_OPEN: Final = 3
"""The number of tables whose columns are shown at once; those of the others can be expanded."""
_TALL: Final = 30


def profile_section(report: Report) -> Markup | None:
    """Return the profile of each topic; None if the report has none."""
    topics = report.profile or ()
    if not topics:
        return None
    shown = [_topic(topic, alone=len(topics) == 1) for topic in topics[:_MOST_TOPICS]]
    return join([*shown, more(len(topics) - _MOST_TOPICS, "topics")])


def _topic(topic: ReportedTopic, *, alone: bool) -> Markup:
    tables = topic.tables
    open_ones = alone and len(tables) <= _MOST_OPEN
    content = [
        facts([
            ("Rows", f"{topic.rows:,}"),
            *(("Lag", lag_words(lag)) for lag in topic.lag),
            ("Sent again", resend_words(topic)),
        ]),
        *(_lag(lag) for lag in topic.lag),
        _tables(topic),
        *(_columns(one, is_open=open_ones and len(one.columns) <= _TALL) for one in tables[:_MOST_TABLES]),
        _note(other_words(topic)),
    ]  # fmt: skip
    if alone:
        return join(content)
    return fold(f"{topic.topic}: {count_of(topic.rows, 'row')}", *content)


def _lag(lag: ReportedLag) -> Markup | None:
    """The lags by bucket, with a bar for the share of each."""
    total = sum(bucket.messages for bucket in lag.buckets)
    rows = [
        row(
            cell(bucket_words(bucket)),
            cell(f"{bucket.messages:,}", "number", label="messages"),
            cell(share(bucket.messages, total), "number", label="share"),
            cell(bar(bucket.messages / total), "bar"),
        )
        for bucket in lag.buckets
    ]
    head = [heading("lag"), heading("messages", "number"), heading("share", "number"), heading("")]
    return table(rows, head=head, kind="lag") if rows else None


def _tables(topic: ReportedTopic) -> Markup | None:
    rows = [
        row(
            element("th", name_of(one.table or "(no table)"), scope="row", role="rowheader"),
            cell(name_of(one.contract), label="version"),
            cell(f"{one.rows:,}", "number", label="rows"),
            cell(share(one.rows, topic.rows), "number", label="share"),
            cell(op_shares(one), label="ops"),
        )
        for one in topic.tables[:_MOST_TABLES]
    ]
    head = [heading(title, "number" if title in ("rows", "share") else None) for title in TABLE_HEAD]
    if not rows:
        return element("p", "No row conforms.", class_="none")
    return join([
        table(rows, head=head, kind="cards"), more(len(topic.tables) - _MOST_TABLES, "tables")
    ])  # fmt: skip


def _columns(one: ReportedTable, *, is_open: bool) -> Markup:
    rows = [
        row(
            element("th", name_of(column.name), scope="row", role="rowheader"),
            *(
                cell(text, "number bad" if text and label == COLUMN_HEAD[-1] else "number", label=label)
                for label, text in zip(COLUMN_HEAD[1:], column_cells(column, one.rows), strict=True)
            ),
        )
        for column in one.columns
    ]
    head = [heading(title, None if title == "column" else "number") for title in COLUMN_HEAD]
    name = join([name_of(one.table or "(no table)"), " ", name_of(one.contract)])
    columns = table(rows, head=head, kind="cards profile")
    return element(
        "details", element("summary", name, f": {count_of(len(one.columns), 'column')}"), columns,
        class_="fold", open=is_open,
    )  # fmt: skip


def _note(text: str | None) -> Markup | None:
    return element("p", text, class_="more") if text else None
