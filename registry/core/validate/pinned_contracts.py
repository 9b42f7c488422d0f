"""Pinned contracts: everything that a run is validated against, as one document, so that a repetition uses the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import CdcContractsError, UnavailableError
from cdc_contracts.registry.core.common.findings import Severities
from cdc_contracts.registry.core.contract.bundle import Bundle, bundle
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.contract.version_ranges import read_ranges
from cdc_contracts.registry.core.validate.described_contexts import open_again
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, ValidationContext
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

PIN_VERSION: Final = 1


def write_pin(validation: ValidationContext) -> str:
    """Return contracts, table contracts and reading options of a validation context as canonical JSON."""
    detected = validation.detected
    document = {
        "pin_version": PIN_VERSION,
        "contract": validation.declared,
        "fingerprint": validation.fingerprint,
        "spoken": {"subjects": detected.subjects, "preferences": detected.preferences},
        **({"ranges": validation.ranges.documents()} if validation.ranges is not None else {}),
        "terms": _write_terms(validation.reading_options),
        "documents": dict(sorted(bundle(validation.catalogue).files.items())),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def digest_pin(text: str) -> str:
    """Return the name of pinned contracts: the beginning of their SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def open_pin(text: str, where: str, schemas: WriterSchemas | None = None) -> ValidationContext:
    """Return the validation context that was pinned; `schemas` are those of the run now.

    Raises UnavailableError if the document cannot be read, or validates differently than it did: another release of
    this software has written it. Likewise if framed records were read by the schemas of another place.
    """
    try:
        document = json.loads(text)
        catalogue, reading_options = Bundle(document["documents"]).open(), _read_terms(document["terms"], schemas)
        result, ranges = document["spoken"], document.get("ranges")
        detected = DetectedSubjects(tuple(result["subjects"]), tuple(result["preferences"]))
        ranges = None if ranges is None else read_ranges(ranges)
        validation = open_again(catalogue, document["contract"], detected, ranges, reading_options)
        fingerprint = validation.fingerprint  # reads every contract that the run may use
    except (ValueError, KeyError, TypeError, AttributeError, CdcContractsError) as error:
        raise _unreadable(where, f"{type(error).__name__}: {error}") from error
    if fingerprint != document["fingerprint"]:
        raise _unreadable(where, "its contracts have another fingerprint now")
    return validation


def _write_terms(reading_options: ReadingOptions) -> dict[str, Any]:
    return {
        "parameters": dict(reading_options.parameters),
        "tables": reading_options.tables.documents(),
        "severities": reading_options.severities.raised,
        "max_bytes": reading_options.max_bytes,
        "strict_json": reading_options.strict_json,
        "table": reading_options.table,
        "selection": {"include": reading_options.selection.include, "exclude": reading_options.selection.exclude},
        "show_values": reading_options.show_values,
        "wrapping": reading_options.wrapping,
        **({"profiled": True} if reading_options.profiled else {}),
        **({"families": dict(reading_options.families.patterns)} if reading_options.families.patterns else {}),
        **({"sampled": sorted(reading_options.sampled)} if reading_options.sampled else {}),
        **({"names": dict(reading_options.names)} if reading_options.names else {}),
        **({"schemas": reading_options.schemas.named} if reading_options.schemas is not None else {}),
    }


def _read_terms(document: Mapping[str, Any], schemas: WriterSchemas | None) -> ReadingOptions:
    place = document.get("schemas")
    if place != (None if schemas is None else schemas.named):
        raise UnavailableError(
            f"the schemas of framed records were those of {place or 'no registry'}, and are others now"
        )
    selection = {name: tuple(globs) for name, globs in document["selection"].items()}
    read = {
        "tables": TableContracts(
            (parse_table_contract(one, one["table"]) for one in document["tables"]),
            families=TableFamilies(document.get("families", {})),
        ),
        "severities": Severities(document["severities"]),
        "selection": Selection(**selection),
        "sampled": frozenset(document.get("sampled", ())),
    }
    terms = {name: value for name, value in document.items() if name != "families"}
    return ReadingOptions(**{**terms, **read, "schemas": schemas})


def _unreadable(where: str, why: str) -> UnavailableError:
    return UnavailableError(
        f"what a batch was validated against cannot be read: {why}",
        where=where,
        hint="Finish the batch with the release of cdc-contracts that started it, or start with a new checkpoint.",
    )
