"""Form definitions in a message schema: one for each value form, and what the types in a message require."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause, all_of, any_of, negate, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import (
    MappingCondition,
    any_case,
    mapping_choices,
    op_holds_rows,
    op_is,
)
from cdc_contracts.registry.core.schema.message_schemas.image_placement import image_of, reachable_ops
from cdc_contracts.registry.core.values import FORMS, JSON_KINDS, Context

ARRAYS: Final = r"\[\]$"
"""The pattern of the names of types whose values are arrays."""
_SCALARS: Final = frozenset({"text", "number", "boolean"})
_BRACKETS = r"(?:\s*\([^()]*\))*"
_SIGNS = r"(?:\s+(?:[Uu][Nn][Ss][Ii][Gg][Nn][Ee][Dd]|[Ss][Ii][Gg][Nn][Ee][Dd]|[Zz][Ee][Rr][Oo][Ff][Ii][Ll][Ll]))*"


def definitions(version: Version) -> dict[str, Any]:
    """Return a definition of each value form that a version uses, and one of each source type that refers to it."""
    names: dict[str, Any] = {}
    forms: dict[str, Any] = {}
    types: dict[str, Any] = {}
    mappings = [version.catalogue.mapping(name) for name in version.mapping_names()]
    for mapping in mappings:
        for form, those in mapping.forms.items():
            forms[_name_of(mapping, form, mappings)] = _define(version, mapping, form)
            if version.meaning.columns.types != "none" and form in forms_of_types(mapping):
                names[_names_key(mapping, form)] = _define_names(mapping, form)
            for name in those:
                key = name if len(mappings) == 1 else f"{name} ({mapping.name})"
                types[key.replace(".", "-")] = refer(mapping, form, mappings)
    return dict(sorted(names.items())) | dict(sorted(forms.items())) | dict(sorted(types.items()))


def typed_rows(version: Version) -> Iterator[dict[str, Any]]:
    """Yield what the types in a message require of it, for each value mapping that may hold."""
    if version.meaning.columns.types == "none":
        return
    for choice in mapping_choices(version):
        clauses = [*_kinds(version, choice), *_known_types(version, choice), *_typed_values(version, choice)]
        yield when(choice.condition, all_of(clauses))


def _kinds(version: Version, choice: MappingCondition) -> Iterator[dict[str, Any]]:
    """Yield which JSON kinds a column may have at all, where the forms of a mapping do not have every kind."""
    wires = {wire for mapping in choice.mappings for form in forms_of_types(mapping) for wire in FORMS[form].wire}
    kinds = [JSON_KINDS[wire] for wire in sorted(wires)]
    if not wires >= _SCALARS:
        yield _every_image(version.meaning, {"type": [*kinds, "null"]})


def _known_types(version: Version, choice: MappingCondition) -> Iterator[dict[str, Any]]:
    """Yield which names of types a message of rows may hold; none if the mapping accepts every name."""
    if all(mapping.document.default is None for mapping in choice.mappings):
        names = any_of(names_of_form(mapping, form) for mapping in choice.mappings for form in forms_of_types(mapping))
        types = type_columns(version.meaning)
        clause = _types_clause(types, names, required=False)
        if types.at is not None:
            yield when(op_holds_rows(version.meaning), within(types.at, clause, required=False))
        for ops, pointer in deciding_images(version.meaning) if types.at is None else ():
            at = pointer + join_pointer(types.in_image or "")
            yield when(op_is(version.meaning, ops), within(at, clause, required=False))


def _typed_values(version: Version, choice: MappingCondition) -> Iterator[dict[str, Any]]:
    """Yield the constraints on rows whose columns all have types of one form.

    No keyword relates one column to its type. Nothing is required where messages give the kind of their source, and one
    does not say which mapping holds.
    """
    if choice.condition and len(choice.mappings) > 1:
        return
    for form in dict.fromkeys(form for mapping in choice.mappings for form in forms_of_types(mapping)):
        if not version.meaning.leaves_open(FORMS[form].kind):
            yield _rows_of_form(version, choice, form)


def _rows_of_form(version: Version, choice: MappingCondition, form: str) -> dict[str, Any]:
    having = [mapping for mapping in choice.mappings if form in forms_of_types(mapping)]
    only = _every_type_is(version.meaning, any_of(names_of_form(mapping, form) for mapping in having))
    return when(only, _every_image(version.meaning, any_of(forms_of_same_types(version, choice, form))))


def forms_of_same_types(version: Version, choice: MappingCondition, form: str) -> list[dict[str, Any]]:
    """Return references to a form and to those that another mapping of a choice gives one of its types."""
    every = [version.catalogue.mapping(name) for name in version.mapping_names()]
    having = [mapping for mapping in choice.mappings if form in forms_of_types(mapping)]
    types = {name for mapping in having for name in mapping.document.forms.get(form, ())}
    others = {
        other
        for mapping in choice.mappings
        for other, names in mapping.document.forms.items()
        if other != form and types & set(names)
    }
    refers = [refer(mapping, form, every) for mapping in having]
    for mapping in choice.mappings:
        refers += [refer(mapping, other, every) for other in sorted(others & mapping.document.forms.keys())]
    return refers


def _every_image(meaning: Meaning, value: Clause) -> dict[str, Any]:
    """Return what asks `value` of every column of every image."""
    clauses = []
    for pointer in meaning.images.pointers():
        excluded = non_column_members(meaning, pointer)
        row: dict[str, Any] = {"properties": dict.fromkeys(sorted(excluded), True)} if excluded else {}
        row["additionalProperties"] = value
        clauses.append(within(pointer, image_of(meaning, row), required=False))
    return all_of(clauses)


def deciding_images(meaning: Meaning) -> Iterator[tuple[list[str], str]]:
    """Yield the image whose own types count before those of another, with the ops it is so for."""
    ops: dict[str, list[str]] = {}
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        side = sides and (sides.after or sides.before)
        if side and op in reachable_ops(meaning):
            ops.setdefault(side.at, []).append(op)
    yield from ((those, pointer) for pointer, those in ops.items())


def type_columns(meaning: Meaning) -> ColumnTypes:
    """Return where messages of a version with types hold them."""
    types = meaning.columns.types
    assert isinstance(types, ColumnTypes)  # noqa: S101  whoever calls has looked
    return types


def _every_type_is(meaning: Meaning, name: Clause) -> dict[str, Any]:
    """Return the condition that a message holds types, and each of them is `name`."""
    types = type_columns(meaning)
    clause = _types_clause(types, name, required=True)
    if types.at is not None:
        return within(types.at, clause)
    places = [pointer + join_pointer(types.in_image or "") for pointer in meaning.images.pointers()]
    each = [within(place, clause, required=False) for place in places]
    return all_of([*each, any_of(within(place, {"type": "object"}) for place in places)])


def _types_clause(types: ColumnTypes, name: Clause, *, required: bool) -> dict[str, Any]:
    one = name if types.reading == "name-to-type" else entry_of_type(types, name, required=required)
    if types.parameter is not None:  # a field without it is no column
        said = within(join_pointer("parameters", types.parameter), {})
        one = when(said, one)
    if types.is_listed and (required or types.parameter is not None):
        return listed_types(types, {"type": "array", **({"minItems": 1} if required else {}), "items": one})
    if types.is_listed:
        return {"items": one}
    return {**({"type": "object", "minProperties": 1} if required else {}), "additionalProperties": one}


def entry_of_type(types: ColumnTypes, name: Clause, *, required: bool = True) -> dict[str, Any]:
    """Return what asks of the entry of a column that its type is `name`; one that lacks it may do unless `required`.

    In a schema block the semantic name of a field is its type, and without one its primitive type is.
    """
    if types.reading != "connect-schema":
        return {"properties": {types.type: name}, **({"required": [types.type]} if required else {})}
    semantic = {"properties": {"name": name}, "required": ["name"]}
    if types.parameter is not None:
        said = within(join_pointer("parameters", types.parameter), name)
        return any_of([semantic, all_of([{"properties": {"name": False}}, said])])
    return any_of([semantic, {"properties": {"name": False, "type": name}, "required": ["type"]}])


def listed_types(types: ColumnTypes, clause: Clause) -> dict[str, Any]:
    """Return what asks `clause` of the list of the columns' entries in the member that holds them."""
    if types.reading != "connect-schema":
        return dict(clause)
    if types.field is None:
        return within("/fields", clause)
    row = {"properties": {"field": {"const": types.field}, "fields": clause}, "required": ["field", "fields"]}
    return within("/fields", {"type": "array", "contains": {"type": "object", **row}})


