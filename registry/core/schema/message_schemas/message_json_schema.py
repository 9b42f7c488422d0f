"""Message JSON Schema (`message.schema.json`): what a version says of one message, as far as JSON Schema can.

It refuses what validation calls an error, and nothing that validation accepts: warnings stay warnings. What no keyword
can express is in a `$comment` with the id of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.common.subschemas import map_schemas
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version, span
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.phrases import describe_application
from cdc_contracts.registry.core.contract.releases import pattern_of_releases
from cdc_contracts.registry.core.message.envelope_times import SPANS, limits_of, unit_of_form
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.message.schema_block_types import is_described
from cdc_contracts.registry.core.schema.message_schemas.block_clauses import (
    MEMBERS_RULE,
    described_members,
    described_rows,
)
from cdc_contracts.registry.core.schema.message_schemas.clauses import all_of, any_of, negate, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import any_case, op_holds_rows, op_is, op_is_known
from cdc_contracts.registry.core.schema.message_schemas.form_definitions import (
    definitions,
    no_more_types,
    typed_rows,
)
from cdc_contracts.registry.core.schema.message_schemas.image_placement import (
    ddl_flag,
    image_of,
    no_row,
    placements,
    reachable_ops,
)
from cdc_contracts.registry.core.schema.message_schemas.message_examples import example_messages, with_member_examples
from cdc_contracts.registry.core.schema.message_schemas.stated_types import state_types
from cdc_contracts.registry.core.schema.message_schemas.whole_rows import (
    MOST_COLUMNS,
    kept_rows,
    told_forms,
    whole_row_definitions,
)
from cdc_contracts.registry.core.validate.drift_rule import drift_rules
from cdc_contracts.registry.core.validate.drift_rules.members_of_version import absent_members

GENERATED: Final = "Written from the contract by `cdc-contracts schema --write`; edit the contract, not this file."
_UNTOLD: Final = (
    " Versions exchange the images of updates: where one message does not show it, no schema of one message can tell; "
    "`cdc-contracts detect` and `cdc-contracts audit` compare the changes of each row."
)
_SAID: Final = frozenset(
    {
        "image-present-for-op",
        "ddl-flag-agrees",
        "position-matches",
        "release-of-version",
        "members-of-version",
        "types-with-parameters",
    }
)
"""Rules that clauses express completely."""
MOST_ROWS: Final = 8


@lru_cache(128)
def message_schema(version: Version) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a version's messages, not to be changed.

    Raises ContractError if the version is broken.
    """
    envelope = _open(version.written_schema)
    head = {"$schema": envelope["$schema"], "$id": schema_id(version), "$comment": GENERATED}
    result = {"title": title_of(version), "description": describe(version, envelope.get("description", ""))}
    body = {key: value for key, value in envelope.items() if key not in {*head, *result, "allOf", "$defs"}}
    if version.subject == CANONICAL:
        return {**head, **result, **body, **_tail(envelope, [], {})}
    groups = {
        name: {"description": says, **all_of(clauses)} for name, says, clauses in _groups(version) if any(clauses)
    }
    clauses = [*({"$ref": f"#/$defs/{name}"} for name in groups), *({"$comment": one} for one in _comments(version))]
    tail = _tail(envelope, clauses, {**groups, **whole_row_definitions(version), **definitions(version)})
    messages = example_messages(version)
    whole = state_types({**head, **result, **body, **tail, "examples": messages})
    return with_member_examples(whole, messages)


def schema_id(version: Version) -> str:
    """Return the `$id` of the schema of a version."""
    return f"urn:cdc-contracts:{version.subject.replace('/', ':')}:v{version.number}"


def title_of(version: Version) -> str:
    """Return the title of a schema: product, dialect, version and what it applies to."""
    name = version.resolved.get("title", version.subject)
    held = span(version)
    return f"{name}, version {version.number}" + ("" if held == "always" else f" ({held})")


def describe(version: Version, says: str) -> str:
    """Return what a schema is about, and for which releases or dates of the product."""
    held = describe_application(version)
    result = f"Contract {version.reference}, {version.resolved['status']}."
    if held is not None:
        result += f" It holds for {held}."
    if any("key-chain" in evidence for evidence in version.resolved.get("version_evidence", ())):
        result += _UNTOLD
    return f"{says} {result}".strip()


