"""Times of the envelope in another unit than documented: every version, every place, every unit, on both paths."""

import json
import os

import pytest
from record_batches import batch_of_values
from topics import CATALOGUE, rendered, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.envelope_times import BEYOND, unit_observed
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.values import Number

PER_SECOND = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
DOCUMENTED = {
    "epoch-millis": "milliseconds",
    "epoch-millis-list-last": "milliseconds",
    "epoch-micros": "microseconds",
    "epoch-seconds": "seconds",
    "epoch-seconds-text": "seconds",
}
JUNE = 1_718_000_000
COUNTED = [
    (version.reference, name)
    for version in CATALOGUE.all_versions()
    for name in ("event_time", "process_time", "checkpoint")
    if (place := getattr(version.meaning.envelope, name)) is not None and place.form in DOCUMENTED
]
ALL = os.environ.get("CDC_CONTRACTS_UNITS") == "all"
CASES = [
    (reference, name, unit)
    for place, (reference, name) in enumerate(COUNTED)
    for number, unit in enumerate(
        sorted({*PER_SECOND} - {DOCUMENTED[getattr(CATALOGUE.version(reference).meaning.envelope, name).form]})
    )
    if ALL or (place + number) % 3 == 0
]
"""Every place in one other unit than documented, each in the next; CDC_CONTRACTS_UNITS=all tries each in all."""
COUNTS = {"long": 9 * 10**17, "negative": -9 * 10**17, "2**64": 2**64, "huge": 10**5000}
UNTIMELY = [
    pytest.param(reference, name, count, id=f"{reference} {name} {said}")
    for place, (reference, name) in enumerate(COUNTED)
    for number, (said, count) in enumerate(COUNTS.items())
    if ALL or (place + number) % 2 == 0
]
"""Numbers that are no moment, half of them at every place."""


def holder_of(message, place):
    """The object that a place of a message lies in, and its name there."""
    *above, last = place.at.split("/")[1:]
    for name in above:
        message = message[name]
    return message, last


def recounted(reference, value, place, unit):
    """A message whose time at a place is the same moment counted in another unit."""
    wire = open_transport(CATALOGUE.version(reference), ReadingOptions())
    message = json.loads(wire.text_of(value))
    holder, last = holder_of(message, place)
    sent = holder[last]
    count = int((sent[-1] if isinstance(sent, list) else sent) or 0)
    count = count if count > 0 else JUNE * PER_SECOND[DOCUMENTED[place.form]]  # a checkpoint that says none
    count = count * PER_SECOND[unit] // PER_SECOND[DOCUMENTED[place.form]]
    holder[last] = [*sent[:-1], count] if isinstance(sent, list) else str(count) if isinstance(sent, str) else count
    return wire.write(json.dumps(message, ensure_ascii=False))


def counted(reference, value, place, count):
    """A message with a number of its own as time at a place."""
    wire = open_transport(CATALOGUE.version(reference), ReadingOptions())
    message = json.loads(wire.text_of(value))
    holder, last = holder_of(message, place)
    sent = holder[last]
    written = 7_777_777_777_777
    holder[last] = (
        [*sent[:-1], written] if isinstance(sent, list) else str(written) if isinstance(sent, str) else written
    )
    digits = "-" * (count < 0) + ("1" + "0" * 5000 if count > 2**64 else str(abs(count)))
    return wire.write(json.dumps(message, ensure_ascii=False).replace(str(written), digits))


def reported(tally, reference):
    report = build_report(
        tally, catalogue=CATALOGUE, contract=reference, source={"kind": "file"}, spans={}, fail_on="warning"
    )
    return [
        (one["class"], one["rule"], one["severity"], one["path"], one["expected"], one["observed"], one["count"],
         one["first"]["offset"])
        for one in report["findings"]
        if one["severity"] != "info"
    ]  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("reference", "name", "unit"), CASES)
