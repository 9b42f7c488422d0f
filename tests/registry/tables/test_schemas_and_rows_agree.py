"""The types that a schema of rows names are those of the columns that decode writes, whatever the version and type."""

from __future__ import annotations

import pytest
from both_paths import CATALOGUE
from output_rows import records_of

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event
from cdc_contracts.registry.core.schema.message_schemas.table_columns import type_in_messages
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_in
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table, resolve_layouts
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.validate.validation_context import open_validation

DIGITS = {
    "DECIMAL": ("(12,2)", "(30,10)"), "NUMERIC": ("(12,2)",), "NUMBER": ("(12,2)", "(38,0)"), "BIT": ("(1)", "(64)"),
    "TIMESTAMP": ("(3)", "(6)", "(9)"), "DATETIME": ("(3)", "(6)"), "BIGINT": (" unsigned",), "INT": (" unsigned",),
}  # fmt: skip
"""What may follow the names of types, besides nothing."""
NAMES = sorted(
    {
        name
        for mapping in CATALOGUE.mapping_names()
        for names in CATALOGUE.mapping(mapping).document.forms.values()
        for name in names
    }
    | {"timestamp with time zone", "timestamp with local time zone", "mood"}
)
TYPES = [name + more for name in NAMES for more in ("", *DIGITS.get(name, ()))]
ZONE = "Europe/Berlin"
CASES = [(version, mapping) for version in CATALOGUE.all_versions() for mapping in version.mapping_names()]


def sources_of(version: Version, mapping: str) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return the parameters under which messages are read by a mapping, and how they name their kind of source."""
    mode = {"source_mode": "oracle" if "oracle" in mapping else "mysql"}
    mode = mode if "source_mode" in version.meaning.parameters else {}
    choice = version.meaning.values.mapping
    if isinstance(choice, str) or choice.by is None:
        return [(mode, {})]
    return [(mode, {"source_kind": kind}) for kind, name in choice.map.items() if name == mapping]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("told", ["no zone", "parameter", "table contract"])
@pytest.mark.parametrize(("version", "mapping"), CASES, ids=str)
def test_a_column_is_written_with_the_type_that_the_schema_of_its_rows_names(version, mapping, told, part):
    carried = [one for one in TYPES if is_carried(version, mapping, one)]
    columns = {f"c{number}": {"type": declared} for number, declared in enumerate(part(carried, 3))}
    zone = {"source_time_zone": ZONE} if told == "table contract" else {}
    table = parse_table_contract({"table": "shop.things", "columns": columns, **zone}, "things.yaml")
    takes_one = told == "parameter" and "timestamp_zone" in version.meaning.parameters
    parameters = {"timestamp_zone": ZONE} if takes_one else {}
    assert len(carried) > 3
    for mode, source in sources_of(version, mapping):
        options = ReadingOptions(parameters=parameters | mode, tables=TableContracts([table]), table=table.table)
        messages = [render_row(Renderer(version, options, **source), version, table)]
        observed = ObservedColumns()
        for written in Kernel(open_validation(CATALOGUE, version.reference, options)).decode(records_of(messages)):
            assert written.changes.num_rows == 1, written.quarantine.to_pylist()
            observed.merge(written.observed)
        (layout,) = resolve_layouts({}, TableContracts([table]), observed, {}).values()
        assert types_in(canonical_table(version, table, options)) == types_in(layout)


def is_carried(version: Version, mapping: str, declared: str) -> bool:
    """Return whether a mapping has a form for a type, and not just its default while another mapping lists the type."""
    others = [CATALOGUE.mapping(other) for other in version.mapping_names() if other != mapping]
    own = CATALOGUE.mapping(mapping)
    stands_back = own.document.default is not None and not own.lists(declared)
    listed_elsewhere = stands_back and any(other.lists(declared) for other in others)
    named = type_in_messages(version, own, declared)
    return named is not None and own.form_of(named) is not None and not listed_elsewhere


def types_in(layout: TableLayout) -> dict[str, tuple[str, str | None, str | None]]:
    return {one.name: (str(one.type), one.source_type, one.kind) for one in layout.columns}


def render_row(renderer: Renderer, version: Version, table: TableContract) -> bytes:
    row = dict.fromkeys(table.columns)
    at = 1_718_000_000_000_000
    return renderer.render(Event("insert", table_in(version, table), None, row, at, at, "1", "1"))