def _groups(version: Version) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield what clauses say: the name of a definition, what it is about, and its clauses."""
    meaning = version.meaning
    yield "op-codes", "The codes of operations.", [op_is_known(meaning)]
    if "image-present-for-op" in meaning.rules:
        yield "images-by-op", "Which images hold rows, by operation.", list(placements(meaning))
        yield "row-counts", f"As many rows in each image, said of up to {MOST_ROWS}.", list(equal_rows(meaning))
    if "ddl-flag-agrees" in meaning.rules:
        yield "ddl-flag", "The DDL flag is true exactly where the code is the one of DDL.", list(ddl_flag(meaning))
    if "members-of-version" in meaning.rules:
        absent = [negate(within(at, {})) for at in absent_members(meaning)]
        yield "other-members", "Members that only other versions or products have.", absent
    if "types-with-parameters" in meaning.rules:
        yield "lengths-of-types", "Types that always have a length.", list(lengths_of_types(meaning))
    codes = [within(pointer, {"enum": list(result)}, required=False) for pointer, result in meaning.enums.items()]
    yield "codes", "Members with a list of codes.", codes
    if "position-matches" in meaning.rules:
        patterns = [within(at, {"pattern": result}, required=False) for at, result in meaning.patterns.items()]
        yield "positions", "How positions in the log are written.", [when(op_holds_rows(meaning), all_of(patterns))]
    release = meaning.envelope.release
    if "release-of-version" in meaning.rules and release is not None and release.at is not None:
        pattern = pattern_of_releases(meaning.applies.since, meaning.applies.until)
        says = "The releases of the product that write this version."
        yield "releases", says, [within(release.at, {"pattern": pattern}, required=False)]
    yield (
        "times",
        "Units of times; a number that is a moment of our days in another unit is refused.",
        [*moments(meaning)],
    )
    if "columns-typed" in meaning.rules:
        says = f"No more columns in an image than there are types, said of up to {MOST_COLUMNS}."
        yield "column-counts", says, list(typed_columns(meaning))
        says = "The schema block of a row has a name and a type for each column."
        yield "described-rows", says, list(described_rows(version))
    if "members-in-schema-block" in meaning.rules:
        says = "The members that stand beside a schema block are its fields."
        yield "described-members", says, list(described_members(version))
    says = "The full row holds every column where that of changed columns does."
    yield "kept-rows", says, list(kept_rows(meaning))
    says = "Types that there are, and the values of rows all of whose columns have types of one value form."
    yield "types-and-values", says, list(typed_rows(version))
    says = "A whole row with a column of a type that tells versions apart has a value of its form, or a null."
    yield "told-forms", says, list(told_forms(version))


def lengths_of_types(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield that types which are never declared without a length have one."""
    types = meaning.columns.types
    if not isinstance(types, str) and types.at is not None and types.with_parameters:
        names = "|".join("".join(map(any_case, name)) for name in types.with_parameters)
        yield within(types.at, {"additionalProperties": negate({"pattern": f"^(?:{names})$"})}, required=False)


def _comments(version: Version) -> Iterator[str]:
    """Yield what rules ask of messages that no clause says, with the ids of the rules; warnings are marked as such."""
    meaning, rules = version.meaning, drift_rules()
    if not meaning.images.hold_one_row:
        yield f"{rules['image-present-for-op'].id}: as many rows in each image."
    if meaning.columns.types != "none":
        yield "D07.value-form: each value by the type of its own column; a schema of one table says it by name."
    for name in meaning.rules:
        rule = rules[name]
        if name not in _SAID and not rule.reads(meaning).kafka_keys:  # these are not in the value
            kind = "" if rule.severity == ERROR else f" (a {rule.severity})"
            yield f"{rule.id}{kind}: {rule.says}"


