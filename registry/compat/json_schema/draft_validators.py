"""Draft validators: which validator serves a draft of JSON Schema, and how drafts differ. No `$ref` is ever fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jsonschema
import jsonschema_rs

SLOW_JUDGES: Final[Mapping[int, Any]] = {
    jsonschema_rs.Draft4: jsonschema.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema.Draft202012Validator,
}
FAST_JUDGES: Final[Mapping[int, type[jsonschema_rs.Validator]]] = {
    jsonschema_rs.Draft4: jsonschema_rs.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema_rs.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema_rs.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema_rs.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema_rs.Draft202012Validator,
}


def has_siblings_of_ref(draft: int) -> bool:
    """Return whether the draft regards keywords beside `$ref`."""
    return draft in {jsonschema_rs.Draft201909, jsonschema_rs.Draft202012}
