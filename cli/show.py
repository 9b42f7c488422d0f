"""`cdc-contracts show`: an explanation of one contract."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, open_catalogue
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.yaml_documents import write_document

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.explain.contract_explanations import Explanation
    from cdc_contracts.registry.core.contract.catalogue import Version


_ANSWERS = ("report", "why")
_FILES = ("contract", "mapping", "table", "settings", "registry", "users", "versions", "errata", "documents")
"""What is no contract but has a schema: what `audit` and `why --json` print, and the files that a person writes."""


class Schema(StrEnum):
    """A schema of a contract."""

    JSON = "json"
    AVRO = "avro"


def show(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="SYSTEM/DIALECT, SYSTEM/DIALECT@N, or a name listed above.")
    ],
    schema: Annotated[Schema | None, typer.Option("--schema", help="Print the JSON Schema or the Avro schema.")] = None,
    contracts: ContractFolders = None,
    *,
    resolved: Annotated[bool, typer.Option("--resolved", help="Print the whole contract, its base merged in.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one contract to someone who has never read the vendor's page.

    With --schema json, `report` is the report of an audit, `why` what that command prints as JSON, and the files that
    a person writes are `contract` (contract.yaml), `mapping` (types/*.yaml), `table` (a table contract), `settings`
    (cdc-contracts.yaml), `registry` (registry.yaml), `users` (registry serve --users), `versions` (--versions),
    `errata` (errata.yaml) and `documents` (documents.yaml). `# yaml-language-server: $schema=FILE` in the first line
    makes an editor use one.
    """
    if reference in (*_ANSWERS, *_FILES):
        _print_own_schema(reference, schema)
        return
    version = open_catalogue(contracts).version(reference)
    if schema is not None:
        _print_message_schema(version, schema)
    elif resolved:
        _print_resolved(version, as_json=as_json)
    else:
        from cdc_contracts.registry.authoring.explain.contract_explanations import explain

        explanation = explain(version)
        if as_json:
            errata = [one.model_dump() for one in explanation.errata]
            console.print_json(asdict(explanation) | {"errata": errata})
        else:
            _print(explanation)


def _print_message_schema(version: Version, schema: Schema) -> None:
    from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
    from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema

    console.print_json(message_schema(version) if schema is Schema.JSON else avro_message_schema(version))


def _print_own_schema(name: str, schema: Schema | None) -> None:
    from cdc_contracts.registry.authoring.explain.message_explanations import explanation_schema
    from cdc_contracts.registry.core.report.stored_reports import report_schema
    from cdc_contracts.registry.file_schemas.published_schemas import FILE_SCHEMAS

    if schema is not Schema.JSON:
        raise UsageError(f"`{name}` has a JSON Schema only", hint="Give --schema json.")
    console.print_json({"report": report_schema, "why": explanation_schema, **FILE_SCHEMAS}[name]())


def _print_resolved(version: Version, *, as_json: bool) -> None:
    if as_json:
        console.print_json(version.resolved)
        return
    console.print_line(write_document(version.resolved, width=120).rstrip())


def _print(one: Explanation) -> None:
    console.print_heading(f"{one.reference}: {one.title}", first=True)
    console.print_text(one.description)
    console.print_table(["", ""], one.facts)
    if one.others:
        console.print_heading("Other versions")
        console.print_table(["", ""], one.others)
    console.print_heading("Members of a message")
    members = [(member.at, member.kinds, member.required, member.meaning) for member in one.members]
    console.print_table(["MEMBER", "HOLDS", "REQUIRED", "MEANING"], members)
    if one.examples:
        console.print_heading("One message per operation")
        for example in one.examples:
            console.print_line(f"  {example.op}")
            console.print_line(f"  {example.message}")
    _print_meaning(one)
    _print_values(one)


def _print_meaning(one: Explanation) -> None:
    if one.operations:
        console.print_heading("Operations")
        rows = [(line.code, line.op, line.before, line.after) for line in one.operations]
        console.print_table(["CODE", "MEANS", "ROW BEFORE", "ROW AFTER"], rows)
    if one.places:
        console.print_heading("Where to find each fact")
        console.print_table(["FACT", "MEMBER", "READ AS"], one.places)
    if one.parameters:
        console.print_heading("What messages leave open (--parameter NAME=VALUE)")
        console.print_table(["", ""], one.parameters)


def _print_values(one: Explanation) -> None:
    for mapping in dict.fromkeys(line.mapping for line in one.forms):
        console.print_heading(f"How values are written{', ' + mapping if mapping else ''}")
        rows = [
            (", ".join(line.types), line.form, f"{line.says} ({line.invalid})" if line.invalid else line.says)
            for line in one.forms
            if line.mapping == mapping
        ]
        console.print_table(["SOURCE TYPE", "VALUE FORM", "DESCRIPTION"], rows, fixed=0)
    if one.losses:
        console.print_heading("Lost in messages")
        console.print_table(["VALUES", "WHAT THEY LOSE"], one.losses, fixed=0)
    if one.rules:
        console.print_heading("Rules across fields")
        console.print_table(["", ""], one.rules)
    if one.errata:
        console.print_heading("Contradictions in the vendor's document")
        rows = [(e.id, e.decision, f"Text: {e.says} Example: {e.shows} Reason: {e.why}") for e in one.errata]
        console.print_table(["ID", "DECISION", "CONTRADICTION AND REASON"], rows)
