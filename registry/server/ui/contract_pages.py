"""Contract pages: the list of contracts, and one contract explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdc_contracts.registry.authoring.explain.contract_explanations import Explanation, explain
from cdc_contracts.registry.core.contract.catalogue import Version, span
from cdc_contracts.registry.core.contract.phrases import describe_distinction
from cdc_contracts.registry.core.report.html_markup import Markup, element, fold, join, name_of, with_code
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
from cdc_contracts.registry.server.ui.page_frame import link, listing, section
from cdc_contracts.registry.server.ui.text_differences import pretty, whole_text


def contract_list(contracts: Sequence[Version]) -> Markup | None:
    """Return the table of contracts."""
    by_subject: dict[str, list[Version]] = {}
    for version in contracts:
        by_subject.setdefault(version.subject, []).append(version)
    rows = [
        (_name(versions[-1]), _versions(versions), versions[-1].meaning.transport, describe_distinction(versions))
        for versions in by_subject.values()
    ]
    return listing(("contract", "versions", "format", "how to tell versions apart"), rows)


def contract_sections(version: Version) -> Iterator[Markup | None]:
    """Yield the sections about one version."""
    result = explain(version)
    yield element("p", f"{result.title}. {result.description}", class_="lead")
    yield section("Facts", _facts(result.facts))
    yield section("Versions", _steps(version))
    yield from _explained(result)
    yield section(
        "Documents",
        fold("JSON Schema", whole_text(pretty(message_schema(version)))),
        fold("Avro schema", whole_text(pretty(avro_message_schema(version)))),
    )


def _name(version: Version) -> Markup:
    return element("a", name_of(version.subject), href=link("/contract", ref=version.reference))


def _versions(versions: list[Version]) -> Markup:
    links = [
        element(
            "span",
            element("a", f"@{one.number}", href=link("/contract", ref=one.reference)),
            f" {span(one)}",
            class_="keep",
        )
        for one in versions
    ]
    return join([part for one in links for part in (element("br"), one)][1:])


def _facts(facts: tuple[tuple[str, str], ...]) -> Markup:
    entries = [part for title, text in facts for part in (element("dt", title), element("dd", text))]
    return element("dl", *entries, class_="facts")


def _steps(version: Version) -> Markup | None:
    """Return every version of the subject, with links to what changed since the previous one."""
    versions = version.catalogue.versions(version.subject)
    rows = []
    for before, one in zip([None, *versions], versions, strict=False):
        name = join([name_of(one.reference), " (this one)" if one.number == version.number else None])
        here = name if one.number == version.number else element("a", name, href=link("/contract", ref=one.reference))
        beside = "" if before is None else _beside(before.reference, one.reference)
        rows.append((here, span(one), one.resolved.get("status", ""), beside))
    return listing(("version", "applies", "status", "changes"), rows)


def _beside(old: str, new: str) -> Markup:
    return element("a", f"compared with {old}", href=link("/compare", old=old, new=new))


def _explained(explanation: Explanation) -> Iterator[Markup | None]:
    members = [(name_of(one.at or "/"), one.kinds, one.required, one.meaning) for one in explanation.members]
    yield section("Members of a message", listing(("member", "holds", "required", "meaning"), members))
    operations = [(name_of(one.code), one.op, one.before, one.after) for one in explanation.operations]
    yield section("Operations", listing(("code", "means", "row before", "row after"), operations))
    places = [(name, name_of(at) if at else "", says) for name, at, says in explanation.places]
    yield section("Where to find each fact", listing(("fact", "member", "read as"), places))
    yield section("What messages leave open", listing(("parameter", "meaning"), explanation.parameters))
    for mapping in dict.fromkeys(line.mapping for line in explanation.forms):
        lines = [line for line in explanation.forms if line.mapping == mapping]
        forms = [
            (
                ", ".join(line.types),
                line.form,
                with_code(f"{line.says} ({line.invalid})" if line.invalid else line.says),
            )
            for line in lines
        ]
        title = f"How values are written{', ' + mapping if mapping else ''}"
        yield section(title, listing(("source type", "value form", "description"), forms))
    yield section("Lost in messages", listing(("values", "what they lose"), explanation.losses))
    yield section("Rules across fields", listing(("rule", "description"), explanation.rules))
    errata = [(one.id, one.decision, one.says, one.shows, one.why) for one in explanation.errata]
    yield section(
        "Contradictions in the vendor's document", listing(("erratum", "decision", "text", "example", "reason"), errata)
    )
