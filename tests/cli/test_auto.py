"""`--contract auto`, the default: each message is validated by the contract it matches, or none is."""

import json
from base64 import b64encode

import pyarrow.parquet as pq
import pytest
from detected_topics import sampled
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.spark_checks import detecting

pytestmark = pytest.mark.usefixtures("first_versions")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with no settings of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(here, messages):
    (here / "orders.jsonl").write_bytes(b"\n".join(messages))


def audit(here, messages, *options):
    """Audit messages without a contract; the exit code and the report."""
    write(here, messages)
    # Streams that are put together begin to count anew, which is a warning of its own.
    call = ["audit", "file", "orders.jsonl", "--engine", "local", "--fail-on", "error", "--report", "report.json"]
    code = main([*call, *options])
    return code, json.loads((here / "report.json").read_text())


def test_a_topic_that_follows_one_version_passes_and_the_report_says_how_that_was_found_out(here):
    code, report = audit(here, sampled("dts/canal@2", 300))

    found = report["detection"]
    assert (code, report["contract"]) == (0, "auto")
    assert (found["verdict"], found["subject"], found["version"], found["messages"]) == (
        "certain", "dts/canal", 2, 300,
    )  # fmt: skip
    assert {one["kind"] for one in found["evidence"]} >= {"refused", "key-chain"}


def test_what_drifts_among_messages_of_a_known_version_is_found_all_the_same(here):
    messages = sampled("oms-community/canal@1", 300)
    messages[77] = messages[77].replace(b'"isDdl":false', b'"isDdl":"no"')

    code, report = audit(here, messages)

    heavy = [one for one in report["findings"] if one["severity"] == "error"]
    assert code == 1
    assert [(one["class"], one["path"], one["first"]["offset"]) for one in heavy] == [("type-change", "/isDdl", 77)]


def test_alternating_dialects_are_reported_run_by_run(here):
    stretches = [("dts/canal@2", 120), ("oms/default@2", 80), ("dts/canal@2", 50), ("dts/avro@1", 30)]
    messages = [value for reference, count in stretches for value in sampled(reference, count)]
    capture = pq_of(here, messages)

    code = main(["audit", "file", capture, "--engine", "local", "--fail-on", "error", "--report", "report.json"])
    report = json.loads((here / "report.json").read_text())

    (timeline,) = report["timeline"]
    assert code == 0
    assert report["detection"]["verdict"] == "mixed"
    assert [(run["contract"], run["first_offset"], run["last_offset"]) for run in timeline["runs"]] == [
        ("dts/canal@2", 0, 119), ("oms/default@2", 120, 199), ("dts/canal@2", 200, 249), ("dts/avro@1", 250, 279),
    ]  # fmt: skip
    assert [(one["after"], one["at"]) for one in report["switches"]] == [(119, 120), (199, 200), (249, 250)]
    assert report["ledger"]["quarantined"] == 0


def test_dialects_that_alternate_message_by_message_are_all_judged_by_their_own(here):
    pairs = zip(sampled("dts/canal@2", 60), sampled("oms-community/default@1", 60), strict=True)

    code, report = audit(here, [value for pair in pairs for value in pair])

    assert code == 0
    assert len(report["timeline"][0]["runs"]) == 100  # as many as are told
    assert report["timeline"][0]["cut"]


def test_a_table_that_two_dialects_describe_differently_has_not_changed(here):
    messages = [*sampled("dts/canal@2", 60), *sampled("oms-community/canal@2", 60)]

    code, report = audit(here, messages, "--fail-on", "warning")

    assert (code, report["verdict"]) == (0, "pass")
    assert {one["class"] for one in report["findings"]} <= {"control-share", "not-exercised"}