def no_more_types(types: ColumnTypes, count: int) -> dict[str, Any]:
    """Return the condition that the member which holds the types has no more of them than `count`."""
    if types.is_listed:
        return listed_types(types, {"type": "array", "maxItems": count})
    return {"type": "object", "maxProperties": count}


def some_type_is(types: ColumnTypes, pointer: str, name: Clause) -> dict[str, Any]:
    """Return the condition that one of the types of the row in an image is `name`."""
    at = types.at if types.at is not None else pointer + join_pointer(types.in_image or "")
    if types.is_listed:
        return within(at, listed_types(types, {"type": "array", "contains": entry_of_type(types, name)}))
    member = entry_of_type(types, name) if types.type is not None else name
    return within(at, {"type": "object", **negate({"additionalProperties": negate(member)})})


def names_of_form(mapping: ValueMapping, form: str) -> dict[str, Any]:
    """Return what refers to the definition of the type names that a mapping reads as a form."""
    return {"$ref": f"#/$defs/{_names_key(mapping, form)}"}


def _names_key(mapping: ValueMapping, form: str) -> str:
    return f"types-of-{mapping.name}-{form.replace('.', '-')}"


def forms_of_types(mapping: ValueMapping) -> tuple[str, ...]:
    """Return the forms that the name of a type decides: those with types of their own, and that of arrays."""
    arrays = mapping.document.arrays
    return tuple(dict.fromkeys([*mapping.document.forms, *([arrays] if arrays is not None else [])]))


