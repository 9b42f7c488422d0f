"""What many messages tell together: chains of keys, switches, mixtures, and what is not of the catalogue."""

import json
import random
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from detected_topics import detect_messages, sampled
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace

CONTRACTS = Path(__file__).parents[3] / "contracts"


def canal(op, identifier, *, data=None, old=None, time=1_760_000_000_000, **more):
    """One message in the envelope that several products share."""
    return json.dumps({
        "database": "shop", "table": "orders", "type": op, "isDdl": False, "id": identifier, "es": time, "ts": time + 9,
        "sql": "", "sqlType": {"id": -5, "name": 12}, "mysqlType": {"id": "bigint", "name": "varchar"},
        "pkNames": ["id"], "data": data, "old": old, **more,
    }).encode()  # fmt: skip


def updates(keys, versions_of_a_row, *, swapped):
    """Updates of rows whose name counts up, each following the one before; `swapped` puts the after image in `old`."""
    names, messages = dict.fromkeys(keys, 0), []
    for number in range(len(keys) * versions_of_a_row):
        key = keys[number % len(keys)]
        before, after = ({"id": str(key), "name": f"n{names[key] + step}"} for step in (0, 1))
        names[key] += 1
        data, old = (before, after) if swapped else (after, before)
        messages.append(canal("UPDATE", number + 1, data=[data], old=[old], gtid=f"g:{number}"))
    return messages


@pytest.mark.parametrize(("swapped", "reference"), [(False, "dts/canal@2"), (True, "dts/canal@1")])
def test_updates_alone_decide_their_version_by_the_chains_of_their_keys(swapped, reference):
    found = detect_messages(updates(range(10), 3, swapped=swapped))

    assert (found.verdict, found.version.reference) == ("certain", reference)
    chains = next(exhibit for exhibit in found.evidence if exhibit.kind == "key-chain")
    assert (chains.winner, chains.count, chains.contradicting) == (reference, 20, 0)


def test_updates_of_unrelated_keys_leave_the_version_open():
    found = detect_messages(updates(range(60), 1, swapped=False))

    assert (found.verdict, found.subject, found.version) == ("ambiguous", "dts/canal", None)
    assert "changed twice" in found.finalize


def test_four_chains_are_too_few_to_decide():
    found = detect_messages(updates(range(4), 2, swapped=False))

    assert (found.verdict, found.version) == ("ambiguous", None)
    assert [exhibit.count for exhibit in found.evidence if exhibit.kind == "key-chain"] == [4]


def test_chains_that_contradict_each_other_by_turns_decide_nothing():
    one, other = updates(range(10), 3, swapped=False), updates(range(100, 110), 3, swapped=True)

    found = detect_messages([message for pair in zip(one, other, strict=True) for message in pair])

    assert (found.verdict, found.subject, found.version) == ("ambiguous", "dts/canal", None)


def test_chains_that_prove_one_version_after_the_other_show_a_switch():
    both = [*updates(range(10), 3, swapped=False), *updates(range(100, 110), 3, swapped=True)]

    found = detect_messages(both)

    assert (found.verdict, found.subject, found.version, found.equivalent) == ("mixed", "dts/canal", None, ())
    assert [version.reference for version in found.detected] == ["dts/canal@2", "dts/canal@1"]
    said = [one.says for one in found.evidence if one.kind == "key-chain"]
    assert said[:2] == [
        "from offset 0 to 29 of orders 0 only it joins the changes of a row",
        "from offset 30 to 59 of orders 0 only it joins the changes of a row",
    ]


@pytest.mark.parametrize(("swapped", "left"), [(True, ["dts/canal@1"]), (False, None)])
def test_chains_are_evidence_against_every_contract_that_reads_the_rows_so_whatever_its_subject(swapped, left):
    rows = updates(range(10), 3, swapped=swapped)
    both = [message.replace(b', "gtid": "g:%d"' % number, b"") for number, message in enumerate(rows)]

    found = detect_messages(both)

    assert {one.contract for one in found.candidates if one.contract.startswith("drs/json")}  # they take them all
    if left is None:  # the others read them as the newer version does
        assert (found.verdict, found.version) != ("certain", "dts/canal@1")
        assert next(one for one in found.candidates if one.contract == "dts/canal@1").against >= 20
    else:
        assert (found.verdict, [version.reference for version in found.detected]) == ("certain", left)


