"""Versions files: what a user may write in them, and how each mistake is reported."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator
from topics import SCENARIOS as CATALOGUE

from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.version_files import read_versions, topics_in
from cdc_contracts.registry.core.contract.version_ranges import VersionRange, read_ranges
from cdc_contracts.registry.file_schemas.published_schemas import versions_schema

MARCH = 1_647_705_600_000_000
"""2022-03-20T00:00:00+08:00 in microseconds since 1970 UTC."""

GOOD = """\
# why a gap is left is said in comments
topics:
  orders:
    0:
      - {to: 987, contract: dts/canal@1}
      - {from: 2171, contract: dts/canal@2}   # 380 messages prove it
    12: [{contract: dts/canal@1}]
    all:
      - {to: 2022-03-20T00:00:00+08:00, contract: dts/canal@1}
      - {from: 2022-03-19T16:00:00Z, contract: dts/canal@2022-03-20}
  "123":
    3: []
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "v.yaml"
        path.write_text(text)
        return read_versions(path, CATALOGUE)

    return read


def test_a_file_says_which_version_holds_from_where_to_where(read):
    ranges = read(GOOD)
    assert ranges.ranges_of("orders", 0) == (
        VersionRange(None, 987, "dts/canal@1"),
        VersionRange(2171, None, "dts/canal@2"),
    )
    assert ranges.ranges_of("orders", 12) == (VersionRange(None, None, "dts/canal@1"),)
    assert ranges.ranges_of("orders", 7) == (  # `all` stands for what is not named, and dates name versions too
        VersionRange(None, MARCH, "dts/canal@1", "time"),
        VersionRange(MARCH, None, "dts/canal@2", "time"),
    )
    assert ranges.ranges_of("123", 3) == ranges.ranges_of("other", 0) == ()
    assert ranges.contracts == ("dts/canal@1", "dts/canal@2")


def test_a_range_states_options_of_its_producer(read):
    ranges = read("""
topics:
  orders:
    all:
      - {to: 9, contract: debezium/json@4, options: {money.fraction.digits: 2, decimal.handling.mode: string}}
      - {from: 9, to: 20, contract: debezium/json@4, options: {decimal.handling.mode: double}}
      - {from: 20, contract: debezium/json@4, options: {decimal.handling.mode: double}}
""")
    first = (("decimal.handling.mode", "string"), ("money.fraction.digits", "2"))
    assert ranges.ranges_of("orders", 0) == (
        VersionRange(None, 9, "debezium/json@4", options=first),
        VersionRange(9, None, "debezium/json@4", options=(("decimal.handling.mode", "double"),)),
    )
    assert read_ranges(json.loads(json.dumps(ranges.documents()))) == ranges


@pytest.mark.parametrize(
    ("offset", "timestamp", "expected"),
    [(0, None, 1), (986, 0, 1), (987, 0, None), (2170, 0, None), (2171, 0, 2), (10**15, 0, 2)],
)
def test_from_is_included_and_to_is_not(read, offset, timestamp, expected):
    found = read(GOOD).find("orders", 0, offset, timestamp)
    assert (found and found.contract) == (expected and f"dts/canal@{expected}")


@pytest.mark.parametrize(("timestamp", "expected"), [(MARCH - 1, "dts/canal@1"), (MARCH, "dts/canal@2"), (None, None)])
def test_times_are_those_of_the_record_itself_and_one_without_lies_in_no_range_of_times(read, timestamp, expected):
    found = read(GOOD).find("orders", 7, 5, timestamp)
    assert (found and found.contract) == expected


def test_json_is_read_as_yaml_is(read):
    document = yaml.safe_load(GOOD.replace("2022-03-20T00:00:00+08:00", '"2022-03-20T00:00:00+08:00"').replace(
        "2022-03-19T16:00:00Z", '"2022-03-19T16:00:00Z"'))  # fmt: skip
    document["topics"]["orders"]["12"] = [{"from": None, "to": None, "contract": "dts/canal@1"}]
    del document["topics"]["orders"][12]
    assert read(json.dumps(document)) == read(GOOD)


