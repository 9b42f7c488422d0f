import os
import re

from cdc_contracts.spark_checks.spark.spark_session import archive_option


def test_an_archive_is_written_once_mapped_when_it_is_whole_and_those_long_unused_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "cdc-contracts" / "jvm"
    folder.mkdir(parents=True)
    for age in range(1, 7):  # in hours
        for kind in ("jsa", "tried"):
            path = folder / f"spark-{age}.{kind}"
            path.touch()
            os.utime(path, (1e9 - age * 3600, 1e9 - age * 3600))
    (folder / "spark-1.jsa").unlink()  # whose JVM was killed, or is still running

    option = archive_option()
    own = re.fullmatch(r"-XX:ArchiveClassesAtExit=(.+)\.jsa", option)[1].rpartition("/")[2]
    kept = {f"{own}.tried", "spark-1.tried"} | {f"spark-{age}.{kind}" for age in (2, 3) for kind in ("jsa", "tried")}
    assert {path.name for path in folder.iterdir()} == kept

    archive = folder / f"{own}.jsa"
    os.utime(folder / f"{own}.tried", (0, 0))
    assert archive_option() == ""
    assert (folder / f"{own}.tried").stat().st_mtime > 1e9
    archive.write_bytes(b"\0" * 4096)  # the head comes last
    assert archive_option() == ""
    archive.write_bytes(b"head" + b"\0" * 4092)
    assert archive_option().split()[0] == f"-XX:SharedArchiveFile={archive}"
    assert {path.name for path in folder.iterdir()} == kept | {archive.name}


def test_a_cache_that_cannot_be_written_or_named_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "cdc-contracts").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert archive_option() == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "with spaces"))
    assert archive_option() == ""
