"""Options of a producer that decode takes from a sample before it starts; every message is checked against them."""

import json
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from option_messages import CONTRACT, TABLE, message, options_of
from producing import produce
from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.inputs.option_samples import SampledOptions, check_sample, sample_options, take_options
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.table_readers import table_files

DECIMALS, MARKS = "decimal.handling.mode", "binary.handling.mode"
COUNTS = {"time.precision.mode": "adaptive_time_microseconds,connect,microseconds,nanoseconds"}
"""What is left of the option where days are numbers: all of these write a DATE so."""
DIGITS = message(price="1234")
"""A price that is 1234, or Base64 of another number."""


@pytest.fixture
def decode(tmp_path, monkeypatch, capsys):
    """Decode messages in a folder, and return the exit code and the report."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.yaml").write_text(json.dumps(TABLE))

    def decode(values, *more, name="orders.jsonl", to="out"):
        (tmp_path / name).write_bytes(b"\n".join(values) + b"\n")
        code = main(["decode", "file", name, "--tables", "orders.yaml", "--engine", "local", "--to", to,
                     "--fail-on", "error", "--json", *more])  # fmt: skip
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else captured.err

    return decode


def rows_of(output, directory="out"):
    files = sorted(output.glob(f"{directory}/changes/*/*.parquet"))
    return {row["offset"]: row for file in files for row in pq.read_table(file).to_pylist()}


def prices(output, directory="out"):
    return {offset: dict(row["after"])["price"] for offset, row in rows_of(output, directory).items()}


def typed_prices(directory="out"):
    return [row["after"]["price"] for one in table_files(directory) for row in pq.read_table(one.path).to_pylist()]


def recorded_runs(directory="out"):
    return len([*Path(directory).glob("_runs/*.json")])


def options_in(report):
    return {one["option"]: (one["values"], one.get("taken")) for one in report["options"]}


def recorded(output, directory="out"):
    (record,) = output.glob(f"{directory}/_runs/*.json")
    return json.loads(record.read_text()).get("options")


def test_what_a_sample_decides_is_read_so_and_the_rest_is_written_as_it_was_sent(decode, tmp_path):
    code, report = decode([message("precise") for _ in range(20)])
    assert code == 0
    assert set(prices(tmp_path).values()) == {"12.59"}
    assert options_in(report)[DECIMALS] == (["precise"], True)
    assert options_in(report)["binary.handling.mode"] == (["base64", "base64-url-safe", "bytes", "hex"], None)
    assert {dict(row["after"])["mark"] for row in rows_of(tmp_path).values()} == {"0aff"}
    assert recorded(tmp_path) == {DECIMALS: "precise", **COUNTS}


def test_what_a_sample_leaves_open_is_never_guessed(decode, tmp_path):
    code, report = decode([DIGITS] * 20)
    assert code == 0
    assert set(prices(tmp_path).values()) == {"1234"}
    assert options_in(report)[DECIMALS] == (["precise", "string"], None)
    assert recorded(tmp_path) == COUNTS


def test_a_column_is_read_where_all_values_that_are_left_write_it_in_one_form(decode, tmp_path):
    """Bytes are Base64 under two values of the option, days a number under four; microseconds may be milliseconds."""
    code, report = decode([message("string", "adaptive_time_microseconds", "bytes") for _ in range(20)])
    assert code == 0
    assert recorded(tmp_path) == {
        DECIMALS: "string", MARKS: "base64,bytes",
        "time.precision.mode": "adaptive_time_microseconds,microseconds,nanoseconds",
    }  # fmt: skip
    assert options_in(report)[MARKS] == (["base64", "bytes"], True)
    (row,) = {tuple(row["after"]) for row in rows_of(tmp_path).values()}
    assert dict(row)["day"] == "2024-06-10"
    (table,) = table_files("out")
    types = pq.read_table(table.path).schema.field("after").type
    assert {name: str(types.field(name).type) for name in ("day", "mark", "made", "late")} == {
        "day": "date32[day]", "mark": "binary", "made": "string", "late": "string",
    }  # fmt: skip


def test_a_message_that_no_value_left_by_the_sample_reads_is_quarantined(decode, tmp_path):
    values = [message("string", marks="bytes") for _ in range(4000)]
    values[1000] = message("string", marks="hex").replace(b"0aff", b"0af")  # no Base64, and no hex of whole bytes
    values[1001] = message("string", marks="base64-url-safe")
    code, report = decode(values, "--contract", CONTRACT)
    assert code == 1
    assert report["ledger"]["quarantined"] == 2
    assert not {1000, 1001} & rows_of(tmp_path).keys()


def test_a_message_outside_the_sampled_options_is_quarantined_and_not_read_otherwise(decode, tmp_path):
    values = [message("string") for _ in range(4000)]
    values[1000] = message("precise")  # between the beginning, the middle and the end
    code, report = decode(values, "--contract", CONTRACT)
    assert code == 1
    assert [(one["rule"], one["path"], one["count"]) for one in report["findings"] if one["severity"] == "error"] == [
        ("D07.decimal-text", "/after/price", 1)
    ]
    assert report["ledger"]["quarantined"] == 1
    assert set(prices(tmp_path).values()) == {"12.59"}
    assert 1000 not in prices(tmp_path)


def test_a_change_within_the_sample_decides_nothing_and_is_said(decode, tmp_path):
    code, report = decode([message("precise" if offset < 10 else "string") for offset in range(20)])
    assert code == 1
    assert [one["rule"] for one in report["findings"] if one["severity"] == "error"] == ["D03.option"]
    assert options_in(report)[DECIMALS] == ([], None)
    assert set(prices(tmp_path).values()) == {"BOs=", "12.59"}


def test_a_unit_of_time_that_changes_within_the_sample_is_said_and_not_guessed(decode, tmp_path):
    """A day is the same number in each unit."""
    code, report = decode([message("precise", "nanoseconds" if at < 10 else "connect") for at in range(20)])
    assert code == 1
    assert [one["rule"] for one in report["findings"] if one["severity"] == "error"] == ["D03.option"]
    rows = [dict(row["after"]) for row in rows_of(tmp_path).values()]
    assert {row["made"] for row in rows} == {"1718000000000250000", "1718000000000"}
    assert {row["day"] for row in rows} == {"2024-06-10"}


def test_a_unit_of_time_that_changes_is_drift_where_an_option_is_stated_too(decode):
    values = [message("precise", "nanoseconds" if at < 10 else "connect") for at in range(20)]
    code, report = decode(values, "--parameter", "time.precision.mode=nanoseconds")
    assert code == 1
    (found,) = [one for one in report["findings"] if one["severity"] == "error"]
    assert (found["rule"], found["expected"], found["first"]["offset"]) == (
        "D03.option", "time.precision.mode=nanoseconds", 10,
    )  # fmt: skip


def test_a_stated_option_goes_before_the_sample(decode, tmp_path):
    code, report = decode([DIGITS] * 5 + [message("string")], "--parameter", f"{DECIMALS}=precise")
    assert code == 1
    assert prices(tmp_path) == dict.fromkeys(range(5), "-26588.24")  # 0xD76DF8, of 1234 in Base64: -2658824
    assert DECIMALS not in options_in(report)


@pytest.mark.parametrize("more", [(), ("--parameter", f"{DECIMALS}=string")])
def test_the_same_run_again_changes_nothing(decode, tmp_path, more):
    values = [message("string"), DIGITS]
    assert decode(values, *more)[0] == 0
    assert decode(values, *more)[0] == 0
    assert len([*tmp_path.glob("out/_runs/*.json")]) == 1


def test_a_later_run_goes_on_with_the_options_of_the_output_where_its_sample_decides_none(decode, tmp_path):
    values = [message("string"), DIGITS, DIGITS, message("double"), DIGITS]
    for start, end in ((0, 1), (1, 3), (3, 4), (0, 1)):
        assert decode(values, "--from", f"offset:0={start}", "--until", f"offset:0={end}")[0] == 0
    assert prices(tmp_path) == {0: "12.59", 1: "1234", 2: "1234", 3: "12.59"}
    assert len([*tmp_path.glob("out/_runs/*.json")]) == 3
    code, said = decode(values, "--from", "offset:0=4", "--until", "offset:0=5")
    assert (code, f"no message tells {DECIMALS}" in said) == (2, True)  # a text is no number of the last run's option


def test_typed_tables_hold_as_text_what_is_open_and_by_its_type_what_is_decided(decode):
    decode([message("string"), DIGITS])
    decode([DIGITS, DIGITS], to="other")
    assert typed_prices() == [Decimal("12.59"), Decimal(1234)]
    assert typed_prices("other") == ["1234", "1234"]


def test_what_was_sent_is_not_written_into_a_column_of_another_type(decode):
    decode([message("string")])
    code, said = decode([DIGITS], name="more.jsonl")
    assert code == 2
    assert "no message tells decimal.handling.mode, by which price is read, and the table has it as decimal128" in said
    assert recorded_runs() == 1
    assert "--parameter decimal.handling.mode=VALUE" in said
    assert decode([DIGITS], "--parameter", f"{DECIMALS}=string", name="more.jsonl")[0] == 0


def test_a_column_of_another_type_is_refused_before_anything_is_decoded_where_the_sample_has_its_values(
    decode,
):
    decode([message("string")])
    layouts = RunDirectory("out").past().layouts()
    validation = open_validation(CATALOGUE, "debezium/json@4", options_of())
    for value, price in ((DIGITS, "no message tells decimal.handling.mode"), (message("string"), None)):
        _, sampled = take_options(validation, lambda value=value: [batch_of_values([value])])
        with pytest.raises(UsageError, match=price) if price else nullcontext():
            check_sample(sampled, layouts)
        check_sample(sampled, {})


def test_options_that_each_value_tells_need_no_sample():
    validation = open_validation(CATALOGUE, "debezium/json-schema@4", options_of())
    assert take_options(validation, lambda: pytest.fail("a sample was read")) == (validation, SampledOptions())


def test_ranges_with_options_are_typed_across_the_change(decode, tmp_path):
    ranges = [{"to": 2, "contract": "debezium/json@4", "options": {DECIMALS: "precise"}},
              {"from": 2, "contract": "debezium/json@4", "options": {DECIMALS: "string"}}]  # fmt: skip
    (tmp_path / "v.yaml").write_text(json.dumps({"topics": {"orders.jsonl": {"all": ranges}}}))
    values = [message("precise"), message("precise"), DIGITS, message("string")]
    assert decode(values, "--versions", "v.yaml")[0] == 0
    assert typed_prices() == [Decimal("12.59"), Decimal("12.59"), Decimal(1234), Decimal("12.59")]


def test_a_replay_reads_by_the_options_of_its_runs_unless_told_otherwise(decode, tmp_path, capsys):
    values = [message("string") for _ in range(4000)]
    values[1000] = message("double")
    decode(values, "--contract", CONTRACT)
    replay = ["replay", "quarantine", "out", "--tables", "orders.yaml", "--engine", "local"]
    assert main(replay) == 1
    assert 1000 not in prices(tmp_path)
    assert main([*replay, "--parameter", f"{DECIMALS}=double"]) == 0
    assert prices(tmp_path)[1000] == "12.59"


@pytest.fixture
def decode_topic(spark, broker, tmp_path, monkeypatch, capsys):
    """Decode a topic with Spark in a folder with its table contract, and return exit code, what was said and report."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.yaml").write_text(json.dumps({**TABLE, "primary_key": ["id"]}))

    def decode(topic, *more, to="out"):
        code = main(["decode", "topic", topic, "-b", broker.bootstrap, "--tables", "orders.yaml", "--to", to, "--json",
                     "--contract", "debezium/json@4", *more])  # fmt: skip
        out, said = capsys.readouterr()
        return code, said, json.loads(out) if out else None

    return decode