def test_what_means_the_same_is_the_same_and_what_does_not_is_not(read):
    same = [
        "topics: {a: {0: [{to: 9, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}]}}",
        """
topics:
  a:
    0:  # comments say nothing
    - {from: 9, contract: dts/canal@latest}
    - {from: 0, to: 4, contract: dts/canal@1}
    - {from: 4, to: 9, contract: dts/canal@1}
""",
        "topics: {a: {0: [{to: 9, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}], 1: []}}",
    ]
    others = [
        "topics: {a: {0: [{to: 8, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}]}}",
        "topics: {a: {1: [{to: 9, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}]}}",
        "topics: {b: {0: [{to: 9, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}]}}",
        "topics: {a: {0: [{to: 9, contract: dts/canal@2}, {from: 9, contract: dts/canal@2}]}}",
        "topics: {a: {all: [{to: 9, contract: dts/canal@1}, {from: 9, contract: dts/canal@2}]}}",
    ]
    assert len({read(text).identity for text in same}) == 1
    assert len({read(text).identity for text in [same[0], *others]}) == 1 + len(others)


def test_ranges_come_back_from_the_plain_data_they_are_kept_as(read):
    ranges = read(GOOD)
    assert read_ranges(json.loads(json.dumps(ranges.documents()))) == ranges


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("", "names no topic"),
        ("topics: {}", "names no topic"),
        ("# nothing yet\n", "names no topic"),
        ("- 1", "not a YAML mapping"),
        ("topics: {a: {0: [{contract: debezium/json@4, options: {decimal.mode: x}}]}}",
         "topics.a.0.0.options: there is no parameter `decimal.mode`"),
        ("topics: {a: {0: [{contract: debezium/json@4, options: {decimal.handling.mode: text}}]}}",
         "topics.a.0.0.options: parameter decimal.handling.mode: `text` is not one of its values"),
        ("topics: {a: {0: [{contract: dts/canal@1, options: {time_zone: Z}}]}}",
         "topics.a.0.0.options: there is no parameter `time_zone`"),
        ("topcs: {a: {}}", "topcs: unknown key; do you mean `topics`?"),
        ("topics: [a]", "topics: expected a mapping, as in {NAME: VALUE}; found a list"),
        ("topics: {a: 3}", "topics.a: expected a mapping, as in {NAME: VALUE}; found a number"),
        ("topics: {a: {x: []}}", "topics.a: `x` is not a partition; write its number, or `all` for all others"),
        ("topics: {a: {-1: []}}", "topics.a: `-1` is not a partition"),
        ('topics: {a: {0: [], "00": []}}', "topics.a: `00` is not a partition"),
        ("topics: {a: {0: [], 0: []}}", "key `0` occurs twice"),
        ("topics: {a: {0: {to: 5}}}", "topics.a.0: expected a list, as in [ONE, TWO]; found a mapping"),
        ("topics: {a: {0: [{to: 5}]}}", "topics.a.0.0.contract: is missing"),
        ("topics: {a: {0: [{too: 5, contract: dts/canal@1}]}}", "topics.a.0.0.too: unknown key; do you mean `to`?"),
        ("topics: {a: {0: [{to: -5, contract: dts/canal@1}]}}", "topics.a.0.0.to: expected an offset from 0, or a time"),
        ("topics: {a: {0: [{to: 5.5, contract: dts/canal@1}]}}", "topics.a.0.0.to: expected an offset from 0, or a time"),
        ("topics: {a: {0: [{to: ten, contract: dts/canal@1}]}}", "topics.a.0.0.to: expected an offset from 0, or a time"),
        ("topics: {a: {0: [{to: 2022-03-20, contract: dts/canal@1}]}}", "topics.a.0.0.to: the time 2022-03-20 has no zone"),
        (
            "topics: {a: {0: [{to: 2022-03-20T00:00:00, contract: dts/canal@1}]}}",
            "topics.a.0.0.to: the time 2022-03-20T00:00:00 has no zone; add Z for UTC, or an offset such as +08:00",
        ),
        ("topics: {a: {0: [{from: 5, to: 5, contract: dts/canal@1}]}}",
         "topics.a.0.0: is empty: `from` 5 is not before `to` 5"),
        ("topics: {a: {0: [{from: 5, to: 2022-03-20T00:00:00Z, contract: dts/canal@1}]}}",
         "topics.a.0.0: one end is an offset and the other a time"),
        ("topics: {a: {0: [{to: 5, contract: dts/canal@1}, {from: 2022-03-20T00:00:00Z, contract: dts/canal@2}]}}",
         "topics.a.0: some ranges use offsets and others times"),
        ("topics: {a: {0: [{from: 5, contract: dts/canal@2}, {to: 6, contract: dts/canal@1}]}}",
         "topics.a.0: two ranges overlap: to 6 (dts/canal@1), and from 5 (dts/canal@2)"),
        ("topics: {a: {0: [{contract: dts/canal@2}, {contract: dts/canal@2}]}}",
         "topics.a.0: two ranges overlap: everything (dts/canal@2), and everything (dts/canal@2)"),
        ("topics: {a: {0: [{to: 2022-03-20T00:00:00Z, contract: dts/canal@1}, {from: 2022-03-20T00:00:00+08:00, contract: dts/canal@2}]}}",
         "topics.a.0: two ranges overlap: to 2022-03-20T00:00:00Z (dts/canal@1), and from 2022-03-20T00:00:00+08:00"),
        ("topics: {a: {0: [{contract: dts/canal}]}}",
         "topics.a.0.0.contract: `dts/canal` names no version; write dts/canal@N"),
        ("topics: {a: {0: [{contract: canal}]}}", "topics.a.0.0.contract: `canal` is not a reference to a contract"),
        ("topics: {a: {0: [{contract: dts/canal@7}]}}",
         "topics.a.0.0.contract: dts/canal has no version 7 (v.yaml)\n  Did you mean dts/canal@2?"),
        ("topics: {a: {0: [{contract: dts/cana@1}]}}", "topics.a.0.0.contract: there is no contract `dts/cana`"),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_what_is_wrong_is_reported_by_its_place(read, text, reported):
    with pytest.raises(ContractError) as error:
        read(text)
    where = error.value.where
    assert reported in str(error.value).replace(where.partition("v.yaml")[0], "")


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        read_versions(tmp_path / "none.yaml", CATALOGUE)


