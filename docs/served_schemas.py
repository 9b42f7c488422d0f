"""Served schemas: every schema under a path of the site, and an index of those that editors use.

A message schema is found under the parts of its `$id`: `urn:cdc-contracts:dts:canal:v2` is `schemas/dts/canal/v2.json`.
What stands there stays: lint (L42) refuses a change to a schema that has an id.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import AVRO_MESSAGE_SCHEMA, MESSAGE_SCHEMA, shipped_catalogue

ROOT: Final = Path(__file__).parents[1]
_URN: Final = "urn:cdc-contracts:"
_EDITED: Final = {
    "contract": ["**/contracts/*/*/v*/contract.yaml"],
    "mapping": ["**/contracts/*/types/*.yaml"],
    "settings": ["cdc-contracts.yaml"],
}
"""The files that an editor knows by their path alone; a table contract names its schema in its first line."""


def served_schemas(site_url: str) -> dict[str, str]:
    """Return the text of each schema, and of the index, by its path in the site.

    `site_url` stands before the paths in the index, which has the form of the catalog of SchemaStore.
    """
    served: dict[str, str] = {}
    for version in shipped_catalogue().all_versions():
        text = version.folder.joinpath(MESSAGE_SCHEMA).read_text(encoding="utf-8")
        path = "schemas/" + str(json.loads(text)["$id"]).removeprefix(_URN).replace(":", "/")
        served[f"{path}.json"] = text
        served[f"{path}.avsc"] = version.folder.joinpath(AVRO_MESSAGE_SCHEMA).read_text(encoding="utf-8")
    listed: list[dict[str, Any]] = []
    for name, patterns in _EDITED.items():
        path = f"schemas/files/{name}.json"
        served[path] = (ROOT / f"registry/file_schemas/{name}.schema.json").read_text(encoding="utf-8")
        title = json.loads(served[path])["title"]
        listed.append({"name": title, "description": title, "fileMatch": patterns, "url": site_url + path})
    index = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": listed}
    return served | {"schemas/catalog.json": json.dumps(index, indent=2) + "\n"}
