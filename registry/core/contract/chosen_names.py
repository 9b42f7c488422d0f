"""Chosen names: what a user of a product calls members and op codes, put into the contracts that describe them.

A parameter says the name. The contracts are rewritten before anything reads them, so that whatever reads them sees
plain contracts, also when a run is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from cdc_contracts.registry.core.common.avro_names import avro_name
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.bundle import Bundle, bundle
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, ENVELOPE, Catalogue, Version
from cdc_contracts.registry.core.contract.envelope_model import ChosenName
from cdc_contracts.registry.core.contract.reading_options import PARAMETERS

_BRANCHES = ("allOf", "anyOf", "oneOf")
_CONDITIONS = ("if", "then", "else", "not")


class NamedCatalogue(NamedTuple):
    """A catalogue with the `names` that were chosen, and the other `parameters`."""

    catalogue: Catalogue
    parameters: dict[str, str]
    names: dict[str, str]


def apply_names(catalogue: Catalogue, parameters: Mapping[str, str]) -> NamedCatalogue:
    """Return the catalogue with what parameters call members and op codes, apart from the other parameters.

    Raises UsageError if a name is empty, or that of another member or op code.
    """
    may_be_names = {name for name in parameters if name.isidentifier()} - {*PARAMETERS}
    if not may_be_names:  # contracts are only read where some are given
        return NamedCatalogue(catalogue, dict(parameters), {})
    naming = [one for one in catalogue.all_versions() if one.resolved.get("names", {}).keys() & may_be_names]
    declared = {name for version in naming for name in version.resolved["names"]}
    files = {**bundle(catalogue).files} if naming else {}
    for version in naming:
        folder = f"{version.subject}/v{version.number}"
        own = {name: value for name, value in parameters.items() if name in version.meaning.names}
        files |= {f"{folder}/{name}": json.dumps(one) for name, one in _rewrite(version, own).items()}
    rest = {name: value for name, value in parameters.items() if name not in declared}
    chosen = {name: value for name, value in parameters.items() if name in declared}
    return NamedCatalogue(Bundle(files).open() if naming else catalogue, rest, chosen)


def _rewrite(version: Version, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return the documents of a version, whole, with the names that were chosen."""
    schema, avro, op_at = version.written_schema, version.avro_schema, version.meaning.envelope.op.at
    contract = {name: part for name, part in version.resolved.items() if name != "names"}
    named = sorted(chosen.items(), key=lambda one: version.meaning.names[one[0]].member is not None)
    for name, value in named:  # op codes first: they are found by what the document calls their member
        what: ChosenName = version.meaning.names[name]
        if what.op_code is not None:
            _check(name, value, contract["ops"].keys() - {what.op_code})
            contract = _recode(contract, op_at, what.op_code, value)
            schema = _alter(schema, split_pointer(op_at), partial(_exchange, old=what.op_code, new=value))
        elif what.member is not None:
            *above, last = path = split_pointer(what.member)
            members, renamed = (
                _members_beside(schema, path),
                _rename(contract, what.member, join_pointer(*above, value)),
            )
            if last not in members and renamed == contract and value != last:
                raise ContractError(f"names.{name}: there is no member {what.member}", where=version.reference)
            _check(name, value, members - {last})
            contract, schema, avro = renamed, _rename_member(schema, path, value), _rename_field(avro, path, value)
    left = {name: one for name, one in version.resolved["names"].items() if name not in chosen}
    return {"contract.yaml": {**contract, "names": left}, ENVELOPE: schema, AVRO_ENVELOPE: avro}


def _check(name: str, value: str, taken: set[str]) -> None:
    if not value or value in taken:
        raise UsageError(
            f"`{value}` is the name of another member or op code" if value else "the name is empty",
            where=f"parameter {name}",
            hint="Give the name that the messages have.",
        )