def test_the_schema_takes_what_is_read_and_refuses_what_is_not():
    validator = Draft202012Validator(versions_schema())
    good = {"topics": {"a": {"0": [{"to": 5, "contract": "dts/canal@1"}], "all": []}}}
    assert validator.is_valid(good)
    for bad in (
        {}, {"topics": {}}, {"topics": {"a": {"x": []}}}, {"topics": {"a": {"0": [{"to": 5}]}}},
        {"topics": {"a": {"0": [{"too": 5, "contract": "dts/canal@1"}]}}}, {**good, "more": 1},
        {"topics": {"a": {"0": [{"to": -5, "contract": "dts/canal@1"}]}}},
    ):  # fmt: skip
        assert not validator.is_valid(bad)


def test_the_topics_of_a_file_are_known_before_its_contracts_are(tmp_path):
    (tmp_path / "v.yaml").write_text(GOOD)
    assert topics_in(tmp_path / "v.yaml") == ("orders", "123")


def test_a_partition_that_the_topic_does_not_have_is_reported(read):
    ranges = read(GOOD).of_named(["orders"])
    with pytest.raises(UsageError, match="names partition 12, and topic orders has no such partition") as error:
        ranges.check_partitions([("orders", number) for number in range(4)])
    assert error.value.hint == "It has 0, 1, 2, 3."
    ranges.check_partitions([("orders", number) for number in range(13)])


def test_a_topic_that_the_file_does_not_name_is_reported(read):
    with pytest.raises(UsageError, match="does not mention topic ordres") as error:
        read(GOOD).of_named(["ordres"])
    assert error.value.hint == "It names 123, orders."
