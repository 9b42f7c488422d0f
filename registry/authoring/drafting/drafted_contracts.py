"""Contract drafts: what messages of an unknown dialect show, as a contract in the vocabulary of contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.contract_texts import Lines, to_yaml
from cdc_contracts.registry.authoring.drafting.envelope_places import EnvelopeFacts, find_envelope
from cdc_contracts.registry.authoring.drafting.envelope_schema_drafts import AvroDraft, SchemaDraft
from cdc_contracts.registry.authoring.drafting.image_questions import image_questions
from cdc_contracts.registry.authoring.drafting.image_sides import OpImages, find_sides
from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes, find_op, numeric_op, partial_op
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces, find_rows
from cdc_contracts.registry.authoring.drafting.row_refusals import find_refusal
from cdc_contracts.registry.authoring.drafting.type_forms import TypeForm, find_forms
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.values import FORMS

_MOST_PRESENT: Final = 4
VOCABULARY: Final = "A dialect beyond docs/vocabulary.md needs a reading of its own, which is code."


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
    rules: list[str]
    not_separable: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    """Why something that the messages seemed to show is left out."""
    open_members: list[str] = field(default_factory=list)
    """Questions about members that the contract does not read."""

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
        for parts in (self.places.types.parts if self.places.types else None, self.places.codes):
            if parts is not None:
                pointers.add(join_pointer(*parts))
        return pointers

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
        if self.codes.flag_decides and self.codes.ddl_flag is not None:
            op["flags"] = [{"at": self.codes.ddl_flag.pointer, "is": True, "means": "ddl"}]
        envelope = {"op": op} | {name: one.says for name, one in self.envelope.places.items()}
        images: dict[str, Any] = {"container": self.places.container}
        images |= {name: one.sides for name, one in self.sides.items()}
        document: dict[str, Any] = {"envelope": envelope, "ops": dict(self.codes.ops), "images": images}
        if {"update-before", "update-after"} <= {*self.sides}:
            document["split_update"] = {"joined_if": "both-images", "pair_by": self._pair_by()}
        if self.envelope.ddl is not None:
            document["ddl"] = self.envelope.ddl.says
        document["columns"] = self._columns()
        document["values"] = {"mapping": self.mapping}
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
        codes = {} if self.places.codes is None else {
            "codes": {"at": join_pointer(*self.places.codes), "as": "name-to-code", "table": "any"}
        }  # fmt: skip
        return {"types": types, **codes}

    def _parameters(self) -> list[str]:
        zoned = any(FORMS[form.form].needs_zone for form in self.forms.values())
        local = any(str(one.says.get("form", "")).startswith("iso-local") for one in self.envelope.places.values())
        return [*(["time_zone"] if local else []), *(["timestamp_zone"] if zoned else [])]

    def _discriminators(self) -> list[dict[str, Any]]:
        tests: list[dict[str, Any]] = [{"in": self.codes.member.pointer, "values": list(self.codes.ops)}]
        always = [member for member in self.members if member.held == len(self.members.messages)]
        outside = [member for member in always if not self._is_row(member.parts)]
        present = [{"present": member.pointer} for member in outside if member.parts != self.codes.member.parts]
        return tests + present[:_MOST_PRESENT]

    def _is_row(self, parts: Parts) -> bool:
        if () in self.places.images:
            return not parts or parts[0] not in self.places.not_columns
        return any(parts[: len(image)] == image and parts != image for image in self.places.images)

    def _full_load(self) -> str:
        ops = {*self.codes.ops.values()}
        return "own-op" if "snapshot" in ops else "as-upsert" if "upsert" in ops else "as-insert"


def draft_contract(reference: str, document: str, messages: Sequence[SampleMessage]) -> ContractDraft:
    """Return what messages show of their contract.

    `document` names where they come from. Raises UndetectedError if contracts cannot express what is seen.
    """
    members = Members(messages)
    places = find_rows(members)
    codes = find_op(members, places)
    if not places.images and codes is not None:
        _take_rows_of_the_top(members, places, codes)
        codes = find_op(members, places)
    partial = partial_op(members, places, codes)
    if partial is not None:
        raise _partial_op(members, partial)
    if codes is None:
        raise _no_op(members, places)
    sides = find_sides(members, places, codes)
    envelope = find_envelope(members, places, codes)
    reason = find_refusal(places, codes, envelope, sides)
    if reason is not None:
        raise UndetectedError(f"no contract can express these messages: {reason}", hint=_images_hint(places))
    forms = find_forms(members, places)
    unread = next((one for one in forms.values() if not one.form), None)
    if unread is not None:
        name = next(name for name, one in forms.items() if one is unread)
        raise UndetectedError(
            f"no contract can express these messages: {unread.question} of {name}", where=unread.first
        )
    return ContractDraft(
        reference, document, members, places, codes, sides, envelope, forms,
        _rules(places, sides, envelope, codes),
    )  # fmt: skip


def _partial_op(members: Members, member: ObservedMember) -> UndetectedError:
    lacking = [message for message in members.messages if not isinstance(message.at(member.parts), str)]
    return UndetectedError(
        f"no contract can express these messages: {member.pointer} looks like the op code, and "
        f"{len(lacking):,} of {len(members.messages):,} messages do not have it",
        where=lacking[0].place, hint="Give messages that all say what they do; leave out the others.",
    )  # fmt: skip


def _no_op(members: Members, places: RowPlaces) -> UndetectedError:
    numeric = numeric_op(members, places)
    if numeric is not None:
        return UndetectedError(
            f"no contract can express these messages: {numeric.pointer} looks like the op code, and holds no texts",
            where=numeric.first,
            hint=f"`ops` of a contract takes texts. {VOCABULARY}",
        )
    return UndetectedError(
        "no member says what each message does: a text in every message, with few values such as insert or U",
        hint="Give more messages of one dialect, with an insert, an update and a delete among them.",
    )


def _images_hint(places: RowPlaces) -> str:
    if places.refused:
        return "An image is an object of columns with plain values, a list of one, or a list of rows. " + VOCABULARY
    return "Give messages with rows. " + VOCABULARY


def _take_rows_of_the_top(members: Members, places: RowPlaces, codes: OpCodes) -> None:
    """Read the message itself as the row, beside what belongs to the envelope."""
    top = [member for member in members if len(member.parts) == 1]
    places.refused_beside = tuple(member.parts for member in top if {"object", "array"} & {*member.kinds})
    if places.refused_beside:
        return
    envelope = find_envelope(members, places, codes)
    named = [one.parts[0] for one in (codes.member, codes.ddl_flag) if one is not None]
    for fact, place in envelope.places.items():
        if fact in ("table", "database", "schema", "database_table") and "at" in place.says:
            named.append(str(place.says["at"])[1:])
    named += [member.parts[0] for member in top if member.parts[0].startswith(("_", "@"))]
    places.not_columns = tuple(dict.fromkeys(named))
    places.columns = frozenset(member.parts[0] for member in top) - {*named}
    places.images = [()]


def _rules(places: RowPlaces, sides: dict[str, OpImages], envelope: EnvelopeFacts, codes: OpCodes) -> list[str]:
    rules = ["image-present-for-op"]
    if places.types is not None or places.types_in_image is not None:
        rules.append("columns-typed")
    if "primary_key" in envelope.places:
        rules.append("primary-key-in-image")
    completed = [name for one in sides.values() for name, side in one.sides.items() if "completed_from" in side]
    if completed:
        rules.append("old-keys-in-data" if "before" in completed else "data-keys-in-key")
    if envelope.ddl is not None and "ddl" in codes.ops.values():
        rules.append("ddl-text-only-if-ddl")
    if codes.ddl_flag is not None and codes.ddl_flag.pointer == "/isDdl" and not codes.flag_decides:
        rules.append("ddl-flag-agrees")
    return rules


def write_contract(draft: ContractDraft, *, base: str | None = None, sections: Sequence[str] | None = None) -> Lines:
    """Return `contract.yaml` with evidence and questions; with a base only some sections of it."""
    lines, total = Lines(), len(draft.members.messages)
    whole = draft.resolved()
    chosen = {name: value for name, value in whole.items() if sections is None or name in sections}
    lines.name_schema("contract", depth=3)
    lines.lines.append(f"# Drafted from {total:,} messages; comments say how many show a fact, and where the first is.")
    lines.add("contract", draft.reference)
    if base is not None:
        lines.add("based_on", base)
    lines.ask('which releases or dates does it hold for (`since: "1.0"`), and what is counted?')
    ends = {} if base is None else {"since": None, "until": None}
    lines.add("applies", {**ends, "counted_from": "product-version"})
    lines.add("status", "current")
    if base is None:
        lines.add("transport", "json")
    lines.ask("which document describes these messages, and in which section?")
    lines.add("provenance", {"document": draft.document, **({} if base is None else {"errata": []})})
    if draft.not_separable and base is None:
        lines.ask(f"messages of {', '.join(draft.not_separable)} look like these: is this a dialect of its own?")
    if draft.not_separable:
        lines.add("not_separable_from", draft.not_separable)
    for name, value in chosen.items():
        writer = _SECTIONS.get(name)
        if writer is None:
            lines.add(name, value)
        else:
            writer(draft, value, lines)
    for reason in draft.withdrawn:
        lines.ask(f"{reason}; is that so?")
    for question in draft.open_members:
        lines.ask(question)
    return lines


def write_mapping(draft: ContractDraft) -> Lines:
    """Return the value mapping of a draft as a file of `types/`."""
    lines = Lines()
    lines.name_schema("mapping", depth=2)
    lines.add("mapping", draft.mapping)
    lines.add("names", ["upper", "drop-parameters"])
    if not draft.forms:
        lines.ask("no message names the type of a column: how is each type written, as in `sql-datetime: [DATETIME]`?")
        lines.ask("until then values are read by their JSON kind; table contracts (`tables infer`) give types.")
        lines.add("untyped", {"number": "json-number", "text": "text", "boolean": "bool-json"})
        return lines
    lines.ask("a source type that is not listed is a finding: which others are there?")
    lines.add("forms", None)
    by_form: dict[str, list[str]] = {}
    for name, one in draft.forms.items():
        by_form.setdefault(one.form, []).append(name)
    asked: dict[str, list[str]] = {}
    for name, one in draft.forms.items():
        if one.question:
            asked.setdefault(one.question, []).append(name)
    for question, names in asked.items():
        lines.ask(f"{', '.join(names)}: {question}", indent="  ")
    for form, names in by_form.items():
        values, first = sum(draft.forms[name].values for name in names), draft.forms[names[0]].first
        lines.add(form, names, f"{values:,} values, first in {first}", indent="  ")
    invalid = {one.form: one.invalid for one in draft.forms.values() if one.invalid is not None}
    if invalid:
        lines.add("invalid", invalid)
    return lines


def _write_envelope(draft: ContractDraft, _: Any, lines: Lines) -> None:
    lines.add("envelope", None)
    member = draft.codes.member
    seen = ", ".join(f"{code} {number:,}" for code, number in draft.codes.seen.most_common())
    if draft.codes.others:
        others = ", ".join(one.pointer for one in draft.codes.others)
        lines.ask(f"is {member.pointer} the op code? {others} looks like one too.", indent="  ")
    lines.add("op", draft.resolved()["envelope"]["op"], f"in all messages: {seen}", indent="  ")
    for name, place in draft.envelope.places.items():
        if place.question:
            lines.ask(place.question, indent="  ")
        lines.add(name, place.says, place.evidence, indent="  ")
    for question in draft.envelope.questions:
        lines.ask(question, indent="  ")


def _write_ops(draft: ContractDraft, ops: Any, lines: Lines) -> None:
    alike: dict[tuple[str, str], list[str]] = {}
    for code, reason in draft.codes.guessed.items():
        unknown = "it is no known word; " if code in draft.codes.unknown else ""
        alike.setdefault((ops[code], unknown + reason), []).append(code)
    for (op, reason), codes in alike.items():
        verb = "does" if len(codes) == 1 else "does each of"
        lines.ask(f"{verb} {', '.join(codes)} mean {op}? {reason[:1].upper()}{reason[1:]}.")
    missing = [
        op for op in ("insert", "update", "delete") if op not in {*ops.values()} and "upsert" not in ops.values()
    ]
    if missing and "update-after" not in ops.values():
        lines.ask(f"no message is known to be of {' or '.join(missing)}: which code has it?")
    lines.add("ops", ops)


def _write_images(draft: ContractDraft, images: Any, lines: Lines) -> None:
    for question in image_questions(draft.places, draft.sides):
        lines.ask(question)
    lines.add("images", None)
    lines.add("container", images["container"], indent="  ")
    for op, one in draft.sides.items():
        held = ", ".join(f"{pointer or 'the message'} {number:,}" for pointer, number in one.holding.items())
        rows = f"rows: {held} of {one.messages:,} messages, first in {one.first}"
        lines.add(op, one.sides, rows, indent="  ")


def _write_ddl(draft: ContractDraft, value: Any, lines: Lines) -> None:
    ddl = draft.envelope.ddl
    if ddl is not None and ddl.question:
        lines.ask(ddl.question)
    lines.add("ddl", value, ddl.evidence if ddl is not None else "")


def _write_discriminators(_: ContractDraft, value: Any, lines: Lines) -> None:
    lines.ask("what distinguishes these messages from all other formats? All tests must hold.")
    lines.add("discriminators", None)
    lines.lines += ["  - " + to_yaml(test) for test in value]


def _write_full_load(_: ContractDraft, value: Any, lines: Lines) -> None:
    if value != "own-op":
        lines.ask(
            "do rows of the full load look like other changes (as-insert, as-upsert), or have an op of their own?"
        )
    lines.add("full_load", value)


_SECTIONS: Final[dict[str, Any]] = {
    "envelope": _write_envelope,
    "ops": _write_ops,
    "images": _write_images,
    "ddl": _write_ddl,
    "discriminators": _write_discriminators,
    "full_load": _write_full_load,
}
