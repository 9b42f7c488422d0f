"""AsyncAPI documents: the topic of a version's messages, or of one table's, as a document of AsyncAPI 3.0.0.

Tools of AsyncAPI read JSON Schema by draft 7. A message schema says the same in it once nothing stands beside a `$ref`,
which draft 7 ignores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from cdc_contracts.registry.core.common.subschemas import map_schemas
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import schema_id

_DRAFT_7: Final = "application/schema+json;version=draft-07"
_PAYLOAD: Final = "#/components/schemas/change/schema"


def asyncapi_document(version: Version, schema: Mapping[str, Any], topic: str | None) -> str:
    """Return the document in YAML; `schema` is the JSON Schema of the messages, `topic` None if it is not known."""
    payload = {key: value for key, value in _draft_7(schema).items() if key not in ("$schema", "$id", "examples")}
    where = {"topic": topic, "bindingVersion": "0.5.0"} if topic is not None else None
    document = {
        "asyncapi": "3.0.0",
        "id": f"{schema.get('$id', schema_id(version))}:asyncapi",
        "info": {
            "title": schema["title"], "version": f"{version.number}.0.0", "description": schema["description"],
        },
        "defaultContentType": "application/json",
        "channels": {
            "changes": {
                "address": topic,
                "title": "Changes" if topic is None else f"Changes of {topic}",
                "messages": {"change": {"$ref": "#/components/messages/change"}},
                **({"bindings": {"kafka": where}} if where else {}),
            }
        },
        "operations": {
            "readChanges": {
                "action": "receive",
                "channel": {"$ref": "#/channels/changes"},
                "messages": [{"$ref": "#/channels/changes/messages/change"}],
            }
        },
        "components": {
            "messages": {
                "change": {
                    "name": "change",
                    "title": schema["title"],
                    "contentType": "application/json",
                    "payload": {"$ref": "#/components/schemas/change"},
                    "examples": [
                        {"name": f"example-{number}", "payload": one}
                        for number, one in enumerate(schema.get("examples", ()), 1) if isinstance(one, dict)
                    ],
                }
            },
            "schemas": {"change": {"schemaFormat": _DRAFT_7, "schema": payload}},
        },
    }  # fmt: skip
    text: str = yaml.dump(document, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100)
    return text


class _PlainDumper(yaml.SafeDumper):
    """Writes YAML without anchors, which not every reader of AsyncAPI takes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _draft_7(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with its references from the root of the document, and nothing beside one of them."""
    done = map_schemas(schema, _draft_7)
    if "$ref" in done:
        ref = {"$ref": _PAYLOAD + done.pop("$ref").removeprefix("#")}
        return {**done, "allOf": [ref, *done.get("allOf", ())]} if done else ref
    return done
