"""One foreign message decides nothing: drifting, misplaced or repeated messages change shares and no verdict.

CDC_CONTRACTS_FOREIGN=all tries every drift sample and every other subject at three places of each topic, which is longer: of the
40 messages of a short one two may be deletions, and one of another version beside them leaves the version open.
"""

import json
import os
import random
from functools import cache
from pathlib import Path

import pytest
from detected_topics import detect_again, detect_messages, sampled
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace

ALL = os.environ.get("CDC_CONTRACTS_FOREIGN") == "all"
REFERENCES = [version.reference for version in CATALOGUE.all_versions()]
CONTRACTS = Path(__file__).parents[3] / "contracts"
CONFORMING = 160 if ALL else 40


def reported(found):
    """What a detection comes to, but for shares and the messages it rests on."""
    return (
        found.verdict, found.subject, found.version, found.equivalent, found.detected, found.nearest,
        [candidate.contract for candidate in found.candidates],
    )  # fmt: skip


@cache
def conforming(reference):
    """Messages of a version and what they come to."""
    messages = sampled(reference, CONFORMING, seed=1)
    return messages, reported(detect_again(messages))


def drifting(reference):
    subject, _, number = reference.partition("@")
    folder = CONTRACTS / subject / f"v{number}" / "samples" / "drift"
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".json", ".bin", ".avro")]
    found = [path.read_bytes() for path in files if not path.name.endswith(".findings.json")]
    return found if ALL else random.Random(reference).sample(found, 4)


