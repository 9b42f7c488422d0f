from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR, WARNING
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading, column_path
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.message_edits import first_rows
from cdc_contracts.registry.core.validate.rule_inputs import columns_of_images, type_places
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Every column of an image has a type, and a full image has every typed column (E85: a warning)."""
    reading, types = view.reading, view.reading.types
    if types is None:
        yield from _unreadable_types(reading)
        return
    where = " and ".join(reading.types_at)
    for side in view.sides():
        source = reading.source(side)
        rows = reading.rows(source) if source else None
        unsent = reading.column_names(source) if source is not None and source in reading.partly_sent else ()
        for row in rows or ():
            for name in dict.fromkeys((*row, *unsent)):
                if name not in types:
                    yield Breach(column_path(reading, source, name), f"a type in {where}", "untyped")
            if side.completed_from is None:
                for name in types:
                    if name not in row and name not in unsent:
                        yield Breach(column_path(reading, source, name), "present", "absent", WARNING)


def _unreadable_types(reading: Reading) -> Iterator[Breach]:
    """Yield that a schema block which is there describes no row; no JSON Schema of the envelope asks for that."""
    types = reading.meaning.columns.types
    if types != "none" and types.names_encodings and types.at is not None and isinstance(reading.at(types.at), dict):
        where = "the schema" if types.field is None else f"the field {types.field}"
        yield Breach(types.at, f"{where} with a name and a type for each column", "types that cannot be read")


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with one more column, whose name has no type."""
    for row, columns in first_rows(reading):
        for name, value in columns.items():
            yield {(*row, f"{name}_renamed"): value}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield where types and codes are, then the images."""
    for meaning in meanings:
        yield from type_places(meaning, meanings)
        yield from meaning.images.pointers()


RULE = DriftRule(
    name="columns-typed", severity=ERROR,
    says="Every column of an image has a type in the message, and a full image has every typed column (else a "
    "warning).",
    action="A column without a type cannot be read: check for a transformation that adds columns.",
    good='"data": [{"id": "1"}] with "mysqlType": {"id": "int"}',
    bad='"data": [{"id": "1", "at": "2"}] with the same types',
    check=check, reads=columns_of_images, exercised_by=lambda reading: reading.holds_rows and bool(reading.types),
    breaks=breaks, places=places, per_column=True, listed_at=2,
)  # fmt: skip