def test_every_start_of_a_stream_reads_by_the_options_that_were_sampled_before_the_first(
    decode_topic, broker, make_topic, tmp_path
):
    topic = make_topic([(0, message("string"))] * 20)
    follow = [topic, "--follow", "--once", "--checkpoint", "ck"]
    code, said, _ = decode_topic(*follow)
    assert code == 0
    assert f"options of the producer that a sample of 20 messages decides: {DECIMALS}=string" in said
    produce(broker, topic, [DIGITS, message("precise"), message("double")])
    code, said, report = decode_topic(*follow)
    assert (code, "a sample" in said) == (1, False)
    assert prices(tmp_path) == {**dict.fromkeys(range(20), "12.59"), 20: "1234"}
    assert report["ledger"]["quarantined"] == 2
    assert json.loads((tmp_path / "ck/_cdc/stream.json").read_text())["options"] == {DECIMALS: "string", **COUNTS}


def test_a_new_epoch_reads_by_the_options_of_the_output_where_its_sample_decides_none(
    decode_topic, broker, make_topic, tmp_path
):
    topic = make_topic([(0, message("string"))] * 20)
    assert decode_topic(topic, "--follow", "--once", "--checkpoint", "ck")[0] == 0
    produce(broker, topic, [DIGITS])
    assert decode_topic(topic, "--follow", "--once", "--checkpoint", "other", "--new-epoch")[0] == 0
    assert prices(tmp_path) == {**dict.fromkeys(range(20), "12.59"), 20: "1234"}
    assert json.loads((tmp_path / "other/_cdc/stream.json").read_text())["options"][DECIMALS] == "string"
    assert Decimal(1234) in typed_prices()