def test_a_switch_between_versions_leaves_open_what_lies_between_the_proofs(here):
    old, new = rendered("dts/canal@1", 200), rendered("dts/canal@2", 200, seed=2)

    code, report = audit(here, [*old, *new])

    (switch,) = report["switches"]
    ambiguous = [one for one in report["findings"] if one["class"] == "ambiguous"]
    assert (code, report["detection"]["verdict"]) == (4, "mixed")
    assert (switch["from"], switch["to"]) == ("dts/canal@1", "dts/canal@2")
    assert switch["after"] < 200 <= switch["at"]
    assert [one["path"] for one in ambiguous] == [""]
    assert ambiguous[0]["count"] <= switch["at"] - switch["after"] + 4
    assert report["ledger"]["conforming"] + report["ledger"]["control"] >= 380


def test_a_version_that_the_sample_did_not_see_makes_the_run_inconclusive(here, monkeypatch):
    monkeypatch.setattr(detecting, "ENOUGH", 200)
    hidden = rendered("dts/canal@1", 300, seed=3)
    messages = [*sampled("dts/canal@2", 600), *hidden, *sampled("dts/canal@2", 1_200, seed=9)]

    code, report = audit(here, messages)

    assert (report["detection"]["verdict"], report["detection"]["version"]) == ("certain", 2)
    assert (code, report["verdict"]) == (4, "inconclusive")
    assert [one["to"] for one in report["switches"]] == ["dts/canal@1", "dts/canal@2"]


RELATIVE = (
    b'{"database":"d","table":"t","pkNames":["id"],"isDdl":false,"type":"INSERT","es":1760000000000,'
    b'"ts":1760000000321,"sql":"","sqlType":{"id":4,"name":12},"mysqlType":{"id":"int","name":"varchar"},'
    b'"old":null,"data":[{"id":"1","name":"a"}],"opType":"I","batchId":1}'
)


def test_messages_of_a_product_outside_the_catalogue_are_not_judged(here, capsys):
    code, report = audit(here, [RELATIVE] * 40)

    assert (code, report["verdict"]) == (4, "inconclusive")
    assert (report["detection"]["verdict"], report["detection"]["nearest"]) == ("not-in-catalogue", "oms/canal")
    assert (report["ledger"]["read"], report["ledger"]["partitions"], report["findings"]) == (0, [], [])


def test_check_and_decode_do_nothing_where_the_contract_cannot_be_detected(here, capsys):
    write(here, [RELATIVE] * 40)

    assert main(["check", "orders.jsonl"]) == 4
    assert "the contract of these messages cannot be detected" in capsys.readouterr().err


def test_check_finds_out_the_contract_of_a_file_and_says_so(here, capsys):
    write(here, sampled("drs/json-c@2", 100))

    assert main(["check", "orders.jsonl"]) == 0
    assert "validated against auto (drs/json-c, detected from the messages)" in capsys.readouterr().err


def pq_of(here, messages):
    """A capture with the messages as values: a record of Avro may hold line feeds."""
    import pyarrow as pa

    pq.write_table(pa.table({"value": pa.array(messages, pa.binary())}), here / "orders.parquet")
    return "orders.parquet"


def test_in_a_topic_with_another_dialect_a_switch_of_version_is_reported_once_between_its_proofs(here):
    old, new = rendered("dts/canal@1", 200), rendered("dts/canal@2", 200, seed=2)

    code, report = audit(here, [*old, *new, *sampled("oms/default@2", 80)])

    (timeline,) = report["timeline"]
    first, second = report["switches"]
    assert code == 4
    assert [run["contract"] for run in timeline["runs"]] == ["dts/canal@1", "dts/canal@2", "oms/default@2"]
    assert first["after"] < 200 <= first["at"]
    assert (second["from"], second["to"], second["at"]) == ("dts/canal@2", "oms/default@2", 400)


