"""Rendering: the message in which a version of a dialect expresses a row change, a DDL or a heartbeat.

Everything written comes from the contract: its envelope, ops, images, types, value forms, and for members that no event
determines, its JSON Schema. What a version cannot express is left out or cut, as `validate/capabilities.py` computes
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.document_model import DDL_OPS
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.relations import relation_of_index, relation_of_row
from cdc_contracts.registry.core.contract.releases import release_between
from cdc_contracts.registry.core.contract.type_families import family_of
from cdc_contracts.registry.core.generate.column_writers import (
    TIME_WRITERS,
    ColumnWriter,
    ColumnWriters,
    join_names,
    type_code,
    write_position,
    write_transaction,
)
from cdc_contracts.registry.core.generate.message_outlines import Filled, Literal, RowMembers, complete_message
from cdc_contracts.registry.core.generate.schema_blocks import write_block
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import FORMS

_JOIN: Final = "\u0001"

Slot = Callable[[Event], str]


class Renderer:
    """Writes events as messages of one version: equal events give equal bytes.

    `full_old` sends every column in images that may hold the changed ones only; `source_kind` names the kind of
    database where a message has a place for it. A TIMESTAMP without a zone to write it in is written in UTC.
    """

    def __init__(
        self,
        version: Version,
        reading_options: ReadingOptions,
        *,
        full_old: bool = False,
        source_kind: str | None = None,
    ) -> None:
        self.version = version
        self.meaning = version.meaning
        self._reading_options = reading_options
        self._full_old = full_old
        self._source_kind = source_kind = source_kind or _usual_kind(version.meaning)
        self._validator = ReferenceValidator(version, reading_options)
        self._mapping = self._validator.forms.mapping_for(source_kind if version.meaning.values.kind_at else None)
        self._capabilities = capabilities_of(version, reading_options, source_kind)
        self._outlines: dict[tuple[Any, ...], list[str | Slot]] = {}
        self._columns: dict[SourceTable, ColumnWriters] = {}

    def render(self, event: Event) -> bytes:
        """Return the message that expresses the event.

        Raises UsageError if the version has no such op, no form for a source type, or none for a value.
        """
        present = (
            event.before is not None, event.after is not None, event.event_time is not None,
            event.process_time is not None, event.position is not None, event.transaction is not None,
            event.ddl_text is not None,
        )  # fmt: skip
        key = (event.op, event.ddl_type, event.table, present)
        outline = self._outlines.get(key)
        if outline is None:
            outline = self._outlines[key] = self._outline(event)
        return self._validator.wire.write("".join([part if isinstance(part, str) else part(event) for part in outline]))

    def render_all(self, events: Iterable[Event]) -> Iterator[bytes]:
        """Yield the messages of the events whose op the version has."""
        return (self.render(event) for event in events if event.op in self._capabilities.ops)

    def render_key(self, event: Event) -> bytes | None:
        """Return the key of the Kafka record, if a contract reads key columns from it; None where it names none."""
        place, table, row = self.meaning.envelope.primary_key, event.table, event.after or event.before
        if place is None or place.at is None or place.in_value is not None or table is None or row is None:
            return None
        if place.json_texts and tuple(place.json_texts.values()) != table.primary_key:
            return None  # the product names the key columns
        columns = self._columns_of(table)
        members = [columns[name][row.get(name)] for name in table.primary_key]
        for number, (member, name) in enumerate(place.json_texts.items()):
            members[number] = f"{write_json(member)}:{write_json(members[number].removeprefix(f'{write_json(name)}:'))}"
        key = "{" + ",".join(members) + "}"
        types = self.meaning.columns.types
        if place.at and types != "none" and types.reading == "connect-schema":
            written = {name: self._written_type(name, table.types[name]) for name in table.primary_key}
            block = write_block(written, self._mapping, (), {}, types.parameter)
            head = f'"schema":{write_json(block)}'
            joined = self.meaning.envelope.database_table
            if types.parameter is not None and joined is not None:
                head += f',"record":{write_json(join_names(joined, table))}'
            key = f'{{{head},"payload":{key}}}'
        else:
            for name in reversed(split_pointer(place.at)):
                key = f"{{{write_json(name)}:{key}}}"
        return key.encode() if table.primary_key else None

    # --- the message of one op

    def _outline(self, event: Event) -> list[str | Slot]:
        """Return the message of events like this one in parts: fixed text, and what differs from event to event."""
        result = self._capabilities.ops.get(event.op)
        if result is None:
            raise UsageError(
                f"{self.version} has no {event.op}", hint=f"It has {', '.join(sorted(self._capabilities.ops))}."
            )
        facts: Filled = {pointer: Literal(codes[0]) for pointer, codes in self.meaning.enums.items()}
        self._place_names(event.table, facts)
        self._place_moments(event, facts)
        if self.meaning.envelope.release is not None and self.meaning.envelope.release.at is not None:
            applies = self.meaning.applies
            facts[self.meaning.envelope.release.at] = Literal(release_between(applies.since, applies.until))
        self._place_key(event, facts)
        self._place_columns(event, result.op, facts)
        self._place_images(event, result.op, facts)
        self._place_ddl(event, result.op, facts)
        index = relation_of_index(self.meaning)
        if index is not None and "idx-is-seq-of-size" in self.meaning.rules:
            facts[index.places[0]] = Literal("1/1")
        op, tests = self.meaning.envelope.op, self.meaning.discriminators
        for flag in op.flags:
            if flag.at is None:
                tests = (*tests, *flag.when) if flag is result.flag else tests
            elif flag is result.flag:
                facts[flag.at] = Literal(flag.equals)
            elif isinstance(flag.equals, bool):
                facts[flag.at] = Literal(not flag.equals)
        if "ddl-flag-agrees" in self.meaning.rules:
            facts["/isDdl"] = Literal(result.op in DDL_OPS)
        if result.flag is None or not result.flag.replaces_code_at(op.at):
            facts[op.at] = Literal(result.code if result.code is not None else (event.ddl_type or "ALTER"))
        self._place_block(event, facts, tests)
        return complete_message(self.version.schema, facts, tests)

    def _place_names(self, table: SourceTable | None, facts: Filled) -> None:
        envelope = self.meaning.envelope
        tenant, database, schema, name = (
            (table.tenant, table.database, table.schema, table.name) if table else (None, None, None, None)
        )
        whole = database
        if envelope.database and envelope.database.split == "tenant.database" and tenant and database:
            whole = f"{tenant}.{database}"
        joined = None
        if envelope.database_table and table is not None:
            joined = join_names(envelope.database_table, table)
        for place, value in (
            (envelope.database, whole), (envelope.schema_name, schema), (envelope.table, name),
            (envelope.database_table, joined), (envelope.source_kind, self._source_kind if table else None),
        ):  # fmt: skip
            if value is None:
                continue
            if place and place.at is not None and value in self._schema_at(place.at).get("enum", [value]):
                facts[place.at] = Literal(value)

    def _place_moments(self, event: Event, facts: Filled) -> None:
        envelope = self.meaning.envelope
        zone = self._reading_options.zone("time_zone")
        at_event, at_process = (TIME_WRITERS[(place and place.form) or "epoch-millis"]
                                for place in (envelope.event_time, envelope.process_time))  # fmt: skip
        kinds = self._kinds_at(envelope.position.at) if envelope.position and envelope.position.at else []
        ids = self._kinds_at(envelope.transaction.at) if envelope.transaction and envelope.transaction.at else []
        slots: tuple[tuple[Place | None, Any, Slot], ...] = (
            (envelope.event_time, event.event_time, lambda event: at_event(event.event_time or 0, zone)),
            (envelope.process_time, event.process_time, lambda event: at_process(event.process_time or 0, zone)),
            (envelope.position, event.position, lambda event: write_position(self._position_of(event), kinds)),
            (envelope.transaction, event.transaction, lambda event: write_transaction(event.transaction or "", ids)),
        )
        for place, result, slot in slots:
            if place is None or place.at is None:
                continue
            if result is not None:
                facts[place.at] = slot
            elif place.absent_value is not None or place.null_text is not None:
                facts[place.at] = Literal(place.null_text if place.absent_value is None else place.absent_value)
            for at in (place.index, place.size):
                if at is not None:
                    facts[at] = Literal(1)

    def _position_of(self, event: Event) -> str:
        """Return the position as the version asks for it: where that is not a number alone, with the time after it."""
        place, text = self.meaning.envelope.position, event.position or ""
        pattern = self.meaning.patterns.get((place.at if place else "") or "")
        if pattern is None or compile_pattern(pattern)(text):
            return text
        return f"{text}@{(event.event_time or 0) // 1_000_000}"

    def _schema_at(self, pointer: str) -> Mapping[str, Any]:
        schema: Any = self.version.schema
        for part in split_pointer(pointer):
            schema = schema.get("properties", {}).get(part, {})
        return schema  # type: ignore[no-any-return]

    def _kinds_at(self, pointer: str) -> list[str]:
        kinds = self._schema_at(pointer).get("type", ["integer", "string"])
        return [kinds] if isinstance(kinds, str) else list(kinds)

    def _place_key(self, event: Event, facts: Filled) -> None:
        envelope, table = self.meaning.envelope, event.table
        if table is None or (event.before is None and event.after is None):
            return
        names, place, values = list(table.primary_key), envelope.primary_key, envelope.primary_key_values
        if place and place.in_value is not None:
            match place.reading:
                case "joined-u0001":
                    facts[place.in_value] = Literal(_JOIN.join(names))
                case "json-text-groups":
                    facts[place.in_value] = Literal(json.dumps({place.member or "PRIMARY": names}, ensure_ascii=False))
                case _:
                    facts[place.in_value] = Literal(names)
        if names and values and values.at is not None:
            head = self._head_of_row(facts) if values.reading == "rowid-of-table" else ""
            key = [(name, self._columns_of(table)[name]) for name in names]

            def write(event: Event) -> str:
                row = event.after or event.before or {}
                return write_json(head + _JOIN.join(column.wire_text(row.get(name)) for name, column in key))

            facts[values.at] = write

    def _head_of_row(self, facts: Filled) -> str:
        """Return what the id of a row starts with: the table as the message names it."""
        relation = relation_of_row(self.meaning)
        result = facts.get(relation.places[1]) if relation else None
        return f"{result.value}-" if isinstance(result, Literal) else ""

    # --- rows

    def _place_columns(self, event: Event, op: str, facts: Filled) -> None:
        types, codes = self.meaning.columns.types, self.meaning.columns.codes
        if event.table is None or self.meaning.images.of(op) is None:
            return
        by_column = {name: self._written_type(name, result) for name, result in event.table.types.items()}
        if types != "none" and types.at is not None and types.reading != "connect-schema":
            facts[types.at] = Literal(self._written_types(types, by_column))
        if codes is not None:
            normalise = self._mapping.normalise
            facts[codes.at] = Literal(
                {name: type_code(normalise(result), codes.table) for name, result in by_column.items()}
            )

    def _written_types(self, types: ColumnTypes, by_column: Mapping[str, str]) -> Any:
        match types.reading:
            case "list-of-objects":
                return [
                    {types.name: name, types.type: result if types.table is None else int(result)}
                    for name, result in by_column.items()
                ]
            case _:
                return by_column

    def _place_block(self, event: Event, facts: Filled, tests: tuple[Test, ...]) -> None:
        """Place the schema block, which describes all members that the message will have."""
        types = self.meaning.columns.types
        if types == "none" or types.reading != "connect-schema" or types.at is None:
            return
        written = event.table.types if event.table is not None else {}
        by_column = {name: self._written_type(name, result) for name, result in written.items()}
        places = [split_pointer(at) for at in self.meaning.images.pointers()]
        rows = [place[-1] for place in places] if types.field is not None else []
        described = places[0][:-1] if rows else places[0]
        members = follow(_fixed_part(complete_message(self.version.schema, facts, tests)), described)
        others = members if isinstance(members, dict) else {}
        facts[types.at] = Literal(write_block(by_column, self._mapping, rows, others, types.parameter))

    def _place_images(self, event: Event, op: str, facts: Filled) -> None:
        """Place the images of an op.

        Where an image may be completed by another it holds the changed columns only; where each may be completed
        by the other, the before image is the whole one.
        """
        sides, table = self.meaning.images.of(op), event.table
        if sides is None or table is None:
            return
        partial = [side for side in (sides.after, sides.before) if side and side.completed_from is not None][:1]
        for name, side in (("before", sides.before), ("after", sides.after)):
            if side is None or getattr(event, name) is None:
                continue
            changed_only = side in partial and not self._full_old
            facts[side.at] = self._image_slot(table, side, name, changed_only=changed_only)

    def _image_slot(self, table: SourceTable, side: Side, name: str, *, changed_only: bool) -> Slot:
        types = self.meaning.columns.types
        extra = ""
        if types != "none" and types.in_image is not None:
            described = {
                column: {types.type or "type": self._written_type(column, result)}
                for column, result in table.types.items()
            }
            extra = f"{write_json(types.in_image)}:{write_json(described)}"
        is_list, is_beside = not self.meaning.images.hold_one_row, not side.at or bool(side.not_columns)
        opening, closing = ("[{", "}]") if is_list else ("", "") if is_beside else ("{", "}")
        may_be_empty = is_list and "changed-columns-sent" not in self.meaning.rules
        other = "after" if name == "before" else "before"
        columns = self._columns_of(table)

        def write(event: Event) -> str:
            row = getattr(event, name)
            if changed_only:
                whole = getattr(event, other) or {}
                changed = {column: text for column, text in row.items() if whole.get(column, _JOIN) != text}
                row = changed if changed or may_be_empty else row
            members = ",".join([columns[column][text] for column, text in row.items()])
            return f"{opening}{members}{',' if members and extra else ''}{extra}{closing}"

        return RowMembers(write) if is_beside else write

    def _columns_of(self, table: SourceTable) -> ColumnWriters:
        if table not in self._columns:
            self._columns[table] = ColumnWriters(lambda name: self._column(table, name))
        return self._columns[table]

    def _written_type(self, name: str, source_type: str) -> str:
        result = self._capabilities.types.type_name_of(source_type)
        if result is None:
            raise UsageError(
                f"{self.version} has no value form for the type {source_type} of column {name}",
                hint="List the type in its value mapping, or give a table of listed types with --tables.",
            )
        return result

    def _column(self, table: SourceTable, name: str) -> ColumnWriter:
        source_type, mapping = table.types.get(name), self._mapping
        contract = self._reading_options.tables.of(table.database, table.schema, table.name)
        types: tuple[str, ...] = ()
        if source_type is None:
            form, family = FORMS[mapping.form_of_kind("text") or "text"], "text"
        else:
            types = (self._written_type(name, source_type), source_type)
            form = FORMS[mapping.form_of(types[0]) or "text"]
            family = family_of(source_type)
        return ColumnWriter(name, form, self._validator.forms.context_of(form, contract, mapping, *types), family)

    def _place_ddl(self, event: Event, op: str, facts: Filled) -> None:
        ddl = self.meaning.ddl
        if ddl is None or op != "ddl":
            return
        if ddl.text and ddl.text.at is not None and event.ddl_text is not None:
            facts[ddl.text.at] = lambda event: write_json(event.ddl_text)
        if ddl.type and ddl.type.at is not None and event.ddl_type is not None:
            facts[ddl.type.at] = Literal(event.ddl_type)


def _fixed_part(parts: Iterable[str | Slot]) -> dict[str, Any]:
    """Return a message without its columns, and with null in place of what differs from event to event."""
    texts = [one if isinstance(one, str) else '"":null' if isinstance(one, RowMembers) else "null" for one in parts]
    return json.loads("".join(texts), object_pairs_hook=lambda members: {name: one for name, one in members if name})  # type: ignore[no-any-return]


def _usual_kind(meaning: Meaning) -> str:
    """Return the kind of source database that messages name where nobody asks for another."""
    place = meaning.envelope.source_kind
    return meaning.enums.get(place.at or "", ("OB_MYSQL",))[0] if place is not None else "OB_MYSQL"