def _recode(part: Any, at: str, old: str, new: str) -> Any:
    """Return a contract in which an op code is another one: in tests, flags and lists of codes of its member."""
    if isinstance(part, list):
        return [_recode(one, at, old, new) for one in part]
    if not isinstance(part, dict):
        return part
    of_codes = {at}  # of `enums`
    if at in (part.get("in"), part.get("not-in"), part.get("equals")):
        of_codes |= {"value", "values"}
    if part.get("at") == at:
        of_codes.add("is")
    found = {
        name: _exchange(one, old, new) if name in of_codes else _recode(one, at, old, new) for name, one in part.items()
    }
    if isinstance(part.get("null_value"), dict):
        held = part["null_value"].items()
        found["null_value"] = {name: new if (join_pointer(name), one) == (at, old) else one for name, one in held}
    if isinstance(part.get("ops"), dict):
        found["ops"] = {new if code == old else code: op for code, op in part["ops"].items()}
    return found


def _exchange(part: Any, old: str, new: str) -> Any:
    """Return a value, a list of values, or what a schema says of values, with one of them exchanged."""
    if isinstance(part, list):
        return [new if one == old else one for one in part]
    if isinstance(part, dict):
        said = ("enum", "const", "examples")
        return {name: _exchange(one, old, new) if name in said else one for name, one in part.items()}
    return new if part == old else part


def _rename(part: Any, old: str, new: str) -> Any:
    """Return a contract in which a member has another name: pointers to it and below, and lists of members."""
    if isinstance(part, list):
        return [_rename(one, old, new) for one in part]
    if isinstance(part, dict):
        found = {_rename(name, old, new): _rename(one, old, new) for name, one in part.items()}
        last, named = split_pointer(old)[-1], split_pointer(new)[-1]
        if isinstance(part.get("not_columns"), list):
            found["not_columns"] = _exchange(part["not_columns"], last, named)
        if isinstance(part.get("null_value"), dict) and old == join_pointer(last):
            found["null_value"] = {named if name == last else name: one for name, one in part["null_value"].items()}
        return found
    if isinstance(part, str) and (part == old or part.startswith(f"{old}/")):
        return new + part[len(old) :]
    return part


def _members_beside(schema: Any, path: tuple[str, ...]) -> set[str]:
    for name in path[:-1]:
        schema = schema.get("properties", {}).get(name, {})
    return {*schema.get("properties", {})}


def _alter(schema: Any, path: tuple[str, ...], change: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a schema with what it says of a member changed, in all of its branches."""
    if not isinstance(schema, dict):
        return schema
    if not path:
        return change(schema)
    found = dict(schema)
    if path[0] in found.get("properties", {}):
        found["properties"] = {
            name: _alter(one, path[1:], change) if name == path[0] else one for name, one in found["properties"].items()
        }
    for name in _BRANCHES:
        if name in found:
            found[name] = [_alter(one, path, change) for one in found[name]]
    for name in _CONDITIONS:
        if name in found:
            found[name] = _alter(found[name], path, change)
    return found


def _rename_member(schema: Any, path: tuple[str, ...], new: str) -> Any:
    """Return a schema in which a member has another name."""
    last = path[-1]

    def rename(one: dict[str, Any]) -> dict[str, Any]:
        named = {new if name == last else name: below for name, below in one.get("properties", {}).items()}
        found = {**one, **({"properties": named} if "properties" in one else {})}
        if "required" in one:
            found["required"] = _exchange(one["required"], last, new)
        for name in _BRANCHES:
            if name in one:
                found[name] = [rename(below) for below in one[name]]
        for name in _CONDITIONS:
            if isinstance(one.get(name), dict):
                found[name] = rename(one[name])
        return found

    return _alter(schema, path[:-1], rename)


def _rename_field(schema: Any, path: tuple[str, ...], new: str) -> Any:
    """Return an Avro schema in which a member has another name."""
    if isinstance(schema, list):
        return [_rename_field(one, path, new) for one in schema]
    if not isinstance(schema, dict) or "fields" not in schema:
        return schema
    fields = []
    for field in schema["fields"]:
        if field.get("member", field["name"]) != path[0]:
            fields.append(field)
        elif len(path) > 1:
            fields.append({**field, "type": _rename_field(field["type"], path[1:], new)})
        else:
            own = {name: value for name, value in field.items() if name not in ("name", "member")}
            escaped = avro_name(new)
            fields.append({"name": escaped, **({"member": new} if escaped != new else {}), **own})
    return {**schema, "fields": fields}
