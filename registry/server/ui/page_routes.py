"""Page routes: the addresses of the pages, and what each reads from the registry."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.authoring.explain.contract_differences import compare
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.report.html_markup import element
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
from cdc_contracts.registry.server.protocol.endpoints.contract_endpoints import Readable
from cdc_contracts.registry.server.service.request_service import LARGEST, Registry, Served
from cdc_contracts.registry.server.store.error_codes import ProtocolError, no_subject, no_version
from cdc_contracts.registry.server.store.policies import config_of, level_of, policy_of
from cdc_contracts.registry.server.store.registry_records import Records, StoredVersion
from cdc_contracts.registry.server.store.resolution import Resolver
from cdc_contracts.registry.server.store.subjects import Subject, parse_subject
from cdc_contracts.registry.server.ui.comparison_page import (
    difference_section,
    finding_section,
    question_form,
    verdict_line,
)
from cdc_contracts.registry.server.ui.contract_pages import contract_list, contract_sections
from cdc_contracts.registry.server.ui.page_frame import HOME, TITLE, Trail, link, page, section
from cdc_contracts.registry.server.ui.subject_pages import PAGE, lines_of, subject_list, subject_sections
from cdc_contracts.registry.server.ui.text_differences import pretty, side_by_side

ROUTER = APIRouter(prefix=HOME, include_in_schema=False, default_response_class=HTMLResponse)
Version = Annotated[int | None, Query(ge=1, le=LARGEST)]
Text = Annotated[str, Query(max_length=2_000, pattern=r"^[^\x00]*$")]
"""No database stores a NUL character."""


@ROUTER.get("")
def show_registry(
    registry: Served, readable: Readable, find: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0)] = 0,
) -> HTMLResponse:  # fmt: skip
    """Show the lists of contracts and subjects."""
    with registry.store.reading() as records:
        latest = {version.subject: version for version in records.all_versions(None, "") if not version.deleted}
        found = [one for subject, one in sorted(latest.items()) if find.lower() in str(subject).lower()]
        shown = [(one, records.schema(one.subject.context, one.id)) for one in found[offset : offset + PAGE]]
    subjects = [(one, schema.content.type) for one, schema in shown if schema is not None]
    return page(
        TITLE,
        section("Contracts", contract_list(readable.all())),
        section("Subjects", *subject_list(subjects, len(found), find, offset)),
    )


@ROUTER.get("/contract")
def show_contract(readable: Readable, ref: str) -> HTMLResponse:
    """Show one version of a contract."""
    try:
        version = readable.one(ref)
    except ProtocolError as refusal:
        return _not_there(refusal)
    return page(version.reference, *contract_sections(version))


@ROUTER.get("/subject")
def show_subject(registry: Served, name: Text, version: Version = None) -> HTMLResponse:
    """Show one version of a subject."""
    subject = parse_subject(name)
    with registry.store.reading() as records:
        versions = [one for one in records.versions(subject) if not one.deleted]
        shown = next((one for one in reversed(versions) if version in (None, one.version)), None)
        schema = None if shown is None else records.schema(subject.context, shown.id)
        config = config_of(records, subject)
    if shown is None or schema is None:
        return _not_there(no_version(version) if versions else no_subject(subject))
    rules = {
        "Compatibility level": level_of(config, registry.options.defaults),
        "Compatibility policy": policy_of(config, registry.options.defaults),
    }
    return page(str(subject), *subject_sections(subject, shown, schema, versions, rules))


@ROUTER.get("/compare")
def show_comparison(
    registry: Served, readable: Readable, old: str, new: str, subject: Text = "", level: Level | None = None,
    policy: Policy | None = None,
) -> HTMLResponse:  # fmt: skip
    """Show two versions of a contract or subject side by side."""
    try:
        if subject:
            return _compare_versions(registry, parse_subject(subject), (old, new), level, policy)
        return _compare_contracts(readable, (old, new), level or Level.BACKWARD, policy or Policy.CDC)
    except ProtocolError as refusal:
        return _not_there(refusal)
    except CdcContractsError as error:
        return page("Cannot be compared", element("p", error.what), status=422)


def _compare_contracts(readable: Readable, names: tuple[str, str], level: Level, policy: Policy) -> HTMLResponse:
    old, new = readable.pair(*names)
    verdict = compare_contracts(old, new, level=level, policy=policy)
    asked = {"old": old.reference, "new": new.reference}
    trail = [(one.reference, link("/contract", ref=one.reference)) for one in (old, new)]
    sides = (old.reference, new.reference)
    return page(
        f"{old.reference} and {new.reference} compared",
        verdict_line(verdict),
        question_form(asked, verdict),
        finding_section(verdict),
        difference_section(compare(old, new)),
        section("JSON Schema", side_by_side(pretty(message_schema(old)), pretty(message_schema(new)), sides)),
        section("Avro schema", side_by_side(pretty(avro_message_schema(old)), pretty(avro_message_schema(new)), sides)),
        trail=trail,
    )


def _compare_versions(
    registry: Registry, subject: Subject, numbers: tuple[str, str], level: Level | None, policy: Policy | None
) -> HTMLResponse:
    with registry.store.reading() as records:
        versions = [_version_of(records, subject, one) for one in numbers]
        resolver = Resolver(records, subject.context)
        old, new = map(resolver.stored, versions)
        config = config_of(records, subject)
    defaults = registry.options.defaults
    verdict = compare_schemas(
        [old], new, level=level or level_of(config, defaults), policy=policy or policy_of(config, defaults)
    )
    trail: Trail = [(str(subject), link("/subject", name=str(subject)))]
    return page(
        f"{subject}: versions {numbers[0]} and {numbers[1]} compared",
        verdict_line(verdict),
        question_form({"subject": str(subject), "old": numbers[0], "new": numbers[1]}, verdict),
        finding_section(verdict),
        section(
            "Schema",
            side_by_side(lines_of(old.text), lines_of(new.text), (f"version {numbers[0]}", f"version {numbers[1]}")),
        ),
        trail=trail,
    )


def _version_of(records: Records, subject: Subject, number: str) -> StoredVersion:
    is_number = number.isascii() and number.isdecimal() and int(number[:11]) <= LARGEST
    found = records.version(subject, int(number)) if is_number else None
    if found is None or found.deleted:
        raise no_version(number)
    return found


def _not_there(refusal: ProtocolError) -> HTMLResponse:
    title = "Not found" if refusal.status == HTTPStatus.NOT_FOUND else "Cannot be shown"
    return page(title, element("p", refusal.message), status=refusal.status)