@pytest.mark.nightly
def test_a_stream_of_a_topic_without_messages_takes_its_options_when_there_are_some(
    decode_topic, broker, make_topic, tmp_path
):
    topic = make_topic([])
    follow = [topic, "--follow", "--once", "--checkpoint", "ck"]
    decode_topic(*follow)
    assert json.loads((tmp_path / "ck/_cdc/stream.json").read_text())["options"] is None
    produce(broker, topic, [message("string"), DIGITS])
    assert decode_topic(*follow)[0] == 0
    assert prices(tmp_path) == {0: "12.59", 1: "1234"}


@pytest.mark.nightly
def test_current_rows_are_typed_by_what_the_sample_decides(decode_topic, spark, make_topic, tmp_path):
    topic = make_topic([(0, message("precise")), (0, message("precise", op="u"))])
    assert decode_topic(topic, "--table-format", "delta", "--current")[0] == 0
    current = spark.read.format("delta").load(str(tmp_path / "out/current/shop.orders"))
    assert [row["price"] for row in current.collect()] == [Decimal("12.59")]


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ({"a": ["string"], "b": ["string"]}, {DECIMALS: "string"}),
        ({"a": ["string"], "b": ["double"]}, {}),
        ({"a": ["string"], "b": [None]}, {}),
        ({"a": ["string", None], "b": []}, {DECIMALS: "string"}),
        ({"a": ["string", "double"], "b": ["string"]}, {}),
    ],
)
@pytest.mark.parametrize("known", [{}, {DECIMALS: "string"}, {DECIMALS: "precise"}])
def test_topics_decide_an_option_together_only_where_each_of_them_does_alone(written, taken, known):
    """None is a text of digits, which may be either; what earlier runs were read by counts where no topic rules it out."""
    batches = [
        batch_of_values([message(mode) if mode else DIGITS for mode in modes], topic=topic)
        for topic, modes in written.items()
        if modes
    ]
    validation = open_validation(CATALOGUE, "debezium/json@4", options_of())
    if not taken and written == {"a": ["string"], "b": [None]} and known == {DECIMALS: "string"}:
        taken = known
    assert sample_options(validation, batches, known).taken == {**taken, **COUNTS}


