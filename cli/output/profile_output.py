"""Profile output: what the rows of topics hold, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.profile_wording import (
    COLUMN_HEAD,
    TABLE_HEAD,
    column_cells,
    lag_words,
    op_shares,
    other_words,
    resend_words,
)
from cdc_contracts.registry.core.report.report_wording import share
from cdc_contracts.registry.core.report.reported_profile import ReportedTable, ReportedTopic

_MOST_SHOWN = 20
_MOST_COLUMNS = 60
"""The number of columns shown, over all tables."""


def print_profile(topics: Sequence[ReportedTopic]) -> None:
    """Print the tables of each topic, and their columns, as far as they are few."""
    left = _MOST_COLUMNS
    for topic in topics[:_MOST_SHOWN]:
        console.print_heading(f"Profile of {visible(topic.topic)}")
        _print_tables(topic)
        again = resend_words(topic)
        rows = [["lag", lag_words(lag)] for lag in topic.lag]
        rows += [["sent again", again]] if again is not None else []
        console.print_table(["", ""], rows)
        for one in topic.tables:
            if len(one.columns) > left:
                console.print_text("and the columns of more tables: --json or --report shows all")
                break
            left -= len(one.columns)
            _print_columns(one)
        if others := other_words(topic):
            console.print_text(others)
    if len(topics) > _MOST_SHOWN:
        console.print_text(f"and {len(topics) - _MOST_SHOWN} more topics: --json or --report shows all")


def _print_tables(topic: ReportedTopic) -> None:
    if not topic.tables:
        console.print_text("no row conforms")
        return
    rows: list[list[str | int]] = [
        [_name(one.table), visible(one.contract), one.rows, share(one.rows, topic.rows), op_shares(one)]
        for one in topic.tables[:_MOST_SHOWN]
    ]
    console.print_table(TABLE_HEAD, rows)
    if len(topic.tables) > _MOST_SHOWN:
        console.print_text(f"and {len(topic.tables) - _MOST_SHOWN} more tables: --json or --report shows all")


def _print_columns(one: ReportedTable) -> None:
    console.print_text("")
    console.print_text(f"{_name(one.table)} {visible(one.contract)}")
    rows = [[visible(column.name), *column_cells(column, one.rows)] for column in one.columns]
    console.print_table(COLUMN_HEAD, rows)


def _name(table: str | None) -> str:
    return "(no table)" if table is None else visible(table)
