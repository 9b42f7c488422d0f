"""Phrases: facts of a contract in plain English, for people who have never read the vendor's page.

Works on resolved documents directly, so that it needs no models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import Version, span

COUNTED_FROM: Final[Mapping[str, str]] = MappingProxyType(
    {
        "project-created": "when the project was created; an upgrade makes no difference",
        "product-version": "the version of the product",
        "document-edition": "the edition of the source document",
        "instance-created-or-restarted": "when the instance was created, or last restarted",
    }
)
_HELD_FOR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "project-created": "projects created",
        "product-version": "releases",
        "document-edition": "editions of the document",
        "instance-created-or-restarted": "instances created or restarted",
    }
)
CONTAINERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "object": "an image is an object of columns",
        "list-of-one": "an image is a list of exactly one row",
        "list-of-rows": "an image is a list of rows; those of both images are paired in order",
        "positional": "an image is a list of values in the order of the fields; it is read as an object",
        "json-text": "an image is a text that holds an object of columns as JSON",
    }
)
PARAMETERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "source_mode": "mysql, oracle or postgresql: the mode of the source, which messages do not state",
        "time_zone": "the time zone of envelope times without one; a time that its clocks skip or repeat stays text",
        "timestamp_zone": "the time zone of TIMESTAMP values without one; by default they stay wall-clock "
        "times, as does one that its clocks skip or repeat",
        "null_values": "deletion where a null value, or the JSON text of it, is the deletion of the row that the Kafka "
        "key names; by default tombstone, unless the contract says deletion",
        "row_columns": "all or some: whether each row has all columns of its table, or may lack some, as where columns "
        "that are NULL are left out",
        "avro_timestamp_fraction": "micros or nanos: the unit of fractional seconds in Avro, if not as documented",
    }
)
UNDOCUMENTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "insert-images": "where the row of an INSERT is",
        "init-images": "where the row of the full load is",
        "update-before-and-after-images": "which image of an UPDATE is which",
        "value-forms": "how values are written",
        "value-forms-except-integer-and-text": "how values other than integers and text are written",
    }
)
FULL_LOAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "own-op": "rows of a full load have an op of their own",
        "as-insert": "rows of a full load look like inserts",
        "as-upsert": "inserts, updates and rows of a full load look alike",
    }
)


def describe_application(version: Version) -> str | None:
    """Return what a version applies to, such as `releases before 4.0.1`; None if it always applies."""
    applies = version.resolved.get("applies", {})
    counted, held = _HELD_FOR.get(applies.get("counted_from", "")), span(version)
    if counted is None or held == "always":
        return None
    return f"{counted} {held}" + (f" (UTC{applies['zone']})" if "zone" in applies else "")


def describe_evidence(entry: Mapping[str, Any]) -> str:
    """Return one entry of `version_evidence` in words."""
    topic, value = _evidence(entry)
    return f"{topic} {value}".strip()


def describe_distinction(versions: Sequence[Version]) -> str:
    """Return in words what distinguishes the versions of one subject; empty if there is only one version."""
    if len(versions) == 1:
        return ""
    topics: dict[str, list[str]] = {}
    holders: dict[str, list[str]] = {}
    for version in versions:
        for entry in version.resolved.get("version_evidence", []):
            if entry.get("proves") == "subject" or "disproves" in entry:
                continue  # is about another subject, or contradicts a version that the other evidence supports
            topic, value = _evidence({key: result for key, result in entry.items() if key != "proves"})
            if value:
                topics.setdefault(topic, []).append(f"{value} (@{version.number})")
            else:
                topics.setdefault(topic, [])
            holders.setdefault(topic, []).append(f"@{version.number}")
    result = []
    for topic, values in topics.items():
        only = f" (@{holders[topic][0][1:]})" if not values and len(holders[topic]) < len(versions) else ""
        result.append(f"{topic} {' or '.join(values)}".strip() + only)
    return "; ".join(result)


_MOST_NAMED: Final = 3
"""Members of an image that are no columns, as far as they are named."""


def describe_side(side: Mapping[str, Any]) -> str:
    """Return in words where one image of an op is and how it is completed."""
    result = f"the row in {_place(side['at'])}"
    if "or" in side:
        result += f", or in {_place(side['or'])} if there is none"
    if "completed_from" in side:
        result += f", completed from {_place(side['completed_from'])}"
    if side.get("or_key"):
        result += ", or the key columns of the Kafka key if there is none"
    if side.get("optional"):
        result += ", which may be missing"
    if side.get("not_columns"):
        named, more = side["not_columns"][:_MOST_NAMED], len(side["not_columns"]) - _MOST_NAMED
        result += f", without {', '.join(named)}" + (f" and {more} more members" if more > 0 else "")
    return result


def describe_place(place: Mapping[str, Any]) -> str:
    """Return in words how one fact of the envelope is read, beyond its place."""
    notes = [READINGS[key].get(str(place[key]), str(place[key])) for key in READINGS if key in place]
    if place.get("not_columns"):
        notes.append(f"without {', '.join(place['not_columns'])}")
    for member, column in place.get("json_texts", {}).items():
        notes.append(f"{member} is the value of {column} as JSON text")
    if "absent_value" in place:
        notes.append(f"{place['absent_value']} means none")
    if "null_text" in place:
        notes.append(f'"{place["null_text"]}" means none')
    return ", ".join(note for note in notes if note)


def describe_name(what: Mapping[str, str]) -> str:
    """Return in words what a parameter says that is a name."""
    if "op_code" in what:
        return f"the op code that stands in place of {what['op_code']}"
    return f"what the member {what['member']} is called"


def describe_types(columns: Mapping[str, Any]) -> str:
    """Return in words where the source types of columns come from."""
    types = columns.get("types")
    if types == "none" or not isinstance(types, Mapping):
        lacks = "; a row may lack columns that others have" if columns.get("optional") else ""
        lacks += _LACKING.get(columns.get("lacking", ""), "")
        return f"not in the message: taken from a table contract, else a value is read by its JSON type{lacks}"
    if "in_image" in types:
        return f"in {types['in_image']} of each image"
    return (
        f"in {_place(types['at'])}"
        + (", a schema of Kafka Connect" if types.get("as") == "connect-schema" else "")
        + (f": of its field {types['field']}" if "field" in types else "")
        + (f": the parameter {types['parameter']} of each field" if "parameter" in types else "")
        + (", without parameters such as (20,2)" if types.get("without_parameters") else "")
        + (f"; {' and '.join(types['with_parameters'])} with a length" if types.get("with_parameters") else "")
    )


_LACKING: Final = {
    "null-or-empty": ", which are NULL or empty then",
    "null-if-in-before": "; where rows may lack columns, one that the row before has and the row after lacks is NULL",
}


def describe_mapping(values: Mapping[str, Any]) -> str:
    """Return in words which value mappings apply."""
    choice = values.get("mapping")
    if isinstance(choice, Mapping):
        by = choice.get("by", "the parameter source_mode")
        result = [f"{name} if {by} is {code}" for code, name in choice.get("map", {}).items()]
        otherwise = choice.get("else")
        if not result and otherwise != "parameter":
            return str(otherwise)
        result.append("else by the parameter source_mode" if otherwise == "parameter" else f"else {otherwise}")
        return ", ".join(result)
    return str(choice)


_PRESENCE: Final = {"present": "is present", "absent": "is absent", "unset": "is absent or null"}


def describe_test(test: Mapping[str, Any]) -> str:
    """Return one discriminator in words."""
    match test:
        case {"any": tests}:
            return " or ".join(describe_test(one) for one in tests)
        case {"present": at} | {"absent": at} | {"unset": at}:
            return f"{_place(at)} {next(said for word, said in _PRESENCE.items() if word in test)}"
        case {"alone": at}:
            return f"{_place(at)} is the only member"
        case {"equals": at, "value": value}:
            return f"{_place(at)} is {text_of(value)}"
        case {"in": at, "values": values}:
            return f"{_place(at)} is one of {', '.join(map(str, values))}"
        case {"not-in": at, "values": values}:
            return f"{_place(at)} is none of {', '.join(map(str, values))}"
        case {"prefix-of": at, "at": head, "then": then}:
            return f"{_place(at)} starts with {_place(head)} and {then!r}"
        case {"not-prefix-of": at, "at": head, "then": then}:
            return f"{_place(at)} does not start with {_place(head)} and {then!r}"
        case {"avro-decodes": schema}:
            return f"the bytes decode with {schema}"
    return str(dict(test))


def describe_absent(absent: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what stands for values that were not sent, each with a title."""
    if absent.get("texts"):
        yield "values that were not sent", ", ".join(absent["texts"])
    for kind, places in absent.get("nulls", {}).items():
        yield f"null that was not sent, {kind}", ", ".join(map(_place, places))


