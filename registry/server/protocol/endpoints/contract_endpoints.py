"""`/cdc/v1`: contracts with their meaning, their differences, and their compatibility."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request

from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_pairs import verdict_document
from cdc_contracts.registry.authoring.explain.contract_differences import compare
from cdc_contracts.registry.authoring.explain.contract_listings import list_version
from cdc_contracts.registry.authoring.explain.rulebook import find_rule, rules
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
from cdc_contracts.registry.server.service.builtin_subjects import BuiltinSubjects, name_of_file
from cdc_contracts.registry.server.store.error_codes import ProtocolError

ROUTER = APIRouter(prefix="/cdc/v1", tags=["contracts"])
Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]*$")]
OldReference = Annotated[str, Query(description="SYSTEM/DIALECT@N")]
NewReference = Annotated[str, Query(description="SYSTEM/DIALECT@N")]


class Contracts:
    """The contracts that the caller may read."""

    def __init__(self, request: Request) -> None:
        self._catalogue: Catalogue = request.app.state.catalogue
        self._builtin: BuiltinSubjects = request.app.state.builtin

    def all(self) -> list[Version]:
        """Return every version, in catalogue order."""
        return [version for version in self._catalogue.all_versions() if self._builtin.is_readable(version)]

    def one(self, reference: str) -> Version:
        """Return the version that a reference names. Raises Refusal if there is none that the caller may read."""
        try:
            version = self._catalogue.version(reference)
        except UsageError as error:
            raise ProtocolError(404, str(error)) from error
        if not self._builtin.is_readable(version):
            raise ProtocolError(404, f"there is no contract `{version.subject}`")
        return version

    def pair(self, old: str, new: str) -> tuple[Version, Version]:
        """Return two versions of one contract. Raises Refusal if their contracts differ.

        Unrelated contracts differ in everything, and proving each difference would keep the server busy for a minute.
        """
        found = (self.one(old), self.one(new))
        if found[0].subject != found[1].subject:
            raise ProtocolError(
                422, "Only two versions of one contract are compared here; `cdc-contracts compat` compares any two"
            )
        return found


Readable = Annotated[Contracts, Depends()]


@ROUTER.get("/contracts")
def list_contracts(readable: Readable) -> dict[str, Any]:
    """List every version of every contract."""
    return {"contracts": [list_version(version) for version in readable.all()]}


@ROUTER.get("/contracts/{system}/{dialect}")
def list_contract_versions(readable: Readable, system: Name, dialect: Name) -> dict[str, Any]:
    """List the versions of one contract."""
    readable.one(f"{system}/{dialect}")
    found = [version for version in readable.all() if version.subject == f"{system}/{dialect}"]
    return {"contracts": [list_version(version) for version in found]}


@ROUTER.get("/contracts/{system}/{dialect}/{selector}")
def get_contract(readable: Readable, system: Name, dialect: Name, selector: str) -> dict[str, Any]:
    """Return one version, whole: a number, a date, a release or `latest` selects it."""
    version = readable.one(f"{system}/{dialect}@{selector}")
    return {
        **list_version(version),
        "fingerprint": version.fingerprint,
        "contract": version.resolved,
        "schema": message_schema(version),
        "avro_schema": avro_message_schema(version),
    }


@ROUTER.get("/diff")
def diff_contracts(readable: Readable, left: OldReference, right: NewReference) -> dict[str, Any]:
    """Return the differences between two contracts."""
    return asdict(compare(readable.one(left), readable.one(right)))


@ROUTER.get("/compat")
def check_compatibility(
    readable: Readable, old: OldReference, new: NewReference, level: Level = Level.BACKWARD, policy: Policy = Policy.CDC
) -> dict[str, Any]:
    """Return whether one version of a contract is compatible with another, with proofs of the findings."""
    before, after = readable.pair(old, new)
    result = verdict_document(compare_contracts(before, after, level=level, policy=policy))
    for place in (finding[side] for finding in result["findings"] for side in ("old_place", "new_place")):
        if place and place["file"]:
            place["file"] = name_of_file(place["file"])
    return result


@ROUTER.get("/rules")
def list_rules() -> dict[str, Any]:
    """List every rule that a finding may name."""
    return {"rules": [asdict(rule) for rule in rules()]}


@ROUTER.get("/rules/{rule}")
def get_rule(rule: str) -> dict[str, Any]:
    """Return one rule, by its id or name."""
    try:
        return asdict(find_rule(rule))
    except UsageError as error:
        raise ProtocolError(404, str(error)) from error
