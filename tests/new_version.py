"""A possible next version of a dialect, added to a copy of this repository as CONTRIBUTING.md describes.

`python tests/new_version.py FOLDER TESTS...` makes the copy in FOLDER, adds the version and runs pytest there: all tests
that are named, or with `-p new_version` those of them that are about the new version. `just nightly` runs them all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue

ROOT = Path(__file__).parents[1]
HEADING = "## Add a version of a dialect"
OLD, NEW = "dts/canal@2", "dts/canal@3"
_LATER = re.compile(r"contracts/dts/canal/v([3-9]|\d\d)/")
_LATER_ID = re.compile(r" dts/canal@([3-9]|\d\d) ")

CONTRACT = """\
# yaml-language-server: $schema=../../../../registry/file_schemas/contract.schema.json
contract: dts/canal@3
based_on: dts/canal@2
applies: {since: "2027-01-01"}
envelope: {transaction: {at: /txid}}
images: {delete: {before: {at: /old}}}
version_evidence: [{image-of: delete, at: /old}, {key-seen: /txid, proves: version}, {key-chain: true}]
"""
"""The row of a DELETE moves to `old`, and the id of the transaction is called `txid`: a rename and a change of place."""


def copy_of_the_repository(target: Path) -> Path:
    """Copy what git tracks, and what it would track, as it is in the working tree, and commit it there.

    Versions of `dts/canal` after the second are left out: the day there is a third, this one still comes next.
    """
    listed = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        source, copied = ROOT / name, target / name
        if (source.exists() or source.is_symlink()) and not _LATER.match(name):
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copied, follow_symlinks=False)
            if source.suffix == ".py":
                _copy_compiled(source, copied.parent)
    lock = target / "contracts" / "ids.lock"
    lines = lock.read_text(encoding="utf-8").splitlines(keepends=True)
    lock.write_text("".join(line for line in lines if not _LATER_ID.search(line)), encoding="utf-8")
    _git(target, "init", "-q", "-b", "main")
    objects = ROOT / _git(ROOT, "rev-parse", "--git-path", "objects").strip()  # what is there is not written again
    (target / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n", encoding="utf-8")
    _commit(target, "What there was")
    return target


def _copy_compiled(source: Path, folder: Path) -> None:
    """Copy what Python and pytest compiled of a module; it holds there too, as the copy has the time of its source."""
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        (folder / "__pycache__").mkdir(exist_ok=True)
        shutil.copy2(compiled, folder / "__pycache__")


def add_the_version(tree: Path) -> None:
    """Do in `tree` what the page of CONTRIBUTING says: its commands as they stand there, and the edits between them."""
    copying, *writing = commands_of_the_page(tree)
    run(tree, copying)
    edit(tree / "contracts" / "dts" / "canal" / "v3")
    for command in writing:
        run(tree, command)


def commands_of_the_page(tree: Path) -> list[str]:
    """The commands under HEADING, in order."""
    text = (tree / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"{HEADING}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", section, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines()]


def beside_the_shipped_ones(root: Path) -> Catalogue:
    """Write the version alone below `root`, and return the catalogue that has it beside the shipped ones."""
    folder = root / "dts" / "canal" / "v3"
    shutil.copytree(ROOT / "contracts" / "dts" / "canal" / "v2", folder)
    edit(folder)
    return Catalogue([*shipped_catalogue().roots, root])


def edit(folder: Path) -> None:
    """What a person would write by hand in the copied folder."""
    (folder / "contract.yaml").write_text(CONTRACT, encoding="utf-8")
    _edit_schema(folder / "envelope.schema.json")
    avro = (ROOT / "contracts" / "dts" / "canal" / "v1" / "envelope.avsc").read_text(encoding="utf-8")
    (folder / "envelope.avsc").write_text(avro.replace('"gtid"', '"txid"'), encoding="utf-8")
    for file in (folder / "samples" / "drift").glob("transaction-as-number*"):
        file.unlink()  # version 2 does not know the member, and takes it as a number
    for file in sorted((folder / "samples").rglob("*")):
        if file.name.startswith("delete") and file.name.endswith(".change.json"):
            # Version 1 has such rows there too, and takes a member that it does not know.
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace('"undecided": false', '"undecided": true'), encoding="utf-8")
        elif file.suffix in (".json", ".jsonl", ".bin") and not file.name.endswith(".change.json"):
            _edit_sample(file)


def _edit_schema(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("canal:v2", "canal:v3").replace('"gtid"', '"txid"')
    schema = json.loads(text)
    rows, in_data, *rest = schema["allOf"]
    rows["then"]["required"].append("txid")
    in_old = json.loads(_exchanged(json.dumps(in_data["then"])))
    schema["allOf"] = [
        rows,
        {**in_data, "if": _if_op("INSERT", "INIT")},
        {**in_data, "if": _if_op("DELETE"), "then": in_old},
        *rest,
    ]
    schema["properties"]["data"]["description"] = "INSERT, INIT and UPDATE: rows after the change."
    schema["properties"]["old"]["description"] = "UPDATE: rows before the change. DELETE: the deleted rows."
    file.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


def _edit_sample(file: Path) -> None:
    """Rename the member, and exchange `data` and `old` in what is about a DELETE; texts of values stay as they are."""
    text = (
        file.read_bytes().replace(b'"gtid"', b'"txid"').replace(b"/gtid", b"/txid").replace(OLD.encode(), NEW.encode())
    )
    if b'"txid"' not in text and "of-the-other-version" not in file.name:
        text = text.replace(b'"es":', b'"txid":null,"es":')
    if file.name.startswith("delete-") or file.name == "delete.json":
        text = _exchanged(text.decode()).encode().replace(b"dts/canal@1", OLD.encode())
    elif file.suffix == ".jsonl":
        lines = text.split(b"\n")
        text = b"\n".join(_exchanged(one.decode()).encode() if b'"DELETE"' in one else one for one in lines)
    file.write_bytes(text)


def _if_op(*codes: str) -> dict[str, Any]:
    return {"properties": {"type": {"enum": list(codes)}}, "required": ["type"]}


def _exchanged(text: str) -> str:
    """The same text with `data` and `old` in each other's place, as members and in pointers."""
    return re.sub(r'(?<=["/])(data|old)(?=["/])', lambda found: {"data": "old", "old": "data"}[found[0]], text)


