"""Errata schema, of `errata.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.contract.errata import DECISIONS, ID, Erratum
from cdc_contracts.registry.file_schemas.key_descriptions import docstrings
from cdc_contracts.registry.file_schemas.model_schemas import DIALECT

_END: Final = r"\Z"
_FORMS: Final[Mapping[str, dict[str, Any]]] = {
    "id": {"pattern": f"^{ID.pattern.removesuffix(_END)}$"},
    "decision": {"enum": list(DECISIONS)},
}


def errata_schema() -> dict[str, Any]:
    """Return the JSON Schema of `errata.yaml`."""
    result = docstrings(Erratum)
    properties = {
        key: {"type": "string", "minLength": 1, **_FORMS.get(key, {}), "description": says}
        for key, says in result.items()
    }
    return {
        "$schema": DIALECT,
        "title": "cdc-contracts errata",
        "description": "Where source documents contradict themselves, and what the contracts do about it.",
        "type": "array",
        "items": {
            "type": "object",
            "description": Erratum.__doc__,
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    }