def test_a_column_that_goes_to_and_fro_is_no_chain():
    messages = [
        canal("UPDATE", number, data=[{"id": "1", "name": new}], old=[{"id": "1", "name": was}], gtid="g:1")
        for number, (was, new) in enumerate([("a", "b"), ("b", "a")] * 10, 1)
    ]

    found = detect_messages(messages)

    assert (found.verdict, found.version) == ("ambiguous", None)


def hear_at(places):
    """What messages at their partitions and offsets speak."""
    accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
    for partition, offset, value in places:
        accumulator.add(RecordPlace("orders", partition, offset), value)
    return detect(accumulator)


def going_round(number, key="1", *, of=3):
    """An update of a row whose state goes round in a circle."""
    was, new = ({"id": key, "name": f"s{step % of}"} for step in (number, number + 1))
    return canal("UPDATE", number + 1, data=[new], old=[was], gtid="g:1")


def test_a_topic_in_reverse_order_decides_nothing():
    found = detect_messages(updates(range(10), 3, swapped=False)[::-1])

    assert (found.verdict, found.version) == ("ambiguous", None)


def test_a_slice_that_is_sent_again_decides_nothing():
    once = updates(range(20), 1, swapped=False)
    again = [going_round(number, str(number % 20)) for number in range(20)]

    found = detect_messages([*again, *once, *again])

    assert (found.verdict, found.version) == ("ambiguous", None)


def test_rows_that_go_round_in_circles_between_the_records_that_were_read_decide_nothing():
    found = hear_at((0, number, going_round(number)) for number in range(0, 60, 2))

    assert (found.verdict, found.version) == ("ambiguous", None)


