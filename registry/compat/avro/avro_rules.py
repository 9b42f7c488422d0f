"""Avro rules: those of comparing Avro schemas. Confluent's names are those of Apache Avro's own checker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, UNDECIDED

NAME: Final = "C201"
FIXED_SIZE: Final = "C202"
ENUM_SYMBOLS: Final = "C203"
FIELD_WITHOUT_DEFAULT: Final = "C204"
TYPE: Final = "C205"
UNION_BRANCH: Final = "C206"
DECIMAL: Final = "C207"
LOGICAL_CHANGED: Final = "C208"
LOGICAL_GAINED_OR_LOST: Final = "C209"
FIELD_READ_AS_DEFAULT: Final = "C210"
SYMBOL_READ_AS_DEFAULT: Final = "C211"
DIGITS_LOST: Final = "C212"
BYTES_AND_TEXT: Final = "C213"
NOT_ALL_COMPARED: Final = "C214"

AVRO_RULES: Final = (
    CompatibilityRule(
        NAME, "avro-name", BREAKING,
        "A record, enum or fixed type has another name, which the reader has neither as name nor as alias.",
        "Keep the name, or give the reader's type the writer's full name as an alias.",
        '{"type": "record", "name": "Order", "aliases": ["shop.Purchase"], …}',
        '{"type": "record", "name": "Order", …} for what was named Purchase',
        "NAME_MISMATCH",
    ),
    CompatibilityRule(
        FIXED_SIZE, "avro-fixed-size", BREAKING,
        "A fixed type has another size.",
        "Keep the size; add a field with a type of its own for values of another size.",
        '{"type": "fixed", "name": "Key", "size": 16} in both', '"size": 16 in one and "size": 20 in the other',
        "FIXED_SIZE_MISMATCH",
    ),
    CompatibilityRule(
        ENUM_SYMBOLS, "avro-enum-symbols", BREAKING,
        "The writer's enum has a symbol that the reader's has not, and the reader's has no default.",
        "Keep the symbols that were ever written, and let readers have a new one before it is written.",
        '"symbols": ["INSERT", "UPDATE", "DELETE"] in both', '"symbols": ["INSERT", "UPDATE"] in the reader',
        "MISSING_ENUM_SYMBOLS",
    ),
    CompatibilityRule(
        FIELD_WITHOUT_DEFAULT, "avro-field-default", BREAKING,
        "The reader's record has a field that the writer does not write, and it has no default.",
        "Give the field a default; a field that is no longer written needs one in the readers that still have it.",
        '{"name": "note", "type": ["null", "string"], "default": null}', '{"name": "note", "type": "string"}',
        "READER_FIELD_MISSING_DEFAULT_VALUE",
    ),
    CompatibilityRule(
        TYPE, "avro-type", BREAKING,
        "The reader's type is another one, and Avro does not promote the writer's to it.",
        "Keep the type. Avro promotes int to long, float and double, long to float and double, float to double.",
        '"long" where the writer has "int"', '"int" where the writer has "long"',
        "TYPE_MISMATCH",
    ),
    CompatibilityRule(
        UNION_BRANCH, "avro-union-branch", BREAKING,
        "The writer may write a type that no branch of the reader's union takes.",
        "Keep the branches that were ever written, and let readers have a new one before it is written.",
        '["null", "string"] in both', '["null", "string"] in the reader where the writer has "long" as well',
        "MISSING_UNION_BRANCH",
    ),
    CompatibilityRule(
        DECIMAL, "avro-decimal", BREAKING,
        "A decimal has another precision or scale: decimals match only where both are the same.",
        "Keep precision and scale; add a field of its own for decimals of others.",
        '"precision": 12, "scale": 2 in both', '"scale": 2 in one and "scale": 3 in the other',
    ),
    CompatibilityRule(
        LOGICAL_CHANGED, "avro-logical-type", BREAKING,
        "The same number or text means something else: another unit of time, another logical type.",
        "Keep the logical type; add a field of its own for values of another meaning.",
        '"logicalType": "timestamp-millis" in both', '"timestamp-millis" in one and "timestamp-micros" in the other',
    ),
    CompatibilityRule(
        LOGICAL_GAINED_OR_LOST, "avro-logical-type-gained-or-lost", BREAKING,
        "A value has a logical type in one version and is a bare number, text or bytes in the other.",
        "Say the logical type in both versions, or in none.",
        '{"type": "long", "logicalType": "timestamp-micros"} in both', '"long" in one of them',
    ),
    CompatibilityRule(
        FIELD_READ_AS_DEFAULT, "avro-field-read-as-default", BREAKING,
        "A field is no longer written, and readers of the old version go on with its default as if it had been sent.",
        "Keep writing the field, or tell its readers before it goes.",
        "the field is there in both", "the field is gone, and the old version has a default for it",
    ),
    CompatibilityRule(
        SYMBOL_READ_AS_DEFAULT, "avro-symbol-read-as-default", BREAKING,
        "The writer's enum has a symbol that the reader's has not, and is read as the enum's default.",
        "Let readers have a symbol before it is written, and keep the symbols that were ever written.",
        '"symbols": ["INSERT", "UPDATE"] in both', '"symbols": ["INSERT"], "default": "INSERT" in the reader',
    ),
    CompatibilityRule(
        DIGITS_LOST, "avro-digits-lost", BREAKING,
        "A whole number is read as a floating one that does not hold all its digits.",
        "Keep the integer type, or take double where the numbers stay below 2^53.",
        '"double" where the writer has "int"', '"double" where the writer has "long"',
    ),
    CompatibilityRule(
        BYTES_AND_TEXT, "avro-bytes-and-text", BREAKING,
        "Bytes are read as text or text as bytes: bytes that are no UTF-8 cannot be read so.",
        "Keep the type; add a field of its own for the other one.",
        '"bytes" in both', '"string" where the writer has "bytes"',
    ),
    CompatibilityRule(
        NOT_ALL_COMPARED, "avro-not-all-compared", UNDECIDED,
        "The schemas differ in so many places, or meet in so many pairs of records, that not all was looked at.",
        "Mend what is told and compare again; schemas with fewer types of one name meet in fewer pairs.",
        "records of different names", "500 records `a1.Row`, `a2.Row`, … that all hold one another",
    ),
)  # fmt: skip
"""Every rule of this family. What Confluent's registry does not look at has no name of its there."""

BY_ID: Final[Mapping[str, CompatibilityRule]] = {rule.id: rule for rule in AVRO_RULES}
