"""Published schemas: of the files that a person writes, by the name under which they are shown, and of a report.

`python -m cdc_contracts.registry.file_schemas.published_schemas` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.core.contract.envelope_model import NAME_PARAMETER
from cdc_contracts.registry.core.contract.errata import Erratum
from cdc_contracts.registry.core.contract.phrases import PARAMETERS
from cdc_contracts.registry.core.contract.settings import Settings
from cdc_contracts.registry.core.contract.source_documents import DocumentsFile
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.version_files import VersionsFile
from cdc_contracts.registry.core.report.report_model import REPORT_VERSION, Report
from cdc_contracts.registry.file_schemas.contract_schema import contract_schema, mapping_schema
from cdc_contracts.registry.file_schemas.model_schemas import (
    DIALECT,
    allow_nulls,
    rename_definition,
    shape_of,
    struct_schema,
)
from cdc_contracts.registry.file_schemas.registry_settings import RegistrySettings
from cdc_contracts.registry.server.access.users import UsersFile

SUFFIX: Final = ".schema.json"
_OF_REPORTS: Final = f"../core/report/report{SUFFIX}"
_PARTITIONS_SCHEMA: Final = {
    "type": "object",
    "description": "The ranges of each partition, by its number; `all` is every partition that is not named.",
    "propertyNames": {"pattern": "^(?:all|0|[1-9][0-9]{0,8})$"},
    "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/WrittenRange"}},
}


def errata_schema() -> dict[str, Any]:
    """Return the JSON Schema of `errata.yaml`."""
    entry = shape_of(Erratum, "")
    return {
        "$schema": DIALECT,
        "title": "cdc-contracts errata",
        "description": "Where source documents contradict themselves, and what the contracts do about it.",
        "type": "array",
        "items": {key: entry[key] for key in entry if key not in ("$schema", "title")},
    }


FOLDER: Final = Path(__file__).parent


def table_schema() -> dict[str, Any]:
    """Return the JSON Schema of a table contract."""
    schema = shape_of(TableContract, "cdc-contracts table contract")
    allow_nulls(schema)
    return schema


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema of `cdc-contracts.yaml`."""
    schema = shape_of(Settings, "cdc-contracts settings")
    value = schema["properties"]["parameters"].pop("additionalProperties")
    schema["properties"]["parameters"] |= {
        "properties": {name: {**value, "description": f"{says}."} for name, says in PARAMETERS.items()},
        "patternProperties": {rf"[.-]|{NAME_PARAMETER}": value},  # options of producers, and names
        "additionalProperties": False,
    }
    allow_nulls(schema)
    return schema


def documents_schema() -> dict[str, Any]:
    """Return the JSON Schema of `documents.yaml`."""
    schema = shape_of(DocumentsFile, "cdc-contracts source documents")
    allow_nulls(schema)
    return schema


def registry_schema() -> dict[str, Any]:
    """Return the JSON Schema of `registry.yaml`."""
    schema = shape_of(RegistrySettings, "cdc-contracts registry settings")
    rename_definition(schema, "MetadataSettings", "Metadata")  # as a registry calls it, whose own model has that name
    allow_nulls(schema)
    return schema


def users_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file that `registry serve --users` takes."""
    schema = shape_of(UsersFile, "cdc-contracts registry users")
    schema["$defs"]["User"]["anyOf"] = [
        {"required": [key], "properties": {key: {"type": "string"}}} for key in ("password", "token")
    ]
    allow_nulls(schema)
    return schema


def versions_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file that `--versions` takes."""
    schema = shape_of(VersionsFile, "cdc-contracts versions")
    schema["properties"]["topics"]["additionalProperties"] = _PARTITIONS_SCHEMA
    return schema


FILE_SCHEMAS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "contract": contract_schema,
    "mapping": mapping_schema,
    "table": table_schema,
    "settings": settings_schema,
    "registry": registry_schema,
    "users": users_schema,
    "versions": versions_schema,
    "errata": errata_schema,
    "documents": documents_schema,
}


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report of an audit."""
    schema = struct_schema(Report)
    version, source = schema["properties"]["report_version"], schema["properties"]["source"]
    schema["properties"]["report_version"] = {"const": REPORT_VERSION, "description": version["description"]}
    source["properties"]["detections"]["additionalProperties"] = {"$ref": "#/properties/detection"}
    name = {"$id": f"urn:cdc-contracts:report:v{REPORT_VERSION}", "title": "The report of an audit"}
    return {"$schema": DIALECT, **name, "description": schema.pop("description"), **schema}


def file_schema_texts() -> dict[str, str]:
    """Return the text of each schema by its path from here."""
    schemas = {f"{name}{SUFFIX}": schema for name, schema in FILE_SCHEMAS.items()}
    return {
        path: json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
        for path, schema in (*schemas.items(), (_OF_REPORTS, report_schema))
    }


if __name__ == "__main__":
    for file, content in file_schema_texts().items():
        (FOLDER / file).write_text(content, encoding="utf-8")
