"""Every version by tables of other makes and streams of one op: never wrong, and never out of the catalogue."""

import pytest
from detected_topics import detect_messages
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.generate.source_events import SourceTable

TABLES = {
    "integers only": SourceTable("t", {"id": "bigint", "a": "int"}, ("id",), None, "d"),
    "its key only": SourceTable("t", {"id": "int"}, ("id",), None, "d"),
    "no key": SourceTable("t", {"a": "varchar(20)", "b": "int"}, (), None, "d"),
    "a key of two": SourceTable("t", {"a": "int", "b": "varchar(9)", "c": "datetime"}, ("a", "b"), None, "d"),
    "columns named as members are": SourceTable("data", {"op_type": "int", "before": "text"}, ("op_type",), None, "payload"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("reference", [version.reference for version in CATALOGUE.all_versions()])
def test_a_table_of_any_make_is_never_reported_wrongly(reference, make):
    table = TABLES[make]
    if reference == "goldengate/json-row@1" and "op_type" in table.types:
        pytest.skip("a row of this format would have two members of one name")
    listed = {
        "table": f"{table.database}.{table.name}",
        "columns": {name: {"type": reported} for name, reported in table.types.items()},
    }
    contract = parse_table_contract({**listed, "primary_key": list(table.primary_key)}, "t.yaml")
    messages = rendered(
        reference, 12, table=table, snapshot=3, reading_options=ReadingOptions(tables=TableContracts([contract]))
    )

    for found in (detect_messages(messages), detect_messages(messages[-1:])):
        assert found.verdict in ("certain", "likely", "ambiguous")
        named = found.version.reference if found.version else None
        if found.verdict == "certain":
            assert named == reference
        elif found.verdict == "likely" and reference not in found.equivalent:
            assert reference == named or (named is None and reference.startswith(f"{found.subject}@"))
        else:
            assert reference in [candidate.contract for candidate in found.candidates]
