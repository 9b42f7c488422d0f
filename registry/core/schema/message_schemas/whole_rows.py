"""Whole rows in a message schema: what is asked of images that hold a column for every type that a message names.

No keyword counts the columns of one member by those of another. A column without a type is an error, so a row of as
many columns as there are types holds each of them: said of up to `MOST_COLUMNS`, and of as many as a table has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.schema.message_schemas.clauses import all_of, any_of, negate, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import mapping_choices, op_is
from cdc_contracts.registry.core.schema.message_schemas.form_definitions import (
    deciding_images,
    forms_of_same_types,
    names_of_form,
    no_more_types,
    some_type_is,
)
from cdc_contracts.registry.core.schema.message_schemas.image_placement import image_of
from cdc_contracts.registry.core.values import FORMS

MOST_COLUMNS: Final = 16
_TYPED: Final = "columns-typed"


def whole_row_definitions(version: Version) -> dict[str, Any]:
    """Return the condition of a whole row in each image, by the name of its definition."""
    meaning, types = version.meaning, version.meaning.columns.types
    if types == "none" or not any(_forms_that_tell(version)):
        return {}
    counts = range(1, MOST_COLUMNS + 1)
    return {
        _name(pointer): {
            "description": f"Every row in {pointer} has a value for each type, said of up to {MOST_COLUMNS}.",
            **any_of(_is_whole(meaning, types, pointer, count) for count in counts),
        }
        for pointer in dict.fromkeys(pointer for _, pointer in _read_images(meaning, types))
    }


def told_forms(version: Version) -> Iterator[dict[str, Any]]:
    """Yield that a whole row with a column of a type that tells versions apart holds a value of its form, or a null."""
    types = version.meaning.columns.types
    if types == "none":
        return
    for choice in mapping_choices(version):
        if choice.condition and len(choice.mappings) > 1:
            continue  # the messages do not say which mapping holds
        for form in _forms_that_tell(version):
            having = [mapping for mapping in choice.mappings if form in mapping.document.forms]
            named = any_of(names_of_form(mapping, form) for mapping in having)
            lacks = {"additionalProperties": negate(any_of(forms_of_same_types(version, choice, form)))}
            for ops, pointer in _read_images(version.meaning, types) if having else ():
                condition = [
                    choice.condition,
                    op_is(version.meaning, ops),
                    {"$ref": f"#/$defs/{_name(pointer)}"},
                    some_type_is(types, pointer, named),
                ]
                members = dict.fromkeys(sorted(non_column_members(version.meaning, pointer)), True)
                row = {"type": "object", **negate(lacks | ({"properties": members} if members else {}))}
                yield when(all_of(condition), within(pointer, image_of(version.meaning, row), required=False))


def kept_rows(meaning: Meaning, counts: Iterable[int] = range(1, MOST_COLUMNS + 1)) -> Iterator[dict[str, Any]]:
    """Yield that the full image is whole where that of changed columns is, if versions exchange the two."""
    types, sides = meaning.columns.types, meaning.images.of("update")
    exchanged = any(evidence.key_chain for evidence in meaning.version_evidence)
    if not exchanged or types == "none" or sides is None or not {_TYPED, "old-keys-in-data"} <= {*meaning.rules}:
        return
    for side in (sides.before, sides.after):
        if side is not None and side.completed_from is not None:
            clauses = [
                when(
                    _is_whole(meaning, types, side.at, count),
                    within(side.completed_from, image_of(meaning, {"minProperties": count}), required=False),
                )
                for count in counts
            ]
            yield when(op_is(meaning, ["update"]), all_of(clauses))


def _forms_that_tell(version: Version) -> Iterator[str]:
    """Yield the forms whose values are evidence of the version."""
    meaning = version.meaning
    if _TYPED not in meaning.rules:
        return
    forms = {form for name in version.mapping_names() for form in version.catalogue.mapping(name).document.forms}
    told = (evidence.is_form for evidence in meaning.version_evidence)
    yield from dict.fromkeys(
        form for form in told if form is not None and form in forms and not meaning.leaves_open(FORMS[form].kind)
    )


def _read_images(meaning: Meaning, types: ColumnTypes) -> Iterator[tuple[list[str], str]]:
    """Yield each image with the ops of which it is read by the types that `_is_whole` counts."""
    if types.at is None:
        yield from deciding_images(meaning)
    else:
        yield from (([*ROW_OPS], pointer) for pointer in meaning.images.pointers())


def _is_whole(meaning: Meaning, types: ColumnTypes, pointer: str, count: int) -> dict[str, Any]:
    few = no_more_types(types, count)
    at = types.at if types.at is not None else pointer + join_pointer(types.in_image or "")
    row = {"type": "object", "minProperties": count + len(non_column_members(meaning, pointer))}
    least = {} if meaning.images.hold_one_row else {"type": "array", "minItems": 1}
    return all_of([within(at, few), within(pointer, {**least, **image_of(meaning, row)})])


def _name(pointer: str) -> str:
    return "whole-rows-in-" + "-".join(split_pointer(pointer))
