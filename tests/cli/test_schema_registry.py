"""Topics framed for a schema registry on the command line: by an option or the settings, and by either engine."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from certificates import Authority
from producers.captures import Capture, bytes_of, read_records
from producers.schema_registries import unpack_schemas
from registry_servers import answering

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE

CAPTURE = Capture("debezium", "3.5.0", "postgresql", "defaults-avro")
CONTRACT = "debezium/json-schema@4"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a captured topic, and the schemas of its registry in `schemas`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    unpack_schemas(CAPTURE.schemas_path.read_bytes(), tmp_path / "schemas")
    records = read_records(CAPTURE)
    keys, values = ([one[name] and bytes_of(one[name]) for one in records] for name in ("key", "value"))
    pq.write_table(pa.table({
        "key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary()), "topic": [one["topic"] for one in records],
        "partition": pa.array([0] * len(records), pa.int32()), "offset": pa.array(range(len(records)), pa.int64()),
    }), tmp_path / "shop.parquet")  # fmt: skip
    return tmp_path


def audited(capsys, *more, file="shop.parquet"):
    code = main(["audit", "file", file, "--engine", "local", "--fail-on", "error", "--json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_an_audit_finds_contract_types_and_changes_of_tables_by_the_schemas(here, capsys):
    code, report = audited(capsys, "--schema-registry", "schemas")
    assert (code, report["contract"]) == (0, "auto")
    assert report["detection"]["verdict"] == "certain"
    assert CONTRACT in report["detection"]["candidates"][0].values()
    assert report["source"]["schema_registry"] == "schemas"
    changed = [one for one in report["findings"] if one["rule"] == "D11.column-type"]
    assert [(one["table"], one["path"]) for one in changed] == [("shop.public.orders", "/payload/after/total"),
                                                                ("shop.public.orders", "/payload/after/extra")]  # fmt: skip
    assert all("--schema-registry schemas" in one["reproduce"] for one in changed)


def test_the_settings_of_a_project_say_where_schemas_are(here, capsys):
    _, stated = audited(capsys, "--schema-registry", "schemas", "--contract", CONTRACT)
    (here / "cdc-contracts.yaml").write_text("schema_registry: schemas\n")
    assert audited(capsys, "--contract", CONTRACT)[1] == stated


def test_without_schemas_why_says_what_such_a_record_is_and_what_to_give(here, capsys):
    value = next(bytes_of(one["value"]) for one in read_records(CAPTURE) if one["value"])
    (here / "one.bin").write_bytes(value)
    assert main(["why", "one.bin", "--whole", "--contract", CONTRACT]) == 1
    shown = capsys.readouterr().out
    assert "framed by a schema registry: 00, then schema id" in shown
    assert "Give --schema-registry URL" in shown


def test_both_engines_write_the_same_rows(here, spark):
    for engine in ("local", "spark"):
        assert main(["decode", "-q", "file", "shop.parquet", "--contract", CONTRACT, "--schema-registry", "schemas",
                     "--to", engine, "--engine", engine, "--fail-on", "error"]) == 0  # fmt: skip
    rows = [
        sorted((row["offset"], str(row["after"]), str(row["before"])) for file in sorted((here / engine).glob("changes/*/*"))
               for row in pq.read_table(file).to_pylist())
        for engine in ("local", "spark")
    ]  # fmt: skip
    assert len(rows[0]) > 100
    assert rows[0] == rows[1]


def name_schemas_in_headers(file):
    """Take the ids from the front of keys and values, and name the schemas in headers instead."""
    table = pq.read_table(file)
    columns = {name: table.column(name).to_pylist() for name in ("key", "value")}
    headers = [
        [{"key": f"__{part}_schema_id", "value": held[:5]} for part, held in (("key", key), ("value", value)) if held]
        for key, value in zip(columns["key"], columns["value"], strict=True)
    ]
    for name, held in columns.items():
        bare = pa.array([one and one[5:] for one in held], pa.binary())
        table = table.set_column(table.schema.get_field_index(name), name, bare)
    pq.write_table(table.append_column("headers", pa.array(headers, HEADERS_TYPE)), file)


def test_a_capture_whose_schemas_are_named_in_headers_is_read_as_one_with_their_ids_in_front(here, capsys):
    named = ("--schema-registry", "schemas", "--contract", CONTRACT)
    _, framed = audited(capsys, *named)
    name_schemas_in_headers(here / "shop.parquet")
    _, report = audited(capsys, *named)
    assert report["ledger"]["quarantined"] == 0
    assert report == framed


def test_why_explains_a_record_by_the_header_that_names_its_schema_and_one_whose_header_is_wrong(here, capsys):
    name_schemas_in_headers(here / "shop.parquet")
    table = pq.read_table("shop.parquet")
    headers = table.column("headers").to_pylist()
    headers[1][-1]["value"] = b"\0"
    pq.write_table(table.set_column(table.schema.get_field_index("headers"), "headers", pa.array(headers, HEADERS_TYPE)),
                   "shop.parquet")  # fmt: skip
    named = ("why", "shop.parquet", "--schema-registry", "schemas", "--contract", CONTRACT, "--json")
    assert main([*named, "--line", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == len(table.column("value")[0].as_py())
    assert main([*named, "--line", "2"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["rule"], "header __value_schema_id" in finding["observed"]) == ("D01.schema-header", True)
    assert main(["why", "shop.parquet", "--contract", CONTRACT, "--json", "--line", "1"]) == 1
    fault = json.loads(capsys.readouterr().out)["fault"]
    assert fault["guess"] == "a record whose schema a header names"
    assert fault["action"].startswith("Give --schema-registry URL")


def drafted(capsys, *sources):
    code = main(["contract", "new", "acme/framed", *sources, "--schema-registry", "schemas", "--to", "own"])
    return code, capsys.readouterr().out


def test_a_draft_of_framed_changes_takes_all_of_them_with_types_and_keys_from_their_schemas(here, capsys):
    code, shown = drafted(capsys, "shop.parquet")
    assert code == 0
    assert "they conform to debezium/json-schema@4 too" in shown
    assert "org.apache.kafka.connect.data.Decimal" in (here / "own/acme/types/acme-framed.yaml").read_text()
    contract = (here / "own/acme/framed/v1/contract.yaml").read_text()
    assert "primary_key: {from: kafka-key, at: /payload}" in contract
    _, report = audited(capsys, "--contract", "acme/framed", "--contracts", "own", "--schema-registry", "schemas")
    assert report["ledger"]["quarantined"] == 0
    assert {one["class"] for one in report["findings"] if one["severity"] != "info"} == {"table-schema"}


def test_a_draft_of_framed_rows_reads_each_as_a_row_of_the_types_of_its_schema(here, capsys):
    rows = Capture("debezium", "3.5.0", "postgresql", "unwrapped-avro")
    unpack_schemas(rows.schemas_path.read_bytes(), here / "schemas")
    records = [[bytes_of(one[part]) for one in read_records(rows) if one["value"]] for part in ("key", "value")]
    columns = (pa.array(part, pa.binary()) for part in records)
    pq.write_table(pa.table(dict(zip(("key", "value"), columns, strict=True))), "rows.parquet")
    code, shown = drafted(capsys, "rows.parquet")
    assert (code, "they conform to debezium/flat-schema@2 too" in shown) == (0, True)
    assert "io.debezium.time.MicroTimestamp" in (here / "own/acme/types/acme-framed.yaml").read_text()
    contract = (here / "own/acme/framed/v1/contract.yaml").read_text()
    assert "primary_key: {from: kafka-key, at: /payload}" in contract
    _, report = audited(
        capsys, "--contract", "acme/framed", "--contracts", "own", "--schema-registry", "schemas", file="rows.parquet"
    )
    assert report["ledger"]["quarantined"] == 0


def test_a_draft_without_the_schemas_asks_for_them(here, capsys):
    assert main(["contract", "new", "acme/framed", "shop.parquet", "--to", "own"]) == 4
    assert "--schema-registry says where its schema is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "trusted", "said"),
    [
        ("127.0.0.1", True, None),
        ("registry.example", True, "is not valid for '127.0.0.1'"),
        ("127.0.0.1", False, "certificate verify failed"),
    ],
)
def test_a_registry_is_asked_only_if_its_certificate_is_trusted_and_names_it(here, capsys, host, trusted, said):
    signing, other = Authority(here, "signing"), Authority(here, "other")
    call = ["audit", "file", "shop.parquet", "--engine", "local", "--contract", CONTRACT, "--registry-ca"]
    certificate = signing.certify("server", days=5, host=host)
    with answering({}, refusal=40403, certificate=certificate) as address:
        code = main([*call, str((signing if trusted else other).file), "--schema-registry", address])
    out, err = capsys.readouterr()
    if said is None:
        assert code == 1
        assert "D01.schema-id" in out
    else:
        assert code == 3
        assert said in err.replace("\n", " ")
        assert "D01" not in out
