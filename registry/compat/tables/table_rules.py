"""Table rules: how a version of a table contract may differ from the one before it."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, NOTE, UNDECIDED

_NEW_TABLE: Final = "Keep what is there and add a column beside it, or decode into another folder from here on."

TABLE_REMOVED: Final = CompatibilityRule(
    "T201", "table-removed", BREAKING,
    "A table has no contract any more: its rows are an unknown table, and in dialects without types they lose them.",
    "Put it back for as long as messages of the table are read, old ranges too.",
    "shop.orders in both", "shop.orders gone",
)  # fmt: skip
COLUMN_REMOVED: Final = CompatibilityRule(
    "T202", "column-removed", BREAKING,
    "A column is gone: who reads the table misses it, and messages that have it drift.",
    "Keep it, nullable, for as long as messages have it.",
    "note in both", "note gone",
)  # fmt: skip
TYPE_CHANGED: Final = CompatibilityRule(
    "T203", "type-changed", BREAKING,
    "A column holds values of another kind: they are read, typed and compared otherwise.",
    _NEW_TABLE,
    "int, then bigint", "int, then varchar(20)",
)  # fmt: skip
TYPE_NARROWED: Final = CompatibilityRule(
    "T204", "type-narrowed", BREAKING,
    "A column no longer takes values that it took: they do not fit, and their messages are quarantined.",
    "Narrow it when no message with such a value will be read again.",
    "decimal(10,2), then decimal(12,2)", "decimal(12,2), then decimal(10,2)",
)  # fmt: skip
NOT_NULL: Final = CompatibilityRule(
    "T205", "column-not-null", BREAKING,
    "A column that could be NULL no longer can: rows from before have NULL there.",
    "Leave it nullable for as long as such rows are read.",
    "nullable: false, then nullable", "nullable, then nullable: false",
)  # fmt: skip
REQUIRED_ADDED: Final = CompatibilityRule(
    "T206", "required-column-added", BREAKING,
    "A column is new and cannot be NULL: rows from before have nothing there.",
    "Add it nullable.",
    "note: {type: text} is new", "note: {type: text, nullable: false} is new",
)  # fmt: skip
KEY_CHANGED: Final = CompatibilityRule(
    "T207", "primary-key-changed", BREAKING,
    "Rows are told apart by other columns: what was one row is several, or the other way round.",
    "Rebuild tables that hold the latest state of each row, under the new key.",
    "primary_key: [id] in both", "primary_key: [id], then primary_key: [id, shop]",
)  # fmt: skip
ZONE_CHANGED: Final = CompatibilityRule(
    "T208", "zone-changed", BREAKING,
    "Timestamps without a zone stand for other instants: rows from before and after do not compare.",
    "Correct it only where it was wrong from the beginning, and decode the range again.",
    'source_time_zone: "+08:00" in both', 'source_time_zone: "+08:00", then none',
)  # fmt: skip
TYPE_UNDECIDED: Final = CompatibilityRule(
    "T209", "type-undecided", UNDECIDED,
    "A type became another that is not known here: whether it takes the same values cannot be said.",
    "Look in the manual of the database.",
    "int, then bigint", "point, then geometry",
)  # fmt: skip
VERSION_KEPT: Final = CompatibilityRule(
    "T210", "version-not-raised", BREAKING,
    "A contract says something else under a number that was given before, or a lower one: `NAME@N` means two things.",
    "Raise `version`.",
    "version: 1, then version: 2 with a new column", "version: 1 in both, one with a new column",
)  # fmt: skip
TABLE_ADDED: Final = CompatibilityRule(
    "T221", "table-added", NOTE,
    "A table is new.",
    "Nothing: nobody goes by it yet.",
    "shop.visits is new", "shop.visits takes the place of shop.orders",
)  # fmt: skip
COLUMN_ADDED: Final = CompatibilityRule(
    "T222", "column-added", NOTE,
    "A column is new and may be NULL. Typed tables get it; rows from before do not have it.",
    "Nothing.",
    "note: {type: text} is new", "note: {type: text, nullable: false} is new",
)  # fmt: skip
TYPE_WIDENED: Final = CompatibilityRule(
    "T223", "type-widened", NOTE,
    "A column takes values that it did not take.",
    "A table that was written before keeps its type and what does not fit it as text in `_raw`: decode into a new "
    "folder where such values count.",
    "decimal(10,2), then decimal(12,2)", "decimal(12,2), then decimal(10,2)",
)  # fmt: skip
LENGTH_SHORTENED: Final = CompatibilityRule(
    "T224", "length-shortened", NOTE,
    "A text or binary column became shorter. Values are kept whole all the same, however long they are.",
    "Look whether rows from before have longer ones, and whether their readers count on the length.",
    "varchar(20), then varchar(40)", "varchar(40), then varchar(20)",
)  # fmt: skip
NOW_NULLABLE: Final = CompatibilityRule(
    "T225", "column-nullable", NOTE,
    "A column that could not be NULL now can.",
    "Look whether readers of the table are ready for NULL.",
    "nullable: false in both", "nullable: false, then nullable",
)  # fmt: skip

TABLE_COMPATIBILITY_RULES: Final = (
    TABLE_REMOVED, COLUMN_REMOVED, TYPE_CHANGED, TYPE_NARROWED, NOT_NULL, REQUIRED_ADDED, KEY_CHANGED, ZONE_CHANGED,
    TYPE_UNDECIDED, VERSION_KEPT, TABLE_ADDED, COLUMN_ADDED, TYPE_WIDENED, LENGTH_SHORTENED, NOW_NULLABLE,
)  # fmt: skip