def describe_flag(flag: Mapping[str, Any]) -> str:
    """Return in words when a flag decides the op: `/isDdl is true of update`."""
    if "when" in flag:
        return " and ".join(map(describe_test, flag["when"]))
    wanted = str(flag["is"]).lower() if isinstance(flag["is"], bool) else flag["is"]
    of = f" of {', '.join(flag['of'])}" if "of" in flag else ""
    return f"{flag['at']} is {wanted}{of}"


def describe_conditions(conditions: Sequence[Mapping[str, Any]]) -> str:
    """Return in words when one of some branches of a JSON Schema holds: `type is INSERT, DELETE`."""
    values: dict[str, list[str]] = {}
    for condition in conditions:
        for name, codes in _conditions(condition):
            values.setdefault(name, []).extend(code for code in codes if code not in values.get(name, ()))
    return " or ".join(f"{name} is {', '.join(codes)}" for name, codes in values.items())


def split_condition(condition: Mapping[str, Any]) -> list[str]:
    """Return in words each case in which a branch of a JSON Schema holds: `type is INSERT`, `type is DELETE`."""
    return [f"{name} is {code}" for name, codes in _conditions(condition) for code in codes]


def _conditions(condition: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for name, shape in condition.get("properties", {}).items():
        if "properties" in shape:
            yield from ((f"{name}/{below}", codes) for below, codes in _conditions(shape))
        else:
            values = shape.get("enum", [shape.get("const")])
            yield name, list(map(text_of, values))


def text_of(value: Any) -> str:
    """Return plain data in words."""
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {text_of(below)}" for key, below in value.items())
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _place(pointer: str) -> str:
    return pointer or "the message itself"


def _evidence(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return what an entry looks at, and the value that supports its version."""
    proves = f" (proves the {entry['proves']})" if "proves" in entry else ""
    proves += f" (disproves the {entry['disproves']})" if "disproves" in entry else ""
    match entry:
        case {"value-form": source_type, "is": form}:
            return f"{source_type} written as", f"{form}{proves}"
        case {"image-of": op, "at": at}:
            return f"row of a {str(op).upper()} in", f"{_place(at)}{proves}"
        case {"key-chain": _}:
            return f"chains of updates of one key{proves}", ""
        case {"key-seen": at}:
            return "member seen:", f"{_place(at)}{proves}"
        case {"ddl-seen": _}:
            return f"a DDL message seen{proves}", ""
        case {"op-seen": codes}:
            return "op seen:", f"{', '.join(codes)}{proves}"
        case {"column-form": _}:
            return f"the form of one column over many rows{proves}", ""
    name, value = next(iter(entry.items()))
    return _PLAIN_EVIDENCE[name], f"{value}{proves}"


_PLAIN_EVIDENCE: Final = MappingProxyType({
    "process-time-before": "process time before",
    "trailing-bytes": "bytes after the record:",
    "code-seen": "type code seen:",
})  # fmt: skip
READINGS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    "form": MappingProxyType({
        "epoch-millis": "milliseconds since 1970 UTC",
        "epoch-micros": "microseconds since 1970 UTC",
        "epoch-seconds": "seconds since 1970 UTC",
        "epoch-seconds-or-millis": "seconds since 1970 UTC, or milliseconds where the number has 12 digits or more",
        "epoch-seconds-text": "seconds since 1970 UTC, as text",
        "epoch-millis-list-last": "the last of a list of milliseconds since 1970 UTC",
        "iso-local": "ISO 8601 without a zone (parameter time_zone)",
        "iso-local-or-utc": "ISO 8601, UTC if it ends in Z, else in the zone of the parameter time_zone",
    }),
    "split": MappingProxyType({
        "tenant.database": "tenant.database, split if there is exactly one dot",
        "tenant.database.table": "tenant.database.table, split at the last two dots",
        "database.table": "database.table, split at the first dot",
        "schema.table": "schema.table, split at the first dot",
        "object-name-escaped": "names joined by dots, a dot inside a name written \\u002E",
    }),
    "from": MappingProxyType({
        "topic-or-table-option": "not in the message: given by the topic name or an option",
        "kafka-key": "the members of an object in the JSON of the Kafka key, which also have the values",
    }),
    "order": MappingProxyType({"integer": "can be ordered as an integer", "opaque": "cannot be ordered"}),
    "monotonic": MappingProxyType({
        "strict": "always increases within a partition",
        "non-strict": "never decreases within a partition; several records may share one",
        "unique": "unique per record, except for the second half of an update",
    }),
    "as": MappingProxyType({
        "list": "a list of names",
        "joined-u0001": "joined by U+0001",
        "json-text-groups": "JSON text of groups of names",
        "rowid-of-table": "table name, a minus sign and values joined by U+0001",
    }),
})  # fmt: skip
