"""Capabilities: what a version can express, computed from its contract without dialect-specific code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.column_model import Columns
from cdc_contracts.registry.core.contract.envelope_model import OpFlag, Place
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.type_families import type_name_in
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping, drop_parameters
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, ValueForm

_UNITS: Final[Mapping[str, int]] = {
    "epoch-millis": 1000,
    "epoch-millis-list-last": 1000,
    "epoch-micros": 1,
    "epoch-seconds": 1_000_000,
    "epoch-seconds-or-millis": 1_000_000,
    "epoch-seconds-text": 1_000_000,
    "iso-local": 1_000_000,
    "iso-local-or-utc": 1_000_000,
}
_MICROSECONDS: Final = 6
_ESCAPED: Final = "object-name-escaped"
_WITH_TENANT: Final = "tenant.database.table"
_ZONED_TIMES: Final = frozenset({"iso-local"})
_PROBES: Final[Mapping[str, str]] = {
    "time": "01:02:03.123456789",
    "datetime": "2020-11-25T04:01:02.123456789",
    "timestamp": "2020-11-25T04:01:02.123456789Z",
}
_TIME_TEXT = re.compile(r"((?:\d{4,}-\d{2}-\d{2}T|-?)\d{2,3}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z?)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class ExpressedOp:
    """How an event's op is expressed: the canonical op that is read back, its code (None: any) and its flag."""

    op: str
    code: str | None
    flag: OpFlag | None


@dataclass(frozen=True, slots=True)
class Reach:
    """The part of a time that a form keeps: digits of a second (None: no time), and whether an instant stays one."""

    digits: int | None
    instants: bool


_NOTHING: Final = Reach(None, instants=False)


@dataclass(frozen=True)
class ExpressedTypes:
    """How messages of a version name source types, and what its forms keep of their values."""

    _mapping: ValueMapping
    _type_table: str | None
    _bare: bool
    _columns: Columns
    _reaches: Mapping[str, Reach]

    def kind_of(self, source_type: str) -> str | None:
        """Return the canonical kind of a source type, or None if the version has no form for it."""
        form = self._form_of(source_type)
        return None if form is None else FORMS[form].kind

    def type_name_of(self, source_type: str) -> str | None:
        """Return the name by which messages give a source type, or None if they cannot."""
        types = self._columns.types
        encodings = types != "none" and types.names_encodings
        result = type_name_in(self._mapping, source_type, self._type_table, names_encodings=encodings)
        if result is not None and self._columns.needs_parameters(result):
            return f"{result}(255)"
        return drop_parameters(result) if result is not None and self._bare else result

    def fraction_digits(self, source_type: str) -> int | None:
        """Return the digits of a second that a column of the type keeps; None if it has no time of day."""
        return self._reach(source_type).digits

    def instants(self, source_type: str) -> bool:
        """Return whether an instant in a column of the type stays an instant."""
        return self._reach(source_type).instants

    def _reach(self, source_type: str) -> Reach:
        return self._reaches.get(self._form_of(source_type) or "", _NOTHING)

    def _form_of(self, source_type: str) -> str | None:
        result = self.type_name_of(source_type)
        return None if result is None else self._mapping.form_of(result)


@dataclass(frozen=True)
class Capabilities:
    """What messages of a version can express.

    `ops` maps the op of an event to how it is expressed; the units are microseconds, None if there is no such time.
    `primary_key`: they name the key columns; `kafka_key`: keys of their records do. `update_before`: an update holds
    the row before it.
    """

    ops: Mapping[str, ExpressedOp]
    tenant: bool
    database: bool
    schema: bool
    table: bool
    primary_key: bool
    kafka_key: bool
    position: bool
    transaction: bool
    event_time_unit: int | None
    update_before: bool
    column_types: bool
    types: ExpressedTypes


def capabilities_of(
    version: Version, reading_options: ReadingOptions | None = None, source_kind: str | None = None
) -> Capabilities:
    """Return what messages of a version can express under reading options (zones that the user names count).

    `source_kind` is the kind of source database of which the messages tell, where they name it.
    """
    reading_options = reading_options or ReadingOptions()
    meaning, validator = version.meaning, ReferenceValidator(version, reading_options)
    envelope = meaning.envelope
    mapping = validator.forms.mapping_for(source_kind if meaning.values.kind_at else None)
    ops = _expressed_ops(meaning)
    result = ops.get("update")
    update = meaning.images.of(result.op) if result else None
    forms = sorted({*mapping.document.forms, *([mapping.document.default] if mapping.document.default else [])})
    return Capabilities(
        ops=ops,
        tenant=_splits(envelope.database, "tenant.database") or _splits(envelope.database_table, _WITH_TENANT),
        database=envelope.database is not None
        or _splits(envelope.database_table, "database.table", _WITH_TENANT, _ESCAPED),
        schema=envelope.schema_name is not None or _splits(envelope.database_table, "schema.table", _ESCAPED),
        table=envelope.database_table is not None or (envelope.table is not None and envelope.table.at is not None),
        primary_key=envelope.primary_key is not None and envelope.primary_key.in_value is not None,
        kafka_key=envelope.key_place is not None,
        position=envelope.position is not None,
        transaction=envelope.transaction is not None,
        event_time_unit=_unit_of(envelope.event_time, reading_options),
        update_before=update is not None and update.before is not None,
        column_types=meaning.columns.types != "none",
        types=ExpressedTypes(
            _mapping=mapping,
            _type_table=None if meaning.columns.types == "none" else meaning.columns.types.table,
            _bare=meaning.columns.types != "none" and meaning.columns.types.without_parameters,
            _columns=meaning.columns,
            _reaches={form: reach_of(FORMS[form], validator.forms.context_of(FORMS[form], None)) for form in forms},
        ),
    )