def test_a_time_in_another_unit_is_one_finding_with_its_onset_on_both_paths(reference, name, unit):
    place = getattr(CATALOGUE.version(reference).meaning.envelope, name)
    good = rendered(reference, 9)
    values = [value if at < 6 else recounted(reference, value, place, unit) for at, value in enumerate(good)]
    validation, source = scope_of(reference), Source("orders", 0)
    severity = "warning" if name == "checkpoint" else "error"  # no row is read by a checkpoint
    expected = [
        ("value-form", "D07.time-unit", severity, place.at, f"{DOCUMENTED[place.form]} since 1970", [unit], 3, 6)
    ]
    assert reported(account(validation, source, enumerate(values)), reference) == expected
    kernel = Kernel(validation)
    assert reported(kernel.audit(batch_of_values(values)), reference) == expected
    (written,) = Kernel(validation).decode(batch_of_values(values))
    assert written.quarantine.num_rows == (3 if severity == "error" else 0)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("reference", "name", "count"), UNTIMELY)
def test_a_number_that_is_no_moment_in_any_unit_is_a_finding_and_its_bytes_are_kept(reference, name, count):
    version = CATALOGUE.version(reference)
    place = getattr(version.meaning.envelope, name)
    if version.resolved["transport"] != "json" and abs(count) >= 2**63:
        pytest.skip("an Avro long does not hold it")
    good = rendered(reference, 9)
    values = [value if at < 6 else counted(reference, value, place, count) for at, value in enumerate(good)]
    validation, source = scope_of(reference), Source("orders", 0)
    expected = ("value-form", "D07.time-unit", place.at, "a number beyond the years 1 to 9999", 3, 6)
    for tally in (account(validation, source, enumerate(values)), Kernel(validation).audit(batch_of_values(values))):
        found = [(one[0], one[1], one[3], *one[5], *one[6:]) for one in reported(tally, reference)]
        assert expected in found
    (written,) = Kernel(validation).decode(batch_of_values(values))
    kept = written.quarantine.column("value").to_pylist()
    assert kept == ([] if name == "checkpoint" else values[6:])


@pytest.mark.parametrize("order", [1, -1])
def test_a_time_that_may_be_none_is_no_drift_whatever_came_before(order):
    place = CATALOGUE.version("dts/canal@2").meaning.envelope.event_time
    (value,) = rendered("dts/canal@2", 1)
    values = [value]
    for count in (0, 1, 1000, 86_400_000, None):
        message = json.loads(value)
        message["es"] = count
        values.append(json.dumps(message).encode())
    values.append(recounted("dts/canal@2", value, place, "seconds"))
    found = reported(Kernel(scope_of("dts/canal@2")).audit(batch_of_values(values[::order])), "dts/canal@2")
    assert [(rule, count) for _, rule, _, _, _, _, count, _ in found if rule == "D07.time-unit"] == [
        ("D07.time-unit", 1)
    ]


@pytest.mark.parametrize("at", range(5))
def test_seconds_are_not_noted_as_milliseconds(at):
    place = CATALOGUE.version("dts/canal@2").meaning.envelope.event_time
    values = [recounted("dts/canal@2", value, place, "seconds") for value in rendered("dts/canal@2", 5)]
    verdict = scope_of("dts/canal@2").validate(values[at]).verdict
    assert [(one.rule, one.observed) for one in verdict.findings] == [("D07.time-unit", "seconds")]


@pytest.mark.parametrize(
    ("count", "unit"),
    [
        (946_684_799, None),
        (946_684_800, "seconds"),
        (4_102_444_799, "seconds"),
        (4_102_444_800, None),
        (946_684_800_000_000, "microseconds"),
        (1_718_000_000_000_000_000, "nanoseconds"),
        (1_718_000_000_000, None),
        (18_446_744_073_709_551_616, BEYOND),
    ],
)
def test_a_unit_is_recognised_by_the_moments_of_this_century(count, unit):
    assert unit_observed(Number(str(count)), Place(at="/es", form="epoch-millis")) == unit
