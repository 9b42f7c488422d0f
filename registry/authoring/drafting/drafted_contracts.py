"""Contract drafts: what messages of an unknown dialect show, as a contract in the vocabulary of contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.envelope_schema_drafts import AvroDraft, SchemaDraft
from cdc_contracts.registry.authoring.drafting.image_sides import (
    OpImages,
    find_gap_in_column,
    find_row_without_column,
    rows_after,
)
from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.message_parts import find_parts
from cdc_contracts.registry.authoring.drafting.object_texts import CONSTANTS
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import JSON_TEXT, RowPlaces
from cdc_contracts.registry.authoring.drafting.type_forms import TypeForm, UntypedForms, find_forms, find_untyped
from cdc_contracts.registry.authoring.drafting.unsent_marks import UnsentMarks
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.values import FORMS

_MOST_PRESENT: Final = 4


@dataclass
class ContractDraft:
    """A contract as far as messages show it; `withdraw` removes what does not hold for all of them."""

    reference: str
    document: str
    members: Members
    places: RowPlaces
    codes: OpCodes
    sides: dict[str, OpImages]
    envelope: EnvelopeFacts
    forms: dict[str, TypeForm]
    untyped: UntypedForms
    absent: UnsentMarks
    rules: list[str]
    not_separable: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    """Why something that the messages seemed to show is left out."""
    open_members: list[str] = field(default_factory=list)
    """Questions about members that the contract does not read."""

    @cached_property
    def row_without_column(self) -> str | None:
        """The place of a row that lacks a column which others of its table have; None if there is none.

        A document lacks fields by itself; the column of another row has to come back, or its table lost it.
        """
        if self.places.types is not None or self.places.types_in_image is not None:
            return None
        rows = list(rows_after(self.members, self.places, self.sides, self.envelope.names_of))
        return find_row_without_column(rows) if self.places.container == JSON_TEXT else find_gap_in_column(rows)

    @property
    def subject(self) -> str:
        return self.reference.partition("@")[0]

    @property
    def mapping(self) -> str:
        """The name of the value mapping, which no other contract has."""
        number = self.reference.partition("@")[2]
        return self.subject.replace("/", "-") + (f"-v{number}" if number != "1" else "")

    def kept(self) -> set[str]:
        """Return the pointers of members that samples keep as they are: names, types, codes, times and positions."""
        pointers = {self.codes.member.pointer}
        pointers |= {str(one.says["at"]) for one in self.envelope.places.values() if "at" in one.says}
        pointers |= {place for kind in self.codes.codeless for place in kind.compared}
        pointers |= {self.absent.kind.pointer} if self.absent.kind is not None else set()
        for parts in (self.places.types.parts if self.places.types else None, self.places.codes):
            if parts is not None:
                pointers.add(join_pointer(*parts))
        return pointers

    @property
    def blocks(self) -> set[str]:
        """The schema blocks by pointer: they describe other members, whether types are read from them or not."""
        return {join_pointer(*parts) for parts in self.places.blocks}

    def withdraw(self, rule: str, path: str, where: str) -> bool:
        """Take back what a message contradicts; return whether there was something."""
        name = rule.partition(".")[2]
        if name in self.rules:
            self.rules.remove(name)
            self.withdrawn.append(f"the rule {name} does not hold for {where} ({path or 'the message'})")
            return True
        for fact, place in list(self.envelope.places.items()):
            if place.says.get("at") == path and fact != "table":
                del self.envelope.places[fact]
                self.withdrawn.append(f"{path} is not the {fact.replace('_', ' ')}: see {where}")
                return True
        return False

    def schemas(self, inherited: Sequence[str] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the JSON Schema and the Avro schema of the envelope; `inherited` are op codes besides those seen."""
        system, dialect = self.subject.split("/")
        number = self.reference.partition("@")[2]
        identifier = f"urn:{system}:{dialect}:v{number}"
        title = f"{system} {dialect}, from {len(self.members.messages):,} messages"
        schema = SchemaDraft(self.members, self.places, self.codes, inherited).build(identifier, title)
        namespace = f"{system}.{dialect}".replace("-", "_")
        return schema, AvroDraft(namespace).build(schema, title)

    def resolved(self) -> dict[str, Any]:
        """Return the contract as plain values, section by section."""
        op: dict[str, Any] = {"at": self.codes.member.pointer}
        flags: list[dict[str, Any]] = [{"when": kind.tests, "means": kind.means} for kind in self.codes.codeless]
        if self.codes.flagged and self.codes.ddl_flag is not None:
            of = sorted({self.codes.ops[code] for code in self.codes.flagged})
            flags.insert(0, {"at": self.codes.ddl_flag.pointer, "is": True, "means": "ddl", "of": of})
        if flags:
            op["flags"] = flags
        envelope = {"op": op} | {name: one.says for name, one in self.envelope.places.items()}
        if self.absent.nulls and self.absent.kind is not None:
            envelope["source_kind"] = {"at": self.absent.kind.pointer}
        images: dict[str, Any] = {"container": self.places.container}
        if any(message.has_constants for message in self.members.messages):
            images["constants"] = CONSTANTS
        if self.absent.says():
            images["absent"] = self.absent.says()
        images |= {name: one.sides for name, one in self.sides.items()}
        document: dict[str, Any] = {"envelope": envelope, "ops": dict(self.codes.ops), "images": images}
        if {"update-before", "update-after"} <= {*self.sides}:
            document["split_update"] = {"joined_if": "both-images", "pair_by": self._pair_by()}
        if self.envelope.ddl is not None:
            document["ddl"] = self.envelope.ddl.says
        document["columns"] = self._columns()
        mapping: Any = self.mapping
        if self.absent.nulls and self.absent.kind is not None:
            mapping = {"by": self.absent.kind.pointer, "else": self.mapping}
        document["values"] = {"mapping": mapping}
        if self._parameters():
            document["parameters"] = self._parameters()
        document["rules"] = list(self.rules)
        document["discriminators"] = self._discriminators()
        document["full_load"] = self._full_load()
        return document

    def _pair_by(self) -> list[str]:
        return [name for name in ("position", "transaction", "table") if name in self.envelope.places] or ["table"]

    def _columns(self) -> dict[str, Any]:
        types: Any = "none"
        if self.places.types_in_image is not None:
            member, key = self.places.types_in_image
            types = {"in_image": member, "as": "name-to-object", "type": key}
        elif self.places.types is not None:
            place = self.places.types
            types = {"at": join_pointer(*place.parts), "as": place.reading}
            types |= {"name": place.name, "type": place.type} if place.name else {}
            types |= {"field": place.field} if place.field else {}
        codes = {} if self.places.codes is None else {
            "codes": {"at": join_pointer(*self.places.codes), "as": "name-to-code", "table": "any"}
        }  # fmt: skip
        optional = {} if self.row_without_column is None else {"optional": True}
        return {"types": types, **codes, **optional}

    def _parameters(self) -> list[str]:
        zoned = any(FORMS[form.form].needs_zone for form in self.forms.values())
        local = any(str(one.says.get("form", "")).startswith("iso-local") for one in self.envelope.places.values())
        return [*(["time_zone"] if local else []), *(["timestamp_zone"] if zoned else [])]

    def _discriminators(self) -> list[dict[str, Any]]:
        codes = [{"in": self.codes.member.pointer, "values": list(self.codes.ops)}] if self.codes.ops else []
        marks = {str(kind.mark): kind.mark for kind in self.codes.codeless}
        tests: list[dict[str, Any]] = [{"any": [*codes, *marks.values()]}] if marks else codes
        always = [member for member in self.members if member.held == len(self.members.messages)]
        blocks = self.places.blocks
        outside = [
            member for member in always
            if not self._is_row(member.parts) and not any(member.parts[:-1][: len(one)] == one for one in blocks)
        ]  # fmt: skip
        present = [{"present": member.pointer} for member in outside if member.parts != self.codes.member.parts]
        return tests + present[:_MOST_PRESENT]

    def _is_row(self, parts: Parts) -> bool:
        if self.places.flattened is not None:
            return self.places.name_in_flattened(parts) not in (None, *self.places.not_columns)
        return any(parts[: len(image)] == image and parts != image for image in self.places.images)

    def _full_load(self) -> str:
        ops = self.codes.means
        return "own-op" if "snapshot" in ops else "as-upsert" if "upsert" in ops else "as-insert"


