"""Pins: all that a run is judged by, as one document, so that what is read again is read by what it was read by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.bundle import Bundle, bundle
from cdc_contracts.registry.errors import CdcContractsError, UnavailableError
from cdc_contracts.registry.findings import Severities
from cdc_contracts.registry.scope import Scope, Spoken, open_again
from cdc_contracts.registry.selection import Selection
from cdc_contracts.registry.tables import TableContracts, parse_table_contract
from cdc_contracts.registry.terms import Terms
from cdc_contracts.registry.version_ranges import read_ranges

PIN_VERSION: Final = 1


def write_pin(scope: Scope) -> str:
    """Return the documents of the contracts, table contracts and terms of a scope as JSON; the same scope, the same."""
    spoken = scope.spoken
    document = {
        "pin_version": PIN_VERSION,
        "contract": scope.declared,
        "fingerprint": scope.fingerprint,
        "spoken": {"subjects": spoken.subjects, "preferences": spoken.preferences},
        **({"ranges": scope.ranges.documents()} if scope.ranges is not None else {}),
        "terms": _write_terms(scope.terms),
        "documents": dict(sorted(bundle(scope.catalogue).files.items())),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def digest_pin(text: str) -> str:
    """Return the name of a pin: the beginning of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def open_pin(text: str, where: str) -> Scope:
    """Return the scope that was pinned.

    Raises UnavailableError where the pin cannot be read, or judges in another way than it did: another release of this
    software has written it.
    """
    try:
        document = json.loads(text)
        catalogue, terms = Bundle(document["documents"]).open(), _read_terms(document["terms"])
        told, ranges = document["spoken"], document.get("ranges")
        spoken = Spoken(tuple(told["subjects"]), tuple(told["preferences"]))
        ranges = None if ranges is None else read_ranges(ranges)
        scope = open_again(catalogue, document["contract"], spoken, ranges, terms)
    except (ValueError, KeyError, TypeError, AttributeError, CdcContractsError) as error:
        raise _unreadable(where, f"{type(error).__name__}: {error}") from error
    if scope.fingerprint != document["fingerprint"]:
        raise _unreadable(where, "its contracts have another fingerprint now")
    return scope


def _write_terms(terms: Terms) -> dict[str, Any]:
    return {
        "parameters": dict(terms.parameters),
        "tables": terms.tables.documents(),
        "severities": terms.severities.raised,
        "max_bytes": terms.max_bytes,
        "strict_json": terms.strict_json,
        "table": terms.table,
        "selection": {"include": terms.selection.include, "exclude": terms.selection.exclude},
        "show_values": terms.show_values,
        "wrapping": terms.wrapping,
    }


def _read_terms(document: Mapping[str, Any]) -> Terms:
    selection = {name: tuple(globs) for name, globs in document["selection"].items()}
    read = {
        "tables": TableContracts(parse_table_contract(one, one["table"]) for one in document["tables"]),
        "severities": Severities(document["severities"]),
        "selection": Selection(**selection),
    }
    return Terms(**{**document, **read})


def _unreadable(where: str, why: str) -> UnavailableError:
    return UnavailableError(
        f"what a batch was judged by cannot be read again: {why}",
        where=where,
        mend="finish the batch with the release of cdc-contracts that began it, or begin with a new checkpoint",
    )