def run(tree: Path, command: str | Sequence[str]) -> None:
    """Run a command in a tree whose package it is to import; raise with what it printed where it fails."""
    result = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=tree,
        env=_environment(tree),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise AssertionError(f"{command} exits with {result.returncode}\n{result.stdout}\n{result.stderr}")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep the tests of the new version; pytest calls this where the module is named as a plugin."""
    items[:] = [item for item in items if NEW in item.nodeid]


def changed(tree: Path) -> list[str]:
    """The files that differ from what was copied."""
    lines = _git(tree, "status", "--porcelain", "-z", "--untracked-files=all").split("\0")
    return sorted(line[3:] for line in lines if line)


def _environment(tree: Path) -> dict[str, str]:
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": programs, "PYTHONPATH": os.pathsep.join([str(tree / ".src"), str(tree / "tests")])}


def _commit(tree: Path, subject: str) -> None:
    _git(tree, "add", "-A")
    _git(tree, "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "commit", "-q", "-m", subject)


def _git(tree: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=tree, capture_output=True, text=True, check=True).stdout


def main(target: str, *tests: str) -> int:
    tree = copy_of_the_repository(Path(target))
    add_the_version(tree)
    print("\n".join(changed(tree)))  # noqa: T201
    return subprocess.run(
        [sys.executable, "-m", "pytest", *tests], cwd=tree, env=_environment(tree), check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