def draft_contract(reference: str, document: str, messages: Sequence[SampleMessage]) -> ContractDraft:
    """Return what messages show of their contract.

    `document` names where they come from. Raises UndetectedError if contracts cannot express what is seen.
    """
    found = find_parts(Members(messages))
    members = found.members
    places, codes, sides, envelope = found.places, found.codes, found.sides, found.envelope
    return ContractDraft(
        reference, document, members, places, codes, sides, envelope, find_forms(members, places),
        find_untyped(members, places), found.absent, _rules(places, sides, envelope, codes),
    )  # fmt: skip


def _rules(places: RowPlaces, sides: dict[str, OpImages], envelope: EnvelopeFacts, codes: OpCodes) -> list[str]:
    is_flattened = places.flattened is not None
    rules = [] if is_flattened and codes.codeless else ["image-present-for-op"]  # what has no op code is no row
    if places.types is not None or places.types_in_image is not None:
        rules.append("columns-typed")
    if places.types is not None and places.types.is_block:
        rules.append("members-in-schema-block")
    if "primary_key" in envelope.places:
        rules.append("primary-key-in-image")
        if "from" in envelope.places["primary_key"].says:
            rules.append("kafka-key-agrees")
    completed = [name for one in sides.values() for name, side in one.sides.items() if "completed_from" in side]
    if completed:
        rules.append("old-keys-in-data" if "before" in completed else "data-keys-in-key")
    if envelope.ddl is not None and "ddl" in codes.means and not is_flattened:
        rules.append("ddl-text-only-if-ddl")
    if codes.ddl_flag is not None and codes.ddl_flag.pointer == "/isDdl" and not codes.flagged:
        rules.append("ddl-flag-agrees")
    return rules