def _open(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts members which nobody names: for validation they are a warning (D04)."""
    kept = {key: below for key, below in schema.items() if not (key == "additionalProperties" and below is False)}
    return map_schemas(kept, _open)


def _tail(envelope: Mapping[str, Any], clauses: list[dict[str, Any]], defined: Mapping[str, Any]) -> dict[str, Any]:
    every = [*envelope.get("allOf", ()), *clauses]
    defs = {**envelope.get("$defs", {}), **defined}
    return ({"allOf": every} if every else {}) | ({"$defs": defs} if defs else {})


def equal_rows(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield that the images of an op have as many rows, up to MOST_ROWS."""
    if meaning.images.container != "list-of-rows":
        return
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        if op in reachable_ops(meaning) and sides is not None and sides.before and sides.after:
            places = (sides.before.at, sides.after.at)
            result = [
                when(
                    within(one, {"type": "array", "maxItems": count}),
                    within(other, {"maxItems": count}, required=False),
                )
                for count in range(1, MOST_ROWS + 1)
                for one, other in (places, places[::-1])
            ]
            yield when(op_is(meaning, [op]), all_of(result))


def typed_columns(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield that a row has no more columns than there are types, up to MOST_COLUMNS.

    An image with types of its own holds a row only where the op says so: a DDL statement may stand in its place.
    """
    types = meaning.columns.types
    if types == "none" or meaning.images.container == "positional":
        return
    for count in range(1, MOST_COLUMNS + 1):
        if types.at is not None:
            columns = all_of(_columns_up_to(meaning, pointer, count) for pointer in meaning.images.pointers())
            yield when(within(types.at, no_more_types(types, count)), columns)
        else:
            for pointer in meaning.images.pointers():
                own = _own_types_up_to(meaning, types, pointer, count)
                yield when(all_of([op_holds_rows(meaning), own]), _columns_up_to(meaning, pointer, count))


def _own_types_up_to(meaning: Meaning, types: ColumnTypes, pointer: str, count: int) -> dict[str, Any]:
    """Return the condition of an image with few types of its own, and no other image whose types it would take."""
    others = [other for other in meaning.images.pointers() if other != pointer]
    own = within(pointer + join_pointer(types.in_image or ""), {"type": "object", "maxProperties": count})
    return all_of([own, *(within(other, no_row(meaning, other), required=False) for other in others)])


def _columns_up_to(meaning: Meaning, pointer: str, count: int) -> dict[str, Any]:
    others = non_column_members(meaning, pointer)
    if MEMBERS_RULE in meaning.rules:  # the types are those of the others too
        others = frozenset(name for name in others if not is_described(meaning, name))
    row = {"maxProperties": count + len(others)}
    return within(pointer, image_of(meaning, row), required=False)


def moments(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield the bounds of the times of an envelope.

    A checkpoint has none here: one in another unit is only a warning, since no row depends on it.
    """
    for place in meaning.envelope.times:
        if place == meaning.envelope.checkpoint or place.at is None or unit_of_form(place) is None:
            continue
        if place.form == "epoch-seconds-text":
            yield within(place.at, _text_of_unit(place), required=False)
        elif place.form == "epoch-millis-list-last":
            continue  # which item of an array is the last, no keyword says
        else:
            yield within(place.at, _number_of_unit(place), required=False)


def _number_of_unit(place: Place) -> dict[str, Any]:
    """Return what refuses numbers that are moments of our time in another unit, or no moment at all."""
    wanted = unit_of_form(place)
    first, last = limits_of(place)
    others = [span for unit, span in SPANS.items() if unit != wanted]
    inside = [
        {"type": "number", "minimum": low, "maximum": end - 1}
        for low, end in others
        if first <= low and end - 1 <= last
    ]
    result: dict[str, Any] = {"minimum": first, "maximum": last}
    if inside:
        result["not"] = any_of(inside)
    if place.absent_value is not None and not first <= place.absent_value <= last:
        return any_of([{"const": place.absent_value}, result])
    return result


def _text_of_unit(place: Place) -> dict[str, Any]:
    """Return what refuses the same of a count that travels as text: its digits identify most of the numbers of a unit.

    Moments from 2001 to 2096 begin with 1, 2 or 3 and have ten digits in seconds, thirteen in milliseconds, and so on.
    """
    digits = [len(str(low)) for unit, (low, _) in SPANS.items() if unit != unit_of_form(place)]
    return {"not": {"type": "string", "pattern": f"^(?:{'|'.join(f'[123][0-9]{{{count}}}' for count in digits)})$"}}
