"""Values that a declared type does not hold are refused: cases by hand, and both paths of validating on whole streams."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from record_batches import batch_of_values

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation
from cdc_contracts.registry.core.validate.verdicts import DRIFTED, Verdict
from cdc_contracts.registry.core.values.type_bounds import Misfit, bound_of

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "bounds.yaml").read_text())
MISFITS = {"fits": Misfit(0), "range": Misfit.RANGE, "scale": Misfit.SCALE, "both": Misfit.RANGE | Misfit.SCALE,
           "seconds": Misfit.SECONDS}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{case['type']}-{case['kind']}" for case in CASES])
def test_a_value_fits_its_declared_type_or_is_kept_out_for_the_reported_reason(case):
    bound = bound_of(case["type"], case["kind"])
    wanted = {text: misfit for key, misfit in MISFITS.items() for text in case.get(key, ())}
    if bound is None:
        assert set(wanted.values()) == {Misfit(0)}
        return
    assert {text: bound.misfit_of(text) for text in wanted} == wanted


# --- whole messages

FAMILIES = (
    "oms-community/canal@2",
    "oms-community/default@2",
    "oms/debezium@1",
    "dts/canal@2",
    "dataworks/streamx@1",
    "dts/avro@1",
)
NARROW = {"id": "bigint", "total": "decimal(6,1)", "quantity": "tinyint", "flags": "bit(7)"}


def tables(**other: str) -> TableContracts:
    columns = {name: {"type": reported} for name, reported in {**ORDERS.types, **other}.items()}
    return TableContracts([parse_table_contract({"table": "shop.orders", "columns": columns}, "test")])


@cache
def messages(reference: str, count: int) -> tuple[bytes, ...]:
    renderer = Renderer(shipped_catalogue().version(reference), ReadingOptions(tables=tables(), table="shop.orders"))
    return tuple(renderer.render_all(row_stream(7, count)))


def scope_with(reference: str, contracts: TableContracts) -> ValidationContext:
    return open_validation(shipped_catalogue(), reference, ReadingOptions(tables=contracts, table="shop.orders"))


def shown(verdict: Verdict) -> Any:
    return verdict.outcome, str(verdict.version), verdict.findings


@pytest.mark.one_in(3)
@pytest.mark.parametrize("texts", [True, False], ids=["decode", "audit"])
@pytest.mark.parametrize("reference", FAMILIES)
def test_the_fast_path_refuses_what_the_reference_refuses(reference, texts):
    validation, values = scope_with(reference, tables(**NARROW)), messages(reference, 120)
    batch_result = FastValidator(validation).validate(values, texts=texts)
    found = dict(number_and_verdict(batch_result))
    wanted = [validation.validate(value).verdict for value in values]
    assert [shown(found[number]) for number in range(len(values))] == [shown(verdict) for verdict in wanted]
    reported = {finding.rule for verdict in wanted for finding in verdict.findings}
    assert {"D14.range", "D14.scale"} <= reported
    assert {verdict.outcome for verdict in wanted} >= {DRIFTED}


def lengthened(value: bytes) -> bytes:
    """Return a message whose times have eight digits of a second; of DATETIME in this version that is noted as well."""
    return re.sub(rb"(:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(?=\")", rb"\1.12345678", value)


def test_a_value_that_is_noted_as_well_is_refused_by_both_paths():
    reference = "oms-community/dataworks@1"
    values = [lengthened(value) if at % 2 else value for at, value in enumerate(messages(reference, 20))]
    validation = scope_with(reference, tables())
    found, wanted = (
        dict(number_and_verdict(FastValidator(validation).validate(values, texts=False))),
        list(map(validation.validate, values)),
    )
    assert [shown(found[at]) for at in range(len(values))] == [shown(validated.verdict) for validated in wanted]
    assert {finding.rule for validated in wanted for finding in validated.verdict.findings} >= {
        "D14.second-digits",
        "D07.iso-datetime-minutes",
    }


def number_and_verdict(batch_result: Any) -> Any:
    for group_result in batch_result.group_results:
        for number in group_result.record_group.numbers.tolist():
            yield number, group_result.verdict
    yield from ((number, validated.verdict) for number, validated in batch_result.alone)


MESSAGE = """{"data":[{"id":"%s","total":"%s"}],"database":"shop","es":1609344671000,"id":1,"isDdl":false,
"mysqlType":{"id":"bigint","total":"decimal"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":-5,"total":3},
"table":"orders","ts":1609344671000,"type":"INSERT"}"""


def test_a_record_with_a_value_that_does_not_fit_is_quarantined_whole_and_one_without_is_decoded():
    values = [
        (MESSAGE % reported).encode()
        for reported in (("1", "12.10"), ("2", "12.105"), ("3", "12345678901234567.00"), ("4", "1.5000"))
    ]
    contract = parse_table_contract(
        {"table": "shop.orders", "columns": {"id": {"type": "bigint"}, "total": {"type": "decimal(18,2)"}}}, "t"
    )
    (written,) = Kernel(scope_with("dts/canal@2", TableContracts([contract]))).decode(batch_of_values(values))
    assert written.changes.column("offset").to_pylist() == [0, 3]
    quarantined = written.quarantine.select(["offset", "outcome", "value", "findings"]).to_pylist()
    assert [(row["offset"], row["outcome"], row["value"]) for row in quarantined] == [
        (1, "drifted", values[1]),
        (2, "drifted", values[2]),
    ]
    finding = {"class": "precision", "severity": "error", "path": "/data/0/total", "expected": "decimal(18,2)"}
    assert [row["findings"] for row in quarantined] == [
        [{**finding, "rule": "D14.scale", "observed": "more digits after the point"}],
        [{**finding, "rule": "D14.range", "observed": "a number beyond it"}],
    ]