def foreign(reference):
    subject = reference.partition("@")[0]
    others = [one for one in REFERENCES if one.partition("@")[0] != subject]
    draw = random.Random(reference)
    return [draw.choice(sampled(other, 12, seed=3)) for other in (others if ALL else draw.sample(others, 4))]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", ["drifts", "is of another subject", "is sent again"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_one_message_that(reference, kind):
    messages, without = conforming(reference)
    made = {"drifts": drifting, "is of another subject": foreign, "is sent again": lambda _: [messages[11]]}
    places = (0, CONFORMING // 2, CONFORMING)
    for number, stray in enumerate(made[kind](reference)):
        for at in places if ALL else [places[number % 3]]:
            assert reported(detect_again([*messages[:at], stray, *messages[at:]])) == without


@pytest.mark.one_in(5)
@pytest.mark.parametrize("reference", REFERENCES)
def test_one_message_of_a_version_among_others_of_nobody_is_not_enough(reference):
    one = sampled(reference, CONFORMING, seed=1)[5]
    for at in (0, 5, 10) if ALL else [(0, 5, 10)[REFERENCES.index(reference) % 3]]:
        noise = [b'{"n": %d}' % number for number in range(10)]
        assert detect_again([*noise[:at], one, *noise[at:]]).verdict == "not-in-catalogue"


def canal(identifier, *, types=None, op="INSERT", after=None, before=None, **more):
    """One message in the envelope that Alibaba Canal, DTS and DRS share; a row of integers where nothing else is said."""
    after = after or {"id": str(identifier), "n": "7"}
    return json.dumps({
        "data": [after], "database": "shop", "es": 1_760_000_000_000 + 1_000 * identifier, "id": identifier,
        "isDdl": False, "mysqlType": types or dict.fromkeys(after, "int"), "old": before and [before],
        "pkNames": ["id"], "sql": "", "sqlType": dict.fromkeys(after, 4), "table": "orders",
        "ts": 1_760_000_000_321 + 1_000 * identifier, "type": op, **more,
    }).encode()  # fmt: skip


@pytest.mark.parametrize("bare", ["decimal", "char", "binary"])
def test_types_that_ddl_may_write_without_a_length_do_not_rule_out_alibaba_canal(bare):
    value = "1.50" if bare == "decimal" else "a"
    types = {"id": "int", "v": bare}
    found = detect_messages([canal(n, types=types, after={"id": str(n), "v": value}) for n in range(1, 30)])

    assert found.verdict == ("ambiguous" if bare == "binary" else "likely")
    assert "canal/flat@2" in found.finalize


@pytest.mark.parametrize("bare", ["varchar", "varbinary"])
def test_types_that_have_a_length_in_all_ddl_rule_it_out(bare):
    types = {"id": "int", "v": bare}
    found = detect_messages([canal(n, types=types, after={"id": str(n), "v": "a"}) for n in range(1, 30)])

    assert "canal/flat" not in (found.finalize or "")


@cache
def of_batches():
    return detect_messages([canal(number) for number in range(1, 136)])


@pytest.mark.parametrize("at", [1, pytest.param(67, marks=pytest.mark.nightly), 134])
@pytest.mark.parametrize("same", [True, False], ids=["the message again", "another message"])
def test_one_id_that_is_sent_again_among_135_does_not_make_them_batches_of_alibaba_canal(at, same):
    messages = [canal(number) for number in range(1, 136)]
    again = messages[at] if same else canal(at + 1, after={"id": "0", "n": "9"})

    without, found = of_batches(), detect_messages([*messages[: at + 1], again, *messages[at + 1 :]])

    assert (without.verdict, reported(found)) == ("likely", reported(without))
    assert {one.partition("@")[0] for one in found.equivalent} == {"drs/json", "drs/json-c", "dts/canal"}


@pytest.mark.parametrize("places", [(0, 1), (7, 8), (13, 14), (2, 12)])
def test_two_of_15_shareplex_messages_that_drift_do_not_send_the_others_away(places):
    messages = sampled("dts/shareplex@1", 15)
    for at in places:
        messages[at] = messages[at].replace(b'"meta":{', b'"meta":{"idx_":1,').replace(b'"op":"', b'"op":"x')

    found = detect_messages(messages)

    assert (found.verdict, found.version.reference) == ("likely", "dts/shareplex@1")
    assert found.candidates[0].records == 13
    assert "Only 13 of 15 messages fit dts/shareplex@1." in found.finalize


@pytest.mark.parametrize("at", [0, 10, 21])
def test_one_foreign_message_in_22_is_no_mixture_and_is_reported_as_an_outlier(at):
    messages = sampled("oms-community/dataworks@1", 21)
    messages.insert(at, sampled("oms-community/debezium@1", 3)[1])

    found = detect_messages(messages)

    assert (found.verdict, found.version.reference, found.candidates[0].records) == (
        "certain", "oms-community/dataworks@1", 21,
    )  # fmt: skip
    (stray,) = [one for one in found.evidence if one.kind == "stray"]
    assert (stray.winner, stray.count, stray.first.offset) == ("oms-community/debezium@1", 1, at)


@pytest.mark.parametrize(
    ("fitting", "verdict"),
    [(115, "certain"), (110, "certain"), (109, "likely"), (60, "likely"), (57, "ambiguous"), (6, "ambiguous"),
     (5, "not-in-catalogue"), (0, "not-in-catalogue")],
)  # fmt: skip
def test_how_sure_it_is_depends_on_the_share_that_fits(fitting, verdict):
    messages = sampled("oms-community/canal@1", fitting) + [b'{"no": "message of anyone"}'] * (115 - fitting)
    random.Random(fitting).shuffle(messages)

    found = detect_messages(messages)

    assert found.verdict == verdict
    assert found.version is None or found.candidates[0].records == fitting
    assert found.settled == (verdict in ("certain", "likely"))


@pytest.mark.parametrize("first", ["dts/canal@1", "oms-community/debezium@1"])
def test_half_and_half_is_a_mixture(first):
    messages = sampled(first, 100) + sampled("oms-community/dataworks@1", 100)

    found = detect_messages(messages)

    assert (found.verdict, {version.subject for version in found.detected}) == (
        "mixed", {first.partition("@")[0], "oms-community/dataworks"},
    )  # fmt: skip


def test_each_contract_of_a_mixture_is_named_with_its_equals():
    found = detect_messages(sampled("oms-community/canal@2", 80) + sampled("dts/avro@1", 60))

    assert (found.verdict, found.equivalent, found.settled) == ("mixed", ("oms/canal@1",), True)
    assert "oms-community/canal@2 reads them the same way as oms/canal@1." in found.finalize


def updates(count, keys=10, *, partition=0):
    """Updates of rows, each following the one before, as (partition, offset, value)."""
    rows, reported = {}, []
    for number in range(count):
        key, step = str(number % keys), number // keys
        before, after = ({"id": key, "n": str(100 + key_step)} for key_step in (step, step + 1))
        rows[key] = after
        value = canal(number + 1, op="UPDATE", after=after, before=before, gtid="g:1",
                      types={"id": "int", "n": "varchar"})  # fmt: skip
        reported.append((partition, number, value))
    return reported


def heard(records):
    accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
    for partition, offset, value in records:
        accumulator.add(RecordPlace("orders", partition, offset), value)
    return detect(accumulator)


@pytest.mark.parametrize("at", [1, 30, 59])
@pytest.mark.parametrize("partition", [0, 1])
def test_one_change_that_is_sent_again_does_not_silence_the_key_chains(at, partition):
    records = updates(60)
    if partition:
        again = [*records, (1, 0, records[at][2])]
    else:
        values = [value for _, _, value in records]
        again = [(0, offset, value) for offset, value in enumerate([*values[:at], values[at // 2], *values[at:]])]

    assert (heard(records).verdict, reported(heard(again))) == ("certain", reported(heard(records)))


def test_one_message_that_proves_another_version_leaves_the_verdict_and_not_the_reading_settled():
    messages = sampled("dts/canal@2", 200)
    deleted = next(one for one in sampled("dts/canal@1", 60) if b'"DELETE"' in one)

    found = detect_messages([*messages, deleted])

    assert (found.verdict, found.version.reference, found.settled) == ("certain", "dts/canal@2", False)
    assert "1 of dts/canal@1" in found.finalize


def test_three_messages_that_prove_a_version_decide_and_two_do_not():
    chains = [value for _, _, value in updates(40, keys=40)]
    deletes = [one for one in sampled("dts/canal@2", 120) if b'"DELETE"' in one]

    assert detect_messages([*chains, *deletes[:2]]).verdict == "ambiguous"
    assert detect_messages([*chains, *deletes[:3]]).version.reference == "dts/canal@2"


@pytest.mark.parametrize(
    ("few", "detected"), [(1, ["drs/json@2"]), (2, ["drs/json@2"]), (4, ["drs/json@2", "dts/canal@2"])]
)
def test_a_contract_that_takes_the_messages_of_another_does_not_stand_for_both(few, detected):
    """All of DRS could be of an old DTS by their members; how their values are written says that they are not."""
    found = detect_messages(sampled("drs/json@2", 50, seed=2) + sampled("dts/canal@2", 50, seed=3)[:few])

    assert found.verdict == ("certain" if few < 3 else "mixed")
    assert [version.reference for version in found.detected] == detected
