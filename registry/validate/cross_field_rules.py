"""Cross-field rules as people read them; their checks are in `cross_field_checks.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.common.findings import CLASSES, INFO, WARNING

CROSS_FIELD: Final = "cross-field"


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One rule: what it says and why, the severity of a breach, what to do, and an example of each kind."""

    id: str
    name: str
    family: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    why: str = ""
    confluent: str | None = None


def _across(name: str, severity: str, *texts: str) -> RuleEntry:
    return RuleEntry(f"{CLASSES['cross-field'].id}.{name}", name, CROSS_FIELD, severity, *texts)


CROSS_FIELD_RULES: Final = (
    _across(
        "image-present-for-op", CLASSES["cross-field"].severity,
        "The images that an op needs hold rows, as many in each; the others are null or absent.",
        "Look for a filter between product and topic, or another version of the product: the row may sit elsewhere.",
        'an UPDATE with a row in "data" and in "old"', 'an UPDATE with "old": null',
    ),
    _across(
        "columns-typed", CLASSES["cross-field"].severity,
        "Every column of an image has a type in the message, and a full image has every typed column (a warning).",
        "A column without a type cannot be read: look for a transformation that adds columns.",
        '"data": [{"id": "1"}] with "mysqlType": {"id": "int"}', '"data": [{"id": "1", "at": "2"}] with the same types',
    ),
    _across(
        "codes-match-types", CLASSES["cross-field"].severity,
        "The numeric type code of a column fits its type name. The code is checked, never used to decode.",
        "Compare both type maps with the table: one of them comes from somewhere else.",
        '"sqlType": {"id": 4} with "mysqlType": {"id": "int"}', '"sqlType": {"id": 91} with "mysqlType": {"id": "int"}',
    ),
    _across(
        "primary-key-in-image", WARNING,
        "The columns named as primary key are columns of the completed image.",
        "Look whether the key columns were renamed or filtered; the row is read all the same.",
        '"pkNames": ["id"] with "data": [{"id": "1"}]', '"pkNames": ["key"] with "data": [{"id": "1"}]',
    ),
    _across(
        "primary-key-values-agree", WARNING,
        "The joined values of the primary key are the values of its columns in an image.",
        "Look whether the image was changed on its way; the row is read as the image says.",
        'key value "17" with "id": 17', 'key value "18" with "id": 17',
    ),
    _across(
        "old-keys-in-data", WARNING,
        "An image of changed columns has no column that the full image lacks. Where versions exchange the two, it is "
        "an error if it holds the whole row and the full image does not: they stand in the place of each other.",
        "Look for a filter of columns that takes only one of the images.",
        '"old": [{"total": "1"}] with "data": [{"id": "7", "total": "2"}]',
        '"old": [{"sum": "1"}] with "data": [{"id": "7", "total": "2"}]',
    ),
    _across(
        "data-keys-in-key", WARNING,
        "The changed columns of a row are columns of the image they are put over.",
        "Look for a filter of columns that takes only one of the images.",
        'changed columns that "key" has too', 'a changed column that "key" lacks',
    ),
    _across(
        "ddl-flag-agrees", CLASSES["cross-field"].severity,
        "The DDL flag is true exactly where the op code is the one of DDL.",
        "Trust neither: look at the message with `why`, and whether the producer was upgraded.",
        '"type": "DDL" with "isDdl": true', '"type": "INSERT" with "isDdl": true',
    ),
    _across(
        "ddl-text-only-if-ddl", WARNING,
        "A DDL statement stands only in a DDL message; TRUNCATE counts as one.",
        "Look whether the producer was upgraded; the row is read all the same.",
        '"isDdl": false with "sql": ""', '"isDdl": false with "sql": "ALTER TABLE …"',
    ),
    _across(
        "ddl-text-alone", WARNING,
        "A DDL statement that stands in the place of a row stands there alone.",
        "Look whether the product was upgraded; only the statement is read.",
        '"postStruct": {"ddl": "ALTER TABLE …"}', '"postStruct": {"ddl": "ALTER TABLE …", "id": 1}',
    ),
    _across(
        "images-match-fields", CLASSES["cross-field"].severity,
        "An image of an Avro record has one value for each field, and no two fields have one name.",
        "Nothing can be told apart by position then: keep the record and ask the vendor.",
        "fields id and name, image of two values", "fields id and name, image of three values",
    ),
    _across(
        "idx-is-seq-of-size", WARNING,
        "The index within a transaction is its place, a slash and its size.",
        "Look whether messages were changed on their way; nothing is read from the index.",
        '"idx": "3/11" with "seq": 3 and "size": 11', '"idx": "2/11" with "seq": 3 and "size": 11',
    ),
    _across(
        "rowid-starts-with-table", WARNING,
        "The id of a row starts with the name of its table and a minus sign.",
        "Look whether tables were renamed on the way; the row is read all the same.",
        '"rowid": "shop.orders-17" with "table": "shop.orders"',
        '"rowid": "shop.visits-17" with "table": "shop.orders"',
    ),
    _across(
        "position-matches", CLASSES["cross-field"].severity,
        "The position in the log is written as the document says.",
        "Another product, or another source, may have written the message: compare with `show`.",
        '"pos": "553132@1668496109"', '"pos": "mysql-bin.000042"',
    ),
    _across(
        "halves-paired", CLASSES["cross-field"].severity,
        "Both halves of an update arrive. No single message shows it: the step that joins halves tells.",
        "Read a range that holds both halves, or look for a filter between product and topic.",
        "UPDATE_BEFOR and UPDATE_AFTER with one sequenceId", "UPDATE_AFTER alone, its row before missing",
    ),
    _across(
        "types-without-parameters", WARNING,
        "Types are told by their names alone, without a length, a precision or the members of an ENUM.",
        "Another product may have written the message: look at it with `detect`. The row is read all the same.",
        '"mysqlType": {"name": "varchar"}', '"mysqlType": {"name": "varchar(20)"}',
    ),
    _across(
        "schema-block-matches-image", INFO,
        "The schema block of a message names the columns of its images with the kinds of their values.",
        "Nothing: the block is never used to read the row.",
        'field "qty" of type int32 with "qty": 10', 'field "qty" of type string with "qty": 10',
    ),
    _across(
        "event-time-whole-seconds", INFO,
        "The event time counts whole seconds, although it is written in milliseconds.",
        "Nothing: newer producers write milliseconds.",
        '"es": 1609344671000', '"es": 1609344671123',
    ),
)  # fmt: skip
