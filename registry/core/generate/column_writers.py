"""Column writers: columns and envelope as a version writes them: values by forms, types by codes, names and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.type_families import fit_family
from cdc_contracts.registry.core.generate.source_events import SourceTable
from cdc_contracts.registry.core.validate.capabilities import fit_text, reach_of
from cdc_contracts.registry.core.values import BrokenValue, Context, ValueForm
from cdc_contracts.registry.core.values.decimals import pad_fraction
from cdc_contracts.registry.core.values.value_form import JsonValue

_MOST_KNOWN: Final = 1 << 16

# java.sql.Types as drivers name the types of MySQL; a type that is not here is OTHER.
_OTHER: Final = 1111
_DRS_DATETIME: Final = 94  # no java.sql.Types has it (E64)
_CODES: Final[Mapping[str, int]] = {
    "TINYINT": -6, "SMALLINT": 5, "MEDIUMINT": 4, "INT": 4, "BIGINT": -5, "BOOLEAN": 16, "YEAR": 91, "DECIMAL": 3,
    "FLOAT": 6, "DOUBLE": 8, "BIT": -7, "DATE": 91, "TIME": 92, "DATETIME": 93, "TIMESTAMP": 93, "CHAR": 1,
    "VARCHAR": 12, "TINYTEXT": -1, "TEXT": -1, "MEDIUMTEXT": -1, "LONGTEXT": -1, "ENUM": 1, "SET": 1, "JSON": -1,
    "BINARY": -2, "VARBINARY": -3, "TINYBLOB": -4, "BLOB": -4, "MEDIUMBLOB": -4, "LONGBLOB": -4,
}  # fmt: skip
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"(?:0|[1-9]\d*)\Z", re.ASCII)
_FIRST_NUMBER = re.compile(r"0|[1-9]\d*", re.ASCII)


class ColumnWriters(dict[str, "ColumnWriter"]):
    """The writers of a table's columns by name, each made when it is first asked for."""

    def __init__(self, make: Callable[[str], ColumnWriter]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> ColumnWriter:
        column = self[name] = self._make(name)
        return column


class ColumnWriter(dict["str | None", str]):
    """Writes the values of one column, each distinct one once: has `"name":value` by canonical text."""

    def __init__(self, name: str, form: ValueForm, context: Context, family: str) -> None:
        super().__init__()
        self.name = name
        self.form = form
        self.context = context
        self.family = family

    def __missing__(self, text: str | None) -> str:
        value = None if text is None else self._value(text)
        if len(self) >= _MOST_KNOWN:
            self.clear()
        member = self[text] = f"{write_json(self.name)}:{write_json(value)}"
        return member

    def wire_text(self, text: str | None) -> str:
        """Return a key value as joined keys write it: a text itself, a number by its token."""
        value = None if text is None else self._value(text)
        return value if isinstance(value, str) else write_json(value)

    def _value(self, text: str) -> JsonValue:
        try:
            fit = fit_family(text, self.family, self.form.kind)
            if "scale" in self.form.type_parameters:
                fit = pad_fraction(fit, self.context.scale)
            if self.family == "bytes" and "BinaryObject" in self.form.records:
                return f"BinaryObject {fit}"
            return self.form.write(fit_text(fit, self.form, reach_of(self.form, self.context)), self.context)
        except BrokenValue:
            raise UsageError(f"column {self.name}: the form {self.form.name} cannot represent this value") from None


def type_code(source_type: str, table: str) -> int:
    """Return the number of a source type in a table of codes."""
    return _DRS_DATETIME if (source_type, table) == ("DATETIME", "drs-codes") else _CODES.get(source_type, _OTHER)


def join_names(place: Place, named: SourceTable) -> str:
    """Return the names of a table in one text."""
    database, schema, table = named.database, named.schema, named.name
    match place.split:
        case "tenant.database.table":
            return ".".join(part for part in (named.tenant, database, table) if part)
        case "database.table":
            return f"{database}.{table}" if database else table
        case "schema.table":
            return f"{schema}.{table}" if schema else table
        case _:
            return ".".join(part.replace(".", "\\u002E") for part in (database, schema, table) if part)


def write_position(text: str, kinds: list[str]) -> str:
    """Return the token of a position, as a number where its member may be one; UsageError if it can be neither."""
    if "integer" in kinds and _DIGITS.match(text):
        return text
    if "string" not in kinds:
        raise UsageError(f"the position `{text}` is no number")
    return write_json(text)


def write_transaction(text: str, kinds: list[str]) -> str:
    """Return the token of the id of a transaction: where its member is a number, the first number in the text."""
    if "string" in kinds:
        return write_json(text)
    number = _FIRST_NUMBER.search(text)
    return number[0] if number else "0"


def _write_iso(micros: int, zone: Any) -> str:
    moment = (_EPOCH + timedelta(microseconds=micros)).astimezone(zone or UTC)
    return write_json(moment.strftime("%Y-%m-%dT%H:%M:%S"))


def _write_iso_or_utc(micros: int, zone: Any) -> str:
    if zone is not None:
        return _write_iso(micros, zone)
    return write_json((_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%SZ"))


TIME_WRITERS: Final[Mapping[str, Callable[[int, Any], str]]] = {
    "epoch-millis": lambda micros, _: str(micros // 1000),
    "epoch-micros": lambda micros, _: str(micros),
    "epoch-seconds": lambda micros, _: str(micros // 1_000_000),
    "epoch-seconds-or-millis": lambda micros, _: str(micros // 1_000_000),
    "epoch-seconds-text": lambda micros, _: f'"{micros // 1_000_000}"',
    "epoch-millis-list-last": lambda micros, _: f"[{micros // 1000}]",
    "iso-local": _write_iso,
    "iso-local-or-utc": _write_iso_or_utc,
}
