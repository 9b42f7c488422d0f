from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.common.drift_class import DriftCause, DriftClass, EventStream
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import WARNING

_COLUMN: Final = "added_by_an_upgrade"
_TYPE: Final = "varchar(20)"


def refuse(stream: EventStream) -> None:
    """Raise UsageError if rows may have any columns, and no table contracts say which those of a table have."""
    if stream.may_lack_columns and not stream.lists_tables:
        raise UsageError(
            f"rows of {stream.version} may have other columns than those before",
            where="--drift table-schema", hint="List tables with --tables, or use --parameter row_columns=all.",
        )  # fmt: skip


def drifts(stream: EventStream, event: Any, wanted: bool) -> Any:  # noqa: FBT001
    """Give the table one more column, from the first event of a kind that was there without it."""
    op, started = stream.op_of(event), bool(stream.tables)
    if event.table is None or not (started or (wanted and op in stream.seen and op != "snapshot")):
        return None
    table = stream.tables.setdefault(event.table, replace(event.table, types={**event.table.types, _COLUMN: _TYPE}))
    before, after = (None if row is None else {**row, _COLUMN: None} for row in (event.before, event.after))
    return replace(event, table=table, before=before, after=after)


CLASS = DriftClass(
    id="D11", name="table-schema", severity=WARNING,
    says="The columns of a table change mid-stream, or differ from its table contract: which columns there are, "
    "which of them are the key, and which are never NULL.",
    action="Find the statement that altered the table; apply the change to the table contract and to the target "
    "tables.",
    good="every message of a table has the same columns", bad="a column appears mid-stream",
    drifts=drifts,
    refuse=refuse,
    causes=(
        DriftCause(
            "new-column",
            "Rows have a column that they did not have before, or that the table contract does not list.",
            per_column=True,
            of_shapes=True,
        ),
        DriftCause(
            "lost-column",
            "Rows lack a column that they had before, or that the table contract lists. Where the producer leaves out "
            "columns that are NULL, `--parameter row_columns=some` says so, if the contract has that parameter.",
            per_column=True,
            of_shapes=True,
        ),
        DriftCause(
            "column-type",
            "A column has a different source type than before, or than in the table contract.",
            per_column=True,
            of_shapes=True,
        ),
        DriftCause(
            "dropped-column",
            "A statement in the topic dropped the column, but later rows still have it.",
            per_column=True,
        ),
        DriftCause(
            "column-form",
            "The values of a column are written differently than before, and the messages do not state its type.",
            per_column=True,
        ),
        DriftCause(
            "incompatible-schema",
            "Records name another schema of the registry than before, and readers of one of the two do not read "
            "records of the other, or misread them. `cdc-contracts compat` compares them by the same rules.",
        ),
        DriftCause(
            "incompatible-key",
            "Keys of records name another schema of the registry than before, and readers of one of the two do not "
            "read keys of the other, or misread them.",
        ),
        DriftCause("not-null", "The table contract says that the column is never NULL, but it is."),
        DriftCause("primary-key", "The key of the rows is not the primary key in the table contract."),
    ),
)  # fmt: skip
