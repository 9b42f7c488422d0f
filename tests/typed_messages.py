"""Messages with one column of a type and a form of the test's choice: of a dialect that says types, and of one without."""

from __future__ import annotations

import json
from typing import Any

from topics import CATALOGUE

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.generate.column_writers import type_code

TYPED, UNTYPED = "oms-community/canal@2", "oms-community/default@2"


def catalogue_with(form: str, source_type: str, invalid: Any = None) -> Catalogue:
    """Return the shipped catalogue, in which both dialects write a source type (its name in capitals) in a form."""
    catalogue = Catalogue(CATALOGUE.roots)
    document = catalogue.mapping("oms-mysql").document
    others = {name: tuple(one for one in types if one != source_type) for name, types in document.forms.items()}
    changed = {"forms": others | {form: (*others.get(form, ()), source_type)}}
    if invalid is not None:
        changed["invalid"] = document.invalid | {form: invalid}
    resolved = type(document).model_validate(document.model_dump(by_alias=True) | changed)
    catalogue._mappings["oms-mysql"] = ValueMapping(resolved)
    return catalogue


def typed_message(source_type: str, token: str) -> bytes:
    """Return an insert of a row whose column `v` has a type and a value, given as its JSON."""
    code = type_code(source_type.partition("(")[0].upper(), "java.sql.Types")
    types = json.dumps({"id": "bigint", "v": source_type})
    return (
        f'{{"database":"shop","sqlType":{{"id":-5,"v":{code}}},"data":[{{"id":7,"v":{token}}}],"pkNames":["id"],'
        f'"old":null,"mysqlType":{types},"type":"INSERT","table":"things","es":1718000000000,"isDdl":false,'
        '"ts":1718000001234,"sql":""}'
    ).encode()


def untyped_message(token: str) -> bytes:
    """Return an insert of the same row in the other dialect."""
    return (
        '{"allMetaData":{"checkpoint":null,"record_primary_key":"id","source_identity":null,"record_primary_value":"7",'
        '"dbType":"OB_MYSQL","storeDataSequence":171800000000042,"table_name":"things","db":"shop",'
        '"timestamp":"1718000000","uniqueId":"{tid:1042, part:0},311,7,0"},"prevStruct":null,"recordType":"INSERT",'
        f'"postStruct":{{"id":7,"v":{token}}}}}'
    ).encode()
