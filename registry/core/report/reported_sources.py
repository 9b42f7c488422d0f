"""Reported sources: what was read, with what its messages were read by, so that a report names all that repeats it."""

from __future__ import annotations

from msgspec import UNSET, structs

from cdc_contracts.registry.core.contract.contract_folders import own_folders
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.validate.validation_context import ValidationContext


def source_read_by(source: ReportSource, validation: ValidationContext | None) -> ReportSource:
    """Return the source with the contracts, table contracts, parameters and schemas that its messages were read by."""
    if validation is None:
        return source
    options = validation.reading_options
    return structs.replace(
        source,
        contract_folders=tuple(map(str, own_folders(validation.catalogue))) or UNSET,
        tables=UNSET if options.tables.origin is None else str(options.tables.origin),
        parameters={**options.names, **options.parameters} or UNSET,
        schema_registry=UNSET if options.schemas is None else options.schemas.named,
    )