def describe_lacks(can: Capabilities) -> Iterator[str]:
    """Yield in words what messages of a version cannot express, computed from its contract."""
    for said, result in (
        (can.table, "the table"),
        (can.database, "the database"),
        (can.update_before, "the row before an update"),
        ("upsert" not in can.ops, "whether a row was inserted or updated"),
        (can.primary_key or can.kafka_key, "the names of the key columns"),
        (can.event_time_unit is not None, "when the change was made (without a parameter)"),
        (can.position, "the position in the source"),
        (can.transaction, "the transaction"),
        (can.column_types, "the types of columns"),
        ("ddl" in can.ops, "DDL statements"),
    ):
        if not said:
            yield result
    families = {"INT": "integer", "DECIMAL": "decimal", "DATE": "date", "TIME": "time", "DATETIME": "datetime"}
    kinds = {name: can.types.kind_of(name.lower()) for name in families}
    merged = [name for name, kind in kinds.items() if kind is not None and kind != families[name]]
    if merged:
        yield f"{', '.join(merged)} as kinds of their own"
    for name in ("TIME", "DATETIME", "TIMESTAMP"):
        digits = can.types.fraction_digits(name.lower())
        if digits is not None and digits < _MICROSECONDS:
            yield (
                f"a {name} to more than {digits} digits of a second"
                if digits
                else f"a fraction of a second in a {name}"
            )
    if can.types.kind_of("timestamp") == "timestamp" and not can.types.instants("timestamp"):
        yield "the zone of a TIMESTAMP (without a parameter)"


@lru_cache(maxsize=1024)
def reach_of(form: ValueForm, context: Context) -> Reach:
    """Return the part of a time that a form keeps, found by writing one with fewer and fewer digits.

    A fraction that is accepted with a note is not documented and does not count, unless nothing else is read.
    """
    probe = _PROBES.get(form.kind)
    if probe is None:
        return _NOTHING
    whole, _, fraction = probe.removesuffix("Z").partition(".")
    for suffix in ("Z", "") if form.kind == "timestamp" else ("",):
        for flags in ({Flag.OK}, {Flag.OK, Flag.NOTED}):
            for digits in range(context.second_digits, -1, -1):
                tail = f".{fraction[:digits]}" if digits else ""
                if _reads_back(form, whole + tail + suffix, context) in flags:
                    return Reach(digits, instants=suffix == "Z")
    return _NOTHING


def fit_text(text: str, form: ValueForm, reach: Reach) -> str:
    """Return the part of a canonical text that a form keeps: a time loses digits and zone that the form lacks."""
    if reach.digits is None:
        return text
    parts = _TIME_TEXT.match(text)
    if parts is None:
        return text
    whole, fraction, zone = parts.groups()
    fraction = (fraction or "")[: reach.digits].rstrip("0")
    if form.kind == "time" and not (whole + fraction).strip("-0:"):
        whole = whole.lstrip("-")
    return f"{whole}{'.' if fraction else ''}{fraction}{zone if reach.instants else ''}"


def _reads_back(form: ValueForm, text: str, context: Context) -> Flag | None:
    try:
        return form.read(form.write(text, context), context).flag
    except BrokenValue:
        return None


def _expressed_ops(meaning: Meaning) -> dict[str, ExpressedOp]:
    codes: dict[str, str] = {}
    for code, op in meaning.ops.items():
        if code not in meaning.tolerated_ops:
            codes.setdefault(op, code)
    result = {op: ExpressedOp(op, code, None) for op, code in codes.items()}
    for flag in meaning.envelope.op.flags:
        known = next((codes[op] for op in flag.of or () if op in codes), None)
        if flag.of is None or known is not None:
            own = next(iter(flag.codes_at(meaning.envelope.op.at) or ()), known or codes.get(flag.means))
            result.setdefault(flag.means, ExpressedOp(flag.means, own, flag))
    joined = meaning.images.of("update-after")
    if "update" not in result and "update-after" in result and joined and joined.before and joined.after:
        result["update"] = result["update-after"]
    for op in ("insert", "update"):
        if op not in result and "upsert" in result:
            result[op] = result["upsert"]
    stand_in = {"as-insert": "insert", "as-upsert": "upsert"}.get(meaning.full_load, "")
    if "snapshot" not in result and stand_in in result:
        result["snapshot"] = result[stand_in]
    return result


def _splits(place: Place | None, *splits: str) -> bool:
    return place is not None and place.split in splits


def _unit_of(place: Place | None, reading_options: ReadingOptions) -> int | None:
    if place is None:
        return None
    form = place.form or "epoch-millis"
    return None if form in _ZONED_TIMES and reading_options.zone("time_zone") is None else _UNITS[form]