def both_codes(here, messages):
    """The exit codes of detection and audit of the same file."""
    capture = pq_of(here, messages)
    audited = main(["audit", "file", capture, "--engine", "local", "--fail-on", "error", "--report", "report.json"])
    return main(["detect", capture]), audited


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("messages", "codes"),
    [
        (lambda: sampled("dts/canal@2", 150), (0, 0)),
        (lambda: sampled("oms-community/canal@2", 60) + sampled("dts/avro@1", 60), (0, 0)),
        (lambda: rendered("dts/canal@1", 150) + rendered("dts/canal@2", 150, seed=2), (4, 4)),
        (lambda: sampled("oms/default@2", 80) + rendered("dts/canal@1", 90) + rendered("dts/canal@2", 90), (4, 4)),
        (lambda: [one for one in sampled("dts/canal@2", 90) if b'"UPDATE"' in one][:9], (4, 4)),
        (lambda: [*sampled("dts/canal@2", 200), _delete("dts/canal@1")], (4, 4)),
        (lambda: sampled("oms-community/dataworks@1", 21) + sampled("oms-community/debezium@1", 1), (0, 1)),
        (lambda: [RELATIVE] * 30, (1, 4)),
    ],
    ids=["one version", "two dialects", "a switch", "a switch beside a dialect", "updates that say nothing",
         "a proof of the other version", "a stray, which is drift", "a product outside the catalogue"],
)  # fmt: skip
def test_detection_ends_with_0_only_where_an_audit_is_not_inconclusive(here, capsys, messages, codes):
    assert both_codes(here, messages()) == codes


def _delete(reference):
    return next(one for one in sampled(reference, 60) if b'"DELETE"' in one)


def in_base64(value):
    return b64encode(value)


def in_payload(value):
    return b'{"schema":{"type":"string","optional":false},"payload":%s}' % json.dumps(value.decode()).encode()


def test_messages_written_over_several_lines_are_told_as_such(here, capsys):
    lines = [
        line
        for value in sampled("dts/canal@2", 3)
        for line in json.dumps(json.loads(value), indent=2).encode().split(b"\n")
    ]
    write(here, lines)

    assert main(["detect", "orders.jsonl"]) == 1
    assert "The values look like a line of a JSON text that is written over several lines." in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(("wrap", "wrapping"), [(in_base64, "base64"), (in_payload, "connect-json")])
def test_messages_that_another_tool_wrapped_are_reported_and_read_with_unwrap(here, capsys, wrap, wrapping):
    messages = [wrap(value) for value in sampled("dts/canal@2", 90)]
    write(here, messages)

    assert main(["detect", "orders.jsonl"]) == 1
    assert f"--unwrap {wrapping} reads what is inside" in " ".join(capsys.readouterr().out.split())
    assert main(["detect", "orders.jsonl", "--unwrap", wrapping]) == 0
    assert "CERTAIN: 90 messages follow dts/canal@2" in capsys.readouterr().out
    assert audit(here, messages)[1]["detection"]["settle"].endswith(f"--unwrap {wrapping} reads what is inside.")


def test_what_is_not_wrapped_as_it_should_be_counts_against_the_share(here, capsys):
    messages = sampled("dts/canal@2", 90)
    write(here, [*map(in_base64, messages[:60]), *messages[60:]])

    assert main(["detect", "orders.jsonl", "--unwrap", "base64"]) == 0
    reported = capsys.readouterr().out
    assert reported.startswith("LIKELY: 60 of 90 messages (66.7 %) follow dts/canal@2")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--from", "foo"), ("--from", "offset:99999"), ("--to", "latest-1"), ("--bootstrap", "localhost:1"),
     ("--kafka-opt", "foo"), ("--kafka-config", "none.properties")],
)  # fmt: skip
def test_files_are_not_detected_by_options_of_topics(here, capsys, option, value):
    (here / "a.jsonl").write_bytes(rendered("dts/canal@2", 1)[0])
    assert main(["detect", "a.jsonl", option, value]) == 2
    reported = f"error: {option} is for topics, not for files\n  To read a topic give `topic` and its name.\n"
    assert capsys.readouterr() == ("", reported)
