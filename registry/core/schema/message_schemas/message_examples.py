"""Message examples: messages of a version, one per operation and one per value form that distinguishes it from others.

They are rendered from the contract. A consumer sees what to expect, and a comparison of two schemas tries them: a
message of one version that the other refuses shows what changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.canonical_changes import Image
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.values import FORMS, Number

_TABLE: Final = SourceTable(
    "orders", {"id": "BIGINT", "name": "VARCHAR", "qty": "INT"}, ("id",), tenant=None, database="shop"
)
_BEFORE: Final[Image] = {"id": "1", "name": "pear", "qty": "10"}
_AFTER: Final[Image] = {"id": "1", "name": "apple", "qty": "7"}
_EVENT: Final = Event(
    op="insert", event_time=1_718_000_000_000_000, process_time=1_718_000_001_234_000, position="553132",
    transaction="7d1e6a9e-2f8b-11ee-8a5c-00163e0a1b2c:42",
)  # fmt: skip
_ROWS: Final[dict[str, tuple[bool, bool]]] = {
    "snapshot": (False, True), "insert": (False, True), "upsert": (False, True), "update": (True, True),
    "update-before": (True, False), "update-after": (False, True), "delete": (True, False),
}  # fmt: skip
"""Which images an op of rows has: before, after."""
_DEFINED: Final = "#/$defs/"
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def example_messages(version: Version) -> list[Any]:
    """Return messages of a version as JSON values; those of an Avro dialect as they are after reading."""
    reading_options = ReadingOptions()
    mapping = version.meaning.values.mapping
    kind = "MySQL" if isinstance(mapping, str) or not mapping.by else next(iter(mapping.map), None)
    renderer, wire = Renderer(version, reading_options, source_kind=kind), open_transport(version, reading_options)
    messages: list[Any] = []
    for event in (*_events_of_ops(version, reading_options), *_events_of_forms(version)):
        try:
            rendered = renderer.render(event)
        except UsageError:
            continue  # a type that the version cannot carry
        message = plain_message(wire.read_sent(rendered))
        if message not in messages:
            messages.append(message)
    return messages


def _events_of_ops(version: Version, reading_options: ReadingOptions) -> Iterator[Event]:
    for op in capabilities_of(version, reading_options).ops:
        if op in _ROWS:
            before, after = _ROWS[op]
            yield replace(
                _EVENT, op=op, table=_TABLE, before=_BEFORE if before else None, after=_AFTER if after else None
            )
        elif op == "ddl":
            text = "ALTER TABLE orders ADD COLUMN note VARCHAR(20)"
            yield replace(_EVENT, op=op, table=_TABLE, ddl_text=text, ddl_type="ALTER")
        else:
            yield replace(_EVENT, op=op)


def _events_of_forms(version: Version) -> Iterator[Event]:
    """Yield an insert of a row with nothing but columns of a type whose form distinguishes the version from others."""
    for evidence in version.meaning.version_evidence:
        if evidence.value_form is None or evidence.is_form is None:
            continue
        table = replace(_TABLE, types={"at": evidence.value_form}, primary_key=())
        yield replace(_EVENT, table=table, after={"at": text_of_example(evidence.is_form)})


def text_of_example(form: str) -> str | None:
    """Return the example of a value form in canonical text."""
    known = FORMS[form]
    value = parse_message(f'{{"value":{known.example}}}'.encode())["value"]
    return known.read(value, known.context_of_examples).text


def plain_message(value: Any) -> Any:
    """Return a parsed message as JSON writes it: the numbers in examples are short enough for any reader."""
    if isinstance(value, Number):
        return json.loads(value.token)
    if isinstance(value, dict):
        return {name: plain_message(one) for name, one in value.items()}
    return [plain_message(one) for one in value] if isinstance(value, list) else value


def with_member_examples(schema: dict[str, Any], messages: Sequence[Any]) -> dict[str, Any]:
    """Return a JSON Schema whose members, however deep they lie, have `examples` from messages that it takes.

    Members are those under `properties`, also of what `$ref` leads to. Where no message holds more than an empty value,
    an example that is there stays. Columns are not members: value forms have examples of their own.
    """
    result: dict[str, Any] = _copy(schema, {})
    _add_examples(result, result, list(messages), frozenset())
    return result


def _copy(value: Any, copied: dict[int, Any]) -> Any:
    """Return a copy of JSON; what is in the original at several places is so in the copy."""
    if not isinstance(value, dict | list):
        return value
    if id(value) not in copied:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found = {key: below if isinstance(below, str) else _copy(below, copied) for key, below in items}
        copied[id(value)] = found if isinstance(value, dict) else list(found.values())
    return copied[id(value)]


def _add_examples(whole: dict[str, Any], schema: dict[str, Any], values: list[Any], inside: frozenset[str]) -> None:
    """Put examples into the members of a schema of which `values` are instances; `inside` are definitions around it."""
    name = schema.get("$ref", "").removeprefix(_DEFINED)
    if name in inside:
        return
    if name:
        schema, inside = whole["$defs"][name], inside | {name}
    named = schema.get("properties", {})
    for member, below in named.items():
        held = [value[member] for value in values if isinstance(value, dict) and member in value]
        example = next((value for value in held if value not in _EMPTY), None)
        if example is None and "examples" not in below:
            example = next((value for value in held if value is not None), None)
        if example is not None:
            below["examples"] = [example]
        _add_examples(whole, below, held, inside)
    if isinstance(schema.get("additionalProperties"), dict):
        others = [value.items() for value in values if isinstance(value, dict)]
        held = [one for items in others for member, one in items if member not in named]
        _add_examples(whole, schema["additionalProperties"], held, inside)
    if "items" in schema:
        held = [one for value in values if isinstance(value, list) for one in value]
        _add_examples(whole, schema["items"], held, inside)