def test_what_ranges_state_is_not_taken_for_the_parts_between_them():
    ranges = {"0": [{"to": 5, "contract": "debezium/json@4", "options": {DECIMALS: "precise"}},
                    {"from": 5, "contract": "debezium/json@4"}]}  # fmt: skip
    validation = open_ranges(
        CATALOGUE, parse_versions({"topics": {"orders": ranges}}, "v.yaml", CATALOGUE), options_of()
    )
    found, _ = take_options(validation, lambda: [batch_of_values([DIGITS], start=7)], {DECIMALS: "precise"})
    assert found.reading_options.options == COUNTS


def test_another_topic_of_the_output_may_leave_open_what_its_rows_do_not_have(decode, tmp_path):
    """Connectors write a topic for each table, and table contracts are given for all."""
    decode([message("string")])
    people = {"table": "shop.people", "columns": {"id": {"type": "int"}, "pay": {"type": "decimal(8,2)"}}}
    (tmp_path / "people.yaml").write_text(json.dumps(people))
    value = json.loads(message("string"))
    value["source"]["table"], value["after"] = "people", {"id": 1, "pay": "1234"}
    more = ["--tables", "people.yaml"]
    assert decode([json.dumps(value).encode()], *more, name="people.jsonl")[0] == 0
    assert (Path("out/tables/shop.people").exists(), recorded_runs()) == (True, 2)
