"""Written drafts: `contract.yaml` and the value mapping of a draft, with the evidence and the questions left open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.contract_texts import Lines, to_yaml
from cdc_contracts.registry.authoring.drafting.drafted_contracts import ContractDraft
from cdc_contracts.registry.authoring.drafting.image_questions import image_questions
from cdc_contracts.registry.authoring.drafting.row_places import JSON_TEXT
from cdc_contracts.registry.authoring.drafting.type_forms import AS_SENT


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
    if base is not None and sections is not None and "enums" in sections:
        lines.ask(f"some codes are not of those that {base} lists: which are there, at which members?")
        lines.add("enums", None)
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
    block = draft.places.types is not None and draft.places.types.is_block
    lines.add("names", ["drop-parameters"] if block else ["upper", "drop-parameters"])
    if not draft.forms:
        lines.ask("no message names the type of a column: how is each type written, as in `sql-datetime: [DATETIME]`?")
        lines.ask(
            "until then values are read by their JSON kind; a table contract (`tables infer`) gives columns types, and "
            "one that is not listed here is a finding."
        )
        if draft.untyped.question:
            lines.ask(draft.untyped.question)
        lines.add("untyped", draft.untyped.by_kind, draft.untyped.evidence)
        return lines
    if block:
        lines.add("default", AS_SENT)
        lines.add("arrays", "json-value")
    else:
        lines.ask("a source type that is not listed is a finding: which others are there?")
    _write_forms(draft, lines)
    return lines


def _write_forms(draft: ContractDraft, lines: Lines) -> None:
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


def _write_envelope(draft: ContractDraft, _: Any, lines: Lines) -> None:
    lines.add("envelope", None)
    member = draft.codes.member
    seen = ", ".join(f"{code} {number:,}" for code, number in draft.codes.seen.most_common())
    if draft.codes.others:
        others = ", ".join(one.pointer for one in draft.codes.others)
        lines.ask(f"is {member.pointer} the op code? {others} looks like one too.", indent="  ")
    for kind in draft.codes.codeless:
        if not kind.is_certain:
            number = "the message" if len(kind.messages) == 1 else f"{len(kind.messages):,} messages"
            why = f"{kind.why[:1].upper()}{kind.why[1:]}"
            what = f"{number} without an op code, first in {kind.messages[0].place}"
            lines.ask(f"is {kind.means} the op of {what}? {why}.", indent="  ")
    total, held = len(draft.members.messages), draft.codes.seen.total()
    where = "in all messages" if held == total else f"in {held:,} of {total:,} messages"
    evidence = f"{where}: {seen}" if held else "no message has an op code"
    lines.add("op", draft.resolved()["envelope"]["op"], evidence, indent="  ")
    for name, place in draft.envelope.places.items():
        if place.question:
            lines.ask(place.question, indent="  ")
        lines.add(name, place.says, place.evidence, indent="  ")
    source = draft.resolved()["envelope"].get("source_kind")
    if source is not None:
        lines.add("source_kind", source, indent="  ")
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
    missing = [] if draft.codes.codeless and not ops else missing
    if missing and "update-after" not in ops.values():
        lines.ask(f"no message is known to be of {' or '.join(missing)}: which code has it?")
    lines.add("ops", ops)


def _write_images(draft: ContractDraft, images: Any, lines: Lines) -> None:
    for question in image_questions(draft.members, draft.places, draft.sides):
        lines.ask(question)
    lines.add("images", None)
    lines.add("container", images["container"], indent="  ")
    if "constants" in images:
        bare = sum(message.has_constants for message in draft.members.messages)
        lines.add("constants", images["constants"], f"NaN or Infinity stand bare in {bare:,} messages", indent="  ")
    for question in draft.absent.questions():
        lines.ask(question, indent="  ")
    if "absent" in images:
        lines.add("absent", images["absent"], indent="  ")
    for op, one in draft.sides.items():
        held = [f"{pointer or 'the message'} {number:,}" for pointer, number in one.holding.items()]
        held += [f"the key of the record {one.of_keys:,}"] if one.of_keys else []
        rows = f"rows: {', '.join(held)} of {one.messages:,} messages, first in {one.first}"
        lines.add(op, one.sides, rows, indent="  ")


def _write_columns(draft: ContractDraft, columns: Any, lines: Lines) -> None:
    place = draft.row_without_column
    if draft.places.container == JSON_TEXT and place is None:
        lines.ask("may a row lack columns that others of its table have? `optional: true` says so.")
    elif draft.places.container != JSON_TEXT and place is not None:
        lines.ask("is a column that a row lacks NULL or empty? `lacking: null-or-empty` says so.")
    lines.add("columns", columns, "" if place is None else f"not all rows of a table have the same, first in {place}")


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
    "columns": _write_columns,
    "ddl": _write_ddl,
    "discriminators": _write_discriminators,
    "full_load": _write_full_load,
}
