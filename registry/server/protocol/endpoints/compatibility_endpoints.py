"""`/compatibility`: whether a schema is compatible, without registering it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query

from cdc_contracts.registry.server.protocol.entities import CompatibilityResponse, SchemaRequest
from cdc_contracts.registry.server.service.request_service import Registry, Served, SubjectName, VersionNumber
from cdc_contracts.registry.server.store.compatibility_checks import validate
from cdc_contracts.registry.server.store.error_codes import ProtocolError, no_version
from cdc_contracts.registry.server.store.policies import config_of
from cdc_contracts.registry.server.store.registration import live_versions, read_submission
from cdc_contracts.registry.server.store.registry_records import Records, StoredVersion
from cdc_contracts.registry.server.store.subjects import Subject

ROUTER = APIRouter(tags=["compatibility"])
Normalize = Annotated[bool, Query(description="Normalize the schema first")]
Verbose = Annotated[bool, Query(description="Return the reasons for incompatibility")]


@ROUTER.post(
    "/compatibility/subjects/{subject}/versions/{version}",
    response_model=CompatibilityResponse,
    response_model_exclude_none=True,
)
def compare_with_version(
    registry: Served,
    subject: SubjectName,
    version: VersionNumber,
    request: SchemaRequest,
    normalize: Normalize = False,
    verbose: Verbose = False,
) -> Any:
    """Compare a schema with one version. Any schema is compatible with `latest` of a subject without versions."""
    with registry.store.reading() as records:
        live = live_versions(records, subject)
        earlier = live[-1:] if version is None else [each for each in live if each.version == version]
        if version is not None and not earlier:
            raise no_version(version)
        return _compare(registry, records, subject, request, earlier, normalize=normalize, verbose=verbose)


@ROUTER.post(
    "/compatibility/subjects/{subject}/versions", response_model=CompatibilityResponse, response_model_exclude_none=True
)
def compare_with_versions(
    registry: Served,
    subject: SubjectName,
    request: SchemaRequest,
    normalize: Normalize = False,
    verbose: Verbose = False,
) -> Any:
    """Compare a schema with the versions that the subject's compatibility level selects."""
    with registry.store.reading() as records:
        earlier = live_versions(records, subject)
        return _compare(registry, records, subject, request, earlier, normalize=normalize, verbose=verbose)


def _compare(
    registry: Registry,
    records: Records,
    subject: Subject,
    request: SchemaRequest,
    earlier: Sequence[StoredVersion],
    *,
    normalize: bool,
    verbose: bool,
) -> dict[str, Any]:
    submission = request.submission(normalize=normalize)
    config = config_of(records, subject)
    try:
        document, _ = read_submission(records, subject, submission, config)
    except ProtocolError as refusal:
        if not verbose:
            raise
        return {"is_compatible": False, "messages": [refusal.message]}
    defaults = registry.options.defaults
    reasons = validate(
        records, subject, document, earlier, metadata=submission.metadata, config=config, defaults=defaults
    )  # fmt: skip
    answer: dict[str, Any] = {"is_compatible": not reasons}
    return answer | {"messages": reasons} if verbose and reasons else answer
