"""`decode --outputs tables` keeps typed tables alone, and says what does not go with it."""

import errno
import json
import shutil

import pyarrow.parquet as pq
import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.spark_checks import decoding
from cdc_contracts.spark_checks.split_updates import join_split_updates

REFERENCE = "oms-community/canal@2"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*rendered(REFERENCE, 20), b"{}"]) + b"\n")
    return tmp_path


def decode(*options, out="out"):
    return main(["decode", "file", "a.jsonl", "--contract", REFERENCE, "--to", out, "--engine", "local", *options])


def folders(out):
    return {path.relative_to(out).parts[0] for path in out.rglob("*.parquet")}


def test_typed_tables_alone_hold_the_rows_that_they_hold_beside_changes(here, capsys):
    assert (decode("--outputs", "tables"), decode(out="both"), decode("--outputs", "changes,tables", out="same")) == (
        1,
    ) * 3
    assert folders(here / "out") == {"tables", "quarantine", "ledger"}
    assert folders(here / "both") == folders(here / "same") == {"tables", "quarantine", "ledger", "changes"}
    mine, theirs = (
        pq.read_table(next((here / out).glob("tables/*/*/*.parquet")), partitioning=None) for out in ("out", "both")
    )
    assert mine == theirs
    assert mine.num_rows == 20
    said = capsys.readouterr().err
    assert said.count("20 changes in") == 3


def test_a_record_says_which_outputs_it_keeps_only_where_these_are_not_all(here):
    decode("--outputs", "tables")
    decode(out="both")
    (left,), (both,) = (
        [json.loads(path.read_text()) for path in (here / out / "_runs").iterdir()] for out in ("out", "both")
    )
    assert left.pop("outputs") == ["tables"]
    assert "outputs" not in both
    assert left.keys() == both.keys()


def test_a_replay_writes_what_the_runs_of_the_directory_wrote(here):
    decode("--outputs", "tables")
    drifted = next((here / "out" / "quarantine").rglob("*.parquet"))
    assert pq.read_table(drifted, partitioning=None).num_rows == 1
    assert main(["replay", "quarantine", "out", "--contract", REFERENCE, "--engine", "local"]) == 1
    assert "changes" not in folders(here / "out")


@pytest.mark.parametrize(
    ("options", "needing"),
    [
        (["--drop-duplicates"], "--drop-duplicates"),
        (["--current", "--table-format", "delta", "--engine", "spark"], "--current"),
        (["--table-format", "iceberg", "--engine", "spark"], "--table-format iceberg"),
    ],
)
def test_what_works_on_changes_is_refused_before_anything_is_read(here, capsys, options, needing):
    assert decode("--outputs", "tables", *options) == 2
    assert f"{needing} needs changes/, which --outputs tables leaves out" in capsys.readouterr().err
    assert not (here / "out").exists()


def test_changes_cannot_be_kept_without_tables(here, capsys):
    assert decode("--outputs", "changes") == 2
    assert "'changes,tables', 'tables'" in capsys.readouterr().err


def test_updates_in_two_messages_cannot_be_joined_where_no_changes_are_kept(here):
    decode("--outputs", "tables")
    with pytest.raises(UsageError, match=r"decoded with --outputs tables: there are no changes/ to join"):
        join_split_updates(None, "out")


def test_a_run_that_is_there_is_not_written_again_in_the_other_way(here, capsys):
    decode("--outputs", "tables")
    capsys.readouterr()
    assert decode() == 3
    assert "Choose another directory, or continue with --outputs tables" in capsys.readouterr().err
    shutil.rmtree(here / "out")
    assert decode() == 1


def test_a_directory_without_a_name_is_refused(here, capsys):
    assert decode(out="") == 2
    assert capsys.readouterr().err.endswith(
        "error: the output directory has no name\n  Write --to . for the directory you are in.\n"
    )
    assert [path.name for path in here.iterdir()] == ["a.jsonl"]


def test_where_there_is_no_room_the_directory_is_named(here, capsys, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")  # as Arrow does: it names no file

    monkeypatch.setattr(decoding, "decode_input", refuse)
    assert decode() == 3
    assert capsys.readouterr().err.endswith(
        "error: the output cannot be written: No space left on device (out)\n"
        "  Free some space there, or choose another location.\n"
    )


def test_a_folder_of_before_a_change_of_contracts_is_refused_with_the_reason(here, capsys, monkeypatch):
    assert decode() == 1
    held = {path: path.read_bytes() for path in (here / "out").rglob("*") if path.is_file()}
    monkeypatch.setattr(Version, "fingerprint", property(lambda _: "of another release"))
    assert decode() == 3
    assert "has decoded some of these records already, by contracts with another fingerprint" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (here / "out").rglob("*") if path.is_file()} == held