def _define_names(mapping: ValueMapping, form: str) -> dict[str, Any]:
    names = mapping.document.forms.get(form, ())
    if "code" in mapping.document.names:
        return {"enum": sorted(int(name) for name in names)}
    arrays = [ARRAYS] if form == mapping.document.arrays else []
    pattern = "|".join([*([type_pattern(mapping, names)] if names else []), *arrays])
    return {"type": "string", "pattern": pattern, "examples": [*names, *(["text[]"] if arrays else [])]}


def _define(version: Version, mapping: ValueMapping, form: str) -> dict[str, Any]:
    row = FORMS[form]
    literals, keep = mapping.invalid_literals(form), mapping.keeps_invalid(form)
    says = row.says
    if keep and row.kept is not None:
        says += f" Another number from {row.kept[0]} to {row.kept[1]} is kept."
    elif keep:
        says += " A text of this layout that is no date or time (0000-00-00) is kept."
    if keep and row.kept_text:
        says += " So is a year before 0000 or after 9999, which has a sign (-0043, +10000)."
    for literal in literals:
        says += f" `{literal}` stands for a time that does not exist."
    if mapping.leaves_out_zeros(form):
        says += " A fraction that ends in a zero is warned of (D07.trailing-zeros)."
    if version.meaning.leaves_open(row.kind):
        says += " Not documented: another text is kept and warned of."
    example = json.loads(FORMS[form].example)
    return {"description": says, **row.schema_in(Context(None, keep, literals)), "examples": [example]}


def _name_of(mapping: ValueMapping, form: str, mappings: Sequence[ValueMapping]) -> str:
    """Return the name of a definition; it names the mapping only where two of them define the form differently."""
    result = {str((one.invalid_literals(form), one.keeps_invalid(form))) for one in mappings if form in one.forms}
    name = form.replace(".", "-")  # code generators take a dot for the end of a module's name
    return name if len(result) == 1 else f"{name}-of-{mapping.name}"


def refer(mapping: ValueMapping, form: str, mappings: Sequence[ValueMapping]) -> dict[str, Any]:
    """Return what refers to the definition of a form under one of the mappings of a version."""
    return {"$ref": f"#/$defs/{_name_of(mapping, form, mappings)}"}


def type_pattern(mapping: ValueMapping, types: Iterable[str]) -> str:
    """Return the pattern of every spelling that a mapping reads as one of `types`, which it lists in capitals.

    Spellings that nobody writes (brackets inside brackets, brackets within a name) are left out.
    """
    steps = mapping.document.names
    wanted = set(types)
    spelled = [*wanted, *(alias for alias, name in mapping.document.aliases.items() if name in wanted)]
    names = "|".join(_spell(name, steps) for name in sorted(spelled))
    tail = (_BRACKETS if "drop-parameters" in steps else "") + (_SIGNS if "drop-unsigned" in steps else "")
    return rf"^\s*(?:{names}){tail}\s*$" if "code" not in steps else f"^(?:{names})$"


def _spell(name: str, steps: tuple[str, ...]) -> str:
    brackets = _BRACKETS if "drop-parameters" in steps else ""
    gap = brackets + (r"[\s_]+" if "underscore-to-space" in steps else r"\s+")
    pattern = any_case if "upper" in steps else re.escape
    return gap.join("".join(map(pattern, word)) for word in name.split(" "))
