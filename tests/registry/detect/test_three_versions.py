"""Three versions of a subject, of which two place the images of an UPDATE alike: chains still tell the swapped one."""

import json

import pytest
from detected_topics import detect_messages
from new_version import beside_the_shipped_ones


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    return beside_the_shipped_ones(tmp_path_factory.mktemp("contracts"))


def updates(keys, *, reference):
    """Three updates of each row, whose name counts up, as a version of `dts/canal` writes them."""
    return [
        update(3 * len(keys) * int(reference[-1]) + number, key, step, reference=reference)
        for number, (step, key) in enumerate((step, key) for step in range(3) for key in keys)
    ]


def update(number, key, step, *, reference):
    before, after = ({"id": str(key), "name": f"n{step + one}"} for one in (0, 1))
    data, old = (before, after) if reference == "dts/canal@1" else (after, before)
    time = 1_760_000_000_000
    member = "txid" if reference == "dts/canal@3" else "gtid"
    return json.dumps({
        "database": "shop", "table": "orders", "type": "UPDATE", "isDdl": False, "id": number, "es": time,
        "ts": time + 9, "sql": "", "sqlType": {"id": -5, "name": 12}, "mysqlType": {"id": "bigint", "name": "varchar"},
        "pkNames": ["id"], "data": [data], "old": [old], member: f"g:{number}",
    }).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "verdict"),
    # Version 2 reads messages of version 3 too, and warns of the member that it does not know.
    [("dts/canal@1", "certain"), ("dts/canal@2", "certain"), ("dts/canal@3", "likely")],
)
def test_updates_alone_decide_their_version(catalogue, reference, verdict):
    found = detect_messages(updates(range(10), reference=reference), catalogue)

    assert (found.verdict, found.version and found.version.reference) == (verdict, reference)


def test_a_switch_from_the_swapped_version_names_both(catalogue):
    both = [*updates(range(10), reference="dts/canal@1"), *updates(range(100, 110), reference="dts/canal@2")]

    found = detect_messages(both, catalogue)

    assert (found.verdict, found.subject, found.version) == ("mixed", "dts/canal", None)
    assert {version.reference for version in found.detected} == {"dts/canal@1", "dts/canal@2"}


def test_a_switch_to_the_third_version_is_left_open_and_nothing_wrong_is_said(catalogue):
    both = [*updates(range(10), reference="dts/canal@1"), *updates(range(100, 110), reference="dts/canal@3")]

    found = detect_messages(both, catalogue)

    assert (found.verdict, found.subject, found.version) == ("mixed", "dts/canal", None)