@pytest.mark.parametrize(("ids", "reference"), [("rising", "dts/canal@2"), ("alike", None)])
def test_rows_whose_changes_are_spread_over_partitions_decide_where_ids_order_them(ids, reference):
    values = [going_round(number) for number in range(60)]
    if ids == "alike":
        values = [value.replace(b'"id": %d,' % (number + 1), b'"id": 7,') for number, value in enumerate(values)]

    found = hear_at((number % 2, number // 2, value) for number, value in enumerate(values))

    assert (found.verdict == "certain", found.version and found.version.reference) == (bool(reference), reference)


def test_a_switch_between_two_changes_of_each_row_is_seen_from_both():
    old = updates(range(10), 1, swapped=True)
    new = updates(range(10), 4, swapped=False)[10:]

    found = detect_messages([*old, *new])

    assert (found.verdict, found.subject) == ("mixed", "dts/canal")
    assert [(one.start, one.end, one.contract) for one in found.ranges.ranges_of("orders", 0)] == [
        (None, 8, "dts/canal@1"), (12, None, "dts/canal@2"),
    ]  # fmt: skip  # the outermost message at either side may be wrong


def test_chains_in_one_part_of_the_messages_are_no_evidence_for_the_others():
    old = updates(range(100, 160), 1, swapped=True)
    new = updates(range(10), 4, swapped=False)

    found = detect_messages([*old, *new])

    assert (found.verdict, found.version) == ("ambiguous", None)


def test_a_column_that_is_added_does_not_tear_a_chain():
    wider = [
        canal("UPDATE", 100 + 10 * step + key, data=[{"id": str(key), "name": f"z{step}", "more": "1"}],
              old=[{"id": str(key), "name": f"z{step - 1}" if step else "n2", "more": "1" if step else None}], gtid="g:2",
              sqlType={"id": -5, "name": 12, "more": 12},
              mysqlType={"id": "bigint", "name": "varchar", "more": "varchar"})
        for step in range(2)
        for key in range(10)
    ]  # fmt: skip

    found = detect_messages([*updates(range(10), 2, swapped=False), *wider])

    assert (found.verdict, found.version.reference) == ("certain", "dts/canal@2")


def test_a_time_of_writing_before_the_change_proves_the_old_version():
    old = [canal("UPDATE", n, data=[{"id": str(n), "name": "a"}], old=[{"id": str(n), "name": "b"}],
                 time=1_600_000_000_000, gtid="g:1") for n in range(1, 4)]  # fmt: skip

    found = detect_messages(old)

    assert (found.verdict, found.version.reference) == ("certain", "dts/canal@1")


def test_a_switch_of_version_is_reported_as_mixed_with_both_versions():
    found = detect_messages([*sampled("dts/canal@1", 200), *sampled("dts/canal@2", 300, seed=8)])

    assert (found.verdict, found.subject, found.version) == ("mixed", "dts/canal", None)
    assert {version.reference for version in found.detected} == {"dts/canal@1", "dts/canal@2"}


def test_interleaved_dialects_are_reported_one_by_one():
    messages = sampled("dts/canal@2", 100) + sampled("oms/default@2", 80) + sampled("dts/avro@1", 60)
    random.Random(5).shuffle(messages)

    found = detect_messages(messages)

    assert (found.verdict, found.subject) == ("mixed", None)
    assert [version.subject for version in found.detected] == ["dts/canal", "oms/default", "dts/avro"]


def test_a_few_outliers_do_not_make_a_topic_mixed():
    strays = [b'{"op_type": "I", "pos": "00001", "after": {}}', b"{}", b"not json", b"[1]"]

    found = detect_messages([*sampled("oms-community/canal@1", 200), *strays])

    assert (found.verdict, found.version.reference) == ("certain", "oms-community/canal@1")


def test_no_messages_decide_nothing():
    found = detect_messages([])

    assert (found.verdict, found.subject, found.messages) == ("ambiguous", None, 0)


@pytest.mark.parametrize("value", [b"{}", b"", b"[]", b"\xff\xfe", b'{"type":"INSERT"}', b'"text"', b"1e400", b"null"])
def test_what_is_no_message_of_anyone_is_not_in_the_catalogue(value):
    found = detect_messages([value] * 3)

    assert (found.verdict, found.subject, found.version, found.detected) == ("not-in-catalogue", None, None, ())


def test_of_two_dialects_that_take_the_same_messages_each_has_its_own_in_a_mixture():
    messages = sampled("drs/json@2", 60) + sampled("dts/canal@2", 140)

    found = detect_messages(messages)

    assert found.verdict == "mixed"
    assert [version.subject for version in found.detected] == ["drs/json", "dts/canal"]


def test_no_subject_is_detected_that_a_relative_in_the_same_topic_may_be_mistaken_for(tmp_path):
    relative = [canal("INSERT", 0, data=[{"id": "1", "name": "a"}]), canal("ALTER", 0)]
    without = shutil.copytree(CONTRACTS, tmp_path / "contracts", ignore=shutil.ignore_patterns("samples", "ticdc"))

    messages = sampled("dts/canal@2", 60) + sampled("oms/default@2", 60) + relative * 20
    found = detect_messages(messages, Catalogue([without]))

    assert found.verdict == "mixed"
    assert [version.subject for version in found.detected] == ["oms/default"]


@pytest.mark.parametrize("subject", ["oms-community/default", "oms-community/shareplex"])
def test_columns_without_types_that_turn_are_evidence_for_two_versions_and_decide_for_neither(subject):
    old, new = (rendered(f"{subject}@{number}", 200) for number in (1, 2))
    found = detect_messages([*old[:100], *new[100:]])
    reported = [one for one in found.evidence if one.kind == "column-turn"]
    assert [(one.winner, one.loser, one.count) for one in reported] == [(f"{subject}@2", f"{subject}@1", 3)]
    assert reported[0].first.offset in (100, 101)  # NULL stands in some columns at first
    assert reported[0].says.endswith("flags, made, seen")
    assert found.version is None
    assert found.finalize.startswith(f"Midway, columns change from the form of {subject}@1 to that of")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(6))
def test_the_first_message_of_each_kind_of_evidence_is_the_first_by_offset_in_whatever_order_they_are_read(seed):
    draw = random.Random(seed)
    found = draw.sample(["dts/canal@1", "dts/canal@2", "oms-community/default@2", "oms/default@1", "drs/json-c@2"], 3)
    inserts = [value for reference in found for value in rendered(reference, 30) if b"UPDATE" not in value]
    places = [(RecordPlace("orders", 0, offset), value) for offset, value in enumerate(draw.sample(inserts, 40))]

    def read(order):
        accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
        for place, value in order:
            accumulator.add(place, value)
        accumulator.finalize()
        seen = {senders.sides: place for senders, place in accumulator.first.items()}
        refused = {pair: (one.finding, one.first, one.count) for pair, one in accumulator.refusals.items()}
        votes = {pair: accumulator.votes.of(*pair) for pair in permutations(map(CATALOGUE.version, found), 2)}
        return seen, refused, votes

    in_order = read(places)
    assert all(in_order[:2])
    assert read(reversed(places)) == in_order
    assert read(draw.sample(places, len(places))) == in_order
