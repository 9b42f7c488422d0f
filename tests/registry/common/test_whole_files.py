"""Files that are there whole or not at all, whoever writes them."""

import os
import stat
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.sync.id_locks import Lock, write_lock
from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema, Holdings
from cdc_contracts.registry.authoring.sync.registry_folders import write_folder, write_schema
from cdc_contracts.registry.core.common.atomic_files import check_folder, check_place, write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.topic_bindings import bind_topic


def test_a_report_that_cannot_be_written_leaves_what_was_there(tmp_path):
    target = tmp_path / "out.md"
    target.write_text("before")
    (tmp_path / f".out.md.{os.getpid()}.part").mkdir()
    with pytest.raises(UnavailableError, match="cannot be written"):
        write_whole(target, "after")
    assert target.read_text() == "before"


def test_a_link_stays_a_link_and_the_file_has_the_usual_rights(tmp_path):
    (tmp_path / "real.md").write_text("before")
    (tmp_path / "link.md").symlink_to("real.md")
    write_whole(tmp_path / "link.md", "after")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "after"
    (tmp_path / "usual").touch()
    assert stat.S_IMODE((tmp_path / "real.md").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


def test_a_file_that_only_its_owner_reads_stays_so(tmp_path):
    file = tmp_path / "secret.yaml"
    file.write_text("before")
    file.chmod(0o600)
    write_whole(file, "after")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("after", 0o600)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder here that nobody may write to")
def test_a_folder_that_cannot_be_written_to_is_reported_whether_it_is_there_or_not():
    for folder in (Path("/proc"), Path("/proc/none/at/all")):
        with pytest.raises(UnavailableError, match="nothing can be written there"):
            check_folder(folder)
    with pytest.raises(UnavailableError, match="it cannot be written"):
        check_place(Path("/proc/file"))


@pytest.fixture
def full_disk(monkeypatch):
    """Every file takes half of what is written to it, and then the disk is full."""

    def write(self, content, *_, **__):
        text = content.encode() if isinstance(content, str) else content
        with self.open("wb") as file:
            file.write(text[: len(text) // 2])
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", write)
    monkeypatch.setattr(Path, "write_text", write)


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


SCHEMA = HeldSchema("s", 1, "JSON", '{"type": "object"}')
WRITERS = {
    "cdc-contracts.yaml": lambda root: bind_topic(root, "orders", "dts/canal@2"),
    "ids.lock": lambda root: write_lock(root, Lock()),
    "registry.yaml": lambda root: write_folder(root, Holdings(), Lock()),
    "subjects/s/v1.json": lambda root: write_schema(root, SCHEMA),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_to_its_end_leaves_all_files_as_they_were(tmp_path, full_disk, name):
    for file in WRITERS:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        with (tmp_path / file).open("wb") as there:
            there.write(b"topics: {}\n" if file == "cdc-contracts.yaml" else b"{}")
    before = contents(tmp_path)
    with pytest.raises(UnavailableError, match="No space left on device"):
        WRITERS[name](tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_that_is_written_anew_loses_only_what_is_no_longer_held(tmp_path):
    write_folder(tmp_path, Holdings({("s", 1): SCHEMA, ("t", 1): HeldSchema("t", 1, "JSON", "{}")}), Lock())
    write_folder(tmp_path, Holdings({("s", 1): SCHEMA}), Lock())
    assert sorted(contents(tmp_path)) == ["ids.lock", "registry.yaml", "subjects/.gitattributes", "subjects/s/v1.json"]
    assert not (tmp_path / "subjects/t").exists()
