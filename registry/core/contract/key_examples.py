"""Key examples: how the keys of a contract are written, for people who miss one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CONTRACT_EXAMPLES: Final[Mapping[str, str]] = MappingProxyType({
    "contract": "contract: acme/plain@1",
    "applies": 'applies: {since: "1.0", counted_from: product-version}',
    "counted_from": "counted_from: product-version",
    "status": "status: current",
    "transport": "transport: json",
    "provenance": "provenance: {document: guide.txt, section: Messages}",
    "document": "document: guide.txt",
    "envelope": "envelope: {op: {at: /type}, table: {at: /table}}",
    "op": "op: {at: /type}",
    "database": "database: {at: /database}",
    "table": "table: {at: /table}",
    "event_time": "event_time: {at: /ts, form: epoch-millis}",
    "position": "position: {at: /id, order: integer}",
    "primary_key": "primary_key: {at: /keys, as: list}",
    "at": "at: /type",
    "as": "as: name-to-type",
    "ops": "ops: {I: insert, U: update, D: delete}",
    "images": "images: {container: object, insert: {after: {at: /row}}}",
    "container": "container: object",
    "insert": "insert: {after: {at: /after}}",
    "update": "update: {before: {at: /before}, after: {at: /after}}",
    "delete": "delete: {before: {at: /before}}",
    "before": "before: {at: /before}",
    "after": "after: {at: /after}",
    "columns": "columns: {types: {at: /types, as: name-to-type}}",
    "types": "types: {at: /types, as: name-to-type}",
    "values": "values: {mapping: acme-plain}",
    "mapping": "mapping: acme-plain",
    "rules": "rules: [image-present-for-op]",
    "discriminators": "discriminators: [{in: /type, values: [I, U, D]}]",
    "full_load": "full_load: as-insert",
})  # fmt: skip
